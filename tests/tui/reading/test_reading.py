"""A hand-over on the screen: read and copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.reading.screen import HandOverScreen
from tests.tui.conftest import opened
from tests.tui.views import HOSTILE
from tests.unit.sources.builders import Session

WISH = f"Never print {HOSTILE} on the poster of the harbour."


@pytest.fixture
def ferry(engine: Engine, tmp_path: Path) -> Engine:
    """A store with the candidates of a session, and with its context."""
    told = Session()
    told.user("Make the timetable of the ferry fit one page, and keep the night boats in bold.")
    told.reply("The winter column is too wide because of its notes. Shall I drop the column?")
    told.user(f"yes. {WISH}")
    told.reply("We decided to drop the winter column because nobody sails then.")
    path = tmp_path / "ferry.jsonl"
    path.write_bytes(told.bytes())
    engine.intake.ingest([path], project="acme")
    engine.contexts.import_file(path, project="acme")
    return engine


@pytest.mark.parametrize("key", ["f3", "enter"])
async def test_the_menu_of_a_context_and_of_a_session_shows_it_to_copy(
    ferry: Engine, key: str
) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press(key)
        await screen.press("h")
        assert "# Hand-over of the session ferry" in screen.text
        await screen.press("y")
        assert screen.app.clipboard.startswith("# Hand-over of the session ferry")
        assert "on the poster of the harbour" in screen.app.clipboard
        for each in (screen.text, screen.app.clipboard):
            assert not {"\x1b", "\x9b", "\u202e"} & set(each)
        for size in ((120, 40), (60, 20)):
            await screen.resize(size)
            assert "# Hand-over of" in screen.text
        await screen.press("escape")
        assert not isinstance(screen.app.screen, HandOverScreen)


async def test_a_session_that_is_gone_is_one_sentence(ferry: Engine, tmp_path: Path) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press("enter")
        (tmp_path / "ferry.jsonl").unlink()
        await screen.press("h")
        assert "does not exist" in screen.status
        await screen.press("y")
        assert screen.status == "No text to copy."


async def test_nothing_to_hand_over_is_said(engine: Engine) -> None:
    engine.contexts.create("acme", "empty")
    async with opened(engine, project="acme", on="f3") as screen:
        await screen.press("h")
        assert screen.status == "There is nothing to hand over here."
