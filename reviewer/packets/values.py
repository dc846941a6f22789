"""Values of packets: items as read from a source, and the parts of a packet."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from reviewer.text.for_agents import AgentText

DEFAULT_BUDGET = 8_000
"""The default size of a packet, in tokens."""


class Section(StrEnum):
    """The sections of a packet, in their order."""

    INSTRUCTION = "instruction"
    READ_ORDER = "read order"
    CONSTITUTION = "constitution"
    TASKS = "tasks"
    CONVENTIONS = "conventions"
    DECISIONS = "decisions"
    LEARNINGS = "learnings"


SCORED = (Section.DECISIONS, Section.LEARNINGS)
"""The sections whose entries are ranked by score."""


class State(StrEnum):
    """How much of an item a packet shows."""

    FULL = "full"
    SHORT = "short"
    TITLE = "title"
    DROPPED = "dropped"


class Rule(StrEnum):
    """The rule that decided how much of an item is shown."""

    TIER_1 = "tier 1"
    ALL_FIT = "all fit"
    PINNED = "pinned"
    IN_ORDER = "in order"
    CEILING = "ceiling"
    SHORTER = "shorter"
    WHOLE = "whole"
    TOO_BIG = "too big"
    BEHIND = "behind"
    NO_ROOM = "no room"
    SUPERSEDED = "superseded"
    LEFT_OUT = "left out"


class Problem(Struct, frozen=True):
    """Something that could not be read. `line` is 1-based, 0 for the whole file."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


class Item(Struct, frozen=True, kw_only=True):
    """One item of a source.

    `text` is the body below the title for an entry with a `heading`, and the full text for a list
    item. `place` is where it comes from: `DECISIONS.md:46`, `m:12`.
    """

    id: str
    section: Section
    title: str
    text: str
    place: str
    at: datetime | None = None
    group: str = ""
    heading: bool = False
    outdated: str = ""
    """Why it is no longer in force, as a word: superseded, deprecated, rejected, struck out."""
    all_or_nothing: bool = False
    """Shown whole or not at all."""
    recurrence: int | None = None
    """Sessions in which it came up or was used; None if unknown."""
    lost_calls: int = 0
    """Calls lost for lack of it."""
    sentence: str = ""
    """The content of a memory; empty for a part of a document."""
    origin: str = ""
    """Where a memory is from: `in 3 sessions, needed again in 2`, `from a note`."""
    repeats: bool = False
    """Whether a newer one is about the same failure."""
    pinned: bool = False
    """Put first by a person."""

    @property
    def superseded(self) -> bool:
        return bool(self.outdated)


class RuleBlock(Struct, frozen=True):
    """A block of the constitution: a heading, a paragraph or an item of a list, as Markdown.

    `heading`: also the words before a list that end in a colon, which are no rule by themselves but
    the `lead` of each item.
    """

    text: str
    place: str
    listed: bool = False
    heading: bool = False
    lead: str = ""

    @property
    def id(self) -> str:
        return item_id(Section.CONSTITUTION, "", self.text)

    @property
    def words(self) -> str:
        """The text without its mark, after its lead."""
        return f"{self.lead} {self.text.removeprefix('- ')}".lstrip()


class Material(Struct, frozen=True, kw_only=True):
    """Everything read from one source."""

    source: str
    """Path of the folder, or of the store with the project."""
    read_order: tuple[str, ...] = ()
    constitution: tuple[RuleBlock, ...] = ()
    items: tuple[Item, ...] = ()
    problems: tuple[Problem, ...] = ()

    def of(self, section: Section) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.section is section)


class Score(Struct, frozen=True):
    """The score of an item and its parts.

    With a task `total` = `relevance`, 0 to 1. Without one `total` = `recency` + `relevance`, 0 to
    2, and 0 when superseded. `rarity` is the weight of the `matched` words of the task.
    """

    total: float
    recency: float
    relevance: float
    rarity: float
    matched: tuple[str, ...]
    days: int | None
    """Age in days; negative for the future, None without a date."""
    working: bool = False
    """An open task in progress, which comes first if a task was given."""
    for_task: bool = False
    """Whether a task was given."""
    recurrence: int | None = None
    """Sessions in which the item came up, which then decide the order without a task."""
    lost_calls: int = 0
    origin: str = ""


class PacketItem(Struct, frozen=True, kw_only=True):
    id: str
    section: Section
    state: State
    title: str
    shown: AgentText
    """Its text in the packet, as Markdown; empty when dropped."""
    tokens: int
    """Tokens of `shown`."""
    full_tokens: int | None
    """Tokens of the whole item; None if they were not counted."""
    score: Score | None
    place: str
    at: datetime | None
    rule: Rule
    reason: str
    """Why it has this form, without the score."""
    score_text: str
    """The parts of the score; empty without one."""
    words: str
    """The content of a memory, the title of a part of a document."""
    pinned: bool = False
    """Put first by a person, in every packet."""

    @property
    def why(self) -> str:
        """The reason, followed by the score if there is one."""
        return f"{self.reason}; {self.score_text}" if self.score_text else self.reason

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
            "recurrence": (self.score.recurrence or 0) if self.score else 0,
            "at": self.at and self.at.isoformat(),
            "source": self.place,
            "rule": str(self.rule),
            "why": self.why,
        }


class SectionUse(Struct, frozen=True):
    """A section and its tokens. `max_tokens` is None for sections without a cap (tier 1)."""

    name: Section
    max_tokens: int | None
    used: int
    items: tuple[str, ...]
    """Its contents, as Markdown."""


class Packet(Struct, frozen=True, kw_only=True):
    """A packet within its budget. Only tier 1 may exceed it; `over_budget` is then true."""

    source: str
    as_of: datetime
    budget: int
    counted_with: str
    tokens_used: int
    tier_1: int
    """Tokens used at any budget."""
    task: str
    keywords: tuple[str, ...]
    sections: tuple[SectionUse, ...]
    items: tuple[PacketItem, ...]
    """All items of the source, by section, in order of preference."""
    markdown: AgentText
    instruction: str
    read_order: tuple[str, ...]
    problems: tuple[Problem, ...]
    masked: int
    """Number of masked secrets."""

    @property
    def over_budget(self) -> bool:
        """Whether tier 1 alone exceeds the budget."""
        return self.tier_1 > self.budget

    def in_state(self, *states: State) -> tuple[PacketItem, ...]:
        """The items in any of some states."""
        return tuple(item for item in self.items if item.state in states)


def item_id(section: str, title: str, text: str) -> str:
    """Eight hexadecimal digits; the same words in the same section always give the same id."""
    key = f"{section}\0{title}\0{text}".encode("utf-8", "replace")
    return blake2b(key, digest_size=4).hexdigest()
