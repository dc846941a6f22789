import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.promotion.acceptance_model import (
    ENOUGH,
    ENOUGH_OF_EACH,
    Decided,
    Feature,
    Preference,
    Traits,
    features_of,
    learn,
)

TYPES = ("preference", "knowledge", "project")
ROLES = ("user", "assistant", "note")
FOLDERS = ("notes", "sessions", "archive")


def traits(**changes: Any) -> Traits:
    values: dict[str, Any] = {
        "type": "knowledge",
        "rule": "root_cause",
        "role": "assistant",
        "format": "markdown",
        "folder": "notes",
        "length": 90,
        "confidence": 0.55,
    }
    return Traits(**(values | changes))


def queue(number: int, seed: int = 1) -> list[Traits]:
    chance = random.Random(seed)
    found = []
    for _ in range(number):
        type_ = chance.choice(TYPES)
        found.append(
            traits(
                type=type_,
                rule=f"{type_}_{chance.choice('ab')}",
                role=chance.choice(ROLES),
                folder=chance.choice(FOLDERS),
                length=chance.randrange(20, 280),
                members=chance.choice((0, 0, 1, 5)),
            )
        )
    return found


def decided(candidates: list[Traits], person: Any) -> list[Decided]:
    return [Decided(features_of(each), person(each)) for each in candidates]


def learned(decisions: list[Decided]) -> Preference:
    preference = learn(decisions)
    assert preference is not None
    return preference


def own_preferences(each: Traits) -> bool:
    return each.type == "preference" and each.role == "user"


def likely(preference: Preference, **changes: Any) -> float:
    return preference.score(features_of(traits(**changes))).probability


class TestWhenItBegins:
    def outcome(self, promoted: int, rejected: int) -> Preference | None:
        features = features_of(traits())
        return learn([Decided(features, True)] * promoted + [Decided(features, False)] * rejected)

    def test_not_before_there_are_enough_decisions(self) -> None:
        assert self.outcome(10, ENOUGH - 11) is None
        assert self.outcome(10, ENOUGH - 10) is not None

    def test_not_before_there_are_enough_of_either_outcome(self) -> None:
        assert self.outcome(ENOUGH_OF_EACH - 1, 100) is None
        assert self.outcome(100, ENOUGH_OF_EACH - 1) is None
        assert self.outcome(ENOUGH_OF_EACH, 100) is not None

    def test_no_decision_teaches_nothing(self) -> None:
        assert learn([]) is None


class TestSomebodyWhoPromotesTheirOwnPreferencesOnly:
    preference = learned(decided(queue(200), own_preferences))

    def test_those_come_first(self) -> None:
        candidates = queue(300, seed=2)
        scored = sorted(
            candidates,
            key=lambda each: -self.preference.score(features_of(each)).log_odds,
        )
        wanted = sum(map(own_preferences, candidates))
        assert wanted > 20
        assert all(own_preferences(each) for each in scored[:wanted])

    def test_the_reasons_are_type_rule_and_speaker(self) -> None:
        score = self.preference.score(
            features_of(traits(type="preference", rule="preference_a", role="user"))
        )
        assert {reason.feature.field for reason in score.reasons} == {"type", "rule", "role"}
        assert all(reason.weight > 0 for reason in score.reasons)
        assert score.probability > 0.5

    def test_reasons_against_are_named_too(self) -> None:
        score = self.preference.score(
            features_of(traits(type="project", rule="project_a", role="assistant"))
        )
        assert all(reason.weight < 0 for reason in score.reasons)
        assert score.probability < 0.1

    def test_a_reason_gives_the_counts_it_rests_on(self) -> None:
        decisions = decided(queue(200), own_preferences)
        own = Feature("role", "user")
        of_user = [each.promoted for each in decisions if own in each.features]
        (share,) = [each for each in self.preference.table() if each.feature == own]
        assert (share.promoted, share.decided) == (sum(of_user), len(of_user))
        score = self.preference.score([own])
        assert score.reasons[0].text == (
            f"you promoted {sum(of_user)} of {len(of_user)}: said by user"
        )


