"""The first changes of an act are read without the others."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.store.changes import Change, Value, pack, unpack, unpack_first

values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=40),
    st.sampled_from(["x" * 31, "x" * 32, "x" * 255, "x" * 256, "é" * 40_000]),
)
images = st.none() | st.dictionaries(st.text(max_size=12), values, max_size=20)
changes = st.builds(Change, st.text(max_size=12), st.integers(0, 2**63 - 1), images, images)


@given(st.lists(changes, max_size=6), st.integers(0, 8))
def test_the_first_changes_are_those_that_reading_all_finds(all_of_them: Any, limit: int) -> None:
    assert unpack_first(pack(all_of_them), limit) == all_of_them[:limit]


def long_act(rows: int) -> list[Change]:
    noise: list[Value] = [os.urandom(40).hex() for _ in range(rows)]
    return [Change("memory", n, None, {"content": text}) for n, text in enumerate(noise)]


def test_what_comes_after_them_is_not_read() -> None:
    whole = long_act(20_000)
    begun = pack(whole)[:200_000]
    with pytest.raises(ValueError, match="unreadable"):
        unpack(begun)
    assert unpack_first(begun, 200) == whole[:200]


def test_a_blob_that_breaks_off_before_them_is_damaged() -> None:
    with pytest.raises(ValueError, match="end too early"):
        unpack_first(pack(long_act(20_000))[:200_000], 19_000)


@pytest.mark.parametrize("blob", [b"", b"nothing deflated", pack([])[:-6]])
def test_a_damaged_blob_is_said_to_be_so(blob: bytes) -> None:
    with pytest.raises(ValueError, match="unreadable"):
        unpack_first(blob, 5)
