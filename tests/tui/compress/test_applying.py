"""The Compress screen by its keys: fit, apply and undo."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from reviewer.commits.values import CommitQuery
from reviewer.compression.plan import Plan
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.engine import Engine
from tests.present import present
from tests.tui.compress.driving import (
    chain,
    compress,
    levels,
    status_text,
)
from tests.tui.conftest import opened


async def test_apply_is_one_act_and_undo_brings_everything_back(machines: Engine) -> None:
    before = chain(machines)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "2")
        promised = compress(screen).data
        sent, after = promised.sent, promised.whole().tokens
        content = present(promised.shown(present(promised.choice))).compressed.content
        acts = len(machines.history.acts())
        await screen.press("A")
        assert status_text(screen) == f"Compressed {sent:,} to {after:,} tokens - u to undo"
        assert chain(machines) == ["summary", "summary", *["dialogue"] * 14]
        assert len(machines.history.acts()) == acts + 1
        first = machines.contexts.ids(CommitQuery(1))[0]
        assert machines.contexts.commit(first).text == content, "what was seen is what was written"
        assert set(levels(screen)) == {"F"}, "nothing is compressed twice by itself"
        await screen.press("u")
        assert chain(machines) == before
        assert levels(screen) == "DBFF", "and what was chosen is chosen again"
        await screen.press("Z")
        assert chain(machines)[:2] == ["summary", "summary"]


async def test_a_plan_at_full_is_not_applied(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "1", "A")
        assert "Every segment is Full" in status_text(screen)
        assert "summary" not in chain(kiosk)


async def test_fit_chooses_levels_for_a_number_of_tokens(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"900")
        assert compress(screen).overlay is not None
        await screen.press("enter")
        assert compress(screen).data.whole().tokens <= 900
        assert "Fits 900 tokens" in status_text(screen)
        assert "target 900 ✓" in screen.text
        await screen.press("A")
        assert machines.contexts.totals(1).total <= 900


async def test_fit_says_how_far_it_is_and_escape_stops_it(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    kind = type(machines.compression)
    fit = kind.fit

    def slow(self: Any, *given: Any, watch: Watch, **more: Any) -> Plan:
        def on_progress(found: PreviewProgress) -> None:
            present(watch.on_progress)(found)
            go_on.wait(5)

        slowly = Watch(watch.cancelled, on_progress=on_progress)
        return fit(self, *given, watch=slowly, **more)

    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"900")
        before = levels(screen)
        monkeypatch.setattr(kind, "fit", slow)
        await screen.pilot.press("enter")
        await screen.until(lambda: "1 of at most 12 summaries tried" in status_text(screen))
        assert "escape stops it" in status_text(screen)
        await screen.pilot.press("A")
        assert "summary" not in chain(machines)
        await screen.pilot.press("escape")
        go_on.set()
        await screen.settle()
        assert status_text(screen) == "Stopped: the levels stay as they were."
        assert levels(screen) == before
        assert "target 900" not in screen.text
        assert not compress(screen).running


async def test_an_unreachable_target_is_explained_and_changes_no_level(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"9", "enter")
        assert "cannot be reached" in status_text(screen)
        assert levels(screen) == "BBFF"
        assert "over" in screen.text


async def test_typing_replaces_a_budget_that_is_offered_again(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"900", "enter", "f")
        assert "fit 900" in screen.text or "900" in screen.text
        await screen.press(*"1.6k", "enter")
        assert "Fits 1,600 tokens" in status_text(screen)
        assert "target 1,600" in screen.text


async def test_the_key_for_a_budget_says_so(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        assert "f fit to budget" in screen.text
        await screen.press("f")
        assert "Fit to budget" in screen.text


async def test_undo_first_names_an_act_made_elsewhere(machines: Engine) -> None:
    first = machines.contexts.ids(CommitQuery(1))[0]
    machines.contexts.annotate(first, priority="important")
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "u")
        assert status_text(screen).startswith("u again undoes: ")
        assert machines.contexts.commit(first).row.priority == "important"
        await screen.press("u")
        assert status_text(screen).startswith("Undone: ")
        assert machines.contexts.commit(first).row.priority == "normal"
        await screen.press("A", "u")
        assert status_text(screen).startswith("Undone: "), "what was done here is undone at once"


async def test_leaving_the_question_for_a_budget_changes_no_level(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"900", "escape", "C")
        assert "is shown now" in screen.text
        await screen.press("escape")
        assert levels(screen) == "BBFF"
        assert "target 900" not in screen.text
