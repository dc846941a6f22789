"""Folders and files beside a store that somebody else prepared: nothing is written through a link,
and nothing waits for a pipe."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from reviewer.system import own_command
from tests.cli.conftest import NOTE, Reviewer

MINE = "a file of the user\n"


@pytest.fixture
def victim(reviewer: Reviewer) -> Path:
    path = reviewer.folder / "victim"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize("name", ["errors.log", "report.json"])
def test_a_report_is_not_written_through_a_link(
    reviewer: Reviewer, victim: Path, name: str
) -> None:
    folder = reviewer.folder / "store.db-waves" / "1"
    folder.mkdir(parents=True)
    (folder / name).symlink_to(victim)
    note = reviewer.folder / "note.md"
    note.write_text(NOTE)
    done = reviewer("--project", "kiosk", "ingest", note)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert victim.read_text() == MINE


@pytest.mark.parametrize("ending", ["waves", "agents", "drafts", "backups"])
def test_a_link_in_place_of_a_folder_of_the_program_is_refused(
    ingested: Reviewer, ending: str
) -> None:
    elsewhere = ingested.folder / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (ingested.folder / f"store.db-{ending}").symlink_to(elsewhere)
    note = ingested.folder / "more.md"
    note.write_text(NOTE.replace("drawer", "lid"))
    agents = ingested.folder / "AGENTS.md"
    agents.write_text("# Rules\n")
    for words in (
        ["ingest", note],
        ["promote", ingested.ids()[0]],
        ["export", "--into", agents, "--write"],
        ["connect", "claude-code", "--yes"],
    ):
        done = ingested("--project", "kiosk", *words)
        assert "Traceback" not in done.stderr
        assert "defect" not in done.stderr
    assert not list(elsewhere.iterdir())
    assert elsewhere.stat().st_mode & 0o777 == 0o755
    ingested.nothing_lost()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "name",
    ["store.db.places.json", "store.db-agents/connections.json",
     "store.db-agents/hooks.log", "store.db-waves/1/dropped.ndjson"],
)  # fmt: skip
def test_a_pipe_in_place_of_a_file_of_the_program_makes_nobody_wait(
    ingested: Reviewer, name: str
) -> None:
    path = ingested.folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for words in (
        ["queue", "show", ingested.ids()[0]],
        ["queue", "more"],
        ["connect"],
        ["hook", "claude-code"],
        ["stats"],
        ["doctor"],
    ):
        done = ingested("--project", "kiosk", *words, typed="{}")
        assert "Traceback" not in done.stderr
        assert "defect" not in done.stderr
    ingested.nothing_lost()


def test_no_process_imports_a_module_from_the_current_folder(reviewer: Reviewer) -> None:
    """`python -m` looks there first, and a project's folder is not to be trusted."""
    planted = reviewer.folder / "planted"
    planted.mkdir()
    executed = planted / "executed"
    for name in ("json", "struct", "socket", "reviewer"):
        (planted / f"{name}.py").write_text(f"open({str(executed)!r}, 'w')\n")
    done = subprocess.run(own_command("--version"), cwd=planted, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert not executed.exists()
