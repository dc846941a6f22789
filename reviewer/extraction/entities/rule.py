"""Entity rules, their input and their output."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reviewer.extraction.candidates import PRIORS, RuleClass
from reviewer.extraction.entities.entity import Attribute, EntityType, Relation
from reviewer.extraction.rules.rule import Statement
from reviewer.sources.records import Record, Role, Shape
from reviewer.text.units import Unit

NOT_IN_FORCE_FLAG = "not-in-force"


class Place(Struct, frozen=True):
    """A statement, which is `record.text[start:end]`.

    `below`, for headings only: the units after it in the record.
    """

    statement: Statement
    record: Record
    path: str
    start: int
    end: int
    below: tuple[Unit, ...] = ()


class Found(Struct, frozen=True):
    """An entity found at a place. Empty `content`: the wording is the text of the span."""

    name: str
    start: int
    end: int
    content: str = ""
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[Relation, ...] = ()
    slot: str = ""
    flags: tuple[str, ...] = ()
    taken: tuple[int, ...] = ()
    """Starts of other units that belong to this entity and are not proposed on their own."""


class EntityRule(Struct, frozen=True):
    """One rule. Its examples are its tests: small Markdown texts, and the name it finds in each.

    An empty name: the rule proposes nothing. `quality` (0 to 1) ranks rules of one class and their
    proposals; it does not enter the confidence.
    """

    id: str
    rule_class: RuleClass
    type: EntityType
    description: str
    finds: Callable[[Place], Found | None]
    examples: tuple[tuple[str, str], ...]
    quality: float = 0.5
    cues: tuple[str, ...] = ()
    """Strings in lower case of which a statement must contain one; empty: no condition."""
    role: Role = Role.NOTE
    """Role in the examples."""
    shape: Shape = Shape.SECTION
    """Shape of the record in the examples."""

    def has_cue(self, lower: str) -> bool:
        """Whether a text in lower case contains one of the cues, if there are any."""
        for cue in self.cues:  # faster than `any`: this runs for every statement and rule
            if cue in lower:
                return True
        return not self.cues

    @property
    def prior(self) -> float:
        return PRIORS[self.rule_class]
