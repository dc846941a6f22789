"""An ingestion adds what is new, once, and loses nothing when it is cut off."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.promotion.waves.report import WaveReport
from reviewer.sources import stream
from reviewer.sources.open import recognised
from tests.present import present
from tests.unit.promotion.conftest import NOTE
from tests.unit.promotion.graph import contents
from tests.unit.promotion.session import session
from tests.unit.sources.builders import Session


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ledger.md").write_text(NOTE)
    return folder


def ingest(engine: Engine, *paths: Path, **options: Any) -> WaveReport:
    return engine.intake.ingest(paths, project="acme", **options)


DECIDED = "We decided to use PostgreSQL 16 for the ledger instead of SQLite because writers block."
CAUSE = "The root cause of the double booking was a retry without an idempotency key in `send`."
ALWAYS = "Always run `make migrate` before the deploy of the ledger, otherwise the start fails."


def test_a_grown_transcript_adds_only_what_was_said_since(engine: Engine, tmp_path: Path) -> None:
    path = session(tmp_path / "s.jsonl", DECIDED, CAUSE)
    ingest(engine, path)
    before = contents(engine)

    session(path, DECIDED, CAUSE, ALWAYS)
    again = ingest(engine, path)

    assert again.fresh == 1
    assert len(contents(engine) - before) == again.new == 1
    assert {row.seen for row in engine.queue.rows(engine.queue.ids(QueueQuery()))} == {1}


def test_what_the_rules_find_in_a_session_has_the_day_of_its_line(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, session(tmp_path / "s.jsonl", DECIDED))
    (row,) = engine.queue.rows(engine.queue.ids(QueueQuery()))
    seen = engine.queue.candidate(row.id)
    assert seen.first_seen == seen.last_seen == "2026-02-14T10:00:00Z"
    earlier = session(tmp_path / "earlier.jsonl", DECIDED, name="s2")
    earlier.write_text(earlier.read_text().replace("2026-02-14", "2026-01-10"))
    ingest(engine, earlier)
    seen = engine.queue.candidate(row.id)
    assert (seen.first_seen[:10], seen.last_seen[:10]) == ("2026-01-10", "2026-02-14")


def test_a_record_with_a_nul_in_its_name_proves_what_it_says(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, session(tmp_path / "s.jsonl", DECIDED, name="s\0s"))
    (number,) = engine.queue.ids(QueueQuery())
    assert [each.record.text for each in engine.queue.evidence(number)] == [DECIDED]


def test_rows_are_found_by_who_said_what_proves_them(
    engine: Engine, notes: Path, tmp_path: Path
) -> None:
    ingest(engine, session(tmp_path / "s.jsonl", ALWAYS), notes)
    found = {
        speaker: [
            row.content
            for row in engine.queue.rows(engine.queue.ids(QueueQuery(filter=f"by:{speaker}")))
        ]
        for speaker in ("me", "agent", "note")
    }
    assert found["me"] == [ALWAYS.rstrip(".")]
    assert found["agent"] == []
    assert found["note"]
    assert ALWAYS.rstrip(".") not in found["note"]


def test_the_same_fact_in_other_words_is_seen_again_also_once_it_was_reworded(
    engine: Engine, tmp_path: Path
) -> None:
    ingest(engine, session(tmp_path / "a.jsonl", DECIDED))
    (number,) = engine.queue.ids(QueueQuery())
    other = DECIDED.replace("the ledger", "our ledgers")
    for name in ("b", "c"):
        report = ingest(engine, session(tmp_path / f"{name}.jsonl", other, name=name))
        assert report.new == 0
        engine.triage.edit(number, "The ledger runs on PostgreSQL", promote=False)
    assert engine.queue.candidate(number).seen == 3
    assert len(engine.queue.evidence(number)) == 3


def killed_before_its_end(engine: Engine, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ingest a file in a wave that dies once the file was read."""

    class Killed(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("reviewer.promotion.waves.wave.finish_wave", die)
        with pytest.raises(Killed):
            ingest(engine, path)


def test_a_wave_that_was_killed_is_made_good_by_the_next(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(tmp_path / "s.jsonl", DECIDED, CAUSE, ALWAYS)

    killed_before_its_end(engine, path, monkeypatch)
    assert contents(engine) == set()

    report = ingest(engine, path)

    assert report.fresh == 0
    assert contents(engine) == {DECIDED.rstrip("."), ALWAYS.rstrip(".")}
    assert ingest(engine, path).unchanged == 1
    assert engine.history.verify().ok


def test_a_file_that_was_moved_after_its_wave_died_is_proposed_from(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s1.jsonl"
    session(path, DECIDED, "Understood.", ALWAYS)

    killed_before_its_end(engine, path, monkeypatch)
    moved = path.rename(tmp_path / "moved.jsonl")
    ingest(engine, moved)
    assert contents(engine) == {DECIDED.rstrip("."), ALWAYS.rstrip(".")}


def test_an_interrupted_wave_keeps_what_was_read_and_goes_on_later(
    engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    session(folder / "a.jsonl", DECIDED)
    session(folder / "b.jsonl", "Hello there", "Hello", ALWAYS, name="s2")
    asked = iter([False, False, True])

    report = ingest(engine, folder, cancelled=lambda: next(asked, True))

    assert report.state == "interrupted"
    assert report.new == 1
    assert ingest(engine, folder).new == 1


def test_what_the_person_took_back_is_not_proposed(engine: Engine, tmp_path: Path) -> None:
    told = Session()
    fork = told.reply("Ready.")
    told.user("We always deploy from the branch release.")
    for number in range(100):  # so that it is read long before it is taken back
        told.reply(f"Step {number}.")
    told.user("We always deploy from the tag stable.", after=fork)
    told.reply("Understood.")
    report = ingest(engine, told.write(tmp_path / "s1.jsonl"))
    assert report.kept_out["rewound"] == 101
    found = " ".join(contents(engine))
    assert "tag stable" in found
    assert "branch release" not in found
    with closing(sqlite3.connect(engine.path)) as store:
        marked = store.execute("SELECT count(*) FROM record WHERE use = 'rewound'").fetchone()
    assert marked == (101,)


def test_the_report_folder_explains_the_wave(engine: Engine, notes: Path) -> None:
    report = ingest(engine, notes)
    folder = Path(report.report_folder)

    assert {file.name for file in folder.iterdir()} == {
        "report.json", "candidates.ndjson", "dropped.ndjson", "errors.log",
    }  # fmt: skip
    assert msgspec.json.decode((folder / "report.json").read_bytes())["new"] == report.new
    queued = [json.loads(line) for line in (folder / "candidates.ndjson").open()]
    assert {row["content"] for row in queued} == contents(engine)
    assert all(json.loads(line)["reason"] for line in (folder / "dropped.ndjson").open())
    assert folder.stat().st_mode & 0o077 == 0


def test_a_note_that_was_edited_above_keeps_its_evidence_at_the_right_line(
    engine: Engine, notes: Path
) -> None:
    ingest(engine, notes)
    (notes / "ledger.md").write_text("New first line.\n\n" + NOTE)

    ingest(engine, notes)

    for number in engine.queue.ids(QueueQuery(status="all")):
        view = engine.queue.candidate(number)
        assert engine.sources.state(number) == "same"
        lines = (notes / "ledger.md").read_text().splitlines()
        assert view.content.split()[0] in " ".join(
            lines[present(view.source).line_start : present(view.source).line_end]
        )


def test_a_file_that_was_moved_takes_its_evidence_along(engine: Engine, notes: Path) -> None:
    ingest(engine, notes)
    (notes / "ledger.md").rename(notes / "accounts.md")
    ingest(engine, notes)
    (number, *_) = engine.queue.ids(QueueQuery())
    assert present(engine.queue.candidate(number).source).path.endswith("accounts.md")
    assert engine.history.verify().ok


def test_two_ingestions_of_the_same_folder_at_once_both_end_well(
    engine: Engine, notes: Path, tmp_path: Path
) -> None:
    """The second looks the files up before the first has written them."""
    from reviewer.engine import Engine

    other = Engine.open(tmp_path / "store.db")
    asked = iter([False])

    def let_the_other_go_first() -> bool:
        if next(asked, None) is not None:
            other.intake.ingest([notes], project="acme")
        return False

    for number in range(70):
        (notes / f"{number}.md").write_text(NOTE.replace("PostgreSQL 16", f"store {number}"))
    report = ingest(engine, notes, cancelled=let_the_other_go_first)

    assert report.state == "done"
    assert engine.history.verify().ok
    other.close()


def test_each_file_is_read_once(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(tmp_path / "session.jsonl", "I prefer short tables.")
    opened: list[Path] = []

    def counting(path: Path, *more: Any) -> Any:
        opened.append(path)
        return recognised(path, *more)

    monkeypatch.setattr(stream, "recognised", counting)
    report = engine.intake.ingest([path], project="acme")
    assert (report.new, opened) == (1, [path])
