"""`reviewer view`: a session as a reader needs it, with no store touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.sources.builders import Session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    told = Session()
    told.user("Print the timetable on \x1b[31mA5\x1b[0m.")
    for number in range(30):
        told.tool()
        told.result()
        told.reply(f"Sheet {number} is printed and lies in the tray of the clerk.")
        told.user(f"And sheet {number + 1}?")
    path = tmp_path / "ferry.jsonl"
    path.write_bytes(told.bytes())
    return path


def test_rows_have_the_fields_that_scripts_read(reviewer: Reviewer, session: Path) -> None:
    done = reviewer.succeeds("view", session, "--json", db=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(row.keys() == {"line", "role", "speaker", "text", "left_out"} for row in rows)
    assert rows[3] == {
        "line": 1, "role": "tool", "speaker": "harness", "text": "Bash: ls -> done", "left_out": 0,
    }  # fmt: skip
    assert not (reviewer.folder / "store.db").exists()


def test_the_text_is_numbered_and_harmless_and_its_figures_are_on_stderr(
    reviewer: Reviewer, session: Path
) -> None:
    done = reviewer.succeeds("view", session, db=False)
    assert "[0] USER: Print the timetable on ␛[31mA5␛[0m.\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr.startswith("claude-code: 93 lines shown, ")


def test_lines_are_0_based_and_the_last_is_not_included(reviewer: Reviewer, session: Path) -> None:
    done = reviewer("view", session, "--from-line", 3, "--to-line", 5, "--json", db=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["line"] for row in rows if row["role"] != "event"] == [3, 4]
    done = reviewer("view", session, "--from-line", 5, "--to-line", 3, db=False)
    assert done.returncode == 2
