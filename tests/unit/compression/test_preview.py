"""Before a context is made smaller: sizes, segments, previews by either engine, figures."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from reviewer.compression.fit import UnreachableError
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.compression.service import Compression
from reviewer.compression.summary_writer import TRIES
from reviewer.compression.values import Level
from reviewer.engine import Engine
from reviewer.errors import ReviewerError, UnknownIdError
from reviewer.llm import open_model
from reviewer.llm.model import CancelledError, ModelError
from tests.unit.compression.conftest import Kiosk
from tests.unit.compression.making import faithful
from tests.unit.llm.scripted import Answer, Scripted
from tests.unit.sources.builders import Session


def test_segments_leave_pins_out_and_know_their_commits(kiosk: Kiosk) -> None:
    found = kiosk.compression.segments(kiosk.id)
    commits = [turn.commit for segment in found for turn in segment.turns]
    assert commits == kiosk.ids[1:]
    part = kiosk.compression.plan(kiosk.id, None, start=kiosk.ids[5], end=kiosk.ids[9])
    assert [commit for choice in part.choices for commit in choice.sources] == kiosk.ids[5:10]
    with pytest.raises(UnknownIdError, match="ends before it begins"):
        kiosk.compression.plan(kiosk.id, None, start=kiosk.ids[9], end=kiosk.ids[5])
    with pytest.raises(UnknownIdError, match="not in the chain"):
        kiosk.compression.plan(kiosk.id, None, start=99_999)


def test_the_text_of_a_skill_is_not_called_the_persons(engine: Engine, tmp_path: Path) -> None:
    told = Session()
    told.user("<command-name>/receipts</command-name>")
    skill = "Base directory for this skill: /srv/kiosk. Print every receipt of the kiosk twice. "
    told.user([{"type": "text", "text": skill * 20}], isMeta=True)
    told.reply("I look at the receipts of the kiosk and print each of them twice, as asked. " * 8)
    path = told.write(tmp_path / "kiosk.jsonl")
    number = engine.contexts.import_file(path, project="kiosk").context.id
    compression = engine.compression
    for level in (Level.DETAILED, Level.BRIEF, Level.TAGS):
        (found,) = compression.preview(compression.plan(number, level)).segments
        assert "Base directory" not in found.compressed.content
        assert not any("Base directory" in line for line in found.fidelity.loses)
    assert engine.contexts.compile(number)[1].text.startswith("Base directory")


def test_an_offline_preview_stops_between_segments(kiosk: Kiosk) -> None:
    told: list[PreviewProgress] = []
    plan = kiosk.compression.plan(kiosk.id, "brief")
    assert len(plan.choices) > 1
    with pytest.raises(CancelledError):
        kiosk.compression.preview(plan, Watch(lambda: bool(told), on_progress=told.append))
    assert len(told) == 1


def test_a_segment_whose_summary_would_not_be_smaller_stays(engine: Engine) -> None:
    context = engine.contexts.create("kiosk", "tiny").id
    for text in ("Yes.", "No.", "Fine."):
        engine.contexts.add(context, role="user", text=text)
    found = engine.compression.preview(engine.compression.plan(context, "brief"))
    assert found.segments[0].kept == "a summary would not be smaller"
    assert found.tokens_after == found.tokens_before


def test_an_empty_range_is_reported(engine: Engine, kiosk: Kiosk) -> None:
    empty = engine.contexts.create("kiosk", "empty").id
    with pytest.raises(ReviewerError, match="the context is empty"):
        engine.compression.plan(empty, "brief")
    engine.contexts.annotate(kiosk.ids, priority="pinned")
    with pytest.raises(ReviewerError, match="has only pinned commits"):
        engine.compression.plan(kiosk.id, "brief")
    engine.contexts.annotate(kiosk.ids, priority="skip")
    with pytest.raises(ReviewerError, match="Nothing to compress"):
        kiosk.compress("brief")
    engine.contexts.annotate(kiosk.ids, priority="normal")
    with pytest.raises(ReviewerError, match="Nothing to compress"):
        kiosk.compress("full")
    with pytest.raises(UnknownIdError):
        engine.compression.plan(99, "brief")


LONGEST = 30.0
"""Seconds that one thread waits for another before the test has failed."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    scripted = Scripted(faithful)
    monkeypatch.setattr(open_model, "open_model", lambda settings: scripted)
    return scripted


def test_a_model_writes_segments_in_parallel_and_reports_progress(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: Scripted
) -> None:
    compression = with_settings(writer="model")
    progress: list[PreviewProgress] = []
    watch = Watch(on_progress=progress.append)
    found = compression.preview(compression.plan(kiosk.id, "detailed"), watch)
    assert [each.done for each in progress] == [1, 2, 3]
    asked = len(model.asked)
    compression.apply(found.plan)
    assert len(model.asked) == asked  # the previewed texts are applied without asking again
    spent = [one for one in compression.measures.summary() if one.name.endswith("LlmTokens")]
    assert (spent[0].label, spent[0].count) == ("scripted", 3)


BROKEN = ModelError("The connection broke off.")


