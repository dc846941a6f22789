"""A context whose summaries a model writes: at once, told, stopped, failing, too long."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier

import pytest

from reviewer.compression.previewing import PreviewProgress, Watch
from reviewer.compression.service import Compression
from reviewer.llm import door
from reviewer.llm.model import CancelledError, ModelError
from reviewer.llm.retry import RetryExhaustedError
from tests.unit.compression.conftest import Kiosk
from tests.unit.compression.making import ScriptedModel, faithful
from tests.waiting import until

LONGEST = 30.0
"""Seconds that one thread waits for another before the test has failed."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    scripted = ScriptedModel(faithful)
    monkeypatch.setattr(door, "open_model", lambda settings: scripted)
    return scripted


def test_a_model_writes_segments_at_once_and_tells_how_far_it_is(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: ScriptedModel
) -> None:
    compression = with_settings(writer="model")
    progress: list[PreviewProgress] = []
    pieces: list[tuple[str, str]] = []
    watch = Watch(on_text=lambda *each: pieces.append(each), on_progress=progress.append)
    found = compression.preview(compression.plan(kiosk.id, "detailed"), watch)
    assert [each.done for each in progress] == [1, 2, 3]
    assert {segment for segment, _ in pieces} == {each.segment.id for each in found.segments}
    compression.apply(kiosk.id, found.plan)
    assert len(model.prompts) == 3  # what was previewed is applied, not asked for again
    spent = [one for one in compression.statistics() if one.name.endswith("LlmTokens")]
    assert (spent[0].label, spent[0].count) == ("scripted", 3)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (ModelError("The connection broke off."), ModelError),
        (CancelledError("Stopped."), CancelledError),
        ("", RetryExhaustedError),
    ],
)
def test_a_failing_model_leaves_the_context_as_it_was(
    kiosk: Kiosk,
    with_settings: Callable[..., Compression],
    model: ScriptedModel,
    answer: object,
    error: type[Exception],
) -> None:
    model.script = [faithful, answer]
    compression, before = with_settings(writer="model"), kiosk.chain()
    with pytest.raises(error):
        compression.apply(kiosk.id, compression.plan(kiosk.id, "brief"))
    assert kiosk.chain() == before
    offline = compression.plan(kiosk.id, "brief", engine="offline")
    assert compression.apply(kiosk.id, offline).segments == 3


def test_the_first_failure_stops_what_is_under_way(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: ScriptedModel
) -> None:
    stopped: list[bool] = []
    under_way = Barrier(3, timeout=LONGEST)

    def waits(messages: object) -> str:
        assert model.cancelled is not None
        under_way.wait()
        until(model.cancelled)
        stopped.append(True)
        raise CancelledError("Stopped.")

    def fails(messages: object) -> str:
        under_way.wait()
        raise ModelError("The connection broke off.")

    model.script = [waits, waits, fails]
    compression = with_settings(writer="model")
    with pytest.raises(ModelError, match="broke off"):
        compression.preview(compression.plan(kiosk.id, "brief"))
    assert stopped == [True, True]


def test_what_a_model_writes_too_long_for_the_target_is_lowered(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: ScriptedModel
) -> None:
    model.script = [" ".join(f"word{number}" for number in range(60))]
    compression = with_settings(writer="model")
    target = sum(message.tokens for message in kiosk.compiled()) // 5
    found = compression.preview(compression.fit(kiosk.id, target))
    assert found.tokens_after <= target
