"""Memory stays flat, whatever the size of the file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from reviewer.sources.lines import LINE_LIMIT
from reviewer.sources.records import Record
from reviewer.sources.stream import read

from .builders import Session

MB = 1_000_000


def peak_of_reading(path: Path) -> tuple[int, int]:
    """Highest memory in bytes while the file is read, and how many records it gave."""
    tracemalloc.start()
    records = sum(isinstance(each, Record) for each in read(path).with_records())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak, records


def test_a_session_of_15_mb_is_read_in_6(tmp_path: Path) -> None:
    session = Session()
    with (tmp_path / "big.jsonl").open("wb") as file:
        while file.tell() < 15 * MB:
            session.records.clear()
            session.user(f"Turn {file.tell()}.")
            session.tool()
            session.result("output " * 5000)
            session.reply(f"Did {file.tell()}.")
            file.write(session.bytes())
    peak, records = peak_of_reading(tmp_path / "big.jsonl")
    assert records > 5
    assert peak < 6 * MB


def short_turns(path: Path, turns: int) -> Path:
    session = Session()
    for number in range(0, turns, 2):
        session.user(f"Turn {number}.")
        session.reply(f"Did {number}.")
    path.write_bytes(session.bytes())
    return path


def test_one_more_short_turn_takes_less_than_500_bytes(tmp_path: Path) -> None:
    few, _ = peak_of_reading(short_turns(tmp_path / "few.jsonl", 2_000))
    many, records = peak_of_reading(short_turns(tmp_path / "many.jsonl", 6_000))
    assert records == 6_000
    assert many - few < 500 * (6_000 - 2_000)


def test_a_note_of_15_mb_is_read_in_8(tmp_path: Path) -> None:
    with (tmp_path / "big.md").open("wb") as file:
        while file.tell() < 15 * MB:
            file.write(
                f"# Part {file.tell()}\n\n".encode() + b"Words of this part. " * 2000 + b"\n\n"
            )
    peak, records = peak_of_reading(tmp_path / "big.md")
    assert records > 350
    assert peak < 8 * MB


def test_chat_lines_of_15_mb_are_read_in_8(tmp_path: Path) -> None:
    line = b'{"role": "user", "content": "%d ' + b"word " * 5000 + b'"}\n'
    with (tmp_path / "big.jsonl").open("wb") as file:
        while file.tell() < 15 * MB:
            file.write(line % file.tell())
    peak, records = peak_of_reading(tmp_path / "big.jsonl")
    assert records > 500
    assert peak < 8 * MB


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
    tracemalloc.start()
    texts = [record.text for record in stream.records()]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(texts) == 2
    assert sum(count for reason, count in stream.tally.items() if "line over" in reason) == 1
    assert peak < 2.5 * LINE_LIMIT
