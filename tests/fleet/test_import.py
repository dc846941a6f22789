"""`reviewer fleet import`: one wave in one act, with its evidence."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.fleet import candidate_file
from reviewer.fleet.values import FleetError
from tests.clocks import TickingClock
from tests.fleet.conftest import FACTS, Fleet


def imported(fleet: Fleet, *options: object) -> dict[str, Any]:
    """The counts of an import into the project kiosk."""
    file = fleet.parts / "candidates.parquet"
    return fleet.ok("import", file, "--project", "kiosk", *options)


def waiting(fleet: Fleet) -> list[dict[str, Any]]:
    """What waits in the queue, the best first."""
    return fleet.reviewer.rows("--project", "kiosk", "queue", "list")


def test_the_queue_has_the_order_of_the_file(collapsed: Fleet) -> None:
    candidates = collapsed.candidates()
    counts = imported(collapsed)
    assert (counts["new"], counts["repeated"]) == (len(candidates), 0)
    queue = waiting(collapsed)
    assert [row["content"] for row in queue] == [row["content"] for row in candidates]
    assert [row["seen"] for row in queue] == [row["seen"] for row in candidates]
    collapsed.reviewer.nothing_lost()


def test_each_shows_its_words_and_where_they_are(collapsed: Fleet) -> None:
    imported(collapsed)
    for row in waiting(collapsed):
        (shown,) = collapsed.reviewer.rows("--project", "kiosk", "queue", "show", row["id"])
        place = shown["provenance"][-1]
        assert place["layer"] == "L0"
        assert place["text"].startswith(row["content"])
        assert Path(place["path"]).parent == collapsed.sessions
        assert Path(row["source"]["path"]).parent == collapsed.sessions


def test_what_the_project_has_counts_as_seen(collapsed: Fleet) -> None:
    first = imported(collapsed, "--top", 2)
    assert (first["new"], first["repeated"]) == (2, 0)
    one, other = waiting(collapsed)
    assert collapsed.reviewer("--project", "kiosk", "reject", one["id"]).returncode == 0
    rest = imported(collapsed)
    assert rest["repeated"] == 2
    contents = [row["content"] for row in waiting(collapsed)]
    assert one["content"] not in contents
    assert contents.count(other["content"]) == 1
    again = imported(collapsed)
    assert again["new"] == 0
    seen = {row["content"]: row["seen"] for row in waiting(collapsed)}
    assert seen[other["content"]] == other["seen"]


def test_an_import_meets_what_was_read_here(collapsed: Fleet) -> None:
    done = collapsed.reviewer("--project", "kiosk", "ingest", collapsed.sessions)
    assert done.returncode == 0, done.stderr
    counts = imported(collapsed)
    assert counts["repeated"] >= 2
    with sqlite3.connect(collapsed.reviewer.db) as store:
        (copies,) = store.execute("SELECT count(*) FROM record WHERE key LIKE '%@%+%'").fetchone()
    assert copies == 0  # the records themselves are the evidence
    collapsed.reviewer.nothing_lost()


def test_all_of_it_can_be_taken_back(collapsed: Fleet) -> None:
    counts = imported(collapsed)
    (act,) = counts["acts"]
    assert collapsed.reviewer("--project", "kiosk", "undo", act).returncode == 0
    assert waiting(collapsed) == []
    with sqlite3.connect(collapsed.reviewer.db) as store:
        for table in ("memory", "record", "evidence", "source", "memory_text"):
            assert store.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    collapsed.reviewer.nothing_lost(candidates=0)
    assert imported(collapsed)["new"] == counts["new"]


def test_files_that_are_not_candidates(collapsed: Fleet) -> None:
    note = collapsed.folder / "notes.md"
    note.write_text("# Not Parquet\n")
    assert "is not a file of candidates" in collapsed.fails("import", note)
    assert "cannot be read: no such file" in collapsed.fails("import", collapsed.folder / "no")
    (part,) = collapsed.parts.glob("*.files.parquet")
    assert "is not a file of candidates" in collapsed.fails("import", part)


def changed(file: Path, number: int, **columns: object) -> None:
    """Put other values into a row of a file of candidates."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    rows = table.to_pylist()
    rows[number] |= columns
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("content", "short"),
        ("type", "gossip"),
        ("kind", "state"),
        ("confidence", 7.0),
        ("proof", "{no json"),
        ("proof", '{"quotes": [{"line": 1, "text": "' + "x" * 20_000),
        ("span_end", -1),
        ("seen", 2**61),
        ("flags", "\x1b[31mred"),
        ("need", "\u202etrap"),
        ("session", "s" * 3_000),
    ],
)
def test_a_row_that_is_not_right_is_named(collapsed: Fleet, column: str, value: object) -> None:
    file = collapsed.parts / "candidates.parquet"
    changed(file, 1, **{column: value})
    done = collapsed("import", file, "--project", "kiosk")
    assert done.returncode == 1
    assert f"Candidate 2 of {file} cannot be imported" in done.stderr
    assert ("gossip" if column == "type" else column) in done.stderr
    assert "Traceback" not in done.stderr
    collapsed.reviewer.nothing_lost()


