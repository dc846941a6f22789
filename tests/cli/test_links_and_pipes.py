"""Links out of a folder, pipes where files were expected, and what is too large to be read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer

SAID = "# Tills\n\n- [Decision] Drawers are opened by key only.\n"


def test_links_that_lead_out_of_an_ingested_folder_are_named_and_not_read(
    reviewer: Reviewer,
) -> None:
    folder, outside = reviewer.folder / "notes", reviewer.folder / "outside.md"
    folder.mkdir()
    (folder / "own.md").write_text(SAID, "utf-8")
    (folder / "again.md").symlink_to(folder / "own.md")
    outside.write_text("# Keys\n\n- [Decision] The master key is in the cellar.\n", "utf-8")
    (folder / "passwd.md").symlink_to(outside)
    (wave,) = reviewer.rows("ingest", folder)
    assert wave["passed_over"]["link to a file outside the folder"] == 1
    assert "passwd.md" in (Path(wave["report_folder"]) / "errors.log").read_text("utf-8")
    assert [row["content"] for row in reviewer.rows("queue", "list")] == [
        "Drawers are opened by key only"
    ]


def test_links_that_lead_out_of_a_context_folder_are_named_and_not_read(
    reviewer: Reviewer,
) -> None:
    folder, outside = reviewer.folder / ".context", reviewer.folder / "outside.md"
    folder.mkdir()
    outside.write_text("- [ ] Fetch the master key from the cellar\n", "utf-8")
    (folder / "TASKS.md").symlink_to(outside)
    done = reviewer("packet", "--context-dir", folder, "--task", "key")
    assert "TASKS.md: cannot be read: it is a link out of the folder" in done.stderr
    assert "cellar" not in done.stdout


@pytest.mark.timeout(60)
def test_a_pipe_in_place_of_a_source_makes_nobody_wait(reviewer: Reviewer) -> None:
    note = reviewer.folder / "note.md"
    note.write_text(SAID, "utf-8")
    reviewer.succeeds("ingest", note)
    note.unlink()
    os.mkfifo(note)
    assert "cannot be compared" in reviewer("queue", "show", 1).stdout
    assert reviewer.rows("queue", "list")[0]["stale"] is False
    for words in (["ingest"], ["extract"], ["view"], ["summarize"], ["context", "import"]):
        assert "it is a folder, a pipe or a device" in reviewer(*words, note).stderr
    line = reviewer.fails("state", "set", "till", "open", "--evidence", f"{note}:1")
    assert "it is a folder, a pipe or a device, not a file" in line


def test_a_link_to_nothing_makes_no_file_elsewhere(seeded: Reviewer) -> None:
    seeded("promote", 1)
    there = seeded.folder / "elsewhere.md"
    link = seeded.folder / "AGENTS.md"
    link.symlink_to(there)
    done = seeded("export", "--write", "--into", link)
    assert done.returncode == 1
    assert "which does not exist" in done.stderr
    assert not there.exists()


def test_a_pipe_of_the_shell_is_read(reviewer: Reviewer) -> None:
    command = f"{sys.executable} -m reviewer pipeline check <(echo 'digraph d {{ start -> exit }}')"
    done = subprocess.run(
        ["bash", "-c", command], env=reviewer.environment, cwd=reviewer.folder, timeout=250,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "d: 2 nodes, 1 edge")
