"""The reader that is here is offered above the list with its cost, and begins on one key only."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.llm.command import agents_found
from reviewer.tui.kit.edit_pane import EditPane
from tests.tui.conftest import Screen, opened
from tests.tui.queue.test_sessions import shop, typed
from tests.unit.llm.test_command import program
from tests.unit.proposing.models import answer, said
from tests.unit.sources.families import lines

__all__ = ["shop"]

WORDS = "Always weigh the trays twice before you print the label."
READ = "Claude Code read 1 session: 1 new; "
FOUND = answer(said("The trays are weighed twice before a label is printed.", (1, WORDS)))


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH; settings that name no model."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "config.toml").touch()
    monkeypatch.setenv("REVIEWER_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("reviewer.llm.readers.agents_found", agents_found)
    monkeypatch.setattr("reviewer.tui.queue.screen.FIRST_LOOK_SECONDS", 0.05)
    return folder


def ingested(engine: Engine, shop: Path, *names: str) -> None:
    """Sessions that lie outside the places where agents keep them."""
    for name in names:
        path = lines(
            f"{name}.jsonl",
            {"type": "session_meta", "payload": {"id": name, "cwd": str(shop)}},
            typed(f"{WORDS} This is about tray {name}."),
        )(shop.parent)
        engine.intake.ingest([path], project="shop")


def claude(folder: Path, code: str) -> None:
    program(folder, code, name="claude")


def answers(folder: Path, text: str = FOUND) -> None:
    claude(folder, f"sys.stdin.read()\nsay({json.dumps(json.dumps({'result': text}))})")


@asynccontextmanager
async def asked(engine: Engine, shop: Path, *names: str) -> AsyncIterator[Screen]:
    """The queue in which those sessions were offered to the agent, which was started."""
    ingested(engine, shop, *names)
    async with opened(engine, project="shop", size=(120, 40)) as screen:
        await screen.until(lambda: "R starts" in screen.text)
        await screen.press("R", "enter")
        yield screen


@pytest.mark.parametrize(
    ("size", "words"),
    [((120, 30), " on 2 sessions: about"), ((60, 20), ": about")],
)
async def test_an_installed_agent_is_offered_with_its_cost_and_nothing_begins(
    engine: Engine, shop: Path, bin_folder: Path, size: tuple[int, int], words: str
) -> None:
    answers(bin_folder)
    ingested(engine, shop, "a", "b")
    price = f"R starts Claude Code{words} 4,000 tokens in, 1,800 out"
    async with opened(engine, project="shop", size=size) as screen:
        await screen.until(lambda: price in screen.text)
        await screen.press("R")
        assert "about 4,000 tokens in, 1,800 out" in screen.text
        await screen.press("escape")
        assert engine.reader_log.all() == []


async def test_the_number_of_sessions_to_read_is_typed(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    answers(bin_folder)
    ingested(engine, shop, "a", "b")
    async with opened(engine, project="shop", size=(120, 40)) as screen:
        await screen.until(lambda: "R starts" in screen.text)
        await screen.press("R", "3")
        assert "There are 2 sessions to read." in screen.text
        await screen.press("backspace", "1")
        assert "Claude Code  1 of 2, about 2,000 tokens in, 900 out" in screen.text
        await screen.press("enter")
        await screen.until(lambda: READ in screen.text)
        assert len(engine.reader_log.all()) == 1


async def test_it_starts_after_a_question_its_rows_arrive_and_nothing_is_offered_again(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    answers(bin_folder)
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: READ in screen.text)
        await screen.until(lambda: "weighed twice before a label" in screen.text)
        await screen.settle()
        assert "R starts" not in screen.text
        await screen.press("a")
        assert READ in screen.text, "it stays until it is put away"
        assert "(expected: 2,000 tokens in, 900 out)" in " ".join(screen.text.split())
        assert "esc hides this" in screen.text
        await screen.press("escape")
        assert READ not in screen.text
        (reading,) = engine.reader_log.all()
        engine.reader_log.forget("shop")
        await screen.press("R")
        assert "Let an agent read: enter starts" in screen.text
        assert "Claude Code  1 of 1, about 2,000 tokens in, 900 out" in screen.text
        await screen.press("enter")
        await screen.until(lambda: "so this cost nothing" in " ".join(screen.text.split()))
    assert (reading.project, reading.reader) == ("shop", "claude")


async def test_once_it_has_read_the_key_is_known_and_the_line_makes_room(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    answers(bin_folder)
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: READ in screen.text)
    ingested(engine, shop, "b")
    async with opened(engine, project="shop", size=(120, 40)) as screen:
        screen.queue.look_for_readers()
        await screen.settle()
        assert "R starts" not in screen.text
        await screen.press("R")
        assert "Let an agent read: enter starts" in screen.text


async def test_the_same_key_stops_an_agent_that_hangs(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    claude(bin_folder, "time.sleep(600)")
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: "R stops Claude Code  Session 1 of 1" in screen.text)
        await screen.press("a")  # decisions go on meanwhile
        await screen.press("R")
        await screen.until(lambda: "1 part left." in screen.text)
        await screen.until(lambda: "Claude Code on 1 session: about" in screen.text)


async def test_an_agent_that_is_not_logged_in_ends_with_a_sentence(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    claude(bin_folder, r"say('\033[31mInvalid API key\033[0m - Please run /login')" "\nsys.exit(1)")
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: "Claude Code gave no answer" in screen.status)
        assert "To log in: run claude in a terminal and log in." in screen.status
        claude(bin_folder, "time.sleep(600)")
        await screen.press("R", "enter")
        await screen.until(lambda: "R stops Claude Code" in screen.text)
        assert "Claude Code gave no answer" not in screen.status


async def test_a_reader_that_was_killed_says_so_and_not_its_last_line(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    claude(bin_folder, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: "ended by another program: R" in screen.status)


async def test_a_session_whose_answer_cannot_be_read_stays_unread_and_that_is_said(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    answers(bin_folder, "I'm sorry, but I can't help with that.")
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: "Nothing could be read from 1 of 1 answer" in screen.status)
        await screen.until(lambda: "Claude Code on 1 session: about" in screen.text)
        assert engine.reader_log.all() == []


async def test_of_several_readers_one_is_chosen(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    answers(bin_folder)
    program(bin_folder, "", name="codex")
    ingested(engine, shop, "a")
    async with opened(engine, project="shop", size=(120, 40)) as screen:
        await screen.press("R")
        assert "Codex" in screen.text
        await screen.press("enter")
        await screen.until(lambda: READ in screen.text)


async def test_without_a_reader_nothing_is_offered_and_the_menu_says_who_could_read(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    ingested(engine, shop, "a")
    async with opened(engine, project="shop", size=(160, 30)) as screen:
        assert "R starts" not in screen.text
        await screen.press("R")
        assert "Nothing is set up to read the sessions: install Claude Code" in screen.status


async def test_where_no_session_is_unread_the_key_says_so(engine: Engine, bin_folder: Path) -> None:
    async with opened(engine, project="shop") as screen:
        await screen.press("R")
        assert screen.status == "Nothing is left to read: this project has no unread session."


def compares(folder: Path) -> None:
    """An agent that finds the statements of two sessions to say the same, the later one best."""
    other = answer(said("Before printing, each tray is put on the scales twice.", (1, WORDS)))
    claude(
        folder,
        "prompt = sys.stdin.read()\n"
        "if 'You compare statements' in ' '.join(sys.argv):\n"
        "    same = [int(each.split()[0]) for each in prompt.split('\\n#')[1:]]\n"
        "    say(json.dumps({'result': json.dumps({'same': [same[::-1]]})}))\n"
        f"else: say(json.dumps({{'result': {FOUND!r} if 'tray a' in prompt else {other!r}}}))",
    )


async def test_the_result_says_how_many_statements_are_deferred(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    quote = 1, "This is about tray a."
    answers(bin_folder, answer(said("The rule is about tray a.", quote, confidence=0.4)))
    ingested(engine, shop, "a")
    async with opened(engine, project="shop", size=(120, 30)) as screen:
        await screen.until(lambda: "Claude Code on 1 session: about" in screen.text)
        await screen.press("R", "enter")
        await screen.until(lambda: "1 new, 1 of them deferred; " in screen.text)


async def test_the_result_counts_statements_joined_by_the_comparison(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    compares(bin_folder)
    async with asked(engine, shop, "a", "b") as screen:
        await screen.until(lambda: "2 new, 1 joined; " in screen.text)


async def test_a_draft_on_a_row_that_is_joined_to_another_is_shown_and_goes_on(
    engine: Engine, shop: Path, bin_folder: Path
) -> None:
    compares(bin_folder)
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: READ in screen.text and "are weighed twice" in screen.text)
        await screen.settle()
        (number,) = screen.model.ids
        await screen.press("e", *" Always", "escape")
        draft = engine.drafts.load(number)
        ingested(engine, shop, "b")
        await screen.press("R", "enter")
        await screen.until(lambda: "1 joined" in screen.text)
        await screen.until(lambda: "2 alike     right shows them · draft kept" in screen.text)
        assert number not in screen.model.ids
        await screen.settle()
        await screen.press("right", "j", "e")
        assert screen.status == f"Edit #{number}: this is your draft; empty it to discard it."
        assert screen.app.screen.query_one(EditPane).content == draft


async def test_the_cursor_stays_on_a_row_that_a_later_reading_joins_to_another(
    engine: Engine, shop: Path, bin_folder: Path, notes: Path
) -> None:
    compares(bin_folder)
    async with asked(engine, shop, "a") as screen:
        await screen.until(lambda: READ in screen.text and "are weighed twice" in screen.text)
        (number,) = screen.model.ids
        engine.intake.ingest([notes], project="shop")
        await screen.press("ctrl+l")
        await screen.until(lambda: len(screen.model.ids) > 3)
        assert screen.model.current_id == number
        ingested(engine, shop, "b")
        await screen.press("R", "enter")
        await screen.until(lambda: number not in screen.model.ids)
        leader = engine.queue.candidate(number).leader_id
        assert screen.model.current_id == leader


@pytest.mark.parametrize("key", ["R", "escape"])
async def test_the_key_also_stops_the_comparison_of_the_sessions(
    engine: Engine, shop: Path, bin_folder: Path, key: str
) -> None:
    other = answer(said("Before printing, each tray is put on the scales twice.", (1, WORDS)))
    claude(
        bin_folder,
        "prompt = sys.stdin.read()\n"
        "if 'You compare statements' in ' '.join(sys.argv): time.sleep(600)\n"
        f"say(json.dumps({{'result': {FOUND!r} if 'tray a' in prompt else {other!r}}}))",
    )
    async with asked(engine, shop, "a", "b") as screen:
        await screen.until(lambda: "Comparing the statements of all sessions" in screen.text)
        await screen.press(key)
        await screen.until(lambda: "2 new; " in screen.text)
