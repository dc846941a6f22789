"""An act of many changes is packed in parts; one that is taken back a part at a time is one act."""

from __future__ import annotations

import tempfile
import zlib
from io import BytesIO
from itertools import islice

import msgspec
import pytest

from reviewer.errors import ConflictError, StoreError
from reviewer.store import acts, changes
from reviewer.store.changes import RowChange, pack, parts, unpack, unpack_part
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.undo import Undo
from reviewer.store.verify import verify

SMALL = 3


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "PART", SMALL)
    monkeypatch.setattr(changes, "IN_MEMORY", 10)
    monkeypatch.setattr(acts, "BATCH", 2)


def names(database: Database) -> list[str]:
    return [row[0] for row in database.reader().execute("SELECT name FROM project ORDER BY id")]


def renamed_twice(ledger: Ledger) -> None:
    """Eight projects, made in one act, of which another renames all, and the first once more."""
    with ledger.act("make", "made") as act:
        rows = act.insert_many("project", [{"name": f"p{number}"} for number in range(8)])
    with ledger.act("rename", "renamed") as act:
        act.update_each("project", [(row, {"name": f"q{row}"}) for row in rows])
        act.update("project", 1, name="r1")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 6, 7, 20])
def test_what_is_packed_in_parts_is_read_as_one(count: int) -> None:
    done = [RowChange("project", number, None, {"name": f"p{number}"}) for number in range(count)]
    blob = pack(done)

    assert list(unpack(blob)) == done
    assert all(len(unpack_part(part)) <= SMALL for part in parts(BytesIO(blob)))
    assert [list(islice(unpack(blob), limit)) for limit in range(count + 2)] == [
        done[:limit] for limit in range(count + 2)
    ]


def test_a_part_that_breaks_off_is_damage() -> None:
    blob = pack([RowChange("project", number, None, {"name": "p"}) for number in range(7)])

    with pytest.raises(ValueError, match="end too early"):
        list(unpack(blob[:-4]))


def test_a_part_of_an_earlier_version_is_read() -> None:
    done = [
        RowChange("project", 1, None, {"name": "p1"}),
        RowChange("project", 1, {"name": "p1"}, {"name": "q1"}),
        RowChange("project", 1, {"name": "q1"}, {"name": "r1"}),
    ]
    assert list(unpack(zlib.compress(msgspec.msgpack.encode(done)))) == done


def test_columns_of_another_length_are_damage() -> None:
    run = ("project", [1, 2], ["name"], None, [["p1"]])
    blob = zlib.compress(msgspec.msgpack.encode({"runs": [run]}))

    with pytest.raises(ValueError, match="differ in length"):
        list(unpack(blob))


def test_undo_goes_through_the_parts_backwards(database: Database, ledger: Ledger) -> None:
    renamed_twice(ledger)
    undo = Undo(database, ledger)

    undo.undo()

    assert names(database) == [f"p{number}" for number in range(8)]
    undo.redo()
    assert names(database) == ["r1", *(f"q{row}" for row in range(2, 9))]
    assert verify(database).ok


def test_a_row_of_the_first_part_that_changed_since_leaves_all_parts_alone(
    database: Database, ledger: Ledger
) -> None:
    renamed_twice(ledger)
    with ledger.act("rename", "again") as act:
        act.update("project", 2, name="s2")
    before = names(database)

    with pytest.raises(ConflictError, match="project 2 has changed since"):
        Undo(database, ledger).undo_act(2)

    assert names(database) == before
    assert verify(database).ok


def test_an_act_for_which_there_is_no_temporary_file_is_not_there(
    database: Database, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(StoreError, match=r"No space left on device.*TMPDIR"):
        renamed_twice(ledger)
    assert names(database) == []
