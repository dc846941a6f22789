"""Whether a statement and its quotes deny the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.proposing.proof_index import as_compared
from reviewer.text.wording import NOT, wording

_DENIES = re.compile(
    r"\b(?:never|not|cannot|\w+n[’']t|without|nor|neither|none|nothing|nobody|nowhere"
    r"|no(?! (?:one|matter|later|more than|longer than)\b))\b",
    re.IGNORECASE,
)
_MAY_DENY = re.compile(
    rf"{_DENIES.pattern}|\b(?:avoid|skip|fail|lack|miss|refus|reject|forbid|forbad|prevent|stop"
    r"|drop|remov|delet|ignor|exclud|omit|lose|lost|disabl|unable|bypass|block|prohibit|supersed"
    r"|replac|deprecat|abandon|swallow|leftover|only|instead|rather|unless|until|wrong|false"
    r"|incorrect|invalid|mistake|broken|gone|empty|zero|no longer|nil|null|hidden|former|old|too"
    r"|but|however|still|left out|leave|less|few|hardly|rarely|separate|independen|irrelevant"
    r"|redundant|unnecess|differ|contrary|opposite|non|un\w{3,}|in(?:compat|sufficient|consisten"
    r"|complete|visible)\w*|im(?:possib|mutab)\w*|\w+less\b"
    r"|shouldn|wouldn|couldn|keep out|off|out of|0)",
    re.IGNORECASE,
)
"""Words that deny, or that a negation may paraphrase."""
_CLAUSE = re.compile(r"[.,;:!?()\n]\s|\n|\s[-–—(]+\s?|\b(?:but|because|so that|since)\b")
MOST_CLAUSES = 100
"""Clauses of a text that are compared; a statement has a few."""
LEAST_SHARED = 3
"""Content words that a clause of the statement and one of a quote share at least, and"""
LEAST_SHARE = 0.6
"""their share of the shorter one, for the two to be about the same."""


def negation_differs(statement: str, quotes: Sequence[str]) -> bool:
    """Whether only the statement denies, or only its quotes deny what it says.

    A clause of the statement is held against the clauses of the quotes that are about the same.
    """
    if _DENIES.search(statement) and quotes and not any(map(_MAY_DENY.search, quotes)):
        return True
    quoted = [clause for quote in quotes for clause in _clauses(quote)]
    for clause, words in _clauses(statement):
        same = [other for other, others in quoted if _about_the_same(words, others)]
        if not same:
            continue
        if _DENIES.search(clause):
            near = (other for other, others in quoted if words & others)
            if not any(_MAY_DENY.search(other) for other in near):
                return True
        elif all(map(_DENIES.search, same)) and not _MAY_DENY.search(clause):
            return True
    return False


def _clauses(text: str) -> list[tuple[str, frozenset[str]]]:
    """The clauses of a text, each with its content words but for negations."""
    return [
        (clause, frozenset(wording(clause).words) - {NOT})
        for clause in _CLAUSE.split(as_compared(text), MOST_CLAUSES)[:MOST_CLAUSES]
        if clause and clause.strip()
    ]


def _about_the_same(some: frozenset[str], others: frozenset[str]) -> bool:
    shared, shorter = len(some & others), min(len(some), len(others))
    return shared >= max(2, min(LEAST_SHARED, shorter)) and shared >= LEAST_SHARE * shorter
