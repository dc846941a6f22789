"""How much a statement deserves review, judged by its words and its place.

A small linear score; its constants were set by hand and rounded. On labelled sessions that were not
used to choose them, closing a turn and words of change help; quality, identifiers and the speaker
make no measurable difference. Length and salience, which matter most, are separate factors.
"""

from __future__ import annotations

import re
from itertools import islice

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.rules.rule import Rule, Statement
from reviewer.sources.records import Role, Shape

START = 0.35
PER_QUALITY = 0.25
"""Multiplied by the quality of the rule that fired."""
PER_IDENTIFIER = 0.02
MOST_IDENTIFIERS = 4
BY_PERSON = 0.10
CLOSES_TURN = 0.08
PROSE_OF_NOTE = -0.15
"""A sentence rule in a note, where the structure shows what matters."""
OPTION_ARGUMENT = -0.20
"""Arguments about options are many, and the decision already weighs them."""
CHANGE = 0.08
"""Words that announce a change."""
LEANS = -0.05
"""A first word that depends on the sentence before."""

_PERSONAL = frozenset((MemoryType.IDENTITY, MemoryType.PREFERENCE, MemoryType.ADAPTATION))
_CHANGE = re.compile(r"\b(?:now|no longer|previously|formerly|old|new|already|still)\b")
_LEANS = re.compile(r"(?:this|that|it|these|those|they|and|so|but)\b")
_IDENTIFIER = re.compile(r"`[^`]{2,}`|\w[._/]\w|[a-z][A-Z]\w|--\w|#\d")


def weight(statement: Statement, rule: Rule) -> float:
    """0 to 1, from rule quality, specificity, speaker, position and wording."""
    text = statement.text
    score = START + PER_QUALITY * rule.quality
    found = islice(_IDENTIFIER.finditer(text), MOST_IDENTIFIERS)
    score += PER_IDENTIFIER * sum(1 for _ in found)
    if statement.role is Role.USER:
        score += BY_PERSON
    elif statement.final:
        score += CLOSES_TURN
    if (
        statement.shape is not Shape.TURN
        and rule.rule_class is RuleClass.SENTENCE
        and rule.type not in _PERSONAL
    ):
        score += PROSE_OF_NOTE
    if rule.id == "option_argument":
        score += OPTION_ARGUMENT
    earned = CHANGE if _CHANGE.search(statement.lower) else 0.0
    if _LEANS.match(statement.lower):
        earned += LEANS
    score += earned
    return min(max(score, 0.0), 1.0)
