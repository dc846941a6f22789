"""All entity rules, the strongest first."""

from __future__ import annotations

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
_OF_HEADINGS = tuple(r for r in RULES if r.id in _HEADING_IDS or r.id == "decision_record")
_OF_PROSE = tuple(rule for rule in RULES if rule not in _OF_HEADINGS)
_OF_UNTYPED_PROSE = tuple(rule for rule in _OF_PROSE if rule not in headed.RULES)


def first_find(place: Place) -> tuple[EntityRule, Found] | None:
    """The strongest rule that finds an entity at a place, with what it found."""
    if place.statement.kind is UnitKind.HEADING:
        rules = _OF_HEADINGS
    else:
        rules = _OF_PROSE if headed.names_a_type(place) else _OF_UNTYPED_PROSE
    for rule in rules:
        found = rule.finds(place)
        if found is not None:
            return rule, found
    return None
