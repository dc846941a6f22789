"""How much a statement is worth a person's look, from what it says and where it stands.

A small linear score, all of it in the table below, with constants set by hand and rounded. Closing
a turn and words of change help on labelled sessions that they were not chosen on; quality,
identifiers and the speaker make no measurable difference there and stand because settled.md asks
for them in the rank. Length and salience, which matter most, are factors of their own.
"""

from __future__ import annotations

import re
from itertools import islice

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.cues import VOCABULARY, occurring
from reviewer.extraction.rules.rule import Rule, Statement
from reviewer.sources.records import Role, Shape

START = 0.35
PER_QUALITY = 0.25
"""Times the quality of the rule that fired."""
PER_IDENTIFIER = 0.02
MOST_IDENTIFIERS = 4
BY_PERSON = 0.10
CLOSES_TURN = 0.08
PROSE_OF_NOTE = -0.15
"""A sentence rule in a note: notes say what matters by their structure."""
OPTION_ARGUMENT = -0.20
"""Arguments about options are many, and the decision already weighs them."""
CUES: tuple[tuple[str, float, str], ...] = (
    ("change", 0.08, r"\b(?:now|no longer|previously|formerly|old|new|already|still)\b"),
    ("leans", -0.05, r"^(?:this|that|it|these|those|they|and|so|but)\b"),
)
"""Name, points, and the words that earn them (once)."""

_PERSONAL = frozenset((MemoryType.IDENTITY, MemoryType.PREFERENCE, MemoryType.ADAPTATION))
_FIRST = VOCABULARY.add([pattern for _, _, pattern in CUES])
_CUES = tuple(
    (
        1 << _FIRST + number,
        points,
        # A search would look for the text's start at every place.
        re.compile(pattern).match if pattern.startswith("^") else re.compile(pattern).search,
    )
    for number, (_, points, pattern) in enumerate(CUES)
)
_IDENTIFIER = re.compile(r"`[^`]{2,}`|\w[._/]\w|[a-z][A-Z]\w|--\w|#\d")


def weight(statement: Statement, rule: Rule) -> float:
    """0 to 1: rule quality, specificity, who speaks, position, and what kind of thing is said."""
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
    possible, sure = occurring(statement.lower)
    earned = 0.0
    for bit, points, finds in _CUES:
        if possible & bit and (sure & bit or finds(statement.lower)):
            earned += points
    score += earned
    return min(max(score, 0.0), 1.0)
