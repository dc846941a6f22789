"""What an entity rule is, and what it is given to look at."""

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
    """A statement where it stands: `record.text[start:end]`, and the units that follow it.

    `below` is given for headings only: the units after it, to the end of the record.
    """

    statement: Statement
    record: Record
    path: str
    start: int
    end: int
    below: tuple[Unit, ...] = ()


class Found(Struct, frozen=True):
    """What a rule read from a place. `content` is empty where the span's own wording is meant."""

    name: str
    start: int
    end: int
    content: str = ""
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[Relation, ...] = ()
    slot: str = ""
    flags: tuple[str, ...] = ()
    taken: tuple[int, ...] = ()
    """Starts of other units that are read as part of this one, and propose nothing themselves."""


class EntityRule(Struct, frozen=True):
    """One rule. Its examples are its tests: small Markdown texts, and the name it finds in each.

    An empty name means that the rule proposes nothing. `quality` (0 to 1) orders the rules of a
    class and weighs what they propose; it is no part of the confidence.
    """

    id: str
    rule_class: RuleClass
    type: EntityType
    description: str
    finds: Callable[[Place], Found | None]
    examples: tuple[tuple[str, str], ...]
    quality: float = 0.5
    cue: str | None = None
    """A pattern in lower case of what must stand in the wording of whatever the rule finds
    (`extraction/cues.py`); None where nothing must."""
    role: Role = Role.NOTE
    """Who speaks in the examples."""
    shape: Shape = Shape.SECTION
    """Where the examples stand."""

    @property
    def prior(self) -> float:
        """Prior confidence of the rule's class (`promotion-rules.md`)."""
        return PRIORS[self.rule_class]
