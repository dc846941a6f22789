"""Levels for a target: no more is let go than has to be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviewer.compression.fit import fit_levels
from reviewer.compression.values import Level

SIZES = st.lists(
    st.lists(st.integers(1, 400), min_size=4, max_size=4).map(lambda of: sorted(of, reverse=True)),
    min_size=1,
    max_size=8,
)
"""Tokens of each segment at Full, Detailed, Brief and Tags."""


def brief_but_the_last_two(count: int) -> list[Level]:
    return [Level.BRIEF if at < count - 2 else Level.FULL for at in range(count)]


@given(sizes=SIZES, fixed=st.integers(0, 100), target=st.integers(1, 2_000))
def test_it_fits_and_no_segment_could_be_fuller(sizes, fixed, target):
    found = fit_levels(
        brief_but_the_last_two(len(sizes)), target, fixed, lambda at, level: sizes[at][level]
    )
    if found is None:
        assert fixed + sum(of[Level.TAGS] for of in sizes) > target
        return
    total = fixed + sum(of[level] for of, level in zip(sizes, found, strict=True))
    assert total <= target
    for of, level in zip(sizes, found, strict=True):
        if level > Level.FULL:
            assert total - of[level] + of[level - 1] > target


def test_what_lowering_left_over_goes_to_the_newest():
    sizes = [(100, 60, 30, 10)] * 4
    assert fit_levels(brief_but_the_last_two(4), 240, 0, lambda at, level: sizes[at][level]) == [
        Level.TAGS, Level.BRIEF, Level.FULL, Level.FULL,
    ]  # fmt: skip
    assert fit_levels(brief_but_the_last_two(4), 180, 0, lambda at, level: sizes[at][level]) == [
        Level.TAGS, Level.TAGS, Level.DETAILED, Level.FULL,
    ]  # fmt: skip
    assert fit_levels(brief_but_the_last_two(4), 160, 0, lambda at, level: sizes[at][level]) == [
        Level.TAGS, Level.BRIEF, Level.DETAILED, Level.DETAILED,
    ]  # fmt: skip
