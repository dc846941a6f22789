"""Whether two entities have different values for the same slot."""

from __future__ import annotations

from msgspec import Struct

from reviewer.extraction.entities.entity import Attribute
from reviewer.extraction.entities.naming import name_key
from reviewer.extraction.entities.quantities import same_amount

FACTS_OF_RECORDS = frozenset(("number", "status", "date", "superseded_by"))
"""Attributes that may differ between two entries without contradiction."""


class Claim(Struct, frozen=True):
    """The values of an entity, for comparison with another one."""

    id: int
    type: str
    slot: str
    attributes: tuple[Attribute, ...]
    status: str


def contradiction(a: Claim, b: Claim) -> str:
    """The first difference between two entities of the same type and slot, such as `value: 90 days
    or 30 days`; empty if there is none.

    Amounts agree only if exactly equal (`90 days` and `90 d`); options also if one is more specific
    (`PostgreSQL`, `PostgreSQL 16`).
    """
    if not a.slot or (a.type, a.slot) != (b.type, b.slot):
        return ""
    others = {attribute.name: attribute for attribute in b.attributes}
    for attribute in a.attributes:
        other = others.get(attribute.name)
        if other is None or attribute.name in FACTS_OF_RECORDS:
            continue
        if not _agree(attribute, other):
            return f"{attribute.name}: {_shown(attribute)} or {_shown(other)}"
    return ""


def _agree(a: Attribute, b: Attribute) -> bool:
    if a.name == "choice":
        some, others = set(name_key(a.value).split()), set(name_key(b.value).split())
        return some <= others or others <= some
    return same_amount(a.value, a.unit, b.value, b.unit)


def _shown(attribute: Attribute) -> str:
    return f"{attribute.value} {attribute.unit}".strip()
