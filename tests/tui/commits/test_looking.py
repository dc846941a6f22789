"""Looking at a commit: panes, the transcript, the clipboard, hostile text, long chains."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len
from textual.widget import Widget

from reviewer.engine import Engine
from reviewer.tui.commits.screen import CommitsScreen
from reviewer.tui.compress.screen import CompressScreen
from reviewer.tui.evidence.source import SourceScreen
from reviewer.tui.queue.screen import QueueScreen
from tests.tui.commits.driving import TURNS, at, chain, commits, status_text, written
from tests.tui.conftest import opened
from tests.tui.views import HOSTILE


async def test_enter_reads_escape_goes_back_and_tab_walks(fair: Engine) -> None:
    async with opened(fair, size=(80, 24), project="acme") as screen:
        await screen.press("f3", "j", "enter")
        assert "Must survive" not in screen.text
        assert "The budget is $50k" in screen.text
        assert commits(screen).text.has_focus
        await screen.press("escape")
        assert commits(screen).list.has_focus
        assert "Must survive" in screen.text
        focused = []
        for key in ("tab", "tab", "tab", "shift+tab"):
            await screen.press(key)
            focused.append(screen.focused(Widget).id)
        assert focused == ["commit-text", "survival", "commits", "survival"]
        await screen.press("+")
        assert "The budget" not in screen.text
        await screen.press("_", *["escape"] * 4)
        assert screen.top(CommitsScreen)
        assert commits(screen).list.has_focus


async def test_escape_never_leaves_and_q_does(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "escape", "escape", "p")
        assert status_text(screen).startswith(
            "e0f0a94b is pinned already"
        ) or "Pinned" in status_text(screen)
        await screen.press("q")
        assert isinstance(screen.app.screen, QueueScreen)


async def test_o_opens_the_transcript_at_the_line(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "o")
        assert screen.top(SourceScreen)
        assert "line 3" in screen.text
        await screen.press("escape")
        assert screen.top(CommitsScreen)


async def test_c_goes_to_the_levels_from_this_commit_on_and_back(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "c")
        levels = screen.app.screen
        assert isinstance(levels, CompressScreen)
        assert levels.start == chain(fair)[2]
        await screen.press("f3")
        assert at(screen) == 2


async def test_y_copies_the_whole_text(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "y")
        assert screen.app.clipboard == TURNS[1][1]


async def test_a_commit_by_hand_has_no_source(fair: Engine) -> None:
    fair.contexts.add(1, role="user", text="By hand.")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "G", "o")
        assert "has no source line" in status_text(screen)
        assert screen.top(CommitsScreen)


async def test_hostile_text_is_shown_as_marks_everywhere(engine: Engine, tmp_path: Path) -> None:
    path = written(tmp_path / "bad.jsonl", (("user", HOSTILE), ("user", f"x {HOSTILE}\n{HOSTILE}")))
    engine.contexts.import_file(path, project="acme", name="bad")
    engine.contexts.annotate(
        chain(engine), retain=HOSTILE, retain_match=["\x1b[31m"], reason=HOSTILE
    )
    async with opened(engine, size=(100, 30), project="acme") as screen:
        for keys in (("f3",), ("j",), ("enter",), ("escape", "r"), ("tab",), ("escape", "e")):
            await screen.press(*keys)
            strips = screen.strips
            assert {cell_len(strip.text) for strip in strips} == {100}
            text = "".join(strip.text for strip in strips)
            assert not any(each in text for each in "\x1b\x9b\x07\u202e\u2066")
