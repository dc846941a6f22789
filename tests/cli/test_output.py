"""Data from outside reaches terminals and scripts only as plain text."""

from __future__ import annotations

import json
import re

import pytest

from reviewer.cli.output import cell_width, cut
from tests.cli.conftest import Reviewer

HOSTILE = (
    "- [Decision] The kiosk \x1b]0;owned\x07 shows \x1b[31mred\x1b[0m and \x9b31m and "
    "\u202egnp.exe in its title bar.\n"
)
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(reviewer: Reviewer) -> Reviewer:
    """A store whose only note carries escape sequences and a bidi override."""
    folder = reviewer.folder / "no\x1b[31mtes"
    folder.mkdir()
    (folder / "kiosk.md").write_text(HOSTILE, encoding="utf-8")
    done = reviewer("ingest", folder)
    assert done.returncode == 0, done.stderr
    return reviewer


def test_json_escapes_controls_and_loses_nothing(hostile: Reviewer) -> None:
    out = hostile("queue", "list", "--json").stdout
    assert not CONTROL.search(out)
    content = json.loads(out)["content"]
    assert "\x1b" in content
    assert "\u202e" in content


def test_json_stays_json_where_the_terminal_is_not_utf8(reviewer: Reviewer) -> None:
    note = reviewer.folder / "note.md"
    note.write_text("- [Decision] The kiosk in Überlingen shows prices in €.\n", encoding="utf-8")
    reviewer("ingest", note)
    done = reviewer("queue", "list", "--json", env={"PYTHONIOENCODING": "latin-1"})
    assert "Überlingen" in json.loads(done.stdout)["content"]
    assert reviewer("queue", "list", env={"PYTHONIOENCODING": "ascii"}).returncode == 0


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 5, "short"),
        ("too long", 5, "too …"),
        ("日本語です", 5, "日本…"),
        ("e\u0301clair", 6, "e\u0301clair"),
        ("anything", 0, ""),
    ],
)
def test_cut_counts_columns(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected
    assert cell_width(cut(text, width)) <= width
