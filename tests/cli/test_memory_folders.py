"""What is promoted, in the memory folder that an agent keeps for a project: only if the person
chose it, kept up to date, and taken back byte for byte.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.agent_projects import filled, tree
from tests.cli.conftest import Reviewer
from tests.cli.test_connect import snapshot

INDEX = (
    "- [Printing](printing.md) — two languages\n"
    "- [Gate](gate.md) — at most 40 tickets, the last line has no end"
)


def memory(program: Reviewer, folder: Path) -> Path:
    """Where Claude Code keeps its memories of a work tree."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(folder.resolve()))
    return program.home / ".claude" / "projects" / slug / "memory"


def connected(program: Reviewer, agent: str = "claude-code") -> None:
    program.succeeds("connect", agent, "--memory", "--yes")


def test_nothing_is_written_into_a_memory_folder_without_being_asked_for(
    reviewer: Reviewer,
) -> None:
    folder = reviewer.folder = filled(reviewer)
    reviewer.succeeds("connect", "claude-code", "--yes")
    assert not memory(reviewer, folder).exists()
    before = snapshot(reviewer.home)
    done = reviewer("connect", "claude-code", "--memory")
    assert "thermal paper" in done.stdout
    assert "Nothing was written" in done.stderr
    assert snapshot(reviewer.home) == before


@pytest.mark.parametrize("index", [None, "", INDEX, "- [A](a.md) — b\r\n"])
def test_a_file_of_our_own_and_one_line_go_in_and_out(
    reviewer: Reviewer, index: str | None
) -> None:
    folder = reviewer.folder = filled(reviewer)
    place = memory(reviewer, folder)
    if index is not None:
        place.mkdir(parents=True)
        (place / "MEMORY.md").write_bytes(index.encode())
        (place / "gate.md").write_text("---\nname: gate\n---\nForty.\n")
    before = snapshot(reviewer.home)
    connected(reviewer)
    text = (place / "reviewer.md").read_text()
    assert "thermal paper" in text
    assert text.startswith("---\nname: reviewer\ndescription: ")
    assert '<recalled-memory source="reviewer">' in text
    lines = (place / "MEMORY.md").read_bytes().decode().splitlines()
    assert lines[:-1] == (index or "").splitlines()
    assert lines[-1].startswith("- [Decided by the person: ticket-office](reviewer.md) — ")
    again = reviewer("connect", "claude-code", "--memory", "--yes")
    assert "already connected" in again.stderr
    reviewer.succeeds("disconnect", "claude-code", "--memory", "--yes")
    assert snapshot(reviewer.home) == before


def test_promoting_and_undo_bring_the_file_up_to_date(reviewer: Reviewer) -> None:
    folder = reviewer.folder = filled(reviewer)
    connected(reviewer)
    path = memory(reviewer, folder) / "reviewer.md"
    before, index = path.read_bytes(), (path.parent / "MEMORY.md").read_bytes()
    note = folder / "more.md"
    note.write_text("# More\n\n- [Constraint] The booth lamp must stay below 40 watts.\n")
    reviewer.succeeds("ingest", note)
    assert path.read_bytes() == before
    (waiting,) = reviewer.ids()
    reviewer.succeeds("promote", waiting)
    assert "booth lamp" in path.read_text()
    reviewer.succeeds("undo")
    assert path.read_bytes() == before
    reviewer.succeeds("redo")
    assert "booth lamp" in path.read_text()
    reviewer.succeeds("edit", waiting, "--when", "only")
    assert path.read_bytes() == before
    reviewer.succeeds("undo")
    assert "booth lamp" in path.read_text()
    assert (path.parent / "MEMORY.md").read_bytes() == index
    reviewer.succeeds("disconnect", "claude-code", "--memory", "--yes")
    assert not path.parent.exists()


def test_a_file_that_somebody_changed_is_left_alone_and_promoting_succeeds(
    reviewer: Reviewer,
) -> None:
    folder = reviewer.folder = filled(reviewer)
    connected(reviewer)
    path = memory(reviewer, folder) / "reviewer.md"
    path.write_text(path.read_text() + "The agent added this.\n")
    changed = path.read_bytes()
    (number, *_) = reviewer.ids("--status", "all")
    done = reviewer.succeeds("restore", number)
    assert f"{path} was edited since, so it is not updated." in done.stderr
    assert path.read_bytes() == changed
    assert any("was changed since" in each for each in missing(reviewer, folder))
    done = reviewer("disconnect", "claude-code", "--memory", "--yes")
    assert done.returncode == 1
    assert f"{path} was changed since, so it stays." in done.stderr
    assert path.read_bytes() == changed
    assert not (path.parent / "MEMORY.md").exists()


