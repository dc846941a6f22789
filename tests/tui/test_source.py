"""Looking into a source: the line, its surroundings, and files that changed or were deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.tui.session.screen import SessionScreen
from tests.tui.conftest import Screen, opened
from tests.tui.views import HOSTILE
from tests.unit.sources.builders import Session

WANTED = "We decided to use advisory locks for the nightly close instead of a table of locks."


@pytest.fixture
def long_note(engine: Engine, tmp_path: Path) -> Path:
    """A note of three thousand lines; the candidate is in line 1,501."""
    path = tmp_path / "notes" / "long.md"
    path.parent.mkdir(exist_ok=True)
    filler = [f"plain words of line {n + 1}" for n in range(3000)]
    filler[1498:1502] = ["", "# Decision", WANTED, ""]
    path.write_text("\n".join(filler) + "\n", "utf-8")
    engine.intake.ingest([path], project="acme")
    return path


@pytest.fixture
def chat(engine: Engine, tmp_path: Path) -> Path:
    """A transcript whose second line decides something."""
    told = Session()
    told.reply(f"Two of them ran at once. {HOSTILE}")
    told.user(WANTED)
    path = tmp_path / "s1.jsonl"
    path.write_bytes(told.bytes())
    engine.intake.ingest([path], project="acme")
    return path


async def look(screen: Screen, engine: Engine) -> None:
    """Open the source of the wanted candidate with the keyboard."""
    ids = list(engine.queue.ids(QueueQuery(status="all")))
    wanted = next(each for each in ids if "advisory" in engine.queue.candidate(each).content)
    await screen.press(*["j"] * list(screen.model.ids).index(wanted), "o")


async def test_a_note_is_opened_at_the_line(engine: Engine, long_note: Path) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        assert f" 1501 ▌ {WANTED}" in screen.text
        assert "long.md · line 1,501" in screen.text
        await screen.press("y")
        assert screen.app.clipboard == f"{long_note}:1501"
        await screen.press("g")
        assert "E opens the whole file in your editor" in screen.text


async def test_a_turn_is_opened_in_its_session(engine: Engine, chat: Path) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        assert screen.top(SessionScreen).model.current is not None
        assert "advisory locks" in screen.text
        await screen.press("o")
        assert ' 2 ▌ {"' in screen.text


async def test_a_file_that_is_gone_leaves_the_stored_text(engine: Engine, chat: Path) -> None:
    chat.unlink()
    async with opened(engine) as screen:
        await look(screen, engine)
        assert f"▌ user       {WANTED}" in screen.text
        assert "This is the stored text." in screen.status


async def test_a_file_that_changed_says_so(engine: Engine, long_note: Path) -> None:
    long_note.write_text(long_note.read_text("utf-8").replace(WANTED, "Something else."), "utf-8")
    async with opened(engine) as screen:
        await look(screen, engine)
        assert "The file changed since it was read" in screen.status
        assert "Something else." in screen.text
