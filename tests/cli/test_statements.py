"""Statements and excerpts on the command line; words of one's own with lines as their proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.promotion.session import CAUSE, RULE, session

MINE = "The webhook sender has no idempotency key, so a retry books twice."


@pytest.fixture
def talk(reviewer: Reviewer) -> Path:
    path = session(reviewer.folder / "talk.jsonl")
    reviewer.succeeds("--project", "kiosk", "ingest", path)
    return path


def remember(reviewer: Reviewer, *more: object) -> int:
    reviewer.succeeds("remember", MINE, "--at", "talk.jsonl:1-2", *more)
    return int(
        reviewer.rows("queue", "list", "--filter", "proposer:person", "--status", "all")[0]["id"]
    )


def test_the_proof_is_in_the_json_and_in_words(reviewer: Reviewer, talk: Path) -> None:
    mine = remember(reviewer)
    (row,) = reviewer.rows("queue", "show", mine)
    assert row["proof"]["quotes"] == [
        {"line": 1, "text": CAUSE, "found": True},
        row["proof"]["quotes"][1],
    ]
    assert set(row["proof"]) >= {"unproved", "alone", "known", "later", "flags", "origin"}
    assert (row["proposer"], row["sessions"]) == ("person", 1)
    shown = reviewer("queue", "show", mine).stdout
    assert "✓ 2 quotes, names and numbers found; meaning not checked" in shown


def test_words_of_ones_own_can_be_promoted_and_undone(reviewer: Reviewer, talk: Path) -> None:
    excerpts = reviewer.ids()
    mine = remember(reviewer, "--promote", "--type", "adaptation")
    (row,) = reviewer.rows("queue", "show", mine)
    assert (row["status"], row["type"]) == ("active", "adaptation")
    assert "Wrote and promoted" in reviewer("undo").stderr
    assert reviewer.ids() == excerpts
    reviewer.succeeds("verify")


def test_without_a_type_it_is_that_of_the_beginning(reviewer: Reviewer, talk: Path) -> None:
    reviewer.succeeds("remember", "Never deploy from a laptop.", "--at", "talk.jsonl:0")
    assert reviewer.rows("queue", "list", "--filter", "proposer:person")[0]["type"] == "preference"


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("talk.jsonl", "--at wants FILE:LINES"),
        ("talk.jsonl:9-3", "9-3 ends before it starts"),
        ("talk.jsonl:1-99999", "at most 1,000 lines"),
    ],
)
def test_a_place_that_cannot_be_read_is_named(
    reviewer: Reviewer, talk: Path, place: str, line: str
) -> None:
    assert line in reviewer.fails("remember", MINE, "--at", place, code=2)


def test_lines_that_are_not_there_change_nothing(reviewer: Reviewer, talk: Path) -> None:
    before = reviewer.ids("--status", "all")
    assert "has no text in those lines" in reviewer.fails("remember", MINE, "--at", f"{talk}:500")
    nowhere = f"talk.jsonl:{'9' * 12}"
    assert "has no text in those lines" in reviewer.fails("remember", MINE, "--at", nowhere)
    assert "does not exist" in reviewer.fails("remember", MINE, "--at", "gone.jsonl:1")
    assert "A memory has at least 8 characters, this has 2." in reviewer.fails(
        "remember", "No.", "--at", f"{talk}:1"
    )
    assert reviewer.ids("--status", "all") == before


def test_the_words_of_a_line_are_its_proof_and_not_what_the_program_added(
    reviewer: Reviewer,
) -> None:
    talk = session(reviewer.folder / "talk.jsonl")
    assert "working folder" in reviewer("view", talk).stdout
    reviewer.succeeds("remember", MINE, "--at", "talk.jsonl:0-1")
    (row,) = reviewer.rows("queue", "list", "--filter", "proposer:person")
    quoted = [quote["text"] for quote in row["proof"]["quotes"]]
    assert quoted == [RULE, CAUSE]


def test_a_reason_is_kept_shown_and_undone(reviewer: Reviewer, talk: Path) -> None:
    first = reviewer.ids()[0]
    done = reviewer("reject", first, "--reason", "narration")
    assert "Rejected #" in done.stderr
    assert ": of the moment" in done.stderr
    (row,) = reviewer.rows("queue", "show", first)
    assert (row["status"], row["reason"]) == ("invalid", "narration")
    assert "rejected    narration" in reviewer("queue", "show", first).stdout
    assert reviewer.rows("history")[-1]["title"].endswith(": of the moment")
    reviewer("undo")
    assert reviewer.rows("queue", "show", first)[0]["reason"] == ""
    reviewer("reject", first, "--reason", "wrong")
    reviewer("restore", first)
    assert reviewer.rows("queue", "show", first)[0]["reason"] == ""
    reviewer.succeeds("verify")
