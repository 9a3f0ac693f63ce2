"""Inputs and the lake on an S3 server on the loopback: the same lake as on the disk, whatever breaks on the way."""

import logging
import threading
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from schemas.lake import Kind
from tests.lake_runs import add, call, normalised, published, staged
from tests.lakes import rows, thinkledger
from tests.traffic import exchange
from transforms.lake import Lake
from transforms.lock import LockLostError
from transforms.mirror import Mirror
from transforms.views import build_views

pytestmark = pytest.mark.usefixtures("server", "cache")


class Flaky:
    """A server that now and then is too busy, or breaks off before it has read what it was sent."""

    def __init__(self) -> None:
        self._app = DomainDispatcherApplication(create_backend_app)
        self.every = 0
        """Each so many requests one fails; 0: none."""
        self.refused = 0
        self._seen = 0
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._lock:
            self._seen += 1
            refuse = self.every and self._seen % self.every == 0
            self.refused += bool(refuse)
        if refuse:
            start_response("503 Slow Down", [("Content-Length", "0"), ("Connection", "close")])
            return [b""]
        answer: Iterable[bytes] = self._app(environ, start_response)
        return answer


@pytest.fixture(scope="module")
def server() -> Iterator[Flaky]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = Flaky()
    served = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{served.port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        boto3.client("s3").create_bucket(Bucket="traffic")
        yield app
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def logs(server: Flaky) -> str:
    assert not server.every
    for day in (1, 2, 3):
        lines = b"".join(exchange(100 * day + n, timestamp=f"2026-11-0{day}T12:00:00Z") for n in range(20))
        boto3.client("s3").put_object(Bucket="traffic", Key=f"logs/{day}.jsonl", Body=lines)
    return "s3://traffic/logs/"


@pytest.fixture(scope="module")
def undisturbed(logs: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("undisturbed") / "lake"
    assert thinkledger("normalise", logs, "--lake", lake).returncode == 0
    return lake


def everything(url: str) -> list[dict[str, Any]]:
    """All calls of a lake on the server, fetched into an empty folder."""
    mirror = Mirror(url)
    pointer = mirror.pull()
    assert pointer is not None
    mirror.fetch(pointer.paths())
    (mirror.folder / "thinkledger.duckdb").unlink(missing_ok=True)
    mirror.fetch([f"runs/{run}.json" for run in pointer.runs])
    build_views(mirror.folder / "thinkledger.duckdb", mirror.folder, pointer)
    return rows(mirror.folder)


def test_a_lake_on_s3_is_the_lake_on_the_disk(
    logs: str, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = "s3://traffic/first"
    done = thinkledger("normalise", logs, "--lake", lake)
    assert done.returncode == 0, done.stderr
    assert "nothing new" in thinkledger("normalise", logs, "--lake", lake).stdout
    assert thinkledger("prices", "--lake", lake).returncode == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another host"))
    assert everything(lake) == rows(undisturbed)
    asked = thinkledger("query", "totals", "--lake", lake, "--format", "json")
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout == thinkledger("query", "totals", "--lake", undisturbed, "--format", "json").stdout


def test_a_query_fetches_the_files_of_its_dates_only(
    logs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = "s3://traffic/second"
    assert thinkledger("normalise", logs, "--lake", lake).returncode == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another host"))
    dates = ("--since", "2026-11-01", "--until", "2026-11-02")
    assert thinkledger("query", "tokens_by_day", "--lake", lake, *dates).returncode == 0
    fetched = {file.parent.name for file in (tmp_path / "another host").rglob("calls-*.parquet")}
    assert fetched <= {"date=2026-11-01", "date=2026-11-02", "date=__HIVE_DEFAULT_PARTITION__"}


def test_a_server_that_fails_now_and_then_costs_nothing(logs: str, undisturbed: Path, server: Flaky) -> None:
    lake = "s3://traffic/third"
    server.every = 7
    try:
        done = thinkledger("normalise", logs, "--lake", lake)
    finally:
        server.every = 0
    assert done.returncode == 0, done.stderr
    assert server.refused > 3
    assert everything(lake) == rows(undisturbed)


def test_of_two_hosts_the_slower_one_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = "s3://traffic/fourth"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    one = Lake.create(url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two"))
    two = Lake.create(url)
    run = one.begin_run()
    add(two, call("b"))
    account = published(run, staged(run, [normalised([call("a")])]))
    with pytest.raises(LockLostError, match=r"another host committed a run meanwhile; run it again"):
        one.commit(run, account)
    one.abort(run)
    assert [file.rows for file in two.pointer().files(Kind.CALLS).values()] == [1]
    add(one, call("a"))
    assert {row["call_id"] for row in everything(url)} == {"a", "b"}


def test_an_upload_that_breaks_off_is_no_part_of_the_lake(monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake.create("s3://traffic/fifth")
    add(lake, call("a"))

    def break_off(_: Mirror, path: str) -> None:
        raise OSError(f"{path}: the connection is gone")

    with monkeypatch.context() as broken:
        broken.setattr(Mirror, "_push_one", break_off)
        run = lake.begin_run()
        account = published(run, staged(run, [normalised([call("b")])]))
        with pytest.raises(OSError, match="the connection is gone"):
            lake.commit(run, account)
        lake.abort(run)
    lake = Lake.open("s3://traffic/fifth")
    assert [row["call_id"] for row in everything("s3://traffic/fifth")] == ["a"]
    add(lake, call("b"))
    assert [row["call_id"] for row in everything("s3://traffic/fifth")] == ["a", "b"]


def test_superseded_files_go_after_the_grace() -> None:
    lake = Lake.create("s3://traffic/sixth")
    for name in ("a", "b", "c"):
        add(lake, call(name))
    keys = _keys("sixth/calls/")
    assert len(keys) == 3
    lake.abort(lake.begin_run(grace=timedelta(0)))
    assert _keys("sixth/calls/") == [f"sixth/{file.path}" for file in lake.pointer().calls.values()]


def _keys(prefix: str) -> list[str]:
    found = boto3.client("s3").list_objects_v2(Bucket="traffic", Prefix=prefix)
    return [item["Key"] for item in found.get("Contents", [])]


def test_what_is_no_lake_says_so_in_one_line() -> None:
    for url, told in (("s3://traffic/none", "is no lake"), ("ftp://host/lake", "a lake is a folder or lies at one of")):
        done = thinkledger("query", "totals", "--lake", url)
        assert done.returncode == 2
        assert told in done.stderr
        assert done.stderr.count("\n") == 1
