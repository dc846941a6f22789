"""Choosing the reader: by content, with one sentence for everything that cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reviewer.errors import SourceError
from tests.unit.sources import builders
from tests.unit.sources.builders import Scanned, put


def session_bytes() -> bytes:
    session = builders.Session()
    session.user("We deploy on Mondays.")
    session.reply("Noted.")
    return session.bytes()


OTHER = "markup, code, a table, a log or other data"
CHAT = json.dumps([{"role": "user", "content": "Hello there."}]).encode()


@pytest.mark.parametrize(
    "first",
    [b"{broken\n", b'{"type": "what", "is": "this"}\n', b"// comment\n", b"\n\n", b"\x00\n"],
)
def test_a_bad_first_line_does_not_decide(tmp_path: Path, first: bytes) -> None:
    path = put(tmp_path, "s.jsonl", first + session_bytes())
    assert Scanned(path).format == "claude-code"


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_no_records_and_says_so(tmp_path: Path, data: bytes) -> None:
    path = put(tmp_path, "empty.md", data)
    scan = Scanned(path)
    assert list(scan) == []
    assert scan.tally == {"empty file": 1}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 4, "binary"),
        (os.urandom(4000), "binary"),
        ("Kein Zeichen vorn".encode("utf-16-le"), "binary"),
        (b'{"name": "shop", "version": 1}', "JSON in no known conversation format"),
        (b'{"loglines": [], "sessionId": "s"}', "JSON in no known conversation format"),
        (b'{"id": 1}\n{"id": 2}\n', "JSON in no known conversation format"),
        (b'[{"role": "user", "content": "cut o', "damaged JSON"),
        (b"import os\n\n\ndef main() -> None:\n    print(os.name)\n    return None\n", OTHER),
        (b"#!/bin/sh\necho hello\n", OTHER),
        (b"name,age,town\nada,36,london\ngrace,85,arlington\nalan,41,wilmslow\n", OTHER),
        (b'digraph g {\n  a -> b [label="go on"]\n}\n', OTHER),
        (b"<!DOCTYPE html>\n<html><body>Hi there</body></html>\n", OTHER),
        (b"2026-01-01 10:00:00 INFO started the thing\n" * 9, OTHER),
        (b"1" * 500_000, OTHER),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_text_that_is_not_a_note_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    path = put(tmp_path, "thing", data)
    with pytest.raises(SourceError, match=f"is not text that reviewer reads: .*{reason}"):
        Scanned(path)


@pytest.mark.parametrize(
    "text",
    [
        "# Notes\n\nWe use `uv`.\n",
        "Decision: PostgreSQL 16.\nReason: two writers.\n",
        "Решение: PostgreSQL 16 для учёта.\n",
        "Shop v2.1 Release Notes\n=======\n\nThis fixes v2.0.1, v2.0.2 and\nCVE-1, CVE-2.\n",
        "1. Install uv.\n2. Run `uv sync`.\n3. Never `pip install`.\n",
    ],
)
@pytest.mark.parametrize("name", ["README", "note.txt"])
def test_a_note_without_the_suffix_of_one_may_name_versions_and_commands(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert Scanned(path).format == "markdown"


@pytest.mark.parametrize(("nuls", "read"), [(300_000, True), (17_000_000, False)])
def test_records_behind_nuls_are_looked_for_in_the_first_16_mb(
    tmp_path: Path, nuls: int, read: bool
) -> None:
    """A hole of ten gigabytes is called binary without being read."""
    session = builders.Session()
    session.user("We keep the drawer closed.")
    path = tmp_path / "hole.jsonl"
    with path.open("wb") as file:
        file.seek(nuls)
        file.write(b"\n" + session.bytes())
    if read:
        assert [record.text for record in Scanned(path)] == ["We keep the drawer closed."]
    else:
        with pytest.raises(SourceError, match="it is binary"):
            Scanned(path)


def test_what_is_no_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (
        ("gone.md", r"gone\.md does not exist"),
        (".", "is a folder, a pipe or a device"),
        ("loop.md", "cannot be read"),
        ("pipe", "is a folder, a pipe or a device"),
    ):
        with pytest.raises(SourceError, match=reason):
            Scanned(tmp_path / name)


def test_a_file_that_vanishes_before_it_is_read_raises_a_source_error(tmp_path: Path) -> None:
    path = put(tmp_path, "s.jsonl", session_bytes())
    scan = Scanned(path)
    path.unlink()
    with pytest.raises(SourceError, match="does not exist"):
        list(scan)
