"""Cues never miss: a rule that would match a statement is always among those that are tried."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.extraction.cues import Cues, cues_of
from reviewer.extraction.rules import RULES
from reviewer.extraction.rules.rule import Says

PATTERNS = {rule.id: rule.matches.pattern for rule in RULES if isinstance(rule.matches, Says)}
TEXTS = sorted({text.lower() for rule in RULES for text, _ in rule.examples})
WORDS = sorted({word for text in TEXTS for word in re.findall(r"\S+", text)})


@pytest.mark.parametrize(
    ("pattern", "cues"),
    [
        (r"\b(?:we|i) agreed\b", {("agreed", False)}),
        (r"\breplac(?:ed|ing)\b", {("replaced", False), ("replacing", False)}),
        (r"\b(?:for now|first)\b.{8,}then", {("for", True), ("first", False)}),
        (r"^(?:please )?never\b", {("please", True), ("never", False)}),
        (r"\bdon'?t\b", {("don", True), ("dont", False)}),
        (r"\bcolou?r\b", {("color", False), ("colour", False)}),
        (r", so the\b", {("the", False)}),
        (r"\b(?:a+b|cat)\b", {("a", False), ("cat", False)}),
    ],
)
def test_the_longest_word_that_must_stand_there_is_the_cue(
    pattern: str, cues: set[tuple[str, bool]]
) -> None:
    assert cues_of(pattern) == cues


@pytest.mark.parametrize("pattern", [r"\w+ing\b", r"cat", r".*\bcat", r"\b\d+ days", r"(?:x)?y"])
def test_what_may_begin_inside_a_word_or_with_anything_has_no_cue(pattern: str) -> None:
    assert cues_of(pattern) is None


def test_patterns_are_told_by_their_place_and_those_without_a_cue_always() -> None:
    cues = Cues([r"\bcat(?:s)?\b", None, r"\bthe doge\b"])
    assert cues.of("two catsup bottles") == 0b011
    assert cues.of("the end") == 0b010
    assert cues.of("the doge and the cat") == 0b111
    assert cues.of("concat") == 0b010


def test_most_rules_have_cues() -> None:
    assert sum(cues_of(pattern) is not None for pattern in PATTERNS.values()) >= 15


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_no_rule_is_passed_over_that_would_have_matched(words: list[str]) -> None:
    names = list(PATTERNS)
    possible = CUES.of(" ".join(words))
    for number, name in enumerate(names):
        if re.search(PATTERNS[name], " ".join(words)):
            assert possible >> number & 1, name


def test_no_rule_is_passed_over_in_the_examples_of_any_rule() -> None:
    for text in TEXTS:
        possible = CUES.of(text)
        for number, pattern in enumerate(PATTERNS.values()):
            if re.search(pattern, text):
                assert possible >> number & 1, (pattern, text)


CUES = Cues(list(PATTERNS.values()))
