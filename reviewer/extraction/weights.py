"""How much a statement is worth a person's look, from what it says and where it stands."""

from __future__ import annotations

from reviewer.extraction.rules.rule import Rule, Statement


def weight(statement: Statement, rule: Rule) -> float:
    """0 to 1."""
    return rule.quality
