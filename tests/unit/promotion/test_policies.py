from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reviewer.promotion.policies import (
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
    return Standing(**({"type": "knowledge", "role": Role.ASSISTANT} | changes))


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


@pytest.mark.parametrize(
    ("type_", "role", "hinted"),
    [
        ("preference", Role.USER, True),
        ("identity", Role.USER, True),
        ("knowledge", Role.USER, False),
        ("preference", Role.ASSISTANT, False),
        ("preference", Role.NOTE, False),
    ],
)
def test_what_the_person_says_of_themselves(type_: str, role: Role, hinted: bool) -> None:
    assert policies(type=type_, role=role) == [Policy.OWN_WORDS] * hinted
