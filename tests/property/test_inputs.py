"""No bytes make a pipeline, a history, a context folder, a pattern, a filter or settings crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.property.inputs import FEEDS, SEEDS, feed
from tests.property.test_readers import cuts, damaged

TARGETS = st.sampled_from(sorted(SEEDS)).flatmap(
    lambda target: st.tuples(st.just(target), st.sampled_from(SEEDS[target]))
)


@settings(
    deadline=None,
    max_examples=80,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=TARGETS, wounds=st.lists(cuts, max_size=5))
@example(seed=("history", b'{"goal":"a","o\x8c":"x"}'), wounds=[])
@example(seed=("settings", b"a = " + b"[" * 5000), wounds=[])
@example(seed=("pattern", b"((a{500}){500}){500}"), wounds=[])
def test_damaged_input_gives_a_result_or_one_sentence(
    tmp_path: Path, seed: tuple[str, bytes], wounds: list[tuple[float, int, bytes]]
) -> None:
    target, data = seed
    feed(target, damaged(data, wounds), tmp_path)


@pytest.mark.parametrize(
    "target",
    sorted(FEEDS.keys() - {"filter"}),  # no filter means something on both screens
)
def test_the_first_seed_is_taken_whole(tmp_path: Path, target: str) -> None:
    FEEDS[target](SEEDS[target][0], tmp_path)
