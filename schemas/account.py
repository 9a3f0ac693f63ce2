"""The account of a run: every record ends as a call, a part, a duplicate, skipped or a reject. It must balance."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from pydantic import BaseModel, Field, computed_field

from schemas.call import NORMALISER_VERSION, SCHEMA_VERSION
from schemas.lake import Kind, LakeFile


@dataclass(slots=True)
class Tally:
    """Input records by their fate before any duplicate is looked for. Tallies add up, in any order.

    A record that holds several calls counts once for each of them, a record that holds none counts once.
    """

    records: int = 0
    bytes: int = 0
    calls: int = 0
    parts: int = 0
    """Further lines of a call that has several."""
    skipped: Counter[str] = field(default_factory=Counter)
    """By the rule that skipped them."""
    rejects: Counter[str] = field(default_factory=Counter)
    """By reason."""
    calls_by: Counter[str] = field(default_factory=Counter)
    """Calls by protocol and form of thinking: ``openai_chat/full``."""
    sources: Counter[str] = field(default_factory=Counter)
    """Calls and rejects by the form that they were stored in: ``litellm/calls``."""
    unmatched: Counter[str] = field(default_factory=Counter)
    """Words of a record that no value of a column stands for: ``finish_reason=banana``."""

    def add(self, other: "Tally") -> None:
        """Add another tally to this one."""
        self.records += other.records
        self.bytes += other.bytes
        self.calls += other.calls
        self.parts += other.parts
        self.skipped.update(other.skipped)
        self.rejects.update(other.rejects)
        self.calls_by.update(other.calls_by)
        self.sources.update(other.sources)
        self.unmatched.update(other.unmatched)


class Beaten(NamedTuple):
    """A row of another partition that an undated row of the same call beats."""

    partition: str
    call_id: str
    source_file: str
    source_position: int


class Purged(BaseModel):
    """What one rule of the retention policy takes, or would take, out of one partition."""

    rule: str
    rows: int
    bytes: int
    """Bytes of the texts, tags' values and usage objects that change."""
    oldest_days: int
    """The age of the oldest of these rows."""
    columns: dict[str, int]
    """Rows by the column that changes."""

    def __add__(self, other: "Purged") -> "Purged":
        """The same rule in another place."""
        return Purged(
            rule=self.rule,
            rows=self.rows + other.rows,
            bytes=self.bytes + other.bytes,
            oldest_days=max(self.oldest_days, other.oldest_days),
            columns=dict(Counter(self.columns) + Counter(other.columns)),
        )


class PartitionPurge(BaseModel):
    """What retention did to one partition. Totals are compared before the new file may take the old one's place."""

    purged: list[Purged] = Field(default_factory=list)
    totals_before: dict[str, str] = Field(default_factory=dict)
    totals_after: dict[str, str] = Field(default_factory=dict)


class PartitionAccount(BaseModel):
    """What publishing did to one partition: how many rows arrived, how many of them stay, how many live ones went."""

    kind: Kind
    partition: str
    arrived: int = 0
    duplicates: int = 0
    """Rows that arrived and lost: to each other, to a live row, or to a neighbouring partition's row."""
    duplicates_by: dict[str, int] = Field(default_factory=dict)
    """By what has the same call."""
    replaced: int = 0
    """Live rows that lost to a row that arrived."""
    id_conflicts: int = 0
    """Rows that stay beside another finished row of the same id, since their texts differ."""
    expired: int = 0
    """Rows that arrived past their retention, or of somebody to be forgotten: they stay without those texts."""
    purge: PartitionPurge | None = None
    changed: bool = False
    file: LakeFile | None = None
    """The next live file where ``changed``; null when no row is left."""
    beaten: list[Beaten] = Field(default_factory=list)

    @property
    def added(self) -> int:
        """Rows that the lake has gained here, before the replaced ones are taken off."""
        return self.arrived - self.duplicates


class Outcome(NamedTuple):
    """What one group of descriptors came to: a partition's account, or the sum of the tallies.

    One type, since Beam reads a union of two as a schema and, as the order of a set will have it, fails at that.
    """

    partition: PartitionAccount | None = None
    tally: Tally | None = None


class ColumnChange(BaseModel):
    """How a column differs between the rows that ``--replace`` took out and those that came in their place."""

    column: str
    before: int
    """Rows that had a value."""
    after: int
    differ: int
    """Calls that are there before and after, with another value."""


class RetentionAccount(BaseModel):
    """What a run of ``retain`` did, by which policy, and that no total changed."""

    policy: str
    """The policy's file in the lake."""
    as_of: date
    rows: int
    bytes: int
    totals_before: dict[str, str] = Field(default_factory=dict)
    """Of the partitions that changed: rows, sums of all counts and costs, calls by effort."""
    totals_after: dict[str, str] = Field(default_factory=dict)


class RunAccount(BaseModel):
    """``runs/<run_id>.json``: what came in, what became of it, and which partitions changed."""

    run_id: str
    generation: int
    started_at: datetime
    ended_at: datetime | None = None
    inputs: list[str] = Field(default_factory=list)
    schema_version: int = SCHEMA_VERSION
    normaliser_version: str = NORMALISER_VERSION
    tally: Tally = Field(default_factory=Tally)
    removed: int = 0
    """Live rows that were taken out before their sources were read again (``--replace``)."""
    partitions: list[PartitionAccount] = Field(default_factory=list)
    files: dict[str, int] = Field(default_factory=dict)
    """Files that the inputs named: new, unchanged, grown, …"""
    changes: list[ColumnChange] = Field(default_factory=list)
    """Only of ``--replace``."""
    retention: RetentionAccount | None = None
    """Only of ``retain``."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def calls(self) -> int:
        """Calls that the run added."""
        return sum(p.added for p in self.partitions if p.kind is Kind.CALLS)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rejects(self) -> int:
        """Rejects that the run added."""
        return sum(p.added for p in self.partitions if p.kind is Kind.REJECTS)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def duplicates(self) -> int:
        """Calls and rejects that the lake, or the run itself, had already."""
        return sum(p.duplicates for p in self.partitions)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def duplicates_by(self) -> dict[str, int]:
        """Duplicates by what has the same call."""
        return dict(sum((Counter(p.duplicates_by) for p in self.partitions), Counter[str]()))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def replaced(self) -> int:
        """Live rows that gave way to better ones."""
        return sum(p.replaced for p in self.partitions)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def id_conflicts(self) -> int:
        """Calls that share an id with another one, but not the text."""
        return sum(p.id_conflicts for p in self.partitions)

    @property
    def skipped(self) -> int:
        """Records skipped by rule."""
        return self.tally.skipped.total()

    def balances(self) -> bool:
        """Tell whether every record that came in is accounted for."""
        return not self.imbalance()

    def imbalance(self) -> str:
        """What does not add up, in one line; empty when all does."""
        tally = self.tally
        arrived = {kind: sum(p.arrived for p in self.partitions if p.kind is kind) for kind in Kind}
        out = self.calls + tally.parts + self.duplicates + self.skipped + self.rejects
        sides = (
            ("calls normalised and calls published", tally.calls, arrived[Kind.CALLS]),
            ("rejects found and rejects published", tally.rejects.total(), arrived[Kind.REJECTS]),
            ("records in and calls + parts + duplicates + skipped + rejects", tally.records, out),
        )
        return "; ".join(f"{what} differ: {left} and {right}" for what, left, right in sides if left != right)
