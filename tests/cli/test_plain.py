"""`reviewer --plain`: the queue through a pipe, one candidate and one letter at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.agent_projects import session, tree
from tests.cli.conftest import Reviewer


def plain(program: Reviewer, typed: str, *arguments: object) -> str:
    """What was read out for these lines; the call succeeds."""
    done = program(*arguments, "--plain", typed=typed)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    return done.stdout


@pytest.fixture
def kiosk(ingested: Reviewer) -> Reviewer:
    ingested.environment["REVIEWER_DB"] = str(ingested.db)
    return ingested


def test_a_letter_keeps_one_and_rejects_another(kiosk: Reviewer) -> None:
    first, second = kiosk.ids()[:2]
    said = plain(kiosk, "approve\nx\n")
    assert "1 of " in said
    assert "kiosk-decisions.md, line " in said
    assert f"Promoted #{first}" in said
    assert f"Rejected #{second}" in said
    assert "1 kept, 1 rejected" in said
    assert kiosk.ids("--status", "active") == [first]
    assert second in kiosk.ids("--status", "invalid")


def test_undo_reads_the_same_candidate_again(kiosk: Reviewer) -> None:
    first = kiosk.ids()[0]
    said = plain(kiosk, "x\nu\nq\n")
    assert f"Undone: Rejected #{first}" in said
    assert said.count("\n1 of ") == 2
    assert "0 kept, 0 rejected" in said
    assert first in kiosk.ids()


def test_other_words_are_promoted_in_place_of_the_first(kiosk: Reviewer) -> None:
    first = kiosk.ids()[0]
    plain(kiosk, "e\n.\ne\nReceipts are printed in the language of the customer.\nq\n")
    (row,) = kiosk.rows("queue", "list", "--status", "active")
    assert (row["id"], row["content"]) == (
        first,
        "Receipts are printed in the language of the customer.",
    )


def test_an_unknown_letter_says_which_there_are(kiosk: Reviewer) -> None:
    said = plain(kiosk, "zebra\n?\nq\n")
    assert "There is no letter zebra" in said
    assert "a: keep it as a memory" in said


def test_it_ends_after_the_last_one(kiosk: Reviewer) -> None:
    said = plain(kiosk, "x\n" * len(kiosk.ids()))
    assert "That was the last one." in said
    assert "0 waiting" in said


def test_the_first_start_offers_the_sessions_and_reads_them(reviewer: Reviewer) -> None:
    folder = tree(reviewer)
    session(folder)
    home = Path(reviewer.environment["HOME"])
    assert list(home.rglob("*.jsonl"))
    done = reviewer("--plain", typed="\nq\n", cwd=folder)
    assert done.returncode == 0, done.stderr
    out = done.stdout
    assert "1. ticket-office: 1 session" in out
    assert "Read 1 file." in out
    assert "nothing leaves this machine" in out


def begun(program: Reviewer, folder: Path, typed: str) -> str:
    """What `reviewer --plain` reads out in a folder."""
    done = program("--plain", typed=typed, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def at_home(program: Reviewer, name: str, *, worked_in: bool = True) -> Path:
    """A work tree in the home folder, with a session or without."""
    folder = tree(program, f"home/{name}")
    if worked_in:
        path = session(program.folder / name, name=name)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(str(program.folder / name), str(folder)), encoding="utf-8")
    return folder


def test_who_left_without_reading_is_offered_the_sessions_again(reviewer: Reviewer) -> None:
    folder = at_home(reviewer, "ticket-office")
    assert "1. ticket-office" in begun(reviewer, folder, "q\n")
    assert "1. ticket-office" in begun(reviewer, folder, "q\n")


def test_a_project_without_sessions_is_offered_those_of_the_others(reviewer: Reviewer) -> None:
    folder = at_home(reviewer, "ticket-office")
    assert "Read 1 file." in begun(reviewer, folder, "\nq\n")
    empty = at_home(reviewer, "empty", worked_in=False)
    assert "1. ticket-office" in begun(reviewer, empty, "q\n")


def test_outside_of_projects_a_person_chooses_where_a_script_gets_an_error(
    reviewer: Reviewer,
) -> None:
    at_home(reviewer, "ticket-office")
    outside = at_home(reviewer, "box-office").parent
    said = begun(reviewer, outside, "3\nq\n")
    assert "3. all projects: 2 sessions" in said
    assert "Read 2 files." in said
    assert "1. " in begun(reviewer, outside, "q\n")
    script = reviewer("queue", "list", cwd=outside)
    assert script.returncode == 2
    assert "--all-projects" in script.stderr


def test_a_machine_without_sessions_says_what_to_read(reviewer: Reviewer) -> None:
    said = plain(reviewer, "")
    assert "No sessions of agents were found" in said
    assert "reviewer ingest PATH reads notes" in said


def test_a_conflict_is_read_with_both_sides(reviewer: Reviewer) -> None:
    project = ("--project", "kiosk")
    for depth in ("300 mm", "320 mm"):
        added = reviewer(
            *project,
            "remember",
            f"drawer depth = {depth}",
            "--type",
            "parameter",
            "--name",
            "drawer depth",
        )
        assert added.returncode == 0, added.stderr
    assert reviewer(*project, "promote", *reviewer.ids(*project)).returncode == 0
    said = plain(reviewer, "a\n1\nq\n", *project)
    assert "These two contradict each other." in said
    assert "Superseded" in said or "Resolved" in said or "Kept" in said


def test_the_end_of_the_demo_says_that_it_is_gone(reviewer: Reviewer) -> None:
    said = reviewer("demo", "--plain", typed="\na\nq\n", db=False).stdout
    assert "1 kept, 0 rejected" in said
    assert "That was sample data, and it is gone. For your own sessions, run reviewer" in said
    assert "reviewer connect" not in said
