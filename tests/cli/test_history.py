"""`history`: when things happened, and in which order an ingestion is undone."""

from __future__ import annotations

import re

from tests.cli.conftest import NOTE, Reviewer


def test_times_are_local_and_say_their_zone(seeded: Reviewer) -> None:
    (act,) = seeded.rows("history")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", act["at"])
    utc = seeded("history", env={"TZ": "UTC0"}).stdout.split("  ")
    assert utc[1] == act["at"][:19].replace("T", " ") + " UTC"
    east = seeded("history", env={"TZ": "EST-5:30"}).stdout.split("  ")
    assert east[1].endswith(" EST")
    hour, minute = (int(part) for part in utc[1][11:16].split(":"))
    later = (hour * 60 + minute + 330) % (24 * 60)
    assert east[1][11:16] == f"{later // 60:02}:{later % 60:02}"


def intake(program: Reviewer) -> int:
    """The number of the latest ingestion."""
    return [int(act["id"]) for act in program.rows("history") if act["kind"] == "ingest"][-1]


def test_what_cannot_be_done_again_is_said_in_words(ingested: Reviewer) -> None:
    note = ingested.folder / "kiosk-decisions.md"
    note.write_text(NOTE, encoding="utf-8")
    ingested.succeeds("undo", intake(ingested))
    ingested.succeeds("--project", "kiosk", "ingest", "--again", note)
    line = ingested.fails("redo")
    assert "has been written again since. Nothing was changed." in line
    assert "UNIQUE" not in line
    ingested.nothing_lost()


def test_without_a_decision_undo_names_the_ingestion(ingested: Reviewer) -> None:
    assert ingested.fails("undo").endswith(f"reviewer undo {intake(ingested)}")


def test_an_ingestion_is_undone_after_the_decisions_about_it(ingested: Reviewer) -> None:
    started, read, queued = 1, 2, 3  # its acts
    before = ingested.ids("--status", "all")
    ingested.succeeds("promote", before[0])
    decision = ingested.rows("history")[-1]["id"]
    assert f"Undo first: act {queued} " in ingested("undo", read).stderr
    assert f"Undo first: act {decision} " in ingested("undo", queued).stderr
    for act in (decision, queued, read, started):
        ingested.succeeds("undo", act)
    assert ingested.ids("--status", "all") == []
    for _ in range(4):
        ingested.succeeds("redo")
    assert ingested.ids("--status", "all") == before
    ingested.nothing_lost()
