"""All rules, the strongest first."""

from __future__ import annotations

from reviewer.extraction.candidates import PRIORS
from reviewer.extraction.rejections import narrated
from reviewer.extraction.rules import sentences, structure
from reviewer.extraction.rules.rule import Rule, Statement
from reviewer.sources.records import Shape
from reviewer.text.units import UnitKind

EXTRACTOR_VERSION = "0.1.1"
"""Stored with every candidate; increase it whenever a rule proposes something different."""

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (*structure.RULES, *sentences.RULES),
        key=lambda rule: (rule.prior, rule.quality),
        reverse=True,
    )
)
"""Every rule, by prior and then quality: where several match, the first names the candidate."""

_NARRATION_RULES = tuple(rule for rule in RULES if rule.narration)
_APPLICABLE = {
    (kind, turn): tuple(r for r in RULES if kind in r.kinds and (r.turns or not turn))
    for kind in UnitKind
    for turn in (False, True)
}
"""Rules by kind of unit, inside or outside a conversation."""

__all__ = ["EXTRACTOR_VERSION", "PRIORS", "RULES", "Rule", "Statement", "first_match"]


def first_match(statement: Statement) -> Rule | None:
    """The strongest rule that matches a statement, or None."""
    if narrated(statement.text):
        rules = _NARRATION_RULES
    else:
        rules = _APPLICABLE[statement.kind, statement.shape is Shape.TURN]
    length = len(statement.text)
    for rule in rules:
        if length >= rule.shortest and rule.matches(statement):
            return rule
    return None
