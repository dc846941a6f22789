"""Rules on values: something has a measured or configured amount."""

from __future__ import annotations

import re

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.cues import NUMBER
from reviewer.extraction.rules.rule import Rule, Statement, says

_UNIT = (
    r"(?:%|ms|µs|us|ns|seconds?|secs?|min(?:ute)?s?|hours?|days?|weeks?|[kmgt]i?b(?:/s)?|bytes?"
    r"|tokens?|px|fps|[kmg]?hz|mm|cm|m|km|kg|g|mg|kn|n|[km]?pa|bar|m?v|m?a|k?w|°c|°f|usd|eur|€"
    r"|chars|characters)"
)

_NUMBER = re.compile(r"\d[\d.,]*\s?" + _UNIT + r"(?![\w/])")
_AMOUNTS = says(
    r"\w`?\)?\s*(?:=|:|≈|~|\bis\b|\bare\b|\bwas\b|\bof\b|\bto\b|\bat\b|\bdefaults? to\b"
    r"|<=?|>=?"
    r"|[≤≥])\s*(?:about |around |only |at most |at least |up to |exactly |~|≈)?"
    r"[$€£]?\d[\d.,]*\s?" + _UNIT + r"(?![\w/])",
    unless=r"\b(?:\d+ (?:minutes|hours|days|weeks) ago|took|tests? (?:in|took))\b",
)


def _amount(statement: Statement) -> bool:
    # Most statements hold no such number, and the whole pattern could begin at any word.
    return _NUMBER.search(statement.lower) is not None and _AMOUNTS(statement)


RULES = (
    Rule(
        id="value_with_unit",
        rule_class=RuleClass.VALUE,
        type=MemoryType.KNOWLEDGE,
        description="A named thing has an amount with a unit: `X = 4.8 kg`, `timeout is 30 s`.",
        matches=_amount,
        cue=NUMBER,
        quality=0.5,
        examples=(
            ("Mass of the arm = 4.8 kg", True),
            ("The idle timeout is 30 seconds.", True),
            ("The upload limit defaults to 25 MB.", True),
            ("There are 30 of them.", False),
            ("It was changed 3 days ago.", False),
        ),
    ),
)
