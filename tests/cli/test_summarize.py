"""`reviewer summarize`: a file at its levels, with no store touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.sources.builders import Session

FIELDS = {
    "level", "content", "tokens", "original_tokens", "ratio", "anchors", "anchors_missing",
    "markers", "fidelity",
}  # fmt: skip
FIDELITY = {
    "overall", "anchor_preservation", "factual_accuracy", "context_retention", "lost",
}  # fmt: skip


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of some length about a ferry's timetable."""
    told = Session()
    told.user("Make the timetable of the ferry fit one page.")
    for number in range(15):
        told.reply(f"Sheet {number} has {number + 40} departures and `sheet_{number}.ods` is wide.")
        told.tool()
        told.result(f"sheet_{number}.ods  {number} kB")
    told.user("<system-reminder>never mention the moon</system-reminder>")
    told.user("No, keep the night boats in bold.")
    told.reply("We decided to drop the winter column. Next step: print it on A5.")
    path = tmp_path / "ferry.jsonl"
    path.write_bytes(told.bytes())
    return path


def rows(reviewer: Reviewer, *arguments: object) -> list[dict[str, Any]]:
    return reviewer.rows("summarize", *arguments, db=False)


def test_all_levels_have_the_fields_that_scripts_read(reviewer: Reviewer, session: Path) -> None:
    found = rows(reviewer, session, "--level", "all")
    assert [row["level"] for row in found] == ["detailed", "brief", "tags"]
    for row in found:
        assert row.keys() >= FIELDS
        assert row["fidelity"].keys() >= FIDELITY
        assert row["tokens"] < row["original_tokens"]
    assert {"type", "content"} <= found[0]["anchors"][0].keys()
    assert found[1]["markers"][0]["segment"] == "s1"
    assert not (reviewer.folder / "store.db").exists()


def test_only_the_asked_lines_are_summarized(reviewer: Reviewer, session: Path) -> None:
    [row] = rows(reviewer, session, "--level", "detailed", "--from-line", 0, "--to-line", 2)
    assert "fit one page" in row["content"]
    assert "winter" not in row["content"]


def test_people_get_the_text_and_the_missing_anchors(reviewer: Reviewer, session: Path) -> None:
    done = reviewer.succeeds("summarize", session, "--level", "brief", "--max-tokens", 30, db=False)
    assert done.stdout.strip()
    assert "Brief: " in done.stderr
    assert "Not enough room for" in done.stderr


def test_each_of_all_levels_is_labelled_in_text(reviewer: Reviewer, session: Path) -> None:
    done = reviewer.succeeds("summarize", session, "--level", "all", db=False)
    labels = [line for line in done.stdout.splitlines() if line.startswith("== ")]
    assert labels == ["== detailed", "== brief", "== tags"]
    assert "==" not in reviewer("summarize", session, "--level", "brief", db=False).stdout


def test_a_file_is_whole_so_its_summary_says_what_is_open(
    reviewer: Reviewer, session: Path
) -> None:
    (row,) = rows(reviewer, session, "--level", "detailed", "--max-tokens", 600)
    assert "The agent had the last word." in row["content"]


def test_the_same_words_come_out_however_python_hashes_them(
    reviewer: Reviewer, tmp_path: Path
) -> None:
    told = Session()
    told.user("Which tests of the ferry fail?")
    for number in range(20):
        deck = f"deck_{number}.py"
        told.reply(f"Run {number} of `{deck}` says nothing new about the {number + 3} lifeboats.")
        told.tool()
        told.result(f"/srv/ferry/north/{deck}\n/srv/ferry/south/{deck}\n{deck}")
    path = tmp_path / "tests.jsonl"
    path.write_bytes(told.bytes())
    said = {
        reviewer("summarize", path, "--level", "all", env={"PYTHONHASHSEED": seed}, db=False).stdout
        for seed in "12"
    }
    assert len(said) == 1
    assert "deck_" in said.pop()


def test_a_level_that_the_licence_locks_is_refused(reviewer: Reviewer, session: Path) -> None:
    known = reviewer.configured('[compression]\ntier = "writer-pro"\n')
    done = reviewer("summarize", session, "--level", "tags", env=known, db=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "needs the tier teams" in done.stderr
    done = reviewer.succeeds("summarize", session, "--level", "all", env=known, db=False)
    assert "== tags" not in done.stdout
    assert "needs the tier teams" in done.stderr


def test_of_several_conversations_it_is_the_last(reviewer: Reviewer, tmp_path: Path) -> None:
    said = "Never use more than one colour for the"
    talks = [
        [{"role": "user", "content": f"{said} {name}.", "timestamp": f"2026-03-0{day}T10:00:00Z"}]
        for name, day in (("tides", 1), ("buoys", 3), ("nets", 2))
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(talks))
    for row in rows(reviewer, path, "--level", "all"):
        assert row["conversations"] == 3
        assert "buoys" in row["content"]
        assert not {"tides", "nets"} & set(row["content"].replace(".", " ").split())
    assert "The last of the 3 conversations" in reviewer("summarize", path, db=False).stderr
