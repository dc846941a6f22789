"""Killed programs, several at once, a clock that goes back: no act is lost or there by half."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError, StoreError
from reviewer.promotion.views import QueueQuery
from reviewer.store.verify import verify
from tests.unit.store.faulty import Store, at_noon, in_another_program


class TestClock:
    def test_acts_keep_their_order_when_the_clock_goes_backwards(self, tmp_path: Path) -> None:
        moments = iter(at_noon() - timedelta(hours=number) for number in range(1_000))
        engine = Engine.open(tmp_path / "store.db", clock=lambda: next(moments))
        note = tmp_path / "note.md"
        note.write_text("- [Decision] Cups are warmed.\n- [Constraint] Water has 90 degrees.\n")
        engine.intake.ingest([note], project="tea")
        first, second = engine.queue.ids(QueueQuery())
        engine.triage.promote([first])
        engine.triage.reject([second])
        engine.history.undo()
        assert engine.queue.candidate(second).status == "candidate"
        assert engine.queue.candidate(first).status == "active"
        engine.history.undo()
        assert engine.queue.candidate(first).status == "candidate"
        engine.history.redo()
        assert engine.queue.candidate(first).status == "active"
        assert [act.kind for act in engine.history.acts(limit=3)] == ["redo", "undo", "undo"]
        times = [act.at for act in engine.history.acts(limit=100)]
        assert times == sorted(times, reverse=True)
        assert engine.history.verify().ok

    def test_a_wave_that_the_clock_moved_under_took_no_negative_time(self, tmp_path: Path) -> None:
        moments = iter(at_noon() - timedelta(hours=number) for number in range(1_000))
        engine = Engine.open(tmp_path / "store.db", clock=lambda: next(moments))
        note = tmp_path / "note.md"
        note.write_text("- [Decision] Cups are warmed.\n")
        assert engine.intake.ingest([note], project="tea").seconds >= 0


class TestSeveralPrograms:
    def test_killed_at_any_moment_every_act_that_was_told_is_there(self, tmp_path: Path) -> None:
        """The writer tells each act after it; what was told before the kill has to be there."""
        path, seeded = tmp_path / "store.db", random.Random(7)
        Store(path).database.close()
        code = """
            store = Store(Path(sys.argv[1]))
            for number in range(100_000):
                store.add(f"{sys.argv[2]} {number}", f"{sys.argv[2]} {number} too")
                print(number, flush=True)
        """
        for round_ in range(4):
            with in_another_program(code, path, f"r{round_}") as process:
                assert process.stdout is not None
                told = -1
                for line in process.stdout:
                    told = int(line)
                    if told >= seeded.randrange(1, 40):
                        break
                process.send_signal(signal.SIGKILL)
                told = max([told, *map(int, process.stdout.read().split())])
                process.wait(250)
            store = Store(path)
            names = set(store.names())
            for number in range(told + 1):
                assert {f"r{round_} {number}", f"r{round_} {number} too"} <= names
            assert sum(1 for name in names if name.startswith(f"r{round_} ")) % 2 == 0
            verdict = verify(store.database)
            assert verdict.ok, verdict.problems
            store.database.close()


class TestPowerCut:
    def test_a_log_cut_anywhere_leaves_whole_acts(self, store: Store, tmp_path: Path) -> None:
        """What the disk had not got yet is missing from the end of the write-ahead log."""
        store.database.writer.execute("PRAGMA wal_autocheckpoint = 0")
        for number in range(12):
            store.add(f"{number} one", f"{number} two")
        log = store.path.with_name("store.db-wal").read_bytes()
        seen = set()
        for part in range(1, 25):
            there = tmp_path / f"cut{part}" / "store.db"
            there.parent.mkdir()
            shutil.copy(store.path, there)
            there.with_name("store.db-wal").write_bytes(log[: len(log) * part // 24])
            after = Store(there)
            acts = after.acts()
            seen.add(acts)
            after.require_whole(
                *(f"{number} {which}" for number in range(acts) for which in ("one", "two"))
            )
            after.database.close()
        assert max(seen) == 12
        assert len(seen) > 6

    def test_a_log_with_a_damaged_page_leaves_the_acts_before_it(
        self, store: Store, tmp_path: Path
    ) -> None:
        path = store.path.with_name("store.db-wal")
        sizes = []
        for number in range(12):
            store.add(f"{number}")
            sizes.append(path.stat().st_size)
        log = bytearray(path.read_bytes())
        for offset in range(sizes[5] + 100, sizes[5] + 164):
            log[offset] ^= 0xFF
        there = tmp_path / "cut" / "store.db"
        there.parent.mkdir()
        shutil.copy(store.path, there)
        there.with_name("store.db-wal").write_bytes(log)
        after = Store(there)
        assert after.acts() == 6
        after.require_whole(*(f"{number}" for number in range(6)))


class TestInsideAnAct:
    @pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, RuntimeError])
    def test_whatever_is_raised_in_it_nothing_of_it_stays(
        self, store: Store, problem: type[BaseException]
    ) -> None:
        store.add("a")

        def failing_act() -> None:
            with store.ledger.act("add") as act:
                act.insert("project", name="b")
                raise problem

        with pytest.raises(problem):
            failing_act()
        store.add("c")
        store.require_whole("a", "c")

    def test_an_act_in_an_act_is_refused_and_the_outer_one_undone(self, store: Store) -> None:
        store.add("a")

        def outer() -> None:
            with store.ledger.act("outer") as act:
                act.insert("project", name="b")
                store.add("c")

        with pytest.raises(StoreError):
            outer()
        store.require_whole("a")

    def test_a_commit_that_fails_leaves_nothing(self, store: Store) -> None:
        """A reference to a row that is not there is found when the act is closed."""
        store.add("a")

        def dangling() -> None:
            with store.ledger.act("add") as act:
                act.insert("project", name="b")
                act.insert(
                    "source", project_id=999, path="p", format="f", bytes=1, modified_ns=1,
                    wave_id=999, tally="{}",
                )  # fmt: skip

        with pytest.raises(ConflictError, match="source 1 refers to a wave that would be gone"):
            dangling()
        store.add("c")
        store.require_whole("a", "c")

    def test_an_act_that_could_not_even_be_rolled_back_does_not_keep_the_next_from_being_written(
        self, store: Store
    ) -> None:
        store.add("a")
        writer = store.database.writer
        store.database.writer = cast(sqlite3.Connection, WithoutRollback(writer))
        with pytest.raises(StoreError, match="could not be read or written"):
            store.add("b", "a")  # a second "a" is refused
        assert writer.in_transaction
        store.database.writer = writer

        store.add("c")

        store.require_whole("a", "c")


class WithoutRollback:
    """A connection whose disk fails when an act is to be rolled back."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
        if sql == "ROLLBACK":
            problem = sqlite3.OperationalError("disk I/O error")
            problem.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise problem
        return self._connection.execute(sql, *rest)
