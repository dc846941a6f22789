"""The time of a record: valid ISO 8601 as written, or None."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.sources.builders import Scanned, Session, note, put

ESC = "\x1b]0;owned\x07"


VALID = [
    "2026-02-14",
    "2026-02-14 10:22",
    "2026-02-14T10:22:05",
    "2026-02-14T10:22:05Z",
    "2026-02-14T10:22:05.123456789Z",
    "2026-02-14T10:22:05+02:00",
    "2026-02-14 10:22:05 -0530",
]
INVALID = [
    "",
    "yesterday",
    "2026-02-30",
    "2026-02-14T25:00:00Z",
    "2026-02-14\x1b10:22:05",
    "2026-02-14\u202e10:22:05",
    f"2026-02-14T10:22:05Z{ESC}",
    "2026-02-14T10:22:05Z\n",
    "２０２６-02-14",
    "20260214",
    "1771064525",
]


@pytest.mark.parametrize("at", [*VALID, *INVALID])
def test_readers_return_a_valid_time_as_it_was_written_or_none(tmp_path: Path, at: str) -> None:
    session = Session()
    session.user("We keep the drawer closed.", timestamp=at)
    assert [record.at for record in session.read(tmp_path)] == [at if at in VALID else None]


def test_the_date_of_a_note_is_valid_or_none(tmp_path: Path) -> None:
    for at, kept in ((VALID[3], VALID[3]), (f"soon{ESC}", None)):
        dated = f"---\ndate: {at}\n---\n# Kiosk\n\nThe drawer is kept closed.\n"
        assert [record.at for record in note(tmp_path, dated)] == [kept]


@pytest.mark.parametrize("at", ["soon", "²", "9" * 5_000])
def test_a_field_without_a_valid_time_is_skipped_for_the_next_one(tmp_path: Path, at: str) -> None:
    said = {"role": "user", "content": "x", "timestamp": at, "created_at": 1771064525}
    path = put(tmp_path, "talk.json", json.dumps([said]))
    assert [record.at for record in Scanned(path)] == ["2026-02-14T10:22:05.000Z"]
