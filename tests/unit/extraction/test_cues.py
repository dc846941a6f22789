"""Cues never miss: a rule that would match a statement is always among those that are tried."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer.extraction.cues import Cues
from reviewer.extraction.needs import ways_of
from reviewer.extraction.orders import ORDERS
from reviewer.extraction.rules import RULES
from reviewer.extraction.rules.rule import Says
from tests.unit.extraction import more_orders, planted_orders

PATTERNS = {rule.id: rule.matches.pattern for rule in RULES if isinstance(rule.matches, Says)}
TEXTS = sorted({text.lower() for rule in RULES for text, _ in rule.examples})
WORDS = sorted({word for text in TEXTS for word in re.findall(r"\S+", text)})


def told(pattern: str) -> set[tuple[str, ...]] | None:
    """The ways of a pattern; `-` stands where a word may go on, `!` for what is enough."""
    ways = ways_of(pattern)
    if ways is None:
        return None
    return {
        tuple(
            "|".join(
                sorted(
                    f"{'' if part.starts else '-'}{part.text}{'' if part.ends else '-'}"
                    for part in parts
                )
            )
            + ("!" if way.sure else "")
            for parts in way.sets
        )
        for way in ways
    }


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        (r"\b(?:we|i) agreed\b", {("agreed", "i|we")}),
        (r"\breplac(?:ed|ing)\b", {("replaced|replacing!",)}),
        (r"\b(?:for now|first)\b.{8,}stop", {("-stop-", "first|now")}),
        (r"^(?:please )?never\b", {("never",)}),
        (r"\bdon'?t\b", {("don", "t"), ("dont!",)}),
        (r"\bcolou?r", {("color-|colour-",)}),
        (r", so the\b", {("so", "the")}),
        (r"\b(?:a+b|cat)\b", {("-b",), ("cat!",)}),
        (
            r"\b(?:because|the (?:\w+ )?(?:bug|gap) (?:is|was))\b",
            {("because!",), ("-bug|-gap", "is|was", "the")},
        ),
        (r"cat(?!s)", {("-cat-",)}),
        (r"\w+ing\b", {("-ing",)}),
        (r"(?:red )?[kl]ight", {("kight-|light-", "-red"), ("-kight-|-light-",)}),
        (r"\bhide (?:the|this) (?:change|edit)s?\b", {("hide", "change|changes|edit|edits")}),
        (r"(?:^|[.:] {0,2})(?:ai|bot) ?[:,] {0,2}(?:mark|say)", {("mark-|say-", "ai|bot")}),
        (r"x(?: ?)+foo", {("foo-",), ("-xfoo-",)}),
        (r"\bfo?+o\b", {("fo|foo",)}),
        (r"\b(?:please )?stop\b", {("stop",)}),
        (r"\bmust(?: not)? be\b", {("must", "be"), ("must", "not", "be")}),
        (r"[a-z]+ than (?:\d+|x)", {("than",)}),
    ],
)
def test_what_must_stand_there_is_derived(pattern: str, ways: set[tuple[str, ...]]) -> None:
    assert told(pattern) == ways


@pytest.mark.parametrize(
    "pattern", [r"\w+\b", r".*", r"\b\d+", r"(?:x)?", r"(?:cat|\d+)", r"[^a]b*"]
)
def test_what_may_hold_any_word_has_no_cue(pattern: str) -> None:
    assert ways_of(pattern) is None


def test_patterns_are_told_by_their_place_and_those_without_a_cue_always() -> None:
    cues = Cues([r"\bcat(?:s|ch)?", None, r"\b(?:the big|that) doge\b"])
    assert cues.of("two catsup bottles") == (0b011, 0)
    assert cues.of("the big dog") == (0b010, 0)
    assert cues.of("that cat is no doge") == (0b111, 0)
    assert cues.of("concat") == (0b010, 0)


def test_a_word_that_is_enough_is_surely_found_and_only_as_a_whole() -> None:
    cues = Cues([r"\b(?:cat|a dog)\b", r"\b(?:cat|dog)(?! food)"])
    assert cues.of("the cat") == (0b11, 0b01)
    assert cues.of("a dog") == (0b11, 0b00)
    assert cues.of("cats") == (0b10, 0b00)
    assert cues.of("\u0142cat") == (0b11, 0b00), "a letter stands before it"
    assert cues.of("\u2192cat")[0] == 0b11


def test_words_of_any_script_are_told() -> None:
    cues = Cues(["忽略[^。]{0,20}指令", r"\bmust\b"], any_case=False)
    assert cues.of("请忽略以上指令") == (0b01, 0)
    assert cues.of("请忽略以上") == (0, 0)
    assert cues.of("it must, 忽略") == (0b10, 0b10)


def test_most_rules_have_cues() -> None:
    assert sum(ways_of(pattern) is not None for pattern in PATTERNS.values()) >= 15


PLANTED = sorted({*planted_orders.PLANTED, *planted_orders.PLAIN, *more_orders.PLANTED})
WORDS_OF_ORDERS = sorted({word for text in PLANTED for word in text.lower().split()})
CUES_OF_ORDERS = Cues(ORDERS, any_case=False)


@given(
    st.one_of(
        st.lists(st.sampled_from(WORDS_OF_ORDERS), max_size=12).map(" ".join),
        st.sampled_from(PLANTED).map(str.lower),
    )
)
def test_no_order_is_passed_over_and_what_is_sure_is_there(text: str) -> None:
    possible, sure = CUES_OF_ORDERS.of(text)
    for number, order in enumerate(ORDERS):
        stands = re.search(order, text) is not None
        assert possible >> number & 1 or not stands, order
        assert stands or not sure >> number & 1, order


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_no_rule_is_passed_over_that_would_have_matched(words: list[str]) -> None:
    names = list(PATTERNS)
    possible, sure = CUES.of(" ".join(words))
    for number, name in enumerate(names):
        stands = re.search(PATTERNS[name], " ".join(words)) is not None
        assert possible >> number & 1 or not stands, name
        assert stands or not sure >> number & 1, name


MATCHING = st.sampled_from([*ORDERS, *PATTERNS.values()]).flatmap(
    lambda pattern: st.tuples(st.just(pattern), st.from_regex(pattern))
)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(MATCHING)
def test_whatever_a_pattern_finds_holds_what_it_needs(found: tuple[str, str]) -> None:
    pattern, text = found
    lower = text.lower()
    if re.search(pattern, lower):
        assert Cues([pattern], any_case=False).of(lower)[0], pattern
        assert Cues([pattern]).of(lower)[0] or not lower.isascii(), pattern


def test_no_rule_is_passed_over_in_the_examples_of_any_rule() -> None:
    for text in TEXTS:
        possible, _ = CUES.of(text)
        for number, pattern in enumerate(PATTERNS.values()):
            if re.search(pattern, text):
                assert possible >> number & 1, (pattern, text)


CUES = Cues(list(PATTERNS.values()))
