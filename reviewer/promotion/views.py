"""Rows, entities and conflicts as plain values, for the screen and the command line."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.extraction.entities.entity import Attribute
from reviewer.proposing.values import Proof, Proposer

OVER_CAP = "over the cap"
"""Why a row is in the report of a wave that can still be queued."""


class Status(StrEnum):
    CANDIDATE = "candidate"
    ACTIVE = "active"
    INVALID = "invalid"
    SUPERSEDED = "superseded"
    GRADUATED = "graduated"


class RowKind(StrEnum):
    """The kind of a row of the queue: L1, L2, or a conflict of two L2."""

    MEMORY = "memory"
    ENTITY = "entity"
    CONFLICT = "conflict"


class RejectReason(StrEnum):
    """Why a person rejects a candidate."""

    NARRATION = "narration"
    KNOWN = "known"
    WRONG = "wrong"
    NARROW = "narrow"
    OTHER = "other"


REASONS = {
    RejectReason.NARRATION: ("of the moment", "a step of one task, not a rule"),
    RejectReason.KNOWN: ("known already", "the agent has it already"),
    RejectReason.WRONG: ("wrong", "it is not true, or not any more"),
    RejectReason.NARROW: ("too narrow", "it is true for one place or task only"),
    RejectReason.OTHER: ("another reason", "none of these"),
}
"""The name and the meaning of each."""


def proposed_by(proposer: Proposer) -> dict[str, str | int]:
    return {"proposer": str(proposer), "excerpt": int(proposer is Proposer.EXCERPT)}


class QueueQuery(Struct, frozen=True):
    """The rows and their order. `status` also takes `deferred`, `all` and `waiting`, which leaves
    out deferred rows unless the filter names them.
    """

    project: str | None = None
    status: str = "waiting"
    filter: str = ""
    costliest_first: bool = False
    """In the order of what lacking a row has cost, then the latest decision; else by rank."""


class QueueRow(Struct, frozen=True):
    """A line of the queue. `members` counts the near duplicates behind it."""

    id: int
    kind: RowKind
    status: Status
    deferred: bool
    edited: bool
    type: str
    content: str
    confidence: float
    rank: float
    members: int
    seen: int
    flags: tuple[str, ...]
    project: str
    rule: str
    leader_id: int | None
    pending_since: str
    proposer: str = "excerpt"
    """A `Proposer`."""
    sessions: int = 1
    """The sessions that say it, by its evidence or as counted by a job over many files."""
    authors: int = 0
    """The people whose sessions say it, as counted by such a job; 0 without one."""
    need: str = ""
    """Why a maintainer needs it: instruction, trap, decision; empty if unknown."""
    cost: int = 0
    """Calls lost for lack of it, as far as events show."""
    times: int = 0
    """How often it came up; 0 if not counted."""
    reason: str = ""
    """Why it was rejected, a `RejectReason`, or the error in a disputed row that waits; empty if
    not given.
    """

    @property
    def came_up(self) -> int:
        """How often it came up, or else was seen."""
        return self.times or self.seen


class Counts(Struct, frozen=True):
    """Counts of a project's queue. Deferred rows do not count as waiting; `beyond_cap` candidates
    are in the waves' reports.
    """

    waiting: int
    deferred: int
    promoted: int
    rejected: int
    promoted_today: int
    rejected_today: int
    beyond_cap: int
    refusals: int = 0
    """The refusals and corrections of a project that are no rows."""


class SourceRef(Struct, frozen=True):
    """The source of a fact: 0-based half-open lines of a file, and the record's id."""

    path: str
    line_start: int
    line_end: int
    record_id: str


class CandidateView(QueueRow, frozen=True, kw_only=True):
    """A memory with everything that explains it."""

    extractor_version: str
    prior: float
    signal: float
    freshness: float
    refs: int
    first_seen: str
    last_seen: str
    decided_at: str | None
    superseded_by: int | None
    source: SourceRef | None
    """None if the memory was written by hand."""
    proof: Proof | None = None
    """For statements; its lines are those of `source.path`."""

    @property
    def hand_authored(self) -> bool:
        """Whether it has no source, only an author."""
        return self.source is None

    def to_json(self) -> dict[str, Any]:
        """The command line's contract: one flat object."""
        return {**msgspec.to_builtins(self), "hand_authored": self.hand_authored}


class Member(Struct, frozen=True):
    """A near duplicate behind a row; `similarity`: 0 to 1 to the row's content."""

    id: int
    content: str
    confidence: float
    similarity: float
    status: Status
    source: SourceRef | None


class SourceState(StrEnum):
    """Whether a file still has the bytes of a record."""

    SAME = "same"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"


class RecordView(Struct, frozen=True):
    id: int
    key: str
    path: str
    line_start: int
    line_end: int
    role: str
    use: str
    shape: str
    text: str
    at: str | None = None
    session: str | None = None
    sidechain: bool = False
    headings: tuple[str, ...] = ()
    meta: dict[str, str] = {}

    @property
    def seen_in(self) -> str:
        """Its session, or else its file."""
        return self.session or self.path


class EvidenceView(Struct, frozen=True):
    """A piece of evidence: the span in its record, and the text around it."""

    memory_id: int
    record: RecordView
    span_start: int
    span_end: int
    rule: str
    before: tuple[RecordView, ...]
    after: tuple[RecordView, ...]

    @property
    def line(self) -> int:
        """The 0-based line of the file on which the span begins."""
        record = self.record
        return line_of_span(record.text, record.line_start, record.line_end, self.span_start)

    @property
    def quote(self) -> str:
        return self.record.text[self.span_start : self.span_end]


def line_of_span(text: str, line_start: int, line_end: int, span_start: int) -> int:
    """The 0-based line of a file on which a span begins, in a record of those lines.

    Exact if the text is the lines themselves (notes, Markdown transcripts); the record's first line
    if it was extracted from JSON.
    """
    if text.count("\n") + 1 != line_end - line_start:
        return line_start
    return line_start + text.count("\n", 0, span_start)


class EntityView(Struct, frozen=True):
    """The structure of an entity; wording, status and evidence are in its row."""

    id: int
    name: str
    slot: str
    attributes: tuple[Attribute, ...]
    graduated_from: int | None


class Resolution(StrEnum):
    """How a person settled a conflict."""

    SUPERSEDED = "superseded"
    KEPT_BOTH = "kept both"  # by earlier versions
    DISMISSED = "dismissed"


class ConflictView(Struct, frozen=True):
    """Two entities with different values for the same slot. `id` is that of the queue row."""

    id: int
    left: CandidateView
    right: CandidateView
    slot: str
    resolution: Resolution | None

    @property
    def sides(self) -> tuple[CandidateView, CandidateView]:
        """The side with the later proof, then the other one."""
        first, second = sorted((self.left, self.right), key=lambda side: (side.last_seen, side.id))
        return second, first


class Done(Struct, frozen=True):
    """A decision. `ids` are the decided rows, including near duplicates."""

    act: int
    """Its ledger id; 0 if nothing changed and nothing was written."""
    title: str
    ids: tuple[int, ...]
