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


class TestClosedStreams:
    """`reviewer ... >&-` and the like, as shells and services start programs."""

    def call(self, program: Reviewer, line: str) -> subprocess.CompletedProcess[str]:
        command = f'exec "$0" -m reviewer --db "$1" {line}'
        return subprocess.run(
            ["bash", "-c", command, sys.executable, program.db],
            env=program.environment, cwd=program.folder, capture_output=True, text=True,
            check=False, timeout=250,
        )  # fmt: skip

    @pytest.mark.parametrize("command", ["queue list", "queue list --json", "--version"])
    def test_a_closed_stdout(self, seeded: Reviewer, command: str) -> None:
        done = self.call(seeded, f"{command} >&-")
        assert done.returncode == 1
        assert done.stderr == "Standard output is closed: there is nowhere to write to.\n"
        done = self.call(seeded, f"{command} >&- 2>&-")
        assert (done.returncode, done.stderr) == (1, "")

    def test_a_verb_without_output_needs_no_stdout(self, seeded: Reviewer) -> None:
        memory = seeded.ids()[0]
        done = self.call(seeded, f"promote {memory} >&-")
        assert done.returncode == 0, done.stderr
        assert "Promoted" in done.stderr

    def test_a_closed_stdin(self, seeded: Reviewer) -> None:
        done = self.call(seeded, "edit 1 --content-file - <&-")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Standard input is closed.")
        assert len(done.stderr.splitlines()) == 1
        assert self.call(seeded, "queue list <&-").returncode == 0
        assert self.call(seeded, "<&-").returncode == 2

    def test_messages_are_lost_and_the_exit_code_stays(self, seeded: Reviewer) -> None:
        (seeded.folder / "note.md").write_text(NOTE)
        done = self.call(seeded, "ingest note.md 2>&-")
        assert done.returncode == 0
        assert "report" in done.stdout
        assert self.call(seeded, "promote 4711 2>&-").returncode == 1
        assert self.call(seeded, "promote 2>&-").returncode == 2
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
