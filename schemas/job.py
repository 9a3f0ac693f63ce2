"""A job file: what ``thinkledger run`` is to read and where to, for schedulers."""

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from schemas.lake import Grain
from schemas.yaml_text import load_yaml


class JobError(ValueError):
    """The job file cannot be used; the text is one line that says where and what."""


Day = Annotated[str, BeforeValidator(str)]
"""A day as ``--since`` takes it; YAML reads 2026-11-03 as a date."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Input(_Part):
    """Files that are stored in one way."""

    paths: Annotated[tuple[str, ...], Field(min_length=1)]
    """Files, folders, globs, URLs and time templates."""
    source: str = "auto"
    """How their records are stored: as ``--source``; a mapping of your own is found beside the job file."""
    skip: tuple[str, ...] = ()
    since: Day | None = None
    """As ``--since``; null: what the job has."""
    until: Day | None = None


class Job(_Part):
    """A job: several inputs, one lake. Every field but the first two has the meaning of the option of its name."""

    lake: str
    inputs: Annotated[tuple[Input, ...], Field(min_length=1)]
    redact: tuple[str, ...] = ()
    no_text: bool = False
    partition: Grain | None = None
    since: Day | None = None
    until: Day | None = None
    wait: Annotated[float, Field(ge=0)] = 0
    step: str | None = None
    workers: Annotated[int, Field(ge=1)] = 1
    strict: bool = False
    beam: tuple[str, ...] = ()
    """Options for Beam, as ``--runner=NAME``."""


def load_job(path: Path) -> Job:
    """Read a job file.

    Raises:
        JobError: it is not there, no YAML, or says something that is no setting.
    """
    try:
        content = load_yaml(path.read_text("utf-8"))
        return Job.model_validate(content)
    except OSError as error:
        raise JobError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}" for fault in error.errors()
        )
        raise JobError(f"{path}: {told}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise JobError(f"{path}: {' '.join(str(error).split())}") from None
