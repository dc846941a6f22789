"""Streams that are closed, full or without a reader: the exit code is true, and a write is done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import NOTE, Reviewer

FULL = Path("/dev/full")


def shell(program: Reviewer, line: str) -> subprocess.CompletedProcess[str]:
    """A call with redirections; of a pipeline the exit code of the program."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f'"$0" -m reviewer --db "$1" {line}',
         sys.executable, program.db],
        env=program.environment, cwd=program.folder, capture_output=True, text=True,
        check=False, timeout=250,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "code", "act"),
    [
        ("<&-", 2, ""),
        ("queue list <&-", 0, ""),
        ("queue list --json >&- 2>&-", 0, ""),
        ("queue list --json | true", 0, ""),
        ("queue list >/dev/full", 1, ""),
        ("queue list --json >/dev/full", 1, ""),
        ("edit 1 --content-file - <&-", 1, ""),
        ("promote 1 >&-", 0, "promote"),
        ("promote 1 2>&1 | true", 0, "promote"),
        ("promote 1 2>/dev/full", 0, "promote"),
        ("promote 4711 2>&-", 1, ""),
        ("promote 4711 2>&1 | true", 1, ""),
        ("ingest more.md 2>&1 | true", 0, "ingest"),
        ("ingest more.md 2>/dev/full", 0, "ingest"),
    ],
)
def test_a_stream_that_nobody_has_open_changes_neither_the_act_nor_its_exit_code(
    seeded: Reviewer, line: str, code: int, act: str
) -> None:
    if str(FULL) in line and not FULL.exists():
        pytest.skip(f"there is no {FULL} here")
    (seeded.folder / "more.md").write_text(NOTE)
    before = len(seeded.rows("history"))
    done = shell(seeded, line)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert {row["kind"] for row in seeded.rows("history")[before:]} >= ({act} if act else set())
    if code == 1 and str(FULL) in line:
        assert "No space left" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
    seeded.nothing_lost()


def test_a_difference_that_nobody_reads_is_written(seeded: Reviewer) -> None:
    seeded.succeeds("promote", 1)
    assert shell(seeded, "export --into AGENTS.md --write 2>&1 | true").returncode == 0
    assert "reviewer:begin" in (seeded.folder / "AGENTS.md").read_text()
