"""Which of the needs of somebody who goes on a text carries: request, decisions, state, next step.

A line of the account is carried where neighbouring lines or sentences of the text have half of its
words. Names that are scattered over a text carry nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import fsum
from typing import Literal

from msgspec import Struct

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.line import Line, terms_of
from reviewer.compression.offline.lines import TRAFFIC
from reviewer.compression.offline.shape import Account
from reviewer.compression.words import FREQUENCIES, FUNCTION_WORDS, SPOKEN

Need = Literal["request", "instruction", "decision", "state", "next", "statement"]

NEED_OF: dict[Section, Need] = {
    Section.REQUEST: "request",
    Section.INSTRUCTIONS: "instruction",
    Section.DECISIONS: "decision",
    Section.NOW: "state",
    Section.NEXT: "next",
}
NAMED: dict[Need, str] = {
    "request": "what the person wants",
    "instruction": "instructions and corrections of the person",
    "decision": "decisions",
    "state": "the state of the work",
    "next": "what comes next",
    "statement": "what was found out",
}
CARRIED = 0.5
"""Share of a line's words that a text has to have in one place."""
NEIGHBOURS = 3
"""Lines or sentences of the text that count as one place."""
MOST_LINES = 240
"""Lines of a long range that are looked for, those that are worth most."""
_PARTS = re.compile(r"(?<=[.!?])\s+|\n+")


class Carried(Struct, frozen=True):
    """How much of an account a text carries."""

    share: float
    """Worth of the lines that are carried, of what as many tokens could carry; 0 to 1."""
    lost: tuple[Line, ...]
    """Lines that are not carried, those that are worth most first."""
    missing: tuple[Need, ...]
    """Needs of which nothing is carried, though there was something."""


def carried(account: Account, text: str, tokens: int) -> Carried:
    """What a text of so many tokens carries of an account."""
    lines = sorted(account.lines, key=lambda each: -each.worth)[:MOST_LINES]
    lines = [line for line in lines if line.terms]
    found = _found(lines, text)
    kept = [line for line, is_found in zip(lines, found, strict=True) if is_found]
    lost = [line for line, is_found in zip(lines, found, strict=True) if not is_found]
    possible = _possible(lines, tokens)
    share = min(sum(line.worth for line in kept) / possible, 1.0) if possible else 1.0
    had = {NEED_OF.get(line.section, "statement") for line in lines if _needed(line)}
    has = {NEED_OF.get(line.section, "statement") for line in kept}
    missing = tuple(need for need in NAMED if need in had - has and need != "statement")
    whole = len(had - {"statement"})
    share *= 1 - len(missing) / whole if whole else 1.0
    return Carried(share, tuple(lost), missing)


def _needed(line: Line) -> bool:
    """Whether a line is one that somebody who goes on cannot do without."""
    return line.section in NEED_OF and (bool(line.release) or line.section is Section.DECISIONS)


def _found(lines: Sequence[Line], text: str) -> list[bool]:
    parts = [terms_of(part) for part in _PARTS.split(text) if part.strip()]
    places: dict[str, list[int]] = defaultdict(list)
    for at, part in enumerate(parts):
        for term in part.union(*parts[at + 1 : at + NEIGHBOURS]):
            places[term].append(at)
    found = []
    for line in lines:
        hits: Counter[int] = Counter()
        for term in line.terms:
            hits.update(places.get(term, ()))
        best = max(hits.values(), default=0)
        found.append(best >= CARRIED * min(len(line.terms), LONG_ENOUGH))
    return found


LONG_ENOUGH = 14
"""Words of a long line that are enough, because no two sentences say it all."""


def _possible(lines: Sequence[Line], tokens: int) -> float:
    """About the greatest worth that so many tokens can carry."""
    left = max(tokens, 1) * CARRIED
    worth = 0.0
    for line in sorted(lines, key=lambda each: -each.worth / (each.cost + 6)):
        if line.cost > left:
            break
        left -= line.cost
        worth += line.worth
    return worth or min((line.worth for line in lines), default=0.0)


TAGS_OF_A_NEED = 2
"""Terms of a line that tags have to have, for the line to be recognised from them."""


def named_by_tags(account: Account, text: str, tokens: int) -> Carried | None:
    """Which needs the terms of a list of tags name; None where the account has no terms to name.

    The share is the worth of the terms named, of the most that as many tokens can name.
    """
    lines = [line for line in account.lines if line.terms and line.worth > TRAFFIC]
    worth: dict[str, float] = {}
    for line in lines:
        for term in line.terms - _COMMON:
            worth[term] = max(worth.get(term, 0.0), line.worth * account.weight([term]))
    if not worth:
        return None
    tags = terms_of(text)
    ranked = sorted(worth, key=lambda term: (-worth[term] / _cost(term), term))
    possible, left = 0.0, float(max(tokens, 1))
    for term in ranked:
        left -= _cost(term)
        if left < 0:
            break
        possible += worth[term]
    gained = fsum(worth[term] for term in sorted(tags & worth.keys()))
    kept = [
        line
        for line in lines
        if len(line.terms & tags) >= min(TAGS_OF_A_NEED, len(line.terms - _COMMON))
    ]
    had = {NEED_OF.get(line.section, "statement") for line in lines if _needed(line)}
    has = {NEED_OF.get(line.section, "statement") for line in kept}
    missing = tuple(need for need in NAMED if need in had - has and need != "statement")
    return Carried(min(gained / possible, 1.0) if possible else 1.0, (), missing)


_COMMON = FUNCTION_WORDS | SPOKEN | FREQUENCIES.keys()


def _cost(term: str) -> float:
    """About how many tokens a tag and its comma have."""
    return 1 + max(1.0, len(term) / 4)