def test_somebody_who_promotes_nothing_from_one_folder() -> None:
    preference = learned(decided(queue(200), lambda each: each.folder != "archive"))
    assert likely(preference, folder="archive") < 0.3 < 0.7 < likely(preference, folder="notes")
    reason = preference.score(features_of(traits(folder="archive"))).reasons[0]
    assert reason.feature == Feature("folder", "archive")
    assert "0 of" in reason.text


def test_somebody_who_decides_by_chance_gives_no_strong_order() -> None:
    chance = random.Random(3)
    decisions = decided(queue(400), lambda _: chance.random() < 0.5)
    preference = learned(decisions)
    found = [preference.score(features_of(each)).probability for each in queue(100, seed=4)]
    assert min(found) > 0.3
    assert max(found) < 0.7


def test_what_was_never_decided_on_changes_nothing() -> None:
    preference = learned(decided(queue(100), own_preferences))
    known = features_of(traits())
    unknown = Feature("rule", "brand_new")
    assert preference.log_odds(unknown) == 0
    assert preference.score([*known, unknown]) == preference.score(known)
    assert preference.score([unknown]).reasons == ()


def test_a_score_names_three_reasons_at_most_the_strongest_first() -> None:
    preference = learned(decided(queue(200), own_preferences))
    weights = [abs(r.weight) for r in preference.score(features_of(traits())).reasons]
    assert len(weights) == 3
    assert weights == sorted(weights, reverse=True)
    strongest = sorted((abs(preference.log_odds(f)) for f in features_of(traits())), reverse=True)
    assert weights == strongest[:3]


def test_the_table_adds_up_to_the_score() -> None:
    preference = learned(decided(queue(200), own_preferences))
    weights = {share.feature: share.weight for share in preference.table()}
    for each in queue(50, seed=5):
        features = features_of(each)
        total = preference.base + sum(weights.get(feature, 0.0) for feature in features)
        score = preference.score(features)
        assert score.log_odds == pytest.approx(total, abs=1e-6)
        expected = min(max(1 / (1 + math.exp(-total)), 0.01), 0.99)
        assert score.probability == pytest.approx(expected, abs=1e-6)


def test_the_order_of_decisions_and_features_makes_no_difference() -> None:
    decisions = decided(queue(120), own_preferences)
    turned = [Decided(tuple(reversed(d.features)), d.promoted) for d in reversed(decisions)]
    first, second = learned(decisions), learned(turned)
    assert first.table() == second.table()
    features = features_of(traits())
    assert first.score(features) == second.score(tuple(reversed(features)))


@given(counts=st.lists(st.integers(0, 20), min_size=2, max_size=6))
def test_the_more_of_a_kind_is_promoted_the_likelier_the_next_one(counts: list[int]) -> None:
    decisions = [Decided((Feature("other", "x"),), promoted) for promoted in (True, False) * 10]
    for number, promoted in enumerate(counts):
        feature = (Feature("rule", f"r{number}"),)
        decisions += [Decided(feature, each < promoted) for each in range(20)]
    preference = learned(decisions)
    scores = [preference.score([Feature("rule", f"r{n}")]) for n in range(len(counts))]
    for one, score in zip(counts, scores, strict=True):
        for other, other_score in zip(counts, scores, strict=True):
            if one > other:
                assert score.log_odds > other_score.log_odds


@pytest.mark.parametrize(
    ("length", "bucket"),
    [(8, "up to 60 characters"), (60, "up to 60 characters"), (61, "61 to 120 characters"),
     (200, "121 to 200 characters"), (280, "over 200 characters")],
)  # fmt: skip
def test_lengths_fall_into_few_buckets(length: int, bucket: str) -> None:
    assert Feature("length", bucket) in features_of(traits(length=length))


def test_flags_and_near_duplicates_are_features() -> None:
    plain = features_of(traits())
    assert {Feature("flag", "none"), Feature("members", "no near duplicates")} <= set(plain)
    flagged = features_of(traits(flags=("secret", "injection", "secret"), members=3))
    assert [f.value for f in flagged if f.field == "flag"] == ["injection", "secret"]
    assert Feature("members", "over 2 near duplicates") in flagged
