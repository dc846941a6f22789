"""What workers tell the queue screen. Workers read; only these messages change what is shown."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.message import Message

from reviewer.tui.widgets.candidate_row import Badges
from reviewer.tui.widgets.structure_text import Extras

if TYPE_CHECKING:
    from reviewer.engine import (
        CandidateView,
        Counts,
        EvidenceView,
        Hint,
        Member,
        QueueQuery,
        Score,
        SourceState,
    )


@dataclass
class SnapshotRead(Message):
    """The ids that a query finds, in order."""

    query: QueueQuery
    ids: array[int]
    extends: bool
    """It goes on from the first page, which is shown already."""


@dataclass
class DetailRead(Message):
    """Everything about the row under the cursor."""

    memory_id: int
    view: CandidateView | None
    members: Sequence[Member] = ()
    wordings: Sequence[tuple[str, str]] = ()
    evidence: Sequence[EvidenceView] = ()
    extras: Extras = field(default_factory=Extras)


@dataclass
class StateRead(Message):
    """Whether the file still holds what the row was read from, what policies say, the odds."""

    memory_id: int
    state: SourceState
    hints: tuple[Hint, ...] = ()
    score: Score | None = None


@dataclass
class BadgesRead(Message):
    """What was found out about rows in sight."""

    badges: dict[int, Badges]


@dataclass
class CountsRead(Message):
    """How the queue stands."""

    counts: Counts


@dataclass
class OthersWrote(Message):
    """Another process changed the store; `new` rows of the query are not in the list."""

    new: int


@dataclass
class Failed(Message):
    """A worker could not do its work; `text` says what to do."""

    text: str


@dataclass
class OpenMemory(Message):
    """The person wants to see this memory in the queue. Goes to the queue screen."""

    memory: int
