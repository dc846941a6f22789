from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reviewer.extraction.candidates import PRIORS, RuleClass
from reviewer.extraction.confidence import FRESH_BONUS, HIGH_SIGNAL, confidence
from reviewer.promotion.policies import (
    CONFIDENCE,
    HIGHEST_CONFIDENCE,
    Policy,
    Recent,
    Reference,
    Standing,
    hints,
    recent,
)
from reviewer.sources.records import Role

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def standing(**changes: Any) -> Standing:
    values: dict[str, Any] = {
        "type": "knowledge",
        "content": "The cache lives beside the index",
        "rule_class": RuleClass.SENTENCE,
        "confidence": 0.5,
        "role": Role.ASSISTANT,
    }
    return Standing(**(values | changes))


def policies(**changes: Any) -> list[Policy]:
    return [hint.policy for hint in hints(standing(**changes))]


def test_no_policy_speaks_for_what_reads_like_a_planted_order() -> None:
    often = recent(days_ago(1, 2, 3, 4, 5), NOW)
    assert policies(recent=often) == [Policy.REFERENCE_COUNT]
    assert policies(recent=often, planted=True) == []


def days_ago(*days: float, interactions: int = 2) -> list[Reference]:
    return [
        Reference(NOW - timedelta(days=day), f"s{number % interactions}")
        for number, day in enumerate(days)
    ]


def test_an_ordinary_candidate_has_no_hint() -> None:
    assert hints(standing()) == ()


class TestReferenceCount:
    def test_it_says_how_often_and_over_how_many_days(self) -> None:
        found = recent(days_ago(0, 1, 2, 3, 4, 4.5), NOW)
        (hint,) = hints(standing(recent=found))
        assert hint.policy is Policy.REFERENCE_COUNT
        assert hint.text == "seen 6 times in 5 days"

    def test_several_times_in_one_day(self) -> None:
        (hint,) = hints(standing(recent=recent(days_ago(0, 0, 0.1, 0.2, 0.3), NOW)))
        assert hint.text == "seen 5 times in 1 day"

    @pytest.mark.parametrize(("times", "hinted"), [(4, False), (5, True)])
    def test_five_references_are_enough(self, times: int, hinted: bool) -> None:
        found = recent(days_ago(*range(times)), NOW)
        assert bool(policies(recent=found)) is hinted

    def test_older_references_do_not_count(self) -> None:
        found = recent(days_ago(0, 1, 2, 3, 7.01), NOW)
        assert found == Recent(times=4, interactions=2, days=3)
        assert recent(days_ago(0, 1, 2, 3, 7), NOW).times == 5

    def test_references_of_one_interaction_are_not_enough(self) -> None:
        assert policies(recent=recent(days_ago(0, 1, 2, 3, 4, interactions=1), NOW)) == []

    def test_a_clock_that_is_ahead_counts_as_now(self) -> None:
        assert recent(days_ago(-3, 0), NOW) == Recent(times=2, interactions=2, days=1)

    def test_what_the_person_has_looked_at_needs_no_hint(self) -> None:
        found = recent(days_ago(0, 1, 2, 3, 4), NOW)
        assert policies(recent=found, looked_at=True) == []

    @pytest.mark.parametrize(
        ("type_", "hinted"),
        [("validation_claim", False), ("decision", False), ("parameter", True)],
    )
    def test_validation_claims_and_decisions_are_too_consequential(
        self, type_: str, hinted: bool
    ) -> None:
        found = recent(days_ago(0, 1, 2, 3, 4), NOW)
        assert bool(policies(recent=found, type=type_, entity=True)) is hinted


class TestConfidence:
    @pytest.mark.parametrize(
        ("rule_class", "value", "hinted"),
        [
            (RuleClass.HEADING, 0.85, True),
            (RuleClass.HEADING, 0.8499, False),
            (RuleClass.LIST_ITEM, 0.95, False),
            (RuleClass.SENTENCE, 0.95, False),
        ],
    )
    def test_a_heading_rule_with_high_confidence(
        self, rule_class: RuleClass, value: float, hinted: bool
    ) -> None:
        assert bool(policies(rule_class=rule_class, confidence=value)) is hinted

    def test_the_formula_of_today_never_reaches_it(self) -> None:
        highest = confidence(max(PRIORS.values()), HIGH_SIGNAL, FRESH_BONUS)
        assert highest == HIGHEST_CONFIDENCE == 0.8085
        assert highest < CONFIDENCE
        assert policies(rule_class=RuleClass.HEADING, confidence=highest) == []


class TestOwnWords:
    @pytest.mark.parametrize(
        ("type_", "content"),
        [
            ("preference", "I prefer small commits"),
            ("preference", "Well, I'd rather go home, but I really hate long branches"),
            ("identity", "I'm a gardener by trade"),
            ("identity", "My time zone is UTC+2"),
            ("preference", "I always run the linter first"),
        ],
    )
    def test_the_person_says_it_of_themselves(self, type_: str, content: str) -> None:
        found = policies(type=type_, content=content, role=Role.USER)
        assert found == [Policy.OWN_WORDS]

    @pytest.mark.parametrize(
        ("type_", "content", "role"),
        [
            ("preference", "I prefer small commits", Role.ASSISTANT),
            ("preference", "I prefer small commits", Role.NOTE),
            ("knowledge", "I prefer small commits", Role.USER),
            ("preference", "She said that he prefers small commits", Role.USER),
            ("preference", "Do I prefer small commits?", Role.USER),
            ("preference", "Tell me if I prefer small commits", Role.USER),
            ("identity", "I am going to lunch", Role.USER),
            ("preference", "Use small commits", Role.USER),
        ],
    )
    def test_not_what_others_say_or_what_is_in_doubt(
        self, type_: str, content: str, role: Role
    ) -> None:
        assert policies(type=type_, content=content, role=role) == []

    def test_the_hint_quotes_the_words(self) -> None:
        (hint,) = hints(standing(type="preference", content="I prefer tabs", role=Role.USER))
        assert hint.text == 'your own words: "I prefer ..."'


def test_several_policies_may_speak_at_once() -> None:
    found = policies(
        type="preference",
        content="I prefer tabs",
        role=Role.USER,
        recent=Recent(times=9, interactions=3, days=4),
    )
    assert found == [Policy.REFERENCE_COUNT, Policy.OWN_WORDS]
