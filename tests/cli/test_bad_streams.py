"""Streams that are closed, full or abandoned, and interruption: the right exit code, no loss."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import NOTE, Reviewer
from tests.waiting import until


def records_in(db: Path) -> int:
    """How many records a store has so far; 0 while it is being created."""
    try:
        with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM record").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("queue list --json >&- 2>&-", 0),
        ("promote 1 >&-", 0),
        ("promote 4711 2>&-", 1),
        ("edit 1 --content-file - <&-", 1),
        ("queue list <&-", 0),
        ("<&-", 2),
    ],
)
def test_a_stream_that_the_caller_closed_is_as_good_as_none(
    seeded: Reviewer, line: str, code: int
) -> None:
    done = subprocess.run(
        ["bash", "-c", f'exec "$0" -m reviewer --db "$1" {line}', sys.executable, seeded.db],
        env=seeded.environment, cwd=seeded.folder, capture_output=True, text=True,
        check=False, timeout=250,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    seeded.nothing_lost()


class TestTheWayOut:
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    @pytest.mark.parametrize(
        "arguments", [["queue", "list"], ["queue", "list", "--json"], ["stats"]]
    )
    def test_output_onto_a_full_disk(self, seeded: Reviewer, arguments: list[str]) -> None:
        with Path("/dev/full").open("w") as full:
            done = seeded(*arguments, stdout=full)
        assert done.returncode == 1
        assert "No space left" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr

    def test_ctrl_c_keeps_the_records_read_so_far(self, reviewer: Reviewer) -> None:
        folder = reviewer.folder / "notes"
        folder.mkdir()
        for number in range(800):
            (folder / f"note-{number}.md").write_text(NOTE.replace("kiosk", f"kiosk {number}"))
        process = reviewer.start("ingest", folder, "--json")
        until(lambda: records_in(reviewer.db))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=250)
        assert process.returncode == 130, err
        assert "Interrupted" in err
        counts = json.loads(out)
        assert counts["state"] == "interrupted"
        assert 0 < counts["files"] < 800
        reviewer.nothing_lost()
        done = reviewer.rows("ingest", "--no-extract", folder)[0]
        assert done["state"] == "done"
        assert done["files"] + done["unchanged"] >= 800
