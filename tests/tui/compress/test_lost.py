"""The list of losses on the Compress screen by its keys: pins and criteria from it."""

from __future__ import annotations

from reviewer.commits.values import CommitQuery
from reviewer.compression.values import Level
from reviewer.engine import Engine
from reviewer.tui.compress.model import Key
from reviewer.tui.theme import palette
from tests.present import present
from tests.tui.compress.driving import (
    checks,
    compress,
    lost,
    original,
    status_text,
    summary,
)
from tests.tui.conftest import opened


async def test_losses_are_heaviest_first_with_counts_and_new_ones_marked(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        model = compress(screen).data
        rows = compress(screen).lost.rows
        found = present(model.shown(present(model.choice))).fidelity.lost_to_show
        names = [each.weight for each in found if each.kind != "term"]
        assert names == sorted(names, reverse=True)
        assert [row.text for row in rows] == [each.text for each in found]
        above = model.previews[Key("s1", Level.DETAILED, "offline")].fidelity.lost_information
        still = {each.text for each in above}
        assert [row.new for row in rows] == [each.text not in still for each in found]
        assert any(row.new for row in rows)
        assert not all(row.new for row in rows)
        assert "new since Detailed" in screen.text


async def test_a_pin_from_the_lost_list_and_the_preview_follows(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        assert wanted not in summary(screen)
        await screen.press("p")
        assert wanted in summary(screen)
        assert wanted not in lost(screen)
        assert status_text(screen) == f'Pinned "{wanted}" - u to undo'
        assert f"●F[{wanted}]" in original(screen), "marked as somebody's, not as found"
        pins = [each for each in compress(screen).lost.rows if each.pinned]
        assert [each.text for each in pins] == [wanted]


async def test_the_pin_is_taken_back_by_the_same_key_or_by_undo(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        await screen.press("p", "G", "p")
        assert status_text(screen) == f'Unpinned "{wanted}" - u to undo'
        assert wanted in lost(screen)
        await screen.press("u")
        assert wanted not in lost(screen)
        await screen.press("u")
        assert wanted in lost(screen)


async def test_retained_text_becomes_a_criterion_that_is_checked(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        await screen.press("r")
        assert wanted in summary(screen)
        assert f'✓ "{wanted}"' in checks(screen)
        commit = machine_commit(kiosk, wanted)
        assert [each.text for each in kiosk.contexts.commit(commit).retention.patterns] == [wanted]


def machine_commit(engine: Engine, text: str) -> int:
    ids = engine.contexts.ids(CommitQuery(1))
    return next(each for each in ids if text in engine.contexts.commit(each).text)


async def test_retaining_keeps_the_criteria_that_are_there(kiosk: Engine) -> None:
    commit = machine_commit(kiosk, "tray_5")
    kiosk.contexts.annotate(commit, retain_match=["paper motor"], retain_regex=[r"hour \d+"])
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        await screen.press("r")
        patterns = [each.text for each in kiosk.contexts.commit(commit).retention.patterns]
        assert sorted(patterns) == sorted(["paper motor", r"hour \d+", wanted])


async def test_enter_on_a_loss_shows_it_in_the_original(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab", "enter")
        shown = compress(screen)
        assert shown.focused is shown.original
        rows = [shown.original.render_line(y) for y in range(shown.original.size.height)]
        highlighted = [
            segment.text
            for row in rows
            for segment in row
            if segment.style == palette(screen.app).span
        ]
        words = " ".join(" ".join(highlighted).split())
        assert words
        assert words.lower() in " ".join(lost(screen)[0].lower().split())


async def test_statements_are_named_before_names_and_each_once(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4")
        rows = [row for row in compress(screen).lost.rows if not row.pinned]
        names = ("identifier", "name", "number", "quote", "term")
        kinds = [row.kind in names for row in rows]
        assert any(kinds)
        assert not all(kinds)
        assert kinds == sorted(kinds), "statements and decisions come first"
        told = [" ".join(row.text.split()).casefold() for row in rows]
        assert len(told) == len(set(told))