def missing(program: Reviewer, folder: Path) -> list[str]:
    """What the table says is missing of Claude Code."""
    done = program("connect", "--json")
    rows = {row["agent"]: row for row in map(json.loads, done.stdout.splitlines())}
    row = rows["claude-code"]
    assert row["connected"] == [f"memory {folder.resolve()}"]
    return list(row["missing"])


def test_lines_of_others_stay_and_a_changed_line_is_named(reviewer: Reviewer) -> None:
    folder = reviewer.folder = filled(reviewer)
    connected(reviewer)
    index = memory(reviewer, folder) / "MEMORY.md"
    own = index.read_text()
    index.write_text(f"- [New](new.md) — of the agent\n{own}- [Last](last.md) — too\n")
    done = reviewer.succeeds("disconnect", "claude-code", "--memory", "--yes")
    assert index.read_text() == "- [New](new.md) — of the agent\n- [Last](last.md) — too\n"
    connected(reviewer)
    index.write_text(index.read_text().replace("Decided", "What was decided"))
    changed = index.read_text()
    done = reviewer("disconnect", "claude-code", "--memory", "--yes")
    assert done.returncode == 1
    assert f"{index}: the line of reviewer was changed since, so it stays." in done.stderr
    assert index.read_text() == changed


def test_codex_gets_a_folder_of_our_own_below_its_extensions(reviewer: Reviewer) -> None:
    reviewer.folder = filled(reviewer)
    before = snapshot(reviewer.home)
    connected(reviewer, "codex")
    (own,) = (reviewer.home / ".codex" / "memories" / "extensions").iterdir()
    assert own.name.startswith("reviewer-")
    assert "resources/reviewed.md" in (own / "instructions.md").read_text()
    assert "thermal paper" in (own / "resources" / "reviewed.md").read_text()
    reviewer.succeeds("disconnect", "codex", "--memory", "--yes")
    assert snapshot(reviewer.home) == before


def test_our_own_file_is_not_learnt_again(reviewer: Reviewer) -> None:
    folder = reviewer.folder = filled(reviewer)
    connected(reviewer)
    before = reviewer.ids("--status", "all")
    place = memory(reviewer, folder)
    reviewer.succeeds("ingest", str(place))
    assert reviewer.ids("--status", "all") == before


def test_planted_files_of_that_name_and_read_only_ones_are_refused(reviewer: Reviewer) -> None:
    folder = reviewer.folder = filled(reviewer)
    place = memory(reviewer, folder)
    place.mkdir(parents=True)
    (place / "reviewer.md").write_text("mine\n")
    done = reviewer("connect", "claude-code", "--memory", "--yes")
    assert done.returncode == 1
    assert "was not written by reviewer" in done.stderr
    (place / "reviewer.md").unlink()
    (place / "MEMORY.md").write_bytes(b"\xff\xfe- x")
    done = reviewer("connect", "claude-code", "--memory", "--yes")
    assert "not UTF-8 text" in done.stderr
    (place / "MEMORY.md").write_text("- x\n")
    (place / "MEMORY.md").chmod(0o400)
    done = reviewer("connect", "claude-code", "--memory", "--yes")
    assert "is read-only" in done.stderr
    assert [path.name for path in place.iterdir()] == ["MEMORY.md"]


def test_another_project_is_not_written_there(reviewer: Reviewer) -> None:
    folder = reviewer.folder = filled(reviewer)
    connected(reviewer)
    path = memory(reviewer, folder) / "reviewer.md"
    before = path.read_bytes()
    other = tree(reviewer, "bakery")
    (other / "notes.md").write_text("# B\n\n- [Decision] Bread is baked at four in the morning.\n")
    reviewer.folder = other
    reviewer.succeeds("ingest", "notes.md")
    reviewer.succeeds("promote", *reviewer.ids())
    assert path.read_bytes() == before
