"""A disk that is full or taken away: no act is lost, none is there by half."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from reviewer.errors import StoreError
from reviewer.store import verify as verifying
from reviewer.store.undo import Undo
from reviewer.store.verify import verify
from tests.unit.store.faulty import BIG, Store, in_another_program


class TestFullDisk:
    def test_undo_that_does_not_fit_leaves_everything_as_it_was(self, store: Store) -> None:
        with store.ledger.act("add") as act:
            row = act.insert("project", name=BIG)
        with store.ledger.act("shorten") as act:
            act.update("project", row, name="a")
        store.database.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (pages,) = store.database.writer.execute("PRAGMA page_count").fetchone()
        (free,) = store.database.writer.execute("PRAGMA freelist_count").fetchone()
        filler = "y" * 3_000
        store.database.writer.execute(f"PRAGMA max_page_count = {pages}")
        for number in range(free * 2):
            try:
                store.add(f"{number} {filler}")
            except StoreError:
                break
        before = store.names()

        with pytest.raises(StoreError, match="is full"):
            Undo(store.database, store.ledger).undo()

        store.require_whole(*before)

    def test_a_store_that_could_not_be_made_can_be_made_later(self, tmp_path: Path) -> None:
        path = tmp_path / "store.db"
        code = """
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
            try:
                Store(Path(sys.argv[1]))
            except StoreError as problem:
                print(problem, flush=True)
            os._exit(0)
        """
        with in_another_program(code, path) as process:
            out, err = process.communicate(timeout=250)
        assert process.returncode == 0, err
        assert "The last step was not written" in out
        store = Store(path)
        store.add("a")
        store.require_whole("a")


class TestVerifying:
    @pytest.mark.parametrize(
        ("code", "says"), [(sqlite3.SQLITE_FULL, "is full"), (sqlite3.SQLITE_IOERR, "be read")]
    )
    def test_a_disk_that_fails_under_it_is_not_a_damaged_ledger(
        self, store: Store, monkeypatch: pytest.MonkeyPatch, code: int, says: str
    ) -> None:
        store.add("a")
        problem = sqlite3.OperationalError("disk")
        problem.sqlite_errorcode = code

        def put(*_: object) -> None:
            raise problem

        monkeypatch.setattr(verifying, "put", put)
        with pytest.raises(StoreError, match=says):
            verify(store.database)


class TestDiskTakenAway:
    @pytest.fixture(autouse=True)
    def with_one_row(self, store: Store) -> None:
        store.add("a")

    def test_nothing_is_written_to_a_file_that_was_removed(self, store: Store) -> None:
        store.path.unlink()
        with pytest.raises(StoreError, match="moved, removed or replaced"):
            store.add("b")
        assert store.names() == ["a"]

    def test_a_file_that_was_renamed_and_put_back_goes_on(self, store: Store) -> None:
        aside = store.path.with_name("aside.db")
        store.path.rename(aside)
        with pytest.raises(StoreError, match="put the file back"):
            store.add("b")
        aside.rename(store.path)
        store.add("c")
        store.require_whole("a", "c")

    def test_nothing_is_written_when_another_file_took_its_place(self, store: Store) -> None:
        copy = store.path.with_name("copy.db")
        store.database.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(store.path, copy)
        os.replace(copy, store.path)
        with pytest.raises(StoreError, match="replaced"):
            store.add("b")

    def test_when_it_goes_in_the_middle_of_an_act_the_act_does_not_count(
        self, store: Store
    ) -> None:
        aside = store.path.with_name("aside.db")

        def interrupted_act() -> None:
            with store.ledger.act("add") as act:
                act.insert("project", name="b")
                store.path.rename(aside)

        with pytest.raises(StoreError, match="moved"):
            interrupted_act()
        aside.rename(store.path)
        store.require_whole("a")

    def test_when_the_log_goes_nothing_more_is_written_and_leaving_saves_all(
        self, store: Store
    ) -> None:
        store.path.with_name("store.db-wal").unlink()
        with pytest.raises(StoreError, match="leave the program"):
            store.add("b")
        store.database.close()
        Store(store.path).require_whole("a")

    def test_looking_for_it_makes_no_empty_file_in_its_place(self, store: Store) -> None:
        store.path.unlink()
        with pytest.raises(StoreError, match="removed"):
            store.database.reader()
        with pytest.raises(StoreError, match="removed"):
            verify(store.database)
        assert not store.path.exists()