def test_the_search_finds_what_was_imported(collapsed: Fleet) -> None:
    imported(collapsed)
    found = collapsed.reviewer.rows("--project", "kiosk", "queue", "list", "--filter", "drawer")
    assert [FACTS[0] in row["content"] for row in found] == [True]


def test_the_sessions_and_authors_of_the_job_are_shown(collapsed: Fleet) -> None:
    best = collapsed.candidates()[0]
    assert (best["sessions"], best["authors"]) == (8, 4)
    imported(collapsed)
    row = waiting(collapsed)[0]
    assert (row["sessions"], row["authors"]) == (8, 4)
    shown = collapsed.reviewer("--project", "kiosk", "queue", "show", row["id"]).stdout
    assert "8 sessions of 4 people" in shown


def test_the_queue_can_be_sorted_by_sessions(collapsed: Fleet) -> None:
    file = collapsed.parts / "candidates.parquet"
    changed(file, 0, sessions=2)
    changed(file, 3, seen=900, sessions=900)
    imported(collapsed)
    rows = collapsed.reviewer.rows("--project", "kiosk", "queue", "list", "--sort", "sessions")
    assert [row["sessions"] for row in rows] == sorted((r["sessions"] for r in rows), reverse=True)
    assert (rows[0]["sessions"], rows[-1]["sessions"]) == (900, 2)


def test_what_is_imported_again_keeps_the_larger_count(collapsed: Fleet) -> None:
    imported(collapsed)
    file = collapsed.parts / "candidates.parquet"
    changed(file, 0, seen=50, sessions=50, authors=1, record="elsewhere")
    imported(collapsed)
    row = waiting(collapsed)[0]
    assert (row["sessions"], row["authors"]) == (50, 4)
    collapsed.reviewer.nothing_lost()


TOKEN = "ghp_" + "q7Rt2LmX9vBc4NfK8sDw1JhZ6yPg3TaE5uV0"
PASSWORD = "Marble58!qz"


def test_secrets_are_masked_once_more(collapsed: Fleet) -> None:
    file = collapsed.parts / "candidates.parquet"
    content = f"The kiosk signs in with {TOKEN} at the start"
    changed(
        file, 1, content=content, excerpt=f"Look: {content}. Done.",
        excerpt_start=0, span_start=6, span_end=6 + len(content),
    )  # fmt: skip
    changed(
        file, 2, content=f"{PASSWORD} is what the printer wants",
        excerpt=f'password: "{PASSWORD}"\n{PASSWORD} is what the printer wants',
        excerpt_start=0, span_start=24, span_end=60,
    )  # fmt: skip
    counts = imported(collapsed)
    assert counts["masked"] >= 4
    with sqlite3.connect(collapsed.reviewer.db) as store:
        dump = "\n".join(store.iterdump()).lower()
    assert TOKEN[4:].lower() not in dump
    assert PASSWORD.lower() not in dump
    row = waiting(collapsed)[1]
    assert row["content"] == "The kiosk signs in with ghp_[masked github-token] at the start"
    (shown,) = collapsed.reviewer.rows("--project", "kiosk", "queue", "show", row["id"])
    place = shown["provenance"][-1]
    assert place["text"].startswith(row["content"])
    assert waiting(collapsed)[2]["content"] == "[masked password] is what the printer wants"
    collapsed.reviewer.nothing_lost()


