"""Which sessions a reader has read, and what the others would cost."""

from __future__ import annotations

from pathlib import Path

from reviewer.engine import Engine
from reviewer.llm.readers import Reader, readers
from reviewer.promotion.lists.reader_log import MAX_OFFERED, ReadSession
from reviewer.settings import ModelSettings
from tests.unit.llm.test_command import program
from tests.unit.promotion.session import session

READER = Reader("Claude Code", "claude")


def talk(engine: Engine, folder: Path, name: str, *said: str) -> Path:
    path = session(folder / f"{name}.jsonl", *said, name=name)
    engine.intake.ingest([path], project="acme")
    return path


def reading(path: Path, size: int, project: str = "acme") -> ReadSession:
    return ReadSession(
        project=project, path=str(path), bytes=size, reader="claude", at="2026-03-01T12:00:00"
    )


def test_notes_and_what_was_read_are_not_offered_and_a_session_that_has_grown_is(
    engine: Engine, tmp_path: Path
) -> None:
    one, two = talk(engine, tmp_path, "one"), talk(engine, tmp_path, "two")
    (tmp_path / "note.md").write_text("- [Decision] The paper is thermal.\n")
    engine.intake.ingest([tmp_path / "note.md"], project="acme")
    engine.reader_log.note(reading(one, one.stat().st_size))
    engine.reader_log.note(reading(two, two.stat().st_size, project="other"))
    assert engine.reader_log.unread("acme") == [two]
    engine.reader_log.note(reading(two, two.stat().st_size // 2))
    assert engine.reader_log.unread("acme") == [two]


def test_an_offer_has_the_newest_sessions_up_to_a_limit_and_says_how_many_there_are(
    engine: Engine, tmp_path: Path
) -> None:
    long = "We keep every receipt for ten years. " * (MAX_OFFERED // 20)
    for name in ("one", "two", "three"):
        talk(engine, tmp_path, name, long)
    (offer,) = engine.reader_log.offer([READER], "acme")
    assert (offer.sessions, offer.beyond) == (1, 2)
    assert offer.sentence.startswith("Claude Code on the newest of 3")
    assert offer.command == "reviewer propose --command claude --newest 1"
    assert engine.reader_log.offer([], "acme") == []
    assert engine.reader_log.offer([READER], "nobody") == []


def test_damaged_lines_cost_no_other_and_a_project_is_forgotten(
    engine: Engine, tmp_path: Path
) -> None:
    engine.reader_log.note(reading(tmp_path / "a", 1))
    engine.reader_log.note(reading(tmp_path / "b", 1, project="other"))
    (beside,) = [each for each in engine.path.parent.iterdir() if "readings" in each.name]
    beside.write_bytes(beside.read_bytes() + b'{"project": 3}\n\xff\n')
    assert [each.project for each in engine.reader_log.all()] == ["acme", "other"]
    engine.reader_log.forget("acme")
    assert [each.project for each in engine.reader_log.all()] == ["other"]


def test_the_model_of_the_settings_comes_first_and_no_agent_twice(tmp_path: Path) -> None:
    for name in ("claude", "codex"):
        program(tmp_path / "bin", "", name=name)
    path = str(tmp_path / "bin")
    titles = [
        [(each.title, each.program) for each in readers(settings, path)]
        for settings in (
            ModelSettings(),
            ModelSettings(command=("codex",)),
            ModelSettings(base_url="http://127.0.0.1:8080/v1", name="qwen3"),
        )
    ]
    assert titles == [
        [("Claude Code", "claude"), ("Codex", "codex")],
        [("Codex", ""), ("Claude Code", "claude")],
        [("qwen3", ""), ("Claude Code", "claude"), ("Codex", "codex")],
    ]
    assert readers(ModelSettings(), str(tmp_path)) == ()
