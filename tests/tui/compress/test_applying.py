"""The Compress screen by its keys: fit, apply and undo."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from msgspec import structs

from reviewer.commits.values import CommitQuery
from reviewer.compression.plan import Plan, Preview
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.engine import Engine
from reviewer.tui.kit.edit_pane import EditPane
from tests.present import present
from tests.tui.compress.driving import (
    chain,
    compress,
    levels,
    status_text,
)
from tests.tui.conftest import Screen, opened


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
        assert "esc stops it" in status_text(screen)
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


async def doubtful(screen: Screen) -> None:
    """Write a summary by hand that says nothing of the first segment."""
    await screen.press("f4", "3", "e")
    editor = compress(screen).query_one(EditPane).editor
    editor.load_text("They talked about machines.")
    await screen.press("ctrl+s")


async def test_what_does_not_pass_is_named_and_wants_the_key_again(machines: Engine) -> None:
    before = chain(machines)
    async with opened(machines, project="acme") as screen:
        await doubtful(screen)
        await screen.press("A")
        assert "s1 has fidelity 0." in status_text(screen)
        assert "anchors are missing" in status_text(screen)
        assert status_text(screen).endswith("A again applies it anyway.")
        assert chain(machines) == before
        await screen.press("A")
        assert "Compressed" in status_text(screen)
        assert chain(machines)[:2] == ["summary", "summary"]


async def test_the_second_press_has_to_follow_the_first(machines: Engine) -> None:
    before = chain(machines)
    async with opened(machines, project="acme") as screen:
        await doubtful(screen)
        await screen.press("A", "j", "k", "A")
        assert status_text(screen).endswith("A again applies it anyway.")
        await screen.press("2", "3", "A")
        assert chain(machines) != before, "the engine's own text passes"


async def test_segments_that_were_never_shown_are_checked_too(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long context only the segment under the cursor is previewed."""
    monkeypatch.setattr("reviewer.tui.compress.screen.PREVIEWED_TOKENS", 0)
    check = type(machines.compression).preview
    before = chain(machines)

    def harsh(self: Any, plan: Plan, *given: Any, **more: Any) -> Preview:
        found = check(self, plan, *given, **more)
        if len(plan.choices) == 1:
            return found
        segments = [
            structs.replace(
                each,
                fidelity=structs.replace(each.fidelity, overall_score=0.2),
            )
            if each.segment.id == "s2"
            else each
            for each in found.segments
        ]
        return structs.replace(found, segments=tuple(segments))

    monkeypatch.setattr(type(machines.compression), "preview", harsh)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "A")
        await screen.settle()
        assert "s2 has fidelity 0.20" in status_text(screen)
        assert chain(machines) == before
        await screen.press("A")
        await screen.settle()
        assert chain(machines)[:2] == ["summary", "summary"]


async def test_more_than_the_target_is_said_before_it_is_applied(machines: Engine) -> None:
    before = chain(machines)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"900", "enter", "2", "A")
        assert "over the target - A again" in status_text(screen)
        assert chain(machines) == before
        await screen.press("A")
        assert "summary" in chain(machines)


async def test_a_segment_whose_criteria_cannot_be_met_is_named_and_stays_full(
    machines: Engine,
) -> None:
    first = machines.contexts.ids(CommitQuery(1))[0]
    machines.contexts.annotate(first, retain_match=["nobody wrote this"])
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        assert "nobody wrote this" in compress(screen).summary.plain_text
        await screen.press("A")
        await screen.settle()
        assert "s1 stays Full: " in status_text(screen)
        assert "nobody wrote this" in status_text(screen)
        await screen.press("A")
        await screen.settle()
        assert chain(machines)[:8] == [*["dialogue"] * 7, "summary"]


async def test_the_log_is_a_key_away(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "L")
        assert "[COMP:SUM] Compressed s1: " in screen.text
        await screen.press("y")
        assert "DEBUG [COMP:SUM] Compressing segment s1 to level Brief" in screen.app.clipboard
        await screen.press("escape")
        assert compress(screen)