def test_a_file_that_has_a_candidate_twice(
    collapsed: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In acts of their own, into an empty project."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(candidate_file, "ROWS_AT_ONCE", 3)
    file = collapsed.parts / "candidates.parquet"
    table = pq.read_table(file)
    pq.write_table(pa.concat_tables([table, table]), file)
    engine = Engine.open(tmp_path / "other.db", clock=TickingClock())
    try:
        report = engine.fleet.run(file, project="kiosk")
        assert (report.new, report.repeated) == (table.num_rows, table.num_rows)
        assert engine.history.verify().ok
    finally:
        engine.close()


def test_a_file_without_candidates_makes_no_wave(collapsed: Fleet) -> None:
    import pyarrow.parquet as pq

    file = collapsed.parts / "candidates.parquet"
    pq.write_table(pq.read_table(file).slice(0, 0), file)
    said = collapsed.fails("import", file, "--project", "kiosk")
    assert f"{file} has no candidates: there is nothing to import" in said
    with sqlite3.connect(collapsed.reviewer.db) as store:
        assert store.execute("SELECT count(*) FROM wave").fetchone() == (0,)


def test_a_damaged_group_of_rows_is_told_from_a_bad_row(collapsed: Fleet) -> None:
    file = collapsed.parts / "candidates.parquet"
    data = bytearray(file.read_bytes())
    data[4:400] = bytes(each ^ 0xFF for each in data[4:400])
    file.write_bytes(data)
    said = collapsed.fails("import", file, "--project", "kiosk")
    assert f"{file} cannot be read after candidate 0" in said


def test_a_file_of_another_version_is_named_as_such(collapsed: Fleet) -> None:
    import pyarrow.parquet as pq

    file = collapsed.parts / "candidates.parquet"
    table = pq.read_table(file)
    meta = {b"reviewer": json.dumps({"layout": 99, "rules": ["new"], "now": 5}).encode()}
    pq.write_table(table.replace_schema_metadata(meta), file)
    said = collapsed.fails("import", file, "--project", "kiosk")
    assert "was written by another version of reviewer (layout 99; this one reads" in said


def test_an_import_that_changes_nothing_says_so(collapsed: Fleet) -> None:
    imported(collapsed)
    file = collapsed.parts / "candidates.parquet"
    done = collapsed("import", file, "--project", "kiosk", "--json")
    assert json.loads(done.stdout)["acts"] == []
    assert "Nothing was changed" in done.stderr


class Killed(BaseException):
    """The program is gone, without a chance to do anything."""


@pytest.mark.parametrize("end", ["killed", "interrupted", "a bad row"])
def test_an_import_that_does_not_reach_its_end_leaves_nothing(
    collapsed: Fleet, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(candidate_file, "ROWS_AT_ONCE", 2)
    file = collapsed.parts / "candidates.parquet"

    def after_the_first(done: int, total: int) -> None:
        assert 0 < done < total
        if end == "killed":
            raise Killed

    if end == "a bad row":
        changed(file, 4, confidence=7.0)
    engine = Engine.open(collapsed.reviewer.db, clock=TickingClock())
    try:
        with suppress(Killed, FleetError):
            report = engine.fleet.run(
                file,
                project="kiosk",
                progress=after_the_first,
                cancelled=lambda: end == "interrupted",
            )
            assert (report.state, report.new, report.acts) == ("interrupted", 0, ())
    finally:
        engine.close()
    with sqlite3.connect(collapsed.reviewer.db) as store:
        assert store.execute("SELECT count(*) FROM ledger").fetchone() == (0,)
    if end != "a bad row":
        assert imported(collapsed)["new"] == len(FACTS)
