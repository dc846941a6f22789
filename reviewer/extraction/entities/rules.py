"""All entity rules, the strongest first."""

from __future__ import annotations

from reviewer.extraction.cues import VOCABULARY, occurring
from reviewer.extraction.entities import decisions, headed, obligations, parameters, statements
from reviewer.extraction.entities.rule import EntityRule, Found, Place
from reviewer.text.units import UnitKind

ENTITY_EXTRACTOR_VERSION = "0.1.0"
"""Carried by every entity candidate; rises whenever a rule changes what it proposes."""

RULES: tuple[EntityRule, ...] = tuple(
    sorted(
        (
            *headed.RULES,
            *decisions.RULES,
            *parameters.RULES,
            *obligations.RULES,
            *statements.RULES,
        ),
        key=lambda rule: (rule.prior, rule.quality),
        reverse=True,
    )
)
"""Every rule, by prior and then quality: where several find something, the first names it."""

_HEADING_IDS = frozenset(rule.id for rule in headed.RULES if rule.id.endswith("_heading"))
_RECORDS = tuple(rule for rule in RULES if rule.id == "decision_record")
_OF_HEADINGS = tuple(r for r in RULES if r.id in _HEADING_IDS or r in _RECORDS)
_OF_PROSE = tuple(rule for rule in RULES if rule not in _OF_HEADINGS)
_UNTYPED = tuple(rule for rule in _OF_PROSE if rule not in headed.RULES)

_FIRST = VOCABULARY.add([rule.cue for rule in _UNTYPED])
_OF_BIT = {1 << _FIRST + number: rule for number, rule in enumerate(_UNTYPED)}
_NAMED = 1 << VOCABULARY.add([headed.CUE])
"""Told of every list item and every marked sentence that names a type."""
_ANY_UNTYPED = sum(_OF_BIT)
_ANY = _ANY_UNTYPED | _NAMED


def may_find(kind: UnitKind, lower: str) -> bool:
    """Whether any rule may find something in a unit of a kind, worded so in lower case."""
    return kind is UnitKind.HEADING or bool(occurring(lower)[0] & _ANY)


def first_find(place: Place) -> tuple[EntityRule, Found] | None:
    """The strongest rule that finds an entity at a place, with what it found."""
    statement = place.statement
    if statement.kind is UnitKind.HEADING:
        rules = _OF_HEADINGS if headed.heading_names_a_type(place) else _RECORDS
    else:
        occurs, _ = occurring(statement.lower)
        if occurs & _NAMED and headed.names_a_type(place):
            rules = _OF_PROSE
        else:
            rules = _of(occurs & _ANY_UNTYPED)
    for rule in rules:
        found = rule.finds(place)
        if found is not None:
            return rule, found
    return None


def _of(bits: int) -> tuple[EntityRule, ...]:
    """The rules of some bits, the strongest first."""
    rules: list[EntityRule] = []
    while bits:
        strongest = bits & -bits
        rules.append(_OF_BIT[strongest])
        bits ^= strongest
    return tuple(rules)
