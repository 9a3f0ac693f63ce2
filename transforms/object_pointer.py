"""The lake's pointer on an object store: read with its version, replaced only where nobody else has replaced it.

Beam's filesystems have no conditional writes, so this asks each store's own client, as Beam has configured it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from apache_beam.io.filesystems import FileSystems


class Versioned(NamedTuple):
    """An object's bytes, and what changes whenever they do."""

    content: bytes
    version: str


class ChangedMeanwhileError(RuntimeError):
    """The object is not the one that was read any more: nothing was written."""


class StoreError(ValueError):
    """The store cannot be used; the text says why and what to do."""


def get(url: str) -> Versioned | None:
    """Read an object; null where there is none.

    Raises:
        StoreError: the store's client is not installed, or the URL names none.
    """
    return _store(url).get(*_parts(url))


def put(url: str, content: bytes, version: str | None) -> str:
    """Replace an object of this version, or make a new one where it is null; gives the new version.

    Raises:
        ChangedMeanwhileError: somebody else has.
        StoreError: as ``get``.
    """
    return _store(url).put(*_parts(url), content, version)


def _parts(url: str) -> tuple[str, str]:
    """The bucket and the key; on Azure the bucket is account and container."""
    scheme, _, rest = url.partition("://")
    pieces = rest.split("/", 2 if scheme == "azfs" else 1)
    return "/".join(pieces[:-1]), pieces[-1]


class _S3:
    """Amazon S3 and what speaks its protocol: If-Match and If-None-Match on PutObject, by ETag."""

    def __init__(self, options: Any) -> None:
        self._client = import_module("apache_beam.io.aws.clients.s3.boto3_client").Client(options).client
        self._error = import_module("botocore.exceptions").ClientError

    def get(self, bucket: str, key: str) -> Versioned | None:
        try:
            found = self._client.get_object(Bucket=bucket, Key=key)
        except self._client.exceptions.NoSuchKey:
            return None
        return Versioned(found["Body"].read(), found["ETag"])

    def put(self, bucket: str, key: str, content: bytes, version: str | None) -> str:
        condition = {"IfMatch": version} if version else {"IfNoneMatch": "*"}
        try:
            return str(self._client.put_object(Bucket=bucket, Key=key, Body=content, **condition)["ETag"])
        except self._error as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] in {409, 412}:
                raise ChangedMeanwhileError(f"s3://{bucket}/{key} has changed meanwhile") from error
            raise


class _Gcs:
    """Google Cloud Storage: ifGenerationMatch, where 0 means that there is none yet."""

    def __init__(self, options: Any) -> None:
        self._client = import_module("apache_beam.io.gcp.gcsio").create_storage_client(options)
        self._errors = import_module("google.api_core.exceptions")

    def get(self, bucket: str, key: str) -> Versioned | None:
        blob = self._client.bucket(bucket).blob(key)
        try:
            content = blob.download_as_bytes()
        except self._errors.NotFound:
            return None
        return Versioned(content, str(blob.generation))

    def put(self, bucket: str, key: str, content: bytes, version: str | None) -> str:
        blob = self._client.bucket(bucket).blob(key)
        try:
            blob.upload_from_string(content, if_generation_match=int(version or 0))
        except self._errors.PreconditionFailed as error:
            raise ChangedMeanwhileError(f"gs://{bucket}/{key} has changed meanwhile") from error
        return str(blob.generation)


class _Azure:
    """Azure Blob Storage: If-Match by ETag; a new blob is only made where there is none."""

    def __init__(self, options: Any) -> None:
        self._io = import_module("apache_beam.io.azure.blobstorageio").BlobStorageIO(pipeline_options=options)
        self._errors = import_module("azure.core.exceptions")
        self._unmodified = import_module("azure.core").MatchConditions.IfNotModified

    def _blob(self, bucket: str, key: str) -> Any:
        return self._io.client.get_blob_client(bucket.partition("/")[2], key)

    def get(self, bucket: str, key: str) -> Versioned | None:
        try:
            found = self._blob(bucket, key).download_blob()
        except self._errors.ResourceNotFoundError:
            return None
        return Versioned(found.readall(), found.properties.etag)

    def put(self, bucket: str, key: str, content: bytes, version: str | None) -> str:
        condition = {"overwrite": True, "etag": version, "match_condition": self._unmodified} if version else {}
        try:
            return str(self._blob(bucket, key).upload_blob(content, **condition)["etag"])
        except (self._errors.ResourceModifiedError, self._errors.ResourceExistsError) as error:
            raise ChangedMeanwhileError(f"azfs://{bucket}/{key} has changed meanwhile") from error


_STORES: dict[str, tuple[Callable[[Any], _S3 | _Gcs | _Azure], str]] = {
    "s3": (_S3, "s3"),
    "gs": (_Gcs, "gcs"),
    "azfs": (_Azure, "azure"),
}
"""By the scheme of a URL: the store, and the optional extra of thinkledger that brings its client."""


def _store(url: str) -> _S3 | _Gcs | _Azure:
    scheme = url.partition("://")[0]
    if scheme not in _STORES:
        raise StoreError(f"{url}: a lake is a folder or lies at one of {', '.join(f'{name}://' for name in _STORES)}")
    make, extra = _STORES[scheme]
    try:
        return make(FileSystems._pipeline_options)  # noqa: SLF001 - Beam has no other way to them
    except (ImportError, AssertionError) as error:
        raise StoreError(f"{url}: its client is not installed; pip install 'thinkledger[{extra}]'") from error
