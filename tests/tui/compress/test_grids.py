"""The Compress screen, cell for cell; hostile text, long contexts, its registry."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.tui.compress import keys
from reviewer.tui.compress import screen as compress_screen
from reviewer.tui.kit.action import Pane
from reviewer.tui.kit.actor import reachable
from tests.present import present
from tests.tui.compress.driving import compress, stocked
from tests.tui.conftest import opened
from tests.tui.views import HOSTILE

SIZES = [(118, 34), (80, 24), (60, 20)]


@pytest.fixture
def machines(engine: Engine, tmp_path: Path) -> Engine:
    """Three segments; an amount must survive of the first."""
    stocked(engine, tmp_path, 3)
    first = engine.contexts.ids(CommitQuery(1))[0]
    engine.contexts.annotate(first, retain="amounts and dates", retain_match=["$50k"])
    return engine


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_line_fits_and_the_parts_are_in_sight(
    machines: Engine, size: tuple[int, int]
) -> None:
    async with opened(machines, size=size, project="acme") as screen:
        await screen.press("f4")
        lines = screen.text.splitlines()
        assert len(lines) <= size[1]
        assert all(cell_len(line) <= size[0] for line in lines)
        assert " whole " in screen.text
        for title in ("kiosk", "Brief", "Loses", "Checks", "Detailed"):
            assert title in screen.text, title
        assert "p pin" in screen.text


async def test_stacked_panes_show_the_original_in_the_summarys_place(machines: Engine) -> None:
    async with opened(machines, size=SIZES[-1], project="acme") as screen:
        await screen.press("f4")
        assert "Full 6" not in screen.text.replace("1 Full 6", "")
        await screen.press("tab")
        assert compress(screen).focused is compress(screen).original
        assert "turns" in screen.text
        assert "Loses" not in screen.text
        await screen.press("tab")
        assert "Loses" in screen.text


async def test_a_pane_fills_the_screen(machines: Engine) -> None:
    async with opened(machines, size=(80, 24), project="acme") as screen:
        await screen.press("f4")
        shown = compress(screen)
        for pane in ("segments", "original", "summary", "lost", "checks"):
            await screen.press("plus")
            zoomed = shown.query_one(f"#{pane}")
            assert zoomed.display, pane
            assert zoomed.size.height >= 15, pane
            assert shown.focused is zoomed, pane
            filled = zoomed.size.height
            await screen.press("underscore")
            assert zoomed.size.height < filled, pane
            await screen.press("tab")


async def test_ascii_has_no_other_characters_of_ours(machines: Engine) -> None:
    async with opened(machines, size=(118, 34), ascii=True, project="acme") as screen:
        await screen.press("f4", "n", "enter")
        assert screen.text.replace("→", "").isascii(), "the arrow of a marker is the document's"


async def test_hostile_text_stays_text(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    lines = [
        {
            "role": "user",
            "content": f"We decided to use {HOSTILE} for the budget of $50k. {HOSTILE}",
        }
        for _ in range(6)
    ]
    path.write_text("\n".join(json.dumps(each) for each in lines) + "\n", "utf-8")
    engine.contexts.import_file(path, project=f"acme{HOSTILE}"[:20])
    async with opened(engine) as screen:
        for key in ("f4", "2", "4", "3", "n", "enter", "a", "escape", "e"):
            await screen.press(key)
            assert not {"\x1b", "\u202e"} & set(screen.text), key
            assert all(cell_len(line) <= 118 for line in screen.text.splitlines()), key


async def test_a_long_context_lists_its_segments_and_previews_where_the_cursor_is(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compress_screen, "PREVIEWED_TOKENS", 5_000)
    path = tmp_path / "long.jsonl"
    text = "Customer {} waited at the kiosk while the queue printed a receipt of {} lines."
    lines = [{"role": "user", "content": text.format(n, n * 3)} for n in range(600)]
    path.write_text("\n".join(json.dumps(each) for each in lines) + "\n", "utf-8")
    engine.contexts.import_file(path, project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("f4")
        shown = compress(screen)
        assert len(shown.data.segments) >= 30
        assert {key.segment for key in shown.data.previews} == {"s1", "s2", "s3"}
        assert not shown.data.whole().exact
        assert "→ ~" in screen.text
        await screen.press("G", "k", "k", "k")
        here = shown.data.current
        assert any(key.segment == present(here).id for key in shown.data.previews)


async def test_levels_fitted_to_a_long_context_are_not_doubted_by_an_estimate(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compress_screen, "PREVIEWED_TOKENS", 5_000)
    path = tmp_path / "long.jsonl"
    text = "Customer {} waited at the kiosk while the queue printed a receipt of {} lines."
    lines = [{"role": "user", "content": text.format(n, n * 3)} for n in range(600)]
    path.write_text("\n".join(json.dumps(each) for each in lines) + "\n", "utf-8")
    engine.contexts.import_file(path, project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("f4")
        shown = compress(screen)
        target = shown.data.sent // 2
        await screen.press("f", *str(target), "enter")
        await screen.until(lambda: "A applies it" in shown.status.text)
        assert " over" not in screen.text
        assert "target" not in shown.data.doubts().about
        await screen.until(lambda: shown.data.whole().exact)
        assert shown.data.whole().tokens <= target
        assert f"target {target:,} ✓" in screen.text


async def test_one_huge_commit(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    content = "\n".join(
        f"Line {n} of the log tells of tray_{n} and little else." for n in range(3_000)
    )
    path.write_text(json.dumps({"role": "user", "content": content}) + "\n", "utf-8")
    engine.contexts.import_file(path, project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("f4", "4")
        await screen.until(lambda: compress(screen).summary.title.startswith("Tags"))
        assert compress(screen).data.sent > 40_000
        assert "more" in compress(screen).original.plain_text


async def test_no_context_80(engine: Engine, snapshot: SnapshotAssertion) -> None:
    async with opened(engine, size=(80, 24), project="acme") as screen:
        await screen.press("f4")
        assert screen.text == snapshot


@pytest.mark.parametrize("pane", [keys.COMPRESS, keys.SUMMARY], ids=lambda pane: pane.id)
def test_no_two_actions_of_a_pane_share_a_key(pane: Pane) -> None:
    names = [key for action in pane.actions for key in action.keys.split(",") if key]
    assert len(names) == len(set(names))


async def test_every_key_is_reachable(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        for pane, typed in ((keys.COMPRESS, ()), (keys.SUMMARY, ("e",))):
            await screen.press(*typed)
            found = {action.id for action, _ in reachable(screen.app.screen)}
            assert {action.id for action in pane.actions} <= found


async def test_help_lists_the_keys_and_why_some_have_no_effect(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "1", "question_mark")
        assert "Full is the original" in screen.text or "2 3 4 choose a level" in screen.text


async def test_keys_have_no_effect_while_something_is_open(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", "escape", "C", "escape")
        assert compress(screen).overlay is None
        assert compress(screen).focused is compress(screen).list


async def test_the_folded_list_shows_the_level_that_was_chosen(
    machines: Engine,
) -> None:
    async with opened(machines, size=(80, 24), project="acme") as screen:
        await screen.press("f4", "j", "j", "tab", "4")
        assert re.search(r"3 T Ferry.*\d", screen.text), "also where the list is scrolled"
        await screen.press("2")
        assert re.search(r"3 D Ferry.*\d", screen.text)
