"""The hand-over on the screen: read, copied, written to a file and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.compression.handover import WrittenHandover, take_back
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.tui.handover import screen as handover_screen
from reviewer.tui.handover.screen import HandoverScreen
from reviewer.tui.kit.bars import StatusBar
from tests.tui.conftest import Screen, opened
from tests.tui.context.driving import stocked
from tests.tui.views import HOSTILE
from tests.unit.sources.builders import Session

WISH = "Never shrink the type of the harbour below 9 points."


def told() -> Session:
    found = Session()
    found.user("Make the timetable of the ferry fit one page, and keep the night boats in bold.")
    found.reply("The winter column is too wide because of its notes. Shall I drop the column?")
    found.user(f"yes. {WISH}")
    found.reply("We decided to drop the winter column because nobody sails then.")
    found.reply("I'll move the legend below the table next.")
    return found


@pytest.fixture
def ferry(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A store with the candidates of a session, and with its context."""
    path = tmp_path / "sessions" / "ferry.jsonl"
    path.parent.mkdir()
    path.write_bytes(told().bytes())
    engine.intake.ingest([path], project="acme")
    engine.contexts.import_file(path, project="acme")
    monkeypatch.chdir(tmp_path)
    return engine


def shown(screen: Screen) -> HandoverScreen:
    found = screen.app.screen
    assert isinstance(found, HandoverScreen)
    return found


def text(screen: Screen) -> str:
    found = shown(screen).found
    assert found is not None
    return found.text


def status(screen: Screen) -> str:
    return screen.app.screen.query_one(StatusBar).text


@pytest.mark.parametrize("key", ["f3", "enter"])
async def test_the_menu_shows_it_for_a_context_and_for_a_session(ferry: Engine, key: str) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press(key)
        await screen.choose("hand-over")
        assert text(screen).startswith("# Hand-over of the ")
        assert "## Request" in screen.text
        assert WISH.rstrip(".") in " ".join(text(screen).split())
        await screen.press("escape")
        assert not isinstance(screen.app.screen, HandoverScreen)


async def test_it_is_copied_as_markdown(ferry: Engine) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("y")
        assert screen.app.clipboard == text(screen)
        assert status(screen).startswith("Copied ")


async def test_what_a_compaction_must_keep_is_a_key_away(ferry: Engine) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("K")
        assert text(screen).startswith("Keep all of this in the summary")
        assert "/compact" in status(screen)
        await screen.press("K")
        assert text(screen).startswith("# Hand-over of the session ferry")


async def test_a_file_is_written_and_taken_back(ferry: Engine, tmp_path: Path) -> None:
    file = tmp_path / "HANDOVER.md"
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("W", "enter")
        assert file.read_text("utf-8") == text(screen) + "\n"
        assert "u to undo" in status(screen)
        await screen.press("u")
        assert not file.exists()
        assert status(screen).startswith("Removed ")


async def test_an_earlier_hand_over_is_replaced_and_put_back(ferry: Engine, tmp_path: Path) -> None:
    file = tmp_path / "HANDOVER.md"
    file.write_text("# Hand-over of yesterday\n", "utf-8")
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("W", "enter")
        assert WISH.rstrip(".") in " ".join(file.read_text("utf-8").split())
        await screen.press("u")
        assert file.read_text("utf-8") == "# Hand-over of yesterday\n"


async def test_another_file_is_never_replaced(ferry: Engine, tmp_path: Path) -> None:
    file = tmp_path / "HANDOVER.md"
    file.write_text("my own notes\n", "utf-8")
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("W", "enter")
        assert "no hand-over" in status(screen)
        assert file.read_text("utf-8") == "my own notes\n"
        await screen.press("escape", "u")
        assert file.exists()


async def test_a_file_that_was_changed_since_is_left_as_it_is(
    ferry: Engine, tmp_path: Path
) -> None:
    file = tmp_path / "HANDOVER.md"
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("W", "enter")
        file.write_text("# Hand-over of mine, edited\n", "utf-8")
        await screen.press("u")
        assert "changed since" in status(screen)
        assert file.read_text("utf-8") == "# Hand-over of mine, edited\n"


async def test_it_is_made_shorter_and_longer(ferry: Engine) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press(*["less_than_sign"] * 12)
        assert status(screen) == "200 tokens is the least here."
        assert len(text(screen)) > 0
        assert shown(screen).found is not None
        assert shown(screen).found.tokens <= 200  # type: ignore[union-attr]
        await screen.press("greater_than_sign")
        assert status(screen) == "At most 350 tokens."


async def test_it_is_of_the_originals_after_a_compression(ferry: Engine) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        before = text(screen)
        await screen.press("escape", "3", "a")
        await screen.settle()
        if "apply anyway" in screen.text:
            await screen.press("enter")
        await screen.choose("hand-over")
        assert text(screen) == before


async def test_a_session_that_is_gone_is_one_sentence(ferry: Engine, tmp_path: Path) -> None:
    async with opened(ferry, project="acme") as screen:
        await screen.press("enter")
        (tmp_path / "sessions" / "ferry.jsonl").unlink()
        await screen.choose("hand-over")
        assert "does not exist" in status(screen)
        await screen.press("y", "W", "u", "q")
        assert not isinstance(screen.app.screen, HandoverScreen)


async def test_nothing_to_hand_over_is_said(engine: Engine) -> None:
    engine.contexts.create("acme", "empty")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        assert "nothing to hand over" in screen.text


async def test_hostile_words_are_shown_harmless_and_copied_without_escapes(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = told()
    found.user(f"Never print {HOSTILE} on the poster of the harbour.")
    path = tmp_path / "s.jsonl"
    path.write_bytes(found.bytes())
    engine.contexts.import_file(path, project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("y", "W", "enter")
        written = (tmp_path / "HANDOVER.md").read_text("utf-8")
        for each in (screen.text, screen.app.clipboard, written):
            assert not {"\x1b", "\x9b", "\u202e"} & set(each)


async def test_it_fits_every_size(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stocked(engine, tmp_path, 2)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        for size in ((120, 40), (80, 24), (60, 20)):
            await screen.resize(size)
            assert "# Hand-over of" in screen.text
            assert all(len(line) <= size[0] for line in screen.text.split("\n"))


async def test_a_file_that_could_not_be_taken_back_can_be_tried_again(
    ferry: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, failures = tmp_path / "HANDOVER.md", ["It is open elsewhere."]

    def fails_once(written: WrittenHandover) -> None:
        if failures:
            raise ReviewerError(failures.pop())
        take_back(written)

    monkeypatch.setattr(handover_screen, "take_back", fails_once)
    async with opened(ferry, project="acme") as screen:
        await screen.press("f3", "full_stop", *"hand-over", "enter")
        await screen.press("W", "enter", "u")
        assert status(screen) == "It is open elsewhere."
        await screen.press("u")
        assert not file.exists()