@pytest.mark.parametrize(
    ("script", "engines", "why"),
    [
        ([BROKEN, faithful], ["offline", "scripted", "scripted"], "broke off"),
        ([faithful, faithful, BROKEN], ["scripted", "scripted", "offline"], "broke off"),
        ([faithful, faithful, ""], ["scripted", "scripted", "offline"], "was refused"),
    ],
)
def test_where_a_model_fails_the_offline_engine_writes_and_says_so(
    kiosk: Kiosk,
    with_settings: Callable[..., Compression],
    model: Scripted,
    monkeypatch: pytest.MonkeyPatch,
    script: list[Answer],
    engines: list[str],
    why: str,
) -> None:
    model.answers = script
    compression = with_settings(writer="model")
    monkeypatch.setattr(compression.engines, "concurrency", lambda engine: 1)
    found = compression.preview(compression.plan(kiosk.id, "detailed"))
    assert [each.compressed.engine for each in found.segments] == engines
    note = found.segments[engines.index("offline")].compressed.note
    assert note.startswith("offline, because the model")
    assert why in note
    compression.apply(found.plan)


def test_a_model_that_died_is_not_asked_for_every_other_segment(
    kiosk: Kiosk,
    with_settings: Callable[..., Compression],
    model: Scripted,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(100):
        kiosk.say(f"Kiosk {number} was moved to platform {number % 7} and printed its own map.")
    model.answers = [faithful, *[ModelError("The connection broke off.")] * 200]
    compression = with_settings(writer="model")
    monkeypatch.setattr(compression.engines, "concurrency", lambda engine: 1)
    found = compression.preview(compression.plan(kiosk.id, "detailed"))
    assert len(found.segments) > TRIES + 1
    assert {each.compressed.engine for each in found.segments[1:]} == {"offline"}
    assert all("broke off" in each.compressed.note for each in found.segments[1:])
    assert len(model.asked) <= 2 + TRIES


def test_a_segment_whose_criteria_cannot_be_met_stays_full_beside_the_others(
    kiosk: Kiosk,
) -> None:
    compression = kiosk.engine.compression
    kiosk.engine.contexts.annotate(
        kiosk.ids[2], priority="important", retain_match=["not in this commit"]
    )
    found = compression.preview(compression.plan(kiosk.id, "brief"))
    [left] = [each for each in found.segments if each.refused]
    assert 'substring not found: "not in this commit"' in left.kept
    assert left.tokens == left.segment.tokens
    assert found.tokens_after < found.tokens_before
    fitted = compression.fit(kiosk.id, found.tokens_after + 50)
    assert compression.preview(fitted).tokens_after <= found.tokens_after + 50
    assert compression.apply(found.plan).segments == len(found.segments) - 1
    assert "not in this commit" not in "".join(m.text for m in kiosk.summaries())


def test_the_first_failure_stops_the_other_segments(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: Scripted
) -> None:
    stopped: list[bool] = []
    under_way = Event()

    def waits(_: str) -> str:
        assert model.cancelled is not None
        under_way.set()
        end, pause = time.monotonic() + LONGEST, Event()
        while time.monotonic() < end:
            if model.cancelled():
                stopped.append(True)
                raise CancelledError("Stopped.")
            pause.wait(0.01)
        return "never stopped"

    def fails(_: str) -> str:
        assert under_way.wait(LONGEST)
        raise ModelError("The connection broke off.")

    model.answers = [waits, fails]
    compression = with_settings(writer="model")
    with pytest.raises(ModelError, match="broke off"):
        compression.preview(compression.plan(kiosk.id, "brief"))
    assert stopped == [True]


def test_a_models_summary_too_long_for_the_target_is_lowered(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: Scripted
) -> None:
    model.answers = [" ".join(f"word{number}" for number in range(60))]
    compression = with_settings(writer="model")
    target = sum(message.tokens for message in kiosk.compiled()) // 5
    found = compression.preview(compression.fit(kiosk.id, target))
    assert found.tokens_after <= target


def test_what_keeps_a_context_large_is_named_and_nothing_else(kiosk: Kiosk) -> None:
    compression = kiosk.engine.compression
    with pytest.raises(UnreachableError, match="In the way: 1 pinned turn with"):
        compression.fit(kiosk.id, 40)
    kiosk.engine.contexts.annotate(kiosk.ids[0], priority="normal")
    with pytest.raises(UnreachableError, match=r"need at least \d+\.$"):
        compression.fit(kiosk.id, 40)


def test_what_is_asked_in_words_is_said_to_be_unchecked(kiosk: Kiosk) -> None:
    kiosk.engine.contexts.annotate(kiosk.ids[1], retain="keep the mood of the talk")
    found = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    unchecked = [words for segment in found.segments for words in segment.unchecked]
    assert unchecked == ["keep the mood of the talk"]


def test_large_results_are_named_and_no_farther_level_has_more_tokens(
    engine: Engine, tmp_path: Path
) -> None:
    told = Session("ferry")
    told.user("Why does the ferry leave late every morning?")
    told.reply("I read the timetable.")
    told.tool()
    told.result("\n".join(f"the ferry {at} waits for tram {at * 7}" for at in range(900)))
    names = [f"the tower{at} rings bell{at}.py for Harbour{at}" for at in range(900)]
    told.result("\n".join(names))
    path = told.write(tmp_path / "ferry.jsonl")
    context = engine.contexts.import_file(path, project="acme").context.id
    compression = engine.compression
    levels = [compression.preview(compression.plan(context, each)).segments for each in Level]
    _, called, alone = (each.compressed.content for each in levels[Level.BRIEF])
    assert "ls" in called
    assert alone.startswith("A call returned: the tower0 rings bell0.py for Harbour0")
    for sizes in zip(*([each.tokens for each in level] for level in levels), strict=True):
        assert list(sizes) == sorted(sizes, reverse=True)
