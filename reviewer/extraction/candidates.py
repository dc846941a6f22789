"""A candidate: a proposed memory with its explanation."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from reviewer.sources.records import Record


class MemoryType(StrEnum):
    """The six types of memory."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    PROJECT = "project"
    EPISODIC = "episodic"
    KNOWLEDGE = "knowledge"
    ADAPTATION = "adaptation"


class RuleClass(StrEnum):
    """The kinds of evidence for rules, each with a prior confidence."""

    HEADING = "heading"  # .70  `## Decision: ...`
    LIST_ITEM = "list item"  # .65  `- [Decision] ...`
    VALUE = "value"  # .60  `X = 4.8 kg`
    SENTENCE = "sentence"  # .50  `I prefer X`


PRIORS: dict[RuleClass, float] = {
    RuleClass.HEADING: 0.70,
    RuleClass.LIST_ITEM: 0.65,
    RuleClass.VALUE: 0.60,
    RuleClass.SENTENCE: 0.50,
}
"""Prior confidence of each rule class."""


class Setting(Struct, frozen=True):
    """Source and time of an extraction, the inputs of the confidence formula besides the text."""

    now: datetime
    updated: datetime | None = None
    """Time of the source's last change, for records without their own."""
    signal: float = 1.0
    """The structural signal of the source's path."""


class Candidate(Struct, frozen=True):
    """A proposed memory.

    `content` is cleaned (8 to 280 characters); `record.text[span_start:span_end]` is the text it
    came from. `confidence` = `prior * signal * freshness`.
    """

    type: StrEnum
    """A MemoryType; of an entity, its EntityType."""
    content: str
    rule: str
    """Id of the rule that fired."""
    prior: float
    signal: float
    freshness: float
    confidence: float
    record: Record
    span_start: int
    span_end: int
    extractor_version: str
    flags: tuple[str, ...] = ()
    """`secret` (contains masked text), `injection` (reads like a planted instruction)."""
