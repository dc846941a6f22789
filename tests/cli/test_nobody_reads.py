"""Nobody reads the output: a write is done, a listing ends, and the exit code is true."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.conftest import NOTE, Reviewer
from tests.stored import rows_of

CLOSED = ["2>&1 | true", "2>/dev/full"]
"""Ways in which an output has no reader; `test_bad_streams.py` has streams that are closed."""


def shell(program: Reviewer, line: str, after: str) -> int:
    """The exit code of a command whose output goes to a reader that has gone."""
    code = program.folder / "code"
    command = f'"$0" -m reviewer --db "$1" --project kiosk {line}'
    subprocess.run(
        ["bash", "-c", f'({command}; echo $? >"$2") {after}', sys.executable, program.db, code],
        env=program.environment, cwd=program.folder, check=False, timeout=250,
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return int(code.read_text())


@pytest.mark.parametrize("after", CLOSED)
def test_a_write_is_done(ingested: Reviewer, after: str) -> None:
    (ingested.folder / "more.md").write_text(NOTE.replace("80 mm", "58 mm"))
    for line, kind in (("ingest more.md", "ingest"), ("promote 1 2", "promote")):
        before = len(rows_of(ingested.db, "SELECT id FROM ledger"))
        code = shell(ingested, line, after)
        kinds = [kind for (kind,) in rows_of(ingested.db, "SELECT kind FROM ledger ORDER BY id")]
        assert kind in kinds[before:], kinds
        assert code == 0
    assert shell(ingested, "promote 4711", after) == 1


def test_a_difference_that_nobody_reads_is_written(ingested: Reviewer) -> None:
    ingested.succeeds("--project", "kiosk", "promote", 1)
    assert shell(ingested, "export --into AGENTS.md --write", CLOSED[0]) == 0
    assert "reviewer:begin" in (ingested.folder / "AGENTS.md").read_text()


def test_a_listing_ends_with_its_reader(ingested: Reviewer) -> None:
    assert shell(ingested, "queue list --json", "| true") == 0
