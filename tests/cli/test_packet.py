"""`reviewer packet`: what agents and people type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer

FILES = {
    "CONSTITUTION.md": "# Constitution\n\n- [ ] Never open the drawer before the receipt\n",
    "TASKS.md": "# Tasks\n\n- [ ] Repair the printer #added:2026-07-20\n- [x] Buy paper\n",
    "DECISIONS.md": "# Decisions\n\n## [2026-07-24] Thin paper\n\n**Decision**: 55 g.\n",
    "LEARNINGS.md": "# Learnings\n\n## [2026-07-25] Jams\n\n**Lesson**: Wait forty seconds.\n",
}


@pytest.fixture
def kiosk(reviewer: Reviewer) -> Path:
    """A project with a context folder."""
    folder = reviewer.folder / "kiosk"
    (folder / ".context").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / ".context" / name).write_text(text)
    return folder


def packet(program: Reviewer, folder: Path, *arguments: object) -> str:
    done = program.succeeds("packet", "--context-dir", folder, "--now", "2026-07-26", *arguments)
    return done.stdout


def as_json(program: Reviewer, folder: Path, *arguments: object) -> dict[str, Any]:
    line = packet(program, folder, "--format", "json", *arguments)
    assert line.count("\n") == 1
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_packet_of_a_folder_needs_no_store(reviewer: Reviewer, kiosk: Path) -> None:
    text = packet(reviewer, kiosk)
    assert text.startswith("# Context packet\n")
    for words in ("Never open the drawer", "Repair the printer", "55 g.", "forty seconds"):
        assert words in text
    assert "Buy paper" not in text
    assert not reviewer.db.exists()
    assert packet(reviewer, kiosk / ".context") == text


def test_over_budget_is_reported_on_stderr_and_the_exit_code_is_0(
    reviewer: Reviewer, kiosk: Path
) -> None:
    done = reviewer.succeeds("packet", "--context-dir", kiosk, "--budget", 5, "--now", "2026-07-26")
    assert "Over the budget of 5 tokens by" in done.stderr
    assert "Never open the drawer" in done.stdout


def test_problems_are_named_on_stderr_and_in_the_json_each_time(
    reviewer: Reviewer, kiosk: Path
) -> None:
    (kiosk / ".context" / "LEARNINGS.md").write_bytes(b"## [2026-02-31] Caf\xe9\n\nx\n")
    for _ in range(2):
        done = reviewer("packet", "--context-dir", kiosk, "--format", "json")
        assert "LEARNINGS.md:1: a date that does not exist" in done.stderr
        files = {each["file"] for each in json.loads(done.stdout)["problems"]}
        assert files == {"LEARNINGS.md"}


def test_explain_lists_items_with_their_scores(reviewer: Reviewer, kiosk: Path) -> None:
    rows = packet(reviewer, kiosk, "--explain").splitlines()
    (jams,) = [row for row in rows if " Jams " in row]
    assert "recency 1.0 (1 day ago)" in jams


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "-1"], "--budget"),
        (["--budget", "many"], "--budget"),
        (["--now", "soon"], "not a date"),
        (["--format", "xml"], "--format"),
        (["--explain", "--format", "json"], "--explain"),
        (["--budget", "8kk"], "8000, 8,000 or 8k"),
        (["--budget", "nobody"], "8000, 8,000 or 8k"),
    ],
)
def test_wrong_usage(reviewer: Reviewer, kiosk: Path, arguments: list[str], words: str) -> None:
    said = reviewer.fails("packet", "--context-dir", kiosk, *arguments, code=2)
    assert words in said


def test_a_folder_that_is_not_a_context(reviewer: Reviewer) -> None:
    (reviewer.folder / "other").mkdir()
    assert "not a context folder" in reviewer.fails("packet", "--context-dir", "other")
    assert "does not exist" in reviewer.fails("packet", "--context-dir", "gone")


@pytest.mark.parametrize("written", ["300", "0.3k", "3_00"])
def test_budgets_are_read_as_people_write_them(
    reviewer: Reviewer, kiosk: Path, written: str
) -> None:
    assert as_json(reviewer, kiosk, "--budget", written)["budget"] == 300
    assert as_json(reviewer, kiosk, "--budget", "8,000")["budget"] == 8000


def test_the_task_from_stdin(reviewer: Reviewer, kiosk: Path) -> None:
    asked = ("packet", "--context-dir", kiosk, "--task", "-", "--format", "json")
    diff = "diff --git a/jams.py b/jams.py\n+++ b/jams.py\n@@ -1 +1 @@\n+wait(40)\n"
    found = json.loads(reviewer(*asked, typed=diff).stdout)
    assert {item["title"]: item["score"] for item in found["included"]}["Jams"] == 1.0
    found = json.loads(reviewer(*asked, typed="forty seconds of jams\n" * 45_000).stdout)
    assert found["keywords"] == ["jams", "forty", "seconds"]
    assert "is empty" in reviewer(*asked, typed=" \n").stderr


def test_a_task_that_names_nothing_here_says_so(reviewer: Reviewer, kiosk: Path) -> None:
    for task in ("zzz", "Müllabfuhr"):
        done = reviewer("packet", "--context-dir", kiosk, "--task", task)
        assert "in the order without a task" in done.stderr


def test_what_was_left_out_can_be_read_by_its_place_or_id(reviewer: Reviewer, kiosk: Path) -> None:
    item = next(i for i in as_json(reviewer, kiosk)["included"] if i["title"] == "Jams")
    for name in (item["id"], item["source"], "learnings.md:5"):
        done = reviewer.succeeds("packet", "read", name, "--context-dir", kiosk)
        assert done.stdout.splitlines() == [
            "### [2026-07-25] Jams [LEARNINGS.md:3]", "", "**Lesson**: Wait forty seconds."
        ]  # fmt: skip
    both = reviewer("packet", "read", "CONSTITUTION.md:3", "DECISIONS.md:3", "--json",
                    "--context-dir", kiosk)  # fmt: skip
    rows = [json.loads(line) for line in both.stdout.splitlines()]
    assert [row["section"] for row in rows] == ["constitution", "decisions"]
    assert "55 g." in rows[1]["text"]
    for name in ("DECISIONS.md:1", "DECISIONS.md:²"):
        assert f"no item {name}" in reviewer.fails("packet", "read", name, "--context-dir", kiosk)


def test_without_a_store_the_folder_here_is_read_and_named(reviewer: Reviewer, kiosk: Path) -> None:
    reviewer.folder = kiosk
    done = reviewer("packet", "--now", "2026-07-26")
    assert "Wait forty seconds." in done.stdout
    assert f"From {kiosk / '.context'}" in done.stderr
    assert "Wait forty seconds." in reviewer("packet", "read", "LEARNINGS.md:3").stdout


def test_a_memory_marked_constitution_is_a_rule(seeded: Reviewer) -> None:
    seeded.succeeds("remember", "Never push to main #constitution", "--type", "preference")
    seeded.succeeds("promote", max(seeded.ids()))
    assert "- Never push to main\n" in seeded("packet", "--budget", 0).stdout


def test_a_program_reads_the_store_and_no_folder_here(reviewer: Reviewer) -> None:
    folder = reviewer.folder / ".context"
    folder.mkdir()
    (folder / "TASKS.md").write_text("- [ ] Oil the printing press\n")
    assert "printing press" in reviewer("packet").stdout
    done = reviewer("packet", "--from", "store")
    assert "printing press" not in done.stdout
