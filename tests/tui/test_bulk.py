"""A decision on many rows continues in the background, shows its progress, and can be stopped."""

from __future__ import annotations

import threading

import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.store import ledger
from reviewer.tui import app
from reviewer.tui.kit import actor
from reviewer.tui.kit.running import RunningAct
from tests.tui.conftest import SOON, opened

MANY = 1_500


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Acts wait for it when they have written something."""
    opens = threading.Event()
    watch = RunningAct.watch

    def waits(self: RunningAct, rows: int) -> bool:
        watch(self, rows)
        if rows:
            opens.wait(20)
        return watch(self, rows)

    monkeypatch.setattr(RunningAct, "watch", waits)
    monkeypatch.setattr(ledger, "WATCH_STEPS", 500)
    monkeypatch.setattr(actor, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(app, "PROGRESS_SECONDS", 2 * SOON)  # or no key would ever be over
    return opens


@pytest.fixture
def many(engine: Engine) -> Engine:
    engine.intake.seed(MANY, project="acme")
    return engine


def waiting(engine: Engine) -> int:
    return engine.queue.counts("acme").waiting


async def test_it_says_how_far_it_is_and_escape_takes_it_back(
    many: Engine, gate: threading.Event
) -> None:
    async with opened(many, project="acme") as screen:
        await screen.press("asterisk")
        await screen.press("x")
        await screen.pilot.press("enter")
        await screen.until(lambda: "done - esc stops" in screen.status)
        assert f" of {MANY:,} done" in screen.status
        await screen.pilot.press("j")
        assert screen.model.cursor == 1
        await screen.pilot.press("a")
        await screen.pilot.press("escape")
        gate.set()
        await screen.settle()
        assert screen.status == "Stopped. Nothing was changed."
        assert len(screen.model.marks) == MANY
        assert (waiting(many), screen.app.running) == (MANY, None)


async def test_a_finished_decision_is_one_act_and_its_undo_is_shown_too(
    many: Engine, gate: threading.Event
) -> None:
    async with opened(many, project="acme") as screen:
        await screen.press("asterisk")
        await screen.press("x")
        await screen.pilot.press("enter")
        await screen.until(lambda: "done - esc stops" in screen.status)
        gate.set()
        await screen.settle()
        assert waiting(many) == 0
        assert screen.status.startswith(f"Rejected {MANY:,} candidates")
        gate.clear()
        await screen.pilot.press("u")
        await screen.until(lambda: screen.status.startswith("Undoing: "))
        gate.set()
        await screen.settle()
        assert waiting(many) == MANY
        assert screen.status.startswith("Undone")


async def test_an_undo_that_outlives_its_screen_is_completed(
    many: Engine, gate: threading.Event
) -> None:
    many.triage.reject(many.queue.ids(QueueQuery(project="acme")))
    async with opened(many, project="acme") as screen:
        await screen.press("f8", "u")
        await screen.pilot.press("u")
        await screen.until(lambda: screen.app.running is not None)
        await screen.until(lambda: screen.app.background_act is not None)
        await screen.pilot.press("f2")
        await screen.until(lambda: len(screen.app.screen_stack) == 1)
        gate.set()
        await screen.settle()
        assert waiting(many) == MANY
        assert screen.status.startswith("Undone")
