"""Memories that nobody needs any more are proposed for retirement, and a person decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reviewer.clock import iso
from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.promotion.views import QueueQuery
from tests.stored import write

NOW = datetime(2026, 11, 24, tzinfo=UTC)


class Desk:
    """A store with two old memories, and a note to ingest."""

    def __init__(self, folder: Path) -> None:
        self.now = NOW - timedelta(days=200)
        self.db = folder / "store.db"
        self.engine = Engine.open(self.db, clock=lambda: self.now)
        self.note = folder / "notes.md"
        self.note.write_text("# Notes\n\n- [Decision] Doors are checked every evening.\n")
        self.unused = self._promoted("Nobody asks for this one")
        self.needed = self._promoted("Everybody needs it")
        self.now = NOW

    def ingest(self) -> int:
        return self.engine.intake.ingest([self.note], project="p").retiring

    def ids(self, status: str, terms: str = "") -> list[int]:
        return list(self.engine.queue.ids(QueueQuery("p", status, terms)))

    def _promoted(self, text: str) -> int:
        (number,) = self.engine.entities.author("p", "knowledge", text).ids
        self.engine.triage.promote([number])
        return number

    def used(self, memory: int) -> None:
        write(
            self.db,
            "INSERT INTO use_of_memory (memory_id, session, moment, cue, at)"
            " VALUES (?, 's', 'prompt', '', ?)",
            memory,
            self.now.isoformat(),
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_an_unused_memory_waits_for_a_person_and_stays_until_then(desk: Desk) -> None:
    assert desk.ingest() == 0  # agents are handed no memories at all
    desk.used(desk.needed)
    assert desk.ingest() == 1
    (row,) = desk.ids("candidate", "flag:retire")
    assert "Nobody asks" in desk.engine.queue.candidate(row).content
    assert desk.unused in desk.ids("active")
    assert desk.ingest() == 0
    desk.engine.triage.promote([row])
    assert desk.ids("active") == [desk.needed]
    desk.engine.history.undo()
    assert set(desk.ids("active")) == {desk.unused, desk.needed}
    assert desk.engine.history.verify().ok


def test_one_that_a_packet_gave_to_a_session_is_not_unused(desk: Desk) -> None:
    desk.used(desk.needed)
    desk.engine.recall.note_start([desk.unused], "s2", iso(NOW))
    assert desk.ingest() == 0


def test_one_that_a_person_keeps_is_not_proposed_again_for_90_days(desk: Desk) -> None:
    desk.used(desk.needed)
    desk.ingest()
    desk.engine.triage.reject(desk.ids("candidate", "flag:retire"))
    desk.now += timedelta(days=60)
    desk.used(desk.needed)
    assert desk.ingest() == 0
    desk.now += timedelta(days=31)
    assert desk.ingest() == 1
    assert set(desk.ids("active")) == {desk.unused, desk.needed}


def test_a_proposal_goes_when_its_reason_does(desk: Desk) -> None:
    desk.used(desk.needed)
    desk.ingest()
    (row,) = desk.ids("candidate", "flag:retire")
    desk.used(desk.unused)
    desk.ingest()
    assert desk.ids("candidate", "flag:retire") == []
    with pytest.raises(ConflictError, match=f"superseded by #{desk.unused}"):
        desk.engine.triage.promote([row])


def test_a_proposal_is_not_edited_merged_or_handed_out(desk: Desk) -> None:
    desk.used(desk.needed)
    desk.ingest()
    (row,) = desk.ids("candidate", "flag:retire")
    with pytest.raises(ConflictError, match="proposes to retire"):
        desk.engine.triage.edit(row, "Another wording of it")
    with pytest.raises(ConflictError, match="proposes to retire"):
        desk.engine.triage.merge([row], desk.unused)
    desk.engine.triage.promote([row])
    assert "Retire" not in desk.engine.exports.markdown("p")
