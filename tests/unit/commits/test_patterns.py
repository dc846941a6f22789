"""Retention patterns: each carries its own mode, a bad one is refused at once, none hangs."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import pytest

from reviewer.commits.retention import (
    LONGEST_PATTERN,
    MAX_PATTERNS,
    PatternError,
    check_patterns,
    compiled,
    parse_patterns,
)
from reviewer.commits.values import Pattern

CATASTROPHIC = r"(a|aa)+$"


def state(pattern: str, text: str, mode: str = "substring") -> str:
    return check_patterns([Pattern(pattern, mode)], text)[0].state  # type: ignore[arg-type]


@pytest.mark.parametrize(("pattern", "column"), [("(a", 2), ("*a", 0)])
def test_a_bad_expression_is_refused_with_its_place(pattern: str, column: int) -> None:
    with pytest.raises(PatternError, match=f"is bad at column {column + 1}") as refused:
        parse_patterns([], [pattern])
    assert refused.value.column == column


@pytest.mark.parametrize(
    ("match", "sentence"),
    [
        ([""], "is empty"),
        (["  \n"], "is empty"),
        (["x" * (LONGEST_PATTERN + 1)], "at most 2,000 characters"),
        ("one text", "as a list"),
        (["ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"], "contains a secret"),
    ],
)
def test_what_can_never_be_checked_is_refused_with_a_sentence(match: Any, sentence: str) -> None:
    with pytest.raises(PatternError, match=sentence):
        parse_patterns(match)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("two  words", "there are two\n\twords"),
        (unicodedata.normalize("NFD", "é"), "café"),
        ("é", unicodedata.normalize("NFD", "café")),
    ],
)
def test_substrings_fold_white_space_and_compose_characters(pattern: str, text: str) -> None:
    assert state(pattern, text) == "matches"


def test_case_counts() -> None:
    assert state("budget", "The Budget") == "missing"
    assert state("budget", "The Budget", "regex") == "missing"


def test_a_bad_expression_in_a_check_says_where() -> None:
    (check,) = check_patterns([Pattern("(a", "regex")], "a")
    assert (check.state, check.column) == ("bad", 2)
    assert "column 3" in check.message
    assert check.fault == "missing )."


def test_a_catastrophic_expression_is_slow_and_stops() -> None:
    before = time.process_time()
    (check,) = check_patterns(
        [Pattern(CATASTROPHIC, "regex")], "a" * 60 + "b", seconds_a_pattern=0.05
    )
    assert check.state == "slow"
    assert "nested repeats" in check.message
    assert time.process_time() - before < 30  # without a limit it takes years


def test_many_slow_patterns_share_one_limit() -> None:
    patterns = [Pattern(f"{CATASTROPHIC}{n}", "regex") for n in range(1000)]
    checks = check_patterns(patterns, "a" * 60 + "b", seconds_a_pattern=0.02, seconds_in_all=0.1)
    assert {check.state for check in checks} == {"slow"}
    assert "Not checked" in checks[-1].message


def test_ten_thousand_patterns_are_checked_and_one_more_is_refused() -> None:
    given = [f"word {n}" for n in range(MAX_PATTERNS)]
    checks = check_patterns(parse_patterns(given), "word 1 and word 9999")
    assert sum(check.state == "matches" for check in checks) > 1
    with pytest.raises(PatternError, match="at most 10,000 patterns"):
        parse_patterns([*given, "another"])


@pytest.mark.parametrize("expression", ["((a{500}){500}){500}", "(?:.{1,30000}){1,30000}"])
def test_an_expression_that_would_eat_the_memory_is_refused(expression: str) -> None:
    with pytest.raises(PatternError, match="repeat less"):
        parse_patterns([], [expression])
    with pytest.raises(PatternError, match="repeat less"):
        compiled(expression)
