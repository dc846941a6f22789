"""The time of a record: valid ISO 8601 as written, or None."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.clock import written_moment
from reviewer.commits.export_reader import read_export
from reviewer.errors import SourceError
from reviewer.sources.open import open_blocks
from tests.unit.sources.builders import Scanned

ESC = "\x1b]0;owned\x07"


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-14",
        "2026-02-14 10:22",
        "2026-02-14T10:22:05",
        "2026-02-14T10:22:05Z",
        "2026-02-14T10:22:05.123Z",
        "2026-02-14T10:22:05.123456789Z",
        "2026-02-14T10:22:05+02:00",
        "2026-02-14 10:22:05 -0530",
    ],
)
def test_a_time_stays_as_it_was_written(text: str) -> None:
    assert written_moment(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "[trimmed for fixture]",
        "2026-02-30",
        "2026-02-14T25:00:00Z",
        "2026-02-14\x1b10:22:05",
        "2026-02-14\u202e10:22:05",
        f"2026-02-14T10:22:05Z{ESC}",
        "2026-02-14T10:22:05Z\n",
        "２０２６-02-14",
        "20260214",
        "1771064525",
    ],
)
def test_anything_else_is_not_a_time(text: str) -> None:
    assert written_moment(text) is None


def claude(folder: Path, at: str) -> Path:
    path = folder / "session.jsonl"
    message = {"role": "user", "content": "We decided to keep the drawer closed."}
    line = {"type": "user", "uuid": "u", "sessionId": "s", "timestamp": at, "message": message}
    path.write_text(json.dumps(line) + "\n")
    return path


def chat(folder: Path, at: str) -> Path:
    path = folder / "talk.json"
    path.write_text(json.dumps([{"role": "user", "content": "Keep it closed.", "timestamp": at}]))
    return path


def note(folder: Path, at: str) -> Path:
    path = folder / "note.md"
    path.write_text(f"---\ndate: {at}\n---\n# Kiosk\n\nThe drawer is kept closed.\n")
    return path


READERS = [claude, chat, note]


@pytest.mark.parametrize("make", READERS)
@pytest.mark.parametrize(
    ("at", "kept"),
    [
        ("2026-02-14T10:22:05Z", "2026-02-14T10:22:05Z"),
        ("2026-02-14\x1b10:22:05", None),
        (f"soon{ESC}", None),
    ],
)
def test_readers_return_a_valid_time_or_none(
    tmp_path: Path, make: Callable[[Path, str], Path], at: str, kept: str | None
) -> None:
    path = make(tmp_path, at)
    assert [record.at for record in Scanned(path)] == [kept]
    assert [block.at for block in open_blocks(path)] == [kept]


def test_a_field_without_a_valid_time_is_skipped_for_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(
        json.dumps(
            [{"role": "user", "content": "x", "timestamp": "soon", "created_at": 1771064525}]
        )
    )
    assert [record.at for record in Scanned(path)] == ["2026-02-14T10:22:05.000Z"]


def exported(folder: Path, at: str, annotated_at: str) -> Path:
    path = folder / "context.jsonl"
    annotation = {"priority": "pinned", "at": annotated_at, "actor": "me"}
    line = {
        "role": "user", "content": "Keep it closed.", "type": "dialogue", "priority": "pinned",
        "hash": "0", "position": 0, "annotations": [annotation], "at": at,
    }  # fmt: skip
    path.write_text(json.dumps(line) + "\n")
    return path


def test_an_exported_context_brings_back_only_valid_times(tmp_path: Path) -> None:
    (draft,) = read_export(exported(tmp_path, "2026-02-14", "2026-02-14T10:22:05Z")) or []
    assert (draft.at, draft.annotations[0].at) == ("2026-02-14", "2026-02-14T10:22:05Z")
    for what, times in (
        ("commit", (f"soon{ESC}", "2026-02-14")),
        ("annotation", ("2026-02-14", "soon")),
    ):
        with pytest.raises(SourceError, match=f"line 1: The time of the {what} is not a moment"):
            read_export(exported(tmp_path, *times))
