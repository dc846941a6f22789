"""The Compress screen with a model: streamed, stopped without loss, failing, offline instead."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.tui.compress.work import DRAW_SECONDS
from tests.present import present
from tests.tui.compress.driving import (
    ScriptedModel,
    chain,
    compress,
    status_text,
    stocked,
    unreachable,
    with_model,
)
from tests.tui.conftest import Screen, opened


def summary(screen: Screen) -> str:
    return " ".join(compress(screen).summary.plain_text.split())


async def test_m_lets_the_model_write_this_segment(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel("Slow receipts were cured by one open connection.")
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m")
        assert model.asked == 1
        assert "Slow receipts were cured" in summary(screen)
        assert "We decided to keep the connection" in summary(screen), "anchors are put back"
        assert "by scripted" in compress(screen).checks.plain_text
        assert "scripted" in screen.text.splitlines()[-3]


async def test_moving_or_another_level_does_not_ask_the_model(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel("Slow receipts were cured.")
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m", "j", "2", "j", "k")
        assert model.asked == 1
        assert "the model has not written this yet" in summary(screen)
        await screen.press("w")
        assert model.asked > 1


async def test_all_are_written_and_applied_as_they_were_seen(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel("Slow receipts were cured by one open connection.")
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m", "A")
        assert "has not written 1 segment" in status_text(screen)
        assert "summary" not in chain(machines)
        await screen.press("W")
        assert "1 of 1 written" in status_text(screen)
        asked = model.asked
        await screen.press("A")
        assert "of the anchors are missing" in status_text(screen), "graded as it was written"
        await screen.press("A")
        assert chain(machines)[:2] == ["summary", "summary"]
        assert model.asked == asked, "what was seen is written, and not asked for again"
        first = machines.contexts.commit(machines.contexts.ids(CommitQuery(1))[0])
        assert first.text.startswith("Slow receipts were cured")


async def test_text_streams_into_the_preview_and_escape_stops_without_loss(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    model = ScriptedModel("Slow receipts were cured.", gate=gate)
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.pilot.press("f4")
        await screen.settle()
        await screen.pilot.press("m")
        await screen.until(lambda: "Slow" in summary(screen))
        assert "writing, esc stops" in compress(screen).summary.title
        assert "Writing 1 of 1" in compress(screen).running
        await screen.pilot.press("4")
        assert "esc stops it" in status_text(screen), "nothing else is decided meanwhile"
        await screen.pilot.press("j")
        assert compress(screen).data.cursor == 1, "but the cursor goes on"
        await screen.pilot.press("k", "escape")
        await screen.until(lambda: "Stopped" in status_text(screen))
        await screen.settle()
        assert not compress(screen).running
        assert "receipt" in summary(screen), "the offline result is there"
        assert "w asks it" in summary(screen)


async def test_text_written_before_the_stop_is_kept(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    gate.set()
    model = ScriptedModel("Slow receipts were cured.", gate=gate)
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m")
        gate.clear()
        await screen.pilot.press("W")
        await screen.until(lambda: model.asked == 2)
        await screen.pilot.press("escape")
        await screen.until(lambda: "Stopped" in status_text(screen))
        await screen.settle()
        assert "Slow receipts were cured" in summary(screen)
        assert len(compress(screen).data.unwritten()) == 1


async def test_a_failing_endpoint_says_what_failed_and_offers_the_offline_result(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(unreachable())
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m")
        assert "does not answer" in status_text(screen)
        assert "o uses the offline result" in status_text(screen)
        assert "does not answer" in summary(screen)
        assert "We decided to keep the connection" in summary(screen), "shown below the reason"
        await screen.press("o")
        assert "does not answer" not in summary(screen)
        await screen.press("j", "o", "A")
        assert chain(machines)[:2] == ["summary", "summary"]


async def test_a_dead_endpoint_is_asked_no_more_for_the_other_segments(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel("Slow receipts were cured.", unreachable())
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "3", "j", "3", "j", "3", "j", "3", "g", "m", "W")
        assert model.asked == 3
        assert len(compress(screen).data.unwritten()) == 3
        assert "0 of 3 written and kept, 2 failed, 1 not asked for" in status_text(screen)


async def test_one_failing_segment_does_not_lose_the_others(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = "Slow receipts were cured."
    model = ScriptedModel(good, unreachable(), good)
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "3", "j", "3", "j", "3", "j", "3", "g", "m", "W")
        assert len(compress(screen).data.unwritten()) == 1
        assert "2 of 3 written and kept, 1 failed: " in status_text(screen)
        assert "does not answer" in status_text(screen)
        await screen.press("j", "o", "A", "A")
        assert chain(machines) == ["summary"] * 4
        texts = [each.text for each in machines.contexts.compile(1)]
        assert sum(good in text for text in texts) == 3


async def test_a_model_that_misses_a_criterion_is_asked_again_and_then_the_reason_is_shown(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = machines.contexts.ids(CommitQuery(1))[0]
    machines.contexts.annotate(first, retain_match=["The kiosk prints receipts too slowly"])
    model = ScriptedModel("Slow receipts were cured.")
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m")
        assert model.asked == 4
        assert "The kiosk prints receipts too slowly" in status_text(screen)
        assert "o uses the offline result" in status_text(screen)
        assert compress(screen).data.unwritten()


class SecondWaits(ScriptedModel):
    """Its second answer stops after the first word until the gate opens."""

    def complete(self, messages: Any, **more: Any) -> Any:
        if self.asked == 1:
            present(self.gate).clear()
        return super().complete(messages, **more)


async def test_a_second_attempt_is_not_shown_behind_the_first(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = machines.contexts.ids(CommitQuery(1))[0]
    machines.contexts.annotate(first, retain_match=["The kiosk prints receipts too slowly"])
    gate = threading.Event()
    gate.set()
    better = "Better: The kiosk prints receipts too slowly."
    model = SecondWaits("Slow receipts were cured.", better, gate=gate)
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        await screen.pilot.press("m")
        await screen.until(lambda: "Better:" in summary(screen))
        assert "cured" not in summary(screen)
        assert "writing" in compress(screen).summary.title
        gate.set()
        await screen.settle()
        assert better in summary(screen)


class WordsThenPause(ScriptedModel):
    """It writes words faster than they are drawn, then nothing until the gate opens."""

    def complete(self, messages: Any, **more: Any) -> Any:
        for word in ("Receipts ", "shall "):
            more["on_text"](word)
            time.sleep(DRAW_SECONDS / 4)
        return super().complete(messages, **more)


async def test_the_last_words_before_a_pause_are_shown(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    model = WordsThenPause("print in two seconds.", gate=gate)
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        await screen.pilot.press("m")
        await screen.until(lambda: "Receipts shall print" in summary(screen))
        gate.set()
        await screen.settle()


async def test_back_to_offline_shows_offline_and_m_has_not_forgotten(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel("Slow receipts were cured.")
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m", "m")
        assert "Slow receipts were cured" not in summary(screen)
        assert "offline engine" in screen.text
        await screen.press("m")
        assert "Slow receipts were cured" in summary(screen)
        assert model.asked == 1


async def test_a_pin_weighs_the_models_text_again_without_asking_it(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel("Slow receipts were cured.")
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m", "tab", "tab", "tab", "p")
        assert model.asked == 1
        assert "✗ anchors .00" in compress(screen).checks.plain_text
        await screen.press("w")
        assert model.asked == 2


async def test_without_a_model_the_offline_engine_stays(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m")
        assert compress(screen).data.engine == "offline"
        assert "model" in status_text(screen)
        await screen.press("w")
        assert "m asks the model" in status_text(screen)


async def test_secrets_are_masked_before_they_are_sent(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    number = stocked(engine, tmp_path)
    engine.contexts.add(number, role="user", text=f"The token is {secret}, keep it safe.")
    model = ScriptedModel("Slow receipts were cured.")
    with_model(monkeypatch, engine, model)
    async with opened(engine, project="acme") as screen:
        await screen.press("f4", "m")
        assert model.prompts
        assert all(secret not in prompt for prompt in model.prompts)


async def test_an_older_text_of_the_model_is_called_that_and_can_be_left(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel("Slow receipts were cured.")
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m", "W")
        first = machines.contexts.ids(CommitQuery(1))[0]
        machines.contexts.annotate(first, retain_match=["The kiosk prints receipts too slowly"])
        await screen.press("R", "w")
        assert "the model's earlier text" in summary(screen)
        await screen.press("o")
        assert "Slow receipts were cured" not in summary(screen)
        await screen.press("A", "A")
        assert chain(machines)[:2] == ["summary", "summary"]


async def test_a_screen_that_was_left_in_the_middle_asks_only_for_the_rest(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    gate.set()
    model = ScriptedModel("Slow receipts were cured.", gate=gate)
    with_model(monkeypatch, machines, model)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m")
        gate.clear()
        await screen.pilot.press("W")
        await screen.until(lambda: model.asked == 2)
        await screen.pilot.press("escape")
        await screen.until(lambda: "Stopped" in status_text(screen))
    gate.set()
    model.asked = 0
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "m")
        assert model.asked == 0
        assert "Slow receipts were cured" in summary(screen)
        assert "1 of 1 written (1 answered before)" in status_text(screen)
        await screen.press("W")
        assert model.asked == 1
        await screen.press("w")
        assert model.asked == 2, "w asks again"
