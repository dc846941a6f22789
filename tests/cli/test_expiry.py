"""Memories that nobody needs any more are proposed for retirement, and a person decides."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.promotion.views import QueueQuery

NOW = datetime(2026, 11, 24, tzinfo=UTC)


class Desk:
    """A store on the clock of a test, and a note to ingest."""

    def __init__(self, folder: Path) -> None:
        self.now = NOW - timedelta(days=200)
        self.db = folder / "store.db"
        self.engine = Engine.open(self.db, clock=lambda: self.now)
        self.note = folder / "notes.md"
        self.note.write_text("# Notes\n\n- [Decision] Doors are checked every evening.\n")

    def ingest(self) -> int:
        return self.engine.intake.ingest([self.note], project="p").retiring

    def ids(self, status: str, terms: str = "") -> list[int]:
        return list(self.engine.queue.ids(QueueQuery("p", status, terms)))

    def promoted(self, text: str) -> int:
        (number,) = self.engine.entities.author("p", "knowledge", text).ids
        self.engine.triage.promote([number])
        return number

    def used(self, memory: int) -> None:
        with sqlite3.connect(self.db) as connection:
            connection.execute(
                "INSERT INTO use_of_memory (memory_id, session, moment, cue, at)"
                " VALUES (?, 's', 'prompt', '', ?)",
                (memory, self.now.isoformat()),
            )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_an_unused_memory_waits_for_a_person_and_stays_until_then(desk: Desk) -> None:
    unused, used = desk.promoted("Nobody asks for this one"), desk.promoted("Everybody needs it")
    desk.now = NOW
    assert desk.ingest() == 0  # agents are handed no memories at all
    desk.used(used)
    assert desk.ingest() == 1
    (row,) = desk.ids("candidate", "flag:retire")
    assert "Nobody asks" in desk.engine.queue.candidate(row).content
    assert unused in desk.ids("active")
    assert desk.ingest() == 0
    desk.engine.triage.promote([row])
    assert desk.ids("active") == [used]
    desk.engine.history.undo()
    assert set(desk.ids("active")) == {unused, used}
    assert desk.engine.history.verify().ok


def test_one_that_a_person_keeps_is_not_proposed_again_for_90_days(desk: Desk) -> None:
    unused, used = desk.promoted("Nobody asks for this one"), desk.promoted("Everybody needs it")
    desk.now = NOW
    desk.used(used)
    desk.ingest()
    desk.engine.triage.reject(desk.ids("candidate", "flag:retire"))
    desk.now += timedelta(days=60)
    desk.used(used)
    assert desk.ingest() == 0
    desk.now += timedelta(days=31)
    assert desk.ingest() == 1
    assert set(desk.ids("active")) == {unused, used}


def test_a_proposal_goes_when_its_reason_does(desk: Desk) -> None:
    unused, used = desk.promoted("Nobody asks for this one"), desk.promoted("Everybody needs it")
    desk.now = NOW
    desk.used(used)
    desk.ingest()
    (row,) = desk.ids("candidate", "flag:retire")
    desk.used(unused)
    desk.ingest()
    assert desk.ids("candidate", "flag:retire") == []
    with pytest.raises(ConflictError, match=f"superseded by #{unused}"):
        desk.engine.triage.promote([row])


def test_a_proposal_is_not_edited_merged_or_handed_out(desk: Desk) -> None:
    from reviewer.errors import ConflictError

    unused, used = desk.promoted("Nobody asks for this one"), desk.promoted("Everybody needs it")
    desk.now = NOW
    desk.used(used)
    desk.ingest()
    (row,) = desk.ids("candidate", "flag:retire")
    with pytest.raises(ConflictError, match="proposes to retire"):
        desk.engine.triage.edit(row, "Another wording of it")
    with pytest.raises(ConflictError, match="proposes to retire"):
        desk.engine.triage.merge([row], unused)
    desk.engine.triage.promote([row])
    assert "Retire" not in desk.engine.exports.markdown("p")
