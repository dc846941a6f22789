"""Two changes at once: keys before their rows have arrived, answers that come too late."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.recall.service import Recall
from reviewer.tui.history.screen import HistoryScreen
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.text_edit import TextEdit
from reviewer.tui.queue import keys
from tests.present import present
from tests.stored import planted
from tests.tui.conftest import opened
from tests.tui.idle import idle
from tests.waiting import PATIENCE, until_async


class Held:
    """A function whose calls, in threads, wait until `go_on`."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self._work = work
        self.go_on = Event()
        self.calls = 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.calls += 1
        assert self.go_on.wait(PATIENCE)
        return self._work(*given, **named)


async def test_keys_typed_ahead_of_a_choice_do_not_change_it(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("question_mark", *"history")
        for key in ("enter", "w", "@"):
            screen.app.post_message(events.Key(key, None if key == "enter" else key))
        await screen.settle()
        assert isinstance(screen.app.screen, HistoryScreen)


async def test_keys_typed_ahead_of_a_choice_narrow_it(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        for key in ("question_mark", *"history", "enter"):
            shown = {"question_mark": "?", "enter": None}.get(key, key)
            screen.app.post_message(events.Key(key, shown))
        await screen.settle()
        assert isinstance(screen.app.screen, HistoryScreen)


# the queue


async def test_keys_on_an_empty_list_do_not_wait_for_what_runs_in_the_background(
    engine: Engine,
) -> None:
    go_on = asyncio.Event()
    async with opened(engine, project="acme") as screen:
        screen.app.run_worker(go_on.wait(), group="background act")
        try:
            screen.app.post_message(events.Key("slash", "/"))
            await until_async(lambda: screen.queue.filter_bar is not None)
        finally:
            go_on.set()


async def test_keys_typed_ahead_of_the_memories_wait_for_them(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory,) = stocked.queue.ids(QueueQuery())[:1]
    stocked.triage.promote([memory])
    lost = Held(Recall.lost)
    monkeypatch.setattr(Recall, "lost", lambda *given: lost(*given))
    async with opened(stocked, project="acme") as screen:
        for key, shown in (("f5", None), ("e", "e")):
            screen.app.post_message(events.Key(key, shown))
        await screen.until(lambda: lost.calls)
        lost.go_on.set()
        await screen.settle()
        assert f"Edit #{memory}" in screen.text


async def test_a_filter_that_was_cleared_does_not_come_back(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("/", *"nightly", "escape")
        present(screen.queue.filter_bar).field.post_message(
            Input.Changed(present(screen.queue.filter_bar).field, "nightly")
        )
        await screen.settle()
        assert screen.queue.query_asked.filter == ""


async def test_a_key_typed_ahead_of_the_first_page_is_not_undone_by_it(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        screen.queue.begin("acme", "Read 1 file.")
        screen.queue.show_status("deferred")
        await screen.settle()
        assert screen.queue.query_asked.status == "deferred"


async def test_rows_of_the_project_before_do_not_arrive_in_the_next(stocked: Engine) -> None:
    taken: list[str] = []
    async with opened(stocked, project="acme") as screen:
        queue = screen.queue
        queue.read(lambda: "rows", taken.append, group="new rows")
        queue.begin("other", "Read 1 file.")
        await screen.settle()
        assert not taken
        assert queue.query_asked.project == "other"


async def test_the_cluster_of_a_row_opens_below_it_although_the_list_has_changed(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rules.md"
    path.write_text(
        "# Notes\n\n- Never deploy the billing service on a Friday afternoon before a holiday.\n"
        "- Always rotate the signing keys of the gateway before each of its audits.\n"
    )
    engine.intake.ingest([path], project="acme")
    first, second = engine.queue.ids(QueueQuery())
    with planted(engine.path, "compare") as act:
        act.update("memory", second, leader_id=first)
    members = type(engine.queue).members
    async with opened(engine, project="acme") as screen:
        model = screen.model
        leader = next(each for each in model.ids if members(engine.queue, each))
        others = [each for each in model.ids if each != leader]

        def meanwhile(*given: Any) -> Any:
            screen.app.call_from_thread(model.load, array("q", [*others, leader]), [leader])
            return members(*given)

        model.load(array("q", [leader, *others]), [leader])
        monkeypatch.setattr(type(engine.queue), "members", meanwhile)
        await screen.queue.action_expand()
        monkeypatch.undo()
        assert set(model.leader_of.values()) == {leader}
        assert model.ids[: len(others)].tolist() == others


# an editor and a chooser


async def test_a_save_that_waited_long_does_not_close_what_was_opened_meanwhile(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[str] = []
    written = asyncio.Event()

    async def save(text: str) -> str:
        await written.wait()
        return text

    async def then(option: Option) -> None: ...

    async with opened(stocked, project="acme") as screen:
        monkeypatch.setattr(type(stocked), "waits_to_write", lambda _: True)
        await screen.queue.edit_text(
            TextEdit(1, "Edit #1", "Old words", stocked.drafts, save, saved.append, keys.EDIT)
        )
        await screen.pilot.press("N", "ctrl+s")
        await screen.until(lambda: screen.app.background_act is not None)
        await screen.pilot.press("escape")
        await screen.until(lambda: screen.queue.editing is None)
        await screen.queue.choose("Which?", [Option("a", "a")], then)
        written.set()
        await screen.until(lambda: saved)
        await idle()
        assert "Which?" in screen.text
