"""Damaged files of Claude Code sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .builders import Session

DEEP = b'{"type":"user","message":' + b'[{"a":' * 50_000 + b"1" + b"}]" * 50_000 + b"}\n"


class TestDamage:
    """Broken files lose only the broken record."""

    def test_records_run_together_are_both_read(self, tmp_path: Path) -> None:
        session = Session()
        for text in ("Grüße.", "Two.", "Three."):
            session.user(text)
        one, two, three = session.lines()
        data = one + two + b"\n" + three + b"\n"
        scan = session.scan(tmp_path, data)
        records = list(scan)
        assert [(r.text, r.line_start) for r in records] == [
            ("Grüße.", 0),
            ("Two.", 0),
            ("Three.", 1),
        ]
        assert data[records[1].byte_start : records[1].byte_end] == two
        assert scan.tally["recovered from a damaged line"] == 2

    @pytest.mark.parametrize(
        ("spoiled", "said", "reason"),
        [
            (lambda one, two: one + b"\n" + two[:-40], ["Keep XX one."], "bad JSON"),
            (lambda one, two: one[:60] + two, ["Keep XX two."], "bad JSON"),
            (
                lambda one, two: one.replace(b"XX", b"\xff\xc3") + b"\n" + two,
                ["Keep \ufffd\ufffd one.", "Keep XX two."],
                "invalid UTF-8",
            ),
            (
                lambda one, two: one.replace(b"XX", rb"\ud83d") + b"\n" + two,
                ["Keep \ufffd one.", "Keep XX two."],
                "odd escapes replaced",
            ),
            (lambda one, two: two + b"\n" + DEEP, ["Keep XX two."], "nested too deep"),
        ],
        ids=["cut at the end", "cut before another", "invalid UTF-8", "half a character", "deep"],
    )
    def test_a_damaged_line_is_counted_and_costs_only_itself(
        self, tmp_path: Path, spoiled: Callable[[bytes, bytes], bytes], said: list[str], reason: str
    ) -> None:
        session = Session()
        session.user("Keep XX one.")
        session.user("Keep XX two.")
        scan = session.scan(tmp_path, spoiled(*session.lines()))
        assert [record.text for record in scan] == said
        assert scan.tally[reason] == 1

    def test_unknown_types_are_counted_by_a_clean_short_name(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Said.")
        session.add("new\x1b[31mthing" + "x" * 100)
        scan = session.scan(tmp_path)
        list(scan)
        [name] = [name for name in scan.tally if name.startswith("new")]
        assert name.startswith("new?")
        assert "\x1b" not in name
        assert len(name) < 60

    def test_fields_of_another_type_do_not_lose_the_record(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Said.", timestamp=17, cwd=["x"], isSidechain="no", version=None)
        session.user([{"type": "text", "text": "Kept."}, {"type": 5, "text": []}, "bare", 7])
        assert [record.text for record in session.read(tmp_path)] == ["Said.", "Kept.\n\nbare"]

    def test_windows_line_ends_are_lines(self, tmp_path: Path) -> None:
        session = Session()
        session.user("One.")
        session.user("Two.")
        data = session.bytes().replace(b"\n", b"\r\n")
        records = session.read(tmp_path, data)
        assert [(record.text, record.line_start) for record in records] == [
            ("One.", 0),
            ("Two.", 1),
        ]
        assert json.loads(data[records[1].byte_start : records[1].byte_end])["uuid"] == "s1-1"

    def test_a_first_line_longer_than_the_sample_does_not_hide_the_format(
        self, tmp_path: Path
    ) -> None:
        session = Session()
        session.user("Said.")
        scan = session.scan(tmp_path, b"A" * 600_000 + b"\n" + session.bytes())
        assert [(scan.format, record.line_start) for record in scan] == [("claude-code", 1)]
