"""The compact set contains exactly the added values."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer.sources.hash_set import HashSet

VALUES = st.one_of(st.integers(), st.text(max_size=5), st.tuples(st.text(max_size=2)))


@settings(max_examples=50, deadline=None)
@given(put_in=st.lists(VALUES), asked=st.lists(VALUES))
def test_it_contains_the_added_values(put_in: list[object], asked: list[object]) -> None:
    seen, known = HashSet(), {hash(value) or 1 for value in put_in}
    for value in put_in:
        seen.add(value)
    assert len(seen) == len(known)
    assert all(value in seen for value in put_in)
    assert [value in seen for value in asked] == [(hash(value) or 1) in known for value in asked]


def test_it_still_contains_all_values_after_growing() -> None:
    seen = HashSet()
    for number in range(0, 40_000, 2):
        seen.add(number << 20)  # far apart, as equal in their last bits as can be
    assert [n for n in range(40_000) if ((n << 20) in seen) != (n % 2 == 0)] == []
    assert len(seen) == 20_000


def test_a_key_takes_less_than_forty_bytes() -> None:
    tracemalloc.start()
    seen = HashSet()
    for number in range(20_000):
        seen.add(f"{number:036}")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 40 * len(seen)
