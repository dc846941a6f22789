"""No bytes make a reader crash, and every record lies where it says it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.property.readers import SEEDS, read_everything

SPLICES = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\xed\xa0\x80", b"\\ud800",
    b"null", b"[]", b"{}", b'"', b"\\", b"1e999", b"[" * 400, b'{"a":' * 200, b"\xe2\x80\xa8",
    b"-->", b"```", b"---\n", b"\x1b]0;x\x07", b"9" * 40,
)  # fmt: skip
"""What damages a file most: ends of line, marks of order, halves of characters, depth."""

cuts = st.tuples(
    st.floats(0, 1), st.integers(0, 12), st.sampled_from(SPLICES) | st.binary(max_size=6)
)


def damaged(seed: bytes, wounds: list[tuple[float, int, bytes]]) -> bytes:
    """The seed with bytes cut out and put in at some places."""
    for place, length, put in wounds:
        at = int(place * len(seed))
        seed = seed[:at] + put + seed[at + length :]
    return seed


@settings(
    deadline=None,
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.sampled_from(SEEDS), wounds=st.lists(cuts, max_size=5))
@example(seed=SEEDS[0], wounds=[(0.5, 0, b"\xed\xa0\x80")])
@example(seed=SEEDS[0], wounds=[(0.0, 0, b"\xff\xfe")])
@example(seed=b'{"type":[1],"role":{"a":1},"from":[2],"sessionId":"s"}\n', wounds=[])
@example(seed=b'[{"role":"user","content":"a","\xa7x":1},{"role":"user","content":"b"}]', wounds=[])
@example(seed=SEEDS[0] * 3, wounds=[(0.9, 12, b"")])
def test_a_damaged_file_gives_records_or_one_sentence(
    tmp_path: Path, seed: bytes, wounds: list[tuple[float, int, bytes]]
) -> None:
    read_everything(damaged(seed, wounds), tmp_path)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=400))
def test_any_bytes_at_all(tmp_path: Path, data: bytes) -> None:
    read_everything(data, tmp_path)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed[:12].decode())
def test_undamaged_seeds_are_read(tmp_path: Path, seed: bytes) -> None:
    assert read_everything(seed, tmp_path) > 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: b'{"type":"user","message":{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n",
        lambda: b'[{"role":"user","content":"' + b"ha " * 500_000 + b'"}]',
        lambda: b"- " * 200_000,
        lambda: b"\n".join([b"same line again"] * 30_000),
        lambda: b"#" * 100_000,
        lambda: b"**a" * 50_000,
    ],
    ids=["deep", "repeated words", "dashes", "repeated lines", "hashes", "stars"],
)
@pytest.mark.timeout(60)
def test_depth_and_repetition_end(tmp_path: Path, make: Callable[[], bytes]) -> None:
    read_everything(make(), tmp_path)
