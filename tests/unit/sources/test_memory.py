"""Memory stays flat, whatever the size of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.sources.lines import LINE_LIMIT
from reviewer.sources.records import Record
from reviewer.sources.stream import read
from tests.memory import peak_of

from .builders import Session

MB = 1_000_000


def peak_of_reading(path: Path) -> tuple[int, int]:
    """Highest memory in bytes while the file is read, and how many records it gave."""
    return peak_of(lambda: sum(isinstance(each, Record) for each in read(path).with_records()))


def turns(at: int) -> bytes:
    session = Session()
    session.user(f"Turn {at}.")
    session.tool()
    session.result("output " * 5000)
    session.reply(f"Did {at}.")
    return session.bytes()


@pytest.mark.parametrize(
    ("piece", "most"),
    [
        (turns, 6),
        (lambda at: b"# Part %d\n\n%b\n\n" % (at, b"Words of this part. " * 2000), 8),
        (lambda at: b'{"role": "user", "content": "%d %b"}\n' % (at, b"word " * 5000), 8),
    ],
    ids=["session", "note", "chat"],
)
def test_a_file_of_15_mb_is_read_in_a_few(
    tmp_path: Path, piece: Callable[[int], bytes], most: int
) -> None:
    with (tmp_path / "big").open("wb") as file:
        while file.tell() < 15 * MB:
            file.write(piece(file.tell()))
    peak, records = peak_of_reading(tmp_path / "big")
    assert records > 5
    assert peak < most * MB


def short_turns(path: Path, count: int) -> Path:
    session = Session()
    for number in range(0, count, 2):
        session.user(f"Turn {number}.")
        session.reply(f"Did {number}.")
    return session.write(path)


def test_one_more_short_turn_takes_less_than_500_bytes(tmp_path: Path) -> None:
    few, _ = peak_of_reading(short_turns(tmp_path / "few.jsonl", 1_000))
    many, records = peak_of_reading(short_turns(tmp_path / "many.jsonl", 3_000))
    assert records == 3_000
    assert many - few < 500 * 2_000


@pytest.mark.parametrize("kind", ["session", "note"])
def test_a_line_of_100_mb_is_skipped_without_keeping_it_in_memory(
    tmp_path: Path, kind: str
) -> None:
    session = Session()
    session.user("Before it, we said this.")
    before = session.bytes() if kind == "session" else b"# A\n\nBefore it, we said this.\n"
    path = tmp_path / "line"
    with path.open("wb") as file:
        file.write(before)
        for _ in range(100):
            file.write(b"A" * MB)
        file.write(b"\n" + before.replace(b"Before", b"After").replace(b"s1-0", b"s1-1"))
    stream = read(path)
    peak, texts = peak_of(lambda: [record.text for record in stream.records()])
    assert len(texts) == 2
    assert sum(count for reason, count in stream.tally.items() if "line over" in reason) == 1
    assert peak < 2.5 * LINE_LIMIT
