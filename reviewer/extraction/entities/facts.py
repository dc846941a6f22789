"""Facts in a statement about an entity: its name, and its value if given."""

from __future__ import annotations

import re

from reviewer.extraction.entities.entity import Attribute, EntityType, Structure
from reviewer.extraction.entities.naming import name_key, named, title_parts, titled
from reviewer.extraction.entities.quantities import quantities
from reviewer.extraction.rules import VALUE

CHOSEN = re.compile(
    r"chosen option: *\**[\"“]?(?P<option>[^\"”,.;*\n]{2,80}?)[\"”]?\** *(?:,|because\b|$)",
    re.IGNORECASE,
)
"""The outcome of a decision record in MADR format."""
_STATING = (
    EntityType.DECISION, EntityType.REQUIREMENT, EntityType.CONSTRAINT, EntityType.RESULT,
    EntityType.VALIDATION_CLAIM,
)  # fmt: skip
"""Types that make a statement; the others put a name before a dash or comma."""
_GENERIC = (
    "mass", "weight", "length", "width", "height", "depth", "diameter", "thickness", "size", "area",
    "volume", "density", "cost", "price", "speed", "voltage", "current", "power", "torque", "force",
    "load", "pressure", "temperature", "frequency", "rate", "limit", "timeout", "time", "duration",
    "delay", "interval", "capacity", "amount", "count",
)  # fmt: skip
"""Names that are meaningful only below a heading."""


def structure_of(content: str, type_: EntityType, title: str = "", heading: str = "") -> Structure:
    """The structure of a statement. `title` is an explicitly given name.

    `name = value` gives the value and its slot, for which another value is a contradiction. A
    titled statement with a single amount has that as its value.
    """
    if value := VALUE.fullmatch(content):
        name = title or named(value["name"])
        amount = Attribute("value", value["value"], value["unit"] or value["currency"] or "")
        return Structure(name, _slot(type_, name, heading), (amount,))
    if not title:
        return Structure(titled(content) if type_ in _STATING else _named_first(content))
    number, name = title_parts(title)
    attributes = [Attribute("number", number)] if number else []
    slot = ""
    if type_ is EntityType.DECISION and (chosen := CHOSEN.match(content)):
        attributes.append(Attribute("choice", chosen["option"].strip()))
        slot = _slot(type_, name, "")
    amounts = quantities(content)
    if len(amounts) == 1 and type_ is not EntityType.DECISION:
        attributes.append(Attribute("value", amounts[0].value, amounts[0].unit))
        slot = _slot(type_, name, "")
    return Structure(titled(name), slot, tuple(attributes))


def _named_first(content: str) -> str:
    """`Ledger writer - appends the postings` has the name Ledger writer."""
    for border in (" - ", " – ", " — ", ": ", ", ", " ("):
        content = content.partition(border)[0]
    return named(content)


def _slot(type_: EntityType, name: str, heading: str) -> str:
    key, above = name_key(name), name_key(heading)
    if key not in _GENERIC:
        return f"{type_}:{key}"
    return f"{type_}:{above} {key}" if above else f"{type_}:{key}"
