"""Two changes at once on the Compress screen: contexts, a stop at the last moment, previews."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.promotion.history import Undone
from reviewer.tui.compress import screen as compress_screen
from reviewer.tui.compress.reading import read_context
from reviewer.tui.compress.work import Job
from tests.present import present
from tests.tui.compress.driving import compress, levels, status_text, stocked
from tests.tui.conftest import opened
from tests.tui.test_at_once import Held


async def test_a_context_that_is_being_opened_is_shown_although_the_one_before_has_changed(
    kiosk: Engine, tmp_path: Path
) -> None:
    other = stocked(kiosk, tmp_path, 2, "tram")
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        if present(compress(screen).context).id == other:
            other = 1
        compress(screen)._open_context(other)
        compress(screen)._read_again("The context changed meanwhile.")
        await screen.settle()
        assert present(compress(screen).context).id == other


async def test_levels_that_are_found_after_the_stop_are_not_chosen(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = machines.compression.fit
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        before = levels(screen)

        def found_at_the_last_moment(_: object, *given: Any, **named: Any) -> Any:
            plan = fit(*given, **named)
            screen.app.call_from_thread(compress(screen).back)
            return plan

        monkeypatch.setattr(type(machines.compression), "fit", found_at_the_last_moment)
        compress(screen)._fit(500)
        await screen.settle()
        assert levels(screen) == before
        assert status_text(screen) == "Stopped: the levels stay as they were."


@pytest.mark.parametrize("act", ["pin", "undo"])
async def test_a_preview_that_began_before_an_act_is_not_shown_after_it(
    kiosk: Engine, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    shown_late: list[str] = []
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        shown = compress(screen)
        preview, read = Held(lambda: "before"), Held(read_context)
        monkeypatch.setattr(compress_screen, "read_context", read)
        shown.previews.prioritize(Job("late", preview, shown_late.append, lambda _: None))
        await screen.until(lambda: preview.calls)
        if act == "pin":
            shown._follow_act(0, "Pinned", present(shown.data.current))
        else:
            shown.show_reversed(Undone(1, 1, "Pinned", ()))
        preview.go_on.set()
        done: list[int] = []
        shown.previews.prioritize(Job("after", lambda: 1, done.append, lambda _: None))
        await screen.until(lambda: done)
        read.go_on.set()
        await screen.settle()
        assert shown_late == []


async def test_what_reaches_one_budget_is_not_offered_for_the_next(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        reach = Held(machines.compression.reach)
        monkeypatch.setattr(compress_screen, "MEASURE_SECONDS", 0.001)
        monkeypatch.setattr(type(machines.compression), "reach", lambda _, *given: reach(*given))
        await compress(screen).fit_to_budget()
        chooser = present(compress(screen)._choices)
        chooser.field.fill("8")
        await screen.until(lambda: reach.calls)
        monkeypatch.setattr(compress_screen, "MEASURE_SECONDS", 3_600)
        chooser.field.fill("80")
        await screen.until(lambda: chooser.list.options[0].name == "fit 80")
        reach.go_on.set()
        await screen.settle()
        assert [each.name for each in chooser.list.options] == ["fit 80"]
