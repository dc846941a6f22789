"""What goes into a packet and what comes out: plain values (`smart-retrieval.md`; settled.md)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct


class Section(StrEnum):
    """The sections of a packet, in the order in which they are written."""

    INSTRUCTION = "instruction"
    READ_ORDER = "read order"
    CONSTITUTION = "constitution"
    TASKS = "tasks"
    CONVENTIONS = "conventions"
    DECISIONS = "decisions"
    LEARNINGS = "learnings"


SCORED = (Section.DECISIONS, Section.LEARNINGS)
"""The sections whose entries compete by score."""


class State(StrEnum):
    """How much of an item a packet shows."""

    FULL = "full"
    SHORT = "short"
    TITLE = "title"
    DROPPED = "dropped"


class Rule(StrEnum):
    """What decided how much of an item is shown."""

    TIER_1 = "tier 1"
    ALL_FIT = "all fit"
    PINNED = "pinned"
    IN_ORDER = "in order"
    TOO_BIG = "too big"
    BEHIND = "behind"
    NO_ROOM = "no room"
    SUPERSEDED = "superseded"
    MUTED = "muted"


class Problem(Struct, frozen=True):
    """Something that could not be read as it stands. `line` is 1-based, 0 for the whole file."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


class Item(Struct, frozen=True, kw_only=True):
    """One thing that may stand in a packet, as it was read.

    `text` is the body below the title for an entry with a `heading`, and the whole wording for an
    item of a list. `place` says where it comes from: `DECISIONS.md:46`, `m:12`.
    """

    id: str
    section: Section
    title: str
    text: str
    place: str
    at: datetime | None = None
    group: str = ""
    heading: bool = False
    superseded: bool = False


class Rules(Struct, frozen=True):
    """A block of the constitution: a heading, a paragraph or an item of a list, as Markdown."""

    text: str
    place: str
    listed: bool = False
    heading: bool = False


class Material(Struct, frozen=True, kw_only=True):
    """Everything that was read from one source, before any budget."""

    source: str
    """The folder's path, or what else it was read from."""
    read_order: tuple[str, ...] = ()
    constitution: tuple[Rules, ...] = ()
    items: tuple[Item, ...] = ()
    problems: tuple[Problem, ...] = ()

    def of(self, section: Section) -> tuple[Item, ...]:
        """The items of a section as they stand in the source."""
        return tuple(item for item in self.items if item.section is section)


class Score(Struct, frozen=True):
    """How an entry's score came about (`smart-retrieval.md`, Entry Scoring).

    `total` = `recency` + `relevance`, 0 to 2, and 0 when superseded. `rarity` breaks ties: how
    rare the keywords in `matched` are among all entries, for the entry's length.
    """

    total: float
    recency: float
    relevance: float
    rarity: float
    matched: tuple[str, ...]
    days: int | None
    """Age in days; negative for the future, None without a date."""


class PacketItem(Struct, frozen=True, kw_only=True):
    """One item with what became of it and why."""

    id: str
    section: Section
    state: State
    title: str
    shown: str
    """What the packet shows of it, as Markdown; empty when dropped."""
    tokens: int
    """Tokens of `shown`."""
    full_tokens: int | None
    """Tokens that the whole of it needs; None where nobody had to count them."""
    score: Score | None
    place: str
    at: datetime | None
    rule: Rule
    why: str

    def to_json(self) -> dict[str, Any]:
        """One flat object; its `section` comes first."""
        return {
            "section": str(self.section),
            "id": self.id,
            "state": str(self.state),
            "title": self.title,
            "tokens": self.tokens,
            "full_tokens": self.full_tokens,
            "score": self.score and round(self.score.total, 3),
            "recency": self.score and self.score.recency,
            "relevance": self.score and round(self.score.relevance, 3),
            "rarity": self.score and round(self.score.rarity, 3),
            "matched": list(self.score.matched) if self.score else [],
            "at": self.at and self.at.isoformat(),
            "source": self.place,
            "rule": str(self.rule),
            "why": self.why,
        }


class SectionUse(Struct, frozen=True):
    """A section and what it costs. `max_tokens` is None where nothing caps it (tier 1)."""

    name: Section
    max_tokens: int | None
    used: int
    items: tuple[str, ...]
    """What stands in it, as Markdown."""


class Packet(Struct, frozen=True, kw_only=True):
    """A packet within its budget. Only tier 1 may exceed it; then `over_budget` says so."""

    source: str
    as_of: datetime
    budget: int
    counted_with: str
    tokens_used: int
    tier_1: int
    """Tokens that are always there, whatever the budget."""
    task: str
    keywords: tuple[str, ...]
    sections: tuple[SectionUse, ...]
    items: tuple[PacketItem, ...]
    """Everything that was read, by section, in the order in which it was considered."""
    markdown: str
    instruction: str
    read_order: tuple[str, ...]
    problems: tuple[Problem, ...]
    masked: int
    """How many secrets were masked."""

    @property
    def over_budget(self) -> bool:
        """Whether tier 1 alone needs more than the budget."""
        return self.tier_1 > self.budget

    def in_state(self, *states: State) -> tuple[PacketItem, ...]:
        """The items in any of some states."""
        return tuple(item for item in self.items if item.state in states)
