"""What the lake says of itself: the pointer, its files, and what a run's workers need to know of both."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from schemas.call import SCHEMA_VERSION


class Grain(StrEnum):
    """How finely calls are partitioned; fixed when the lake is created. Rejects are partitioned by date always."""

    DATE = "date"
    HOUR = "hour"


class Kind(StrEnum):
    """The two relations that are stored as data files."""

    CALLS = "calls"
    REJECTS = "rejects"


class LakeFile(BaseModel):
    """One live data file. ``path`` is relative to the lake; ``bytes`` is its size on disk."""

    model_config = ConfigDict(frozen=True)

    path: str
    rows: int
    bytes: int
    schema_version: int = SCHEMA_VERSION


class PriceFiles(BaseModel):
    """The price table in force and the models matched to it; paths are relative to the lake."""

    model_config = ConfigDict(frozen=True)

    prices: str
    model_map: str
    version: str
    """Where the prices are from, which version, and a hash of what they say."""


class CostFile(BaseModel):
    """What one file of calls costs; ``calls`` names that file, so that a newer one is never read with older costs."""

    model_config = ConfigDict(frozen=True)

    path: str
    calls: str


class Pointer(BaseModel):
    """``lake.json``: exactly the live files, one for each partition. It is the truth; all else follows from it."""

    schema_version: int = SCHEMA_VERSION
    grain: Grain = Grain.DATE
    generation: int = 0
    token: str = ""
    committed_at: datetime
    calls: dict[str, LakeFile] = Field(default_factory=dict)
    """The live file of each partition, as ``date=2026-11-03``."""
    rejects: dict[str, LakeFile] = Field(default_factory=dict)
    runs: list[str] = Field(default_factory=list)
    """The ids of all committed runs, oldest first."""
    superseded: dict[str, datetime] = Field(default_factory=dict)
    """Files that readers of an earlier pointer may still read, and since when they are no longer live."""
    prices: PriceFiles | None = None
    costs: dict[str, CostFile] = Field(default_factory=dict)
    """What the calls of each partition cost by the prices in force, by partition."""
    ledger: str | None = None
    """The file that says which inputs have been read, and how far."""
    retention: str | None = None
    """The retention policy in force."""

    def files(self, kind: Kind) -> dict[str, LakeFile]:
        """The live files of one relation, by partition."""
        return self.calls if kind is Kind.CALLS else self.rejects

    def put(self, kind: Kind, partition: str, file: LakeFile | None) -> None:
        """Make a file the live one of its partition; null: the partition has none any more."""
        if file is None:
            self.files(kind).pop(partition, None)
        else:
            self.files(kind)[partition] = file

    def paths(self) -> set[str]:
        """All live files, relative to the lake."""
        data = {file.path for kind in Kind for file in self.files(kind).values()}
        prices = {self.prices.prices, self.prices.model_map} if self.prices else set()
        costs = {file.path for file in self.costs.values()}
        return data | prices | costs | {path for path in (self.ledger, self.retention) if path}


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run as its workers see it; travels inside the DoFns.

    ``generation`` and ``token`` name every file that the run writes, so that two runs never write the same name.
    """

    lake: Path
    run_id: str
    generation: int
    token: str
    base: Pointer
    """The lake that the run builds on."""
    started_at: datetime
    inputs: tuple[str, ...] = ()
    memory_limit: str = "512MB"
    """What DuckDB may use while one partition is published; beyond it, it spills into the staging folder."""
    removed: int = field(default=0)
    """Rows that were taken out of the base before anything was read (``--replace``)."""
    url: str = ""
    """Where the lake lies if that is an object store: ``lake`` is then the folder that mirrors it."""

    @property
    def staging(self) -> Path:
        """The run's own folder: staged parts, spill files, files being written. Gone when the run has ended."""
        return self.lake / "staging" / self.run_id

    def live(self, kind: Kind, partition: str) -> LakeFile | None:
        """The partition's live file in the lake that the run builds on."""
        return self.base.files(kind).get(partition)

    def target(self, kind: Kind, partition: str) -> str:
        """The partition's next file, relative to the lake."""
        return f"{kind}/{partition}/{kind}-{self.generation:06d}-{self.token}.parquet"
