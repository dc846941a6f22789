"""All rules, the strongest first."""

from __future__ import annotations

from reviewer.extraction.candidates import PRIORS
from reviewer.extraction.rules import decisions, findings, people, structure, tasks, values
from reviewer.extraction.rules.rule import Rule, Statement
from reviewer.extraction.screens import narrated

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

__all__ = ["EXTRACTOR_VERSION", "PRIORS", "RULES", "Rule", "Statement", "first_match"]


def first_match(statement: Statement) -> Rule | None:
    """The strongest rule that matches a statement, or None."""
    length = len(statement.text)
    for rule in _NARRATION_RULES if narrated(statement.text) else RULES:
        if length >= rule.shortest and rule.matches(statement):
            return rule
    return None
