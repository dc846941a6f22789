"""All rules, the strongest first."""

from __future__ import annotations

from reviewer.extraction.candidates import PRIORS
from reviewer.extraction.cues import VOCABULARY, occurring
from reviewer.extraction.rules import decisions, findings, people, structure, tasks, values
from reviewer.extraction.rules.rule import Rule, Says, Statement
from reviewer.extraction.screens import narrated
from reviewer.sources.records import Role, Shape
from reviewer.text.units import UnitKind

EXTRACTOR_VERSION = "0.1.0"
"""Carried by every candidate; rises whenever a rule changes what it proposes."""

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (
            *structure.RULES,
            *values.RULES,
            *people.RULES,
            *decisions.RULES,
            *tasks.RULES,
            *findings.RULES,
        ),
        key=lambda rule: (rule.prior, rule.quality),
        reverse=True,
    )
)
"""Every rule, by prior and then quality: where several match, the first names the candidate."""

_NARRATION_RULES = tuple(rule for rule in RULES if rule.narration)
_FIRST = VOCABULARY.add(
    [rule.matches.pattern if isinstance(rule.matches, Says) else rule.cue for rule in RULES]
)
_OF_BIT = {1 << _FIRST + number: rule for number, rule in enumerate(RULES)}
_FITTING = {
    (kind, turn, role): sum(
        bit
        for bit, rule in _OF_BIT.items()
        if kind in rule.kinds and (rule.turns or not turn) and rule.may_be_said_by(role)
    )
    for kind in UnitKind
    for turn in (False, True)
    for role in Role
}
"""The rules for a kind of unit, inside or outside a conversation, and for who speaks."""

__all__ = ["EXTRACTOR_VERSION", "PRIORS", "RULES", "Rule", "Statement", "first_match"]


def first_match(statement: Statement) -> Rule | None:
    """The strongest rule that matches a statement, or None."""
    length = len(statement.text)
    if narrated(statement.text):
        return next(
            (r for r in _NARRATION_RULES if length >= r.shortest and r.matches(statement)), None
        )
    possible, sure = occurring(statement.lower)
    possible &= _FITTING[statement.kind, statement.shape is Shape.TURN, statement.role]
    while possible:
        strongest = possible & -possible
        rule = _OF_BIT[strongest]
        if length >= rule.shortest:
            matches = rule.matches
            if isinstance(matches, Says) and sure & strongest:
                if matches.is_said(statement):
                    return rule
            elif matches(statement):
                return rule
        possible ^= strongest
    return None
