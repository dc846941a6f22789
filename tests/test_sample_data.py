"""What `reviewer demo` reads shows everything that the program can do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import CandidateView, QueueQuery
from reviewer.promotion.waves.report import WaveReport
from reviewer.resources import sample_data_folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, WaveReport]]:
    """A fresh store after one ingestion of the sample data."""
    engine = Engine.open(tmp_path_factory.mktemp("sample") / "store.db")
    report = engine.intake.ingest([sample_data_folder()], project="ledger-api")
    yield engine, report
    engine.close()


@pytest.fixture(scope="module")
def waiting(filled: tuple[Engine, WaveReport]) -> list[CandidateView]:
    engine, _ = filled
    ids = engine.queue.ids(QueueQuery(project="ledger-api"))
    return [engine.queue.candidate(memory) for memory in ids]


def test_it_is_a_good_sitting(waiting: list[CandidateView]) -> None:
    assert 35 <= len(waiting) <= 60


def test_notes_decision_logs_and_dialogue_contribute(waiting: list[CandidateView]) -> None:
    root = sample_data_folder()
    places = Counter(
        Path(one.source.path).relative_to(root).parts[0] for one in waiting if one.source
    )
    assert set(places) == {
        "claude", "notes", ".context",
    }  # fmt: skip


def test_kinds_and_rules_vary(waiting: list[CandidateView]) -> None:
    assert len({one.type for one in waiting}) >= 4
    assert len({one.rule for one in waiting}) >= 8


def test_the_persons_words_come_first_then_what_two_sessions_ran_into(
    waiting: list[CandidateView],
) -> None:
    assert "colour blind" in waiting[0].content
    after = next(each for each in waiting if not each.rule.startswith(("i_", "we_", "sentence")))
    assert (after.sessions, after.cost) == (2, 4)
    assert "What fixed it: `make db" in after.content


def test_the_things_that_are_no_memories_are_counted(filled: tuple[Engine, WaveReport]) -> None:
    _, report = filled
    assert set(report.kept_out) >= {"wrapper", "compaction summary", "rewound", "template"}
    assert report.skipped_by


def test_something_hostile_is_among_it() -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in sample_data_folder().rglob("*.jsonl"))
    assert "\\u001b[31m" in text
    assert "[red]" in text


def test_two_limits_contradict_each_other_once_one_holds(tmp_path: Path) -> None:
    engine = Engine.open(tmp_path / "store.db")
    engine.intake.ingest([sample_data_folder()], project="ledger-api")
    while engine.queue.counts(None).beyond_cap:
        engine.intake.more(limit=500)
    (production, staging) = engine.queue.ids(QueueQuery(filter='type:parameter "webhook timeout"'))

    assert not engine.queue.ids(QueueQuery(filter="kind:conflict"))
    engine.triage.promote([production])

    (conflict,) = engine.queue.ids(QueueQuery(filter="kind:conflict"))
    assert {engine.conflicts.get(conflict).left.id, engine.conflicts.get(conflict).right.id} == {
        production,
        staging,
    }
    assert len(engine.queue.evidence(conflict)) == 2
    engine.close()
