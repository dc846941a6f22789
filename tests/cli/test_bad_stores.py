"""Damaged stores of any kind: one clear line, the right exit code, no data lost."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.capabilities import impatient
from tests.cli.conftest import NOTE, Reviewer
from tests.cli.permissions import bound as bound


class TestTheStore:
    def test_none_there(self, reviewer: Reviewer) -> None:
        line = reviewer.fails("queue", "list")
        assert "reviewer ingest PATH" in line
        assert not reviewer.db.exists()

    def test_one_that_was_emptied_is_not_taken_for_a_new_one(self, reviewer: Reviewer) -> None:
        reviewer.db.touch()
        for arguments in (["queue", "list"], ["verify"], ["state", "list"], ["packet"]):
            assert "is empty: restore a backup" in reviewer.fails(*arguments)
        assert reviewer.db.stat().st_size == 0
        note = reviewer.folder / "note.md"
        note.write_text(NOTE)
        reviewer.succeeds("ingest", note)

    def test_the_suggested_next_step_fills_the_missing_data(self, reviewer: Reviewer) -> None:
        assert "reviewer context import" in reviewer.fails("compress", "kiosk")
        assert "reviewer state set" in reviewer.fails("state", "list")
        assert "reviewer pipeline run" in reviewer.fails("pipeline", "runs")
        assert "--context-dir" in reviewer.fails("packet")

    def test_no_sqlite_file(self, reviewer: Reviewer) -> None:
        reviewer.db.write_text("Dear diary, today I was mistaken for a store.\n" * 50)
        before = reviewer.db.read_bytes()
        for arguments in (["queue", "list"], ["dev-seed", "1"], ["verify"]):
            assert "not a reviewer store" in reviewer.fails(*arguments)
        assert reviewer.db.read_bytes() == before

    def test_no_name_at_all(self, reviewer: Reviewer) -> None:
        assert "name the file" in reviewer.fails("--db", "", "stats", db=False, code=2)

    def test_a_folder_without_write_permission(
        self, reviewer: Reviewer, bound: Callable[[], None]
    ) -> None:
        folder = reviewer.folder / "closed-folder"
        folder.mkdir()
        folder.chmod(0o500)
        line = reviewer.fails("--db", folder / "s.db", "dev-seed", "1", db=False, preexec_fn=bound)
        assert "--db" in line

    @pytest.mark.parametrize("closed", ["file", "folder"])
    def test_a_read_only_one_is_refused_with_the_way_out(
        self, seeded: Reviewer, bound: Callable[[], None], closed: str
    ) -> None:
        folder = seeded.folder / "kept"
        folder.mkdir()
        seeded.db = seeded.db.rename(folder / "store.db")
        before = seeded.db.read_bytes()
        seeded.db.chmod(0o400 if closed == "file" else 0o600)
        folder.chmod(0o500 if closed == "folder" else 0o700)
        for verb in (["queue", "list"], ["promote", "1"]):
            line = seeded.fails(*verb, preexec_fn=bound)
            assert "is read-only. Copy it to a folder of your own" in line
        assert "store writable" in seeded("doctor", preexec_fn=bound).stdout
        assert (os.listdir(folder), seeded.db.read_bytes()) == (["store.db"], before)
        folder.chmod(0o700)

    def test_locked_by_another_program(self, seeded: Reviewer) -> None:
        before = len(seeded.ids("--status", "all"))
        with sqlite3.connect(seeded.db, isolation_level=None) as holder:
            holder.execute("BEGIN IMMEDIATE")
            assert "busy" in seeded.fails("promote", "1", preexec_fn=impatient)
            seeded.succeeds("queue", "list")
            holder.execute("ROLLBACK")
        holder.close()
        seeded.succeeds("promote", "1")
        seeded.nothing_lost(candidates=before)

    def test_a_full_disk(self, seeded: Reviewer, tmp_path: Path) -> None:
        """SQLite reports a file that may not grow (RLIMIT_FSIZE) as it does a full disk."""
        before = len(seeded.ids("--status", "all"))
        limit = seeded.db.stat().st_size + 8192
        import resource

        def cap() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        done = seeded("dev-seed", 3_000, preexec_fn=cap)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        seeded.nothing_lost(candidates=before)

    def test_the_same_decision_twice_at_once(self, seeded: Reviewer) -> None:
        memory = seeded.ids()[0]
        running = [seeded.start(verb, memory, "--alone") for verb in ("promote", "reject")]
        codes = []
        for process in running:
            process.communicate(timeout=250)
            codes.append(process.returncode)
        assert sorted(codes) == [0, 1]
        seeded.nothing_lost()
