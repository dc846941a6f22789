"""Whether two entities fill one slot with different values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from reviewer.extraction.entities.entity import OBLIGATION, Attribute
from reviewer.extraction.entities.naming import name_key
from reviewer.extraction.entities.quantities import same_amount

FACTS_OF_RECORDS = frozenset(("number", "status", "date", "superseded_by"))
"""Attributes that may differ between two entries without a contradiction."""


class EntityClaim(Protocol):
    """An entity candidate, or a row of the store with these fields."""

    @property
    def type(self) -> str:
        """An `EntityType`."""
        ...

    @property
    def slot(self) -> str:
        """The key for which two different values are a contradiction."""
        ...

    @property
    def attributes(self) -> Sequence[Attribute]:
        """The named values."""
        ...


class Contradiction(Struct, frozen=True):
    """Two entities with different values of `attribute` for one slot."""

    slot: str
    attribute: str
    first: Attribute
    second: Attribute

    def __str__(self) -> str:
        return f"{self.attribute}: {_shown(self.first)} or {_shown(self.second)}"


def contradicts(a: EntityClaim, b: EntityClaim) -> Contradiction | None:
    """The first attribute in which two entities of one slot differ, or None.

    They are of one type, except that a requirement and a constraint may contradict each other
    (`must`, `must not`). Amounts agree only if they are exactly equal (`90 days` and `90 d`);
    options when one names the other more closely (`PostgreSQL`, `PostgreSQL 16`).
    """
    if not a.slot or a.slot != b.slot:
        return None
    if a.type != b.type and not a.slot.startswith(OBLIGATION):
        return None
    others = {attribute.name: attribute for attribute in b.attributes}
    for attribute in a.attributes:
        other = others.get(attribute.name)
        if other is None or attribute.name in FACTS_OF_RECORDS:
            continue
        if not _agree(attribute, other):
            return Contradiction(a.slot, attribute.name, attribute, other)
    return None


def _agree(a: Attribute, b: Attribute) -> bool:
    if a.name == "choice":
        some, others = set(name_key(a.value).split()), set(name_key(b.value).split())
        return some <= others or others <= some
    return same_amount(a.value, a.unit, b.value, b.unit)


def _shown(attribute: Attribute) -> str:
    return f"{attribute.value} {attribute.unit}".strip()
