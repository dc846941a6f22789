"""Retention patterns: each carries its own mode, a bad one is refused at once, none hangs."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import pytest

from reviewer.commits.criteria import (
    LONGEST_PATTERN,
    MAX_PATTERNS,
    PatternError,
    check_patterns,
    parse_patterns,
)
from reviewer.commits.values import Pattern


@pytest.mark.parametrize(
    ("match", "expressions", "sentence"),
    [
        (["  \n"], [], "is empty"),
        (["x" * (LONGEST_PATTERN + 1)], [], "at most 2,000 characters"),
        ("one text", [], "as a list"),
        (["ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"], [], "contains a secret"),
        ([f"word {number}" for number in range(MAX_PATTERNS + 1)], [], "at most 10,000 patterns"),
        ([], ["(a"], "is bad at column 3"),
        ([], ["*a"], "is bad at column 1"),
        ([], ["((a{500}){500}){500}"], "repeat less"),
        ([], ["(?:.{1,30000}){1,30000}"], "repeat less"),
    ],
)
def test_what_can_never_be_checked_is_refused_with_a_sentence(
    match: Any, expressions: list[str], sentence: str
) -> None:
    with pytest.raises(PatternError, match=sentence):
        parse_patterns(match, expressions)


@pytest.mark.parametrize(
    ("pattern", "text", "state"),
    [
        (Pattern("two  words"), "there are two\n\twords", "matches"),
        (Pattern(unicodedata.normalize("NFD", "é")), "café", "matches"),
        (Pattern("é"), unicodedata.normalize("NFD", "café"), "matches"),
        (Pattern("budget"), "The Budget", "missing"),
        (Pattern("budget", "regex"), "The Budget", "missing"),
        (Pattern("(a", "regex"), "a", "bad"),
        (Pattern("(a|aa)+$", "regex"), "a" * 60 + "b", "slow"),
    ],
)
def test_a_pattern_is_checked_in_its_own_mode(pattern: Pattern, text: str, state: str) -> None:
    before = time.process_time()
    (check,) = check_patterns([pattern], text)
    assert check.state == state
    assert time.process_time() - before < 30  # without a limit, the slow one takes years


def test_many_slow_patterns_share_one_limit() -> None:
    patterns = [Pattern(f"(a|aa)+${number}", "regex") for number in range(1000)]
    checks = check_patterns(patterns, "a" * 60 + "b", seconds_in_all=0.3)
    assert {check.state for check in checks} == {"slow"}
    assert "Not checked" in checks[-1].message
