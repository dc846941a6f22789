"""The session of a row on the screen, and memories worded from its lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event

import pytest
from textual import events

from reviewer.engine import Engine
from reviewer.promotion.lists.source_view import CitedText
from reviewer.promotion.views import QueueQuery
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import SessionView
from reviewer.tui.kit.bars import StatusBar
from reviewer.tui.kit.edit_pane import EditPane
from reviewer.tui.session.model import rows_of
from reviewer.tui.session.screen import SessionScreen, line_blocks
from reviewer.tui.theme import GLYPHS
from tests.present import present
from tests.tui.conftest import Screen, opened
from tests.tui.views import HOSTILE
from tests.unit.sources.builders import Session
from tests.waiting import PATIENCE

SAID = "Always print the timetable on A5 because the tray holds no A4 paper."


@pytest.fixture
def session(tmp_path: Path) -> Path:
    told = Session()
    told.user("Make the timetable of the ferry fit one page.")
    told.tool()
    told.user(
        [{"type": "tool_result", "tool_use_id": "t1", "content": "ls: no tray", "is_error": True}]
    )
    told.user(SAID)
    told.user("Please keep the night boats in bold.")
    told.reply("Done.")
    path = tmp_path / "sessions" / "ferry.jsonl"
    path.parent.mkdir()
    path.write_bytes(told.bytes())
    return path


@pytest.fixture
def read(engine: Engine, session: Path) -> Engine:
    """A store with the candidate of the session."""
    engine.intake.ingest([session], project="acme")
    return engine


@pytest.fixture
async def screen(read: Engine) -> AsyncIterator[Screen]:
    """The session, opened at the row of that candidate."""
    async with opened(read, project="acme") as shown:
        await shown.press("enter")
        yield shown


def screen_of(screen: Screen) -> SessionScreen:
    return screen.top(SessionScreen)


def status(screen: Screen) -> str:
    return screen_of(screen).query_one(StatusBar).text


def current(screen: Screen) -> str:
    return present(screen_of(screen).model.current).line.text


def memories(engine: Engine, status: str) -> list[str]:
    query = QueueQuery(project="acme", status=status)
    return [row.content for row in engine.queue.rows(list(engine.queue.ids(query)))]


async def test_keys_typed_ahead_of_its_lines_wait_for_them(
    read: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = Event(), Event()

    def slowly(path: Path) -> SessionView:
        reading.set()
        assert go_on.wait(PATIENCE)
        return read_view(path)

    monkeypatch.setattr("reviewer.tui.session.screen.read_view", slowly)
    async with opened(read, project="acme") as screen:
        for key in ("enter", "j", "enter"):
            screen.app.post_message(events.Key(key, key if key == "j" else None))
        await screen.until(reading.is_set)
        go_on.set()
        await screen.settle()
        assert current(screen) == "Please keep the night boats in bold."
        assert screen_of(screen).zoomed is screen_of(screen).line_pane


async def test_escape_leaves_a_session_that_is_still_read(
    read: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = Event()
    monkeypatch.setattr(
        "reviewer.tui.session.screen.read_view",
        lambda path: go_on.wait(PATIENCE) and read_view(path),
    )
    async with opened(read, project="acme") as screen:
        screen.app.post_message(events.Key("enter", None))
        await screen.until(lambda: "Reading the session" in screen.text)
        screen.app.post_message(events.Key("escape", None))
        await screen.until(lambda: screen.app.screen is screen.queue)
        go_on.set()


async def test_it_opens_with_the_quote_in_the_middle(engine: Engine, tmp_path: Path) -> None:
    told = Session()
    for number in range(30):
        told.user(f"Print the timetable of boat {number}.")
        told.reply("Done.")
        if number == 14:
            told.user(SAID)
    path = tmp_path / "boats.jsonl"
    path.write_bytes(told.bytes())
    engine.intake.ingest([path], project="acme")
    async with opened(engine, project="acme", size=(120, 30)) as screen:
        await screen.press("enter")
        rows = screen_of(screen).rows
        assert current(screen) == SAID
        assert rows.cursor - rows.scroll_offset.y == rows.height // 2


async def test_it_opens_at_the_line_of_the_row_with_its_words_marked(screen: Screen) -> None:
    assert current(screen) == SAID
    assert "◆" in screen.text
    assert "error" in screen.text
    pane = screen_of(screen).line_pane.plain_text
    assert pane.startswith("line 4 · user")
    assert "comes from here" in pane
    await screen.press("escape")
    assert screen.app.screen is screen.queue


async def test_brackets_go_from_place_to_place(screen: Screen) -> None:
    await screen.press("left_square_bracket")
    assert current(screen) == "Bash: ls: no tray"
    await screen.press("left_square_bracket")
    assert status(screen) == "There is no other place above."
    await screen.press("right_square_bracket")
    assert current(screen) == SAID
    assert status(screen) == ""
    assert "place 2 of 2" in screen.text


async def test_moves_and_the_filter(screen: Screen) -> None:
    await screen.press("g")
    assert current(screen) == "working folder: /work/shop"
    await screen.press("G", "k")
    assert current(screen) == "Please keep the night boats in bold."
    await screen.press("slash", *"boats -page", "enter")
    assert screen_of(screen).rows.total == 1
    await screen.press("escape")
    assert screen_of(screen).rows.total == 8
    await screen.press("slash", *"is:error", "enter")
    assert current(screen) == "Bash: ls: no tray"


async def test_a_memory_is_worded_from_a_line_and_promoted(
    read: Engine, session: Path, screen: Screen
) -> None:
    await screen.press("G", "k", "e")
    await screen.press(*" Always.", "ctrl+s")
    assert status(screen).startswith("Wrote and promoted #")
    assert memories(read, "active") == ["Please keep the night boats in bold. Always."]
    row = present(screen_of(screen).model.current)
    assert len(row.cited) == 1
    evidence = read.queue.evidence(row.cited[0].memory)[0]
    assert evidence.record.path == str(session)
    assert evidence.line == 4
    await screen.press("u")
    assert memories(read, "active") == []


async def test_the_line_of_a_tool_is_proof_and_not_the_beginning_of_the_words(
    screen: Screen,
) -> None:
    await screen.press("left_square_bracket", "e")
    editor = screen.app.screen.query_one(EditPane)
    assert editor.content == ""
    assert "Bash: ls: no tray" in screen_of(screen).line_pane.plain_text
    await screen.press("escape", "space", "space", "e")
    assert editor.content == SAID
    assert "Its proof: 2 lines" in screen.text


async def test_marked_lines_are_the_proof(read: Engine, screen: Screen) -> None:
    await screen.press("G", "k", "space", "k", "k", "space", "e")
    assert "New memory from 2 lines" in screen.text
    screen.app.screen.query_one(EditPane).editor.load_text("Night boats are bold on A5.")
    await screen.press("ctrl+s")
    assert memories(read, "active") == ["Night boats are bold on A5."]
    assert not screen_of(screen).model.marks


async def test_rows_are_marked_and_left(screen: Screen) -> None:
    await screen.press("k", "space", "space")
    assert len(screen_of(screen).model.marks) == 2
    await screen.press("escape")
    assert not screen_of(screen).model.marks


async def test_escape_keeps_the_wording_as_a_draft(read: Engine, screen: Screen) -> None:
    await screen.press("G", "k", "e", *" Always.", "escape")
    assert memories(read, "active") == []
    await screen.press("e")
    assert "this is your draft" in status(screen)
    await screen.press("ctrl+s")
    assert memories(read, "active") == ["Please keep the night boats in bold. Always."]


async def test_the_source_opens_at_the_line_and_the_text_is_copied(screen: Screen) -> None:
    await screen.press("y")
    assert screen.app.clipboard == SAID
    await screen.press("o")
    assert "line 4" in screen.text
    await screen.press("escape")
    assert isinstance(screen.app.screen, SessionScreen)


async def test_the_source_of_a_quoted_result_opens_at_the_line_of_the_quote(
    read: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = CitedText(1, 2, 3, "ls: no tray")
    monkeypatch.setattr(read.sources, "cited", lambda _: [quote])
    async with opened(read, project="acme") as screen:
        await screen.press("enter", "left_square_bracket")
        assert current(screen) == "Bash: ls: no tray"
        assert "line 3 · error" in screen.text
        await screen.press("o")
        assert "line 3 of 6" in screen.text


async def test_a_session_that_is_gone_is_said_and_nothing_breaks(
    read: Engine, session: Path
) -> None:
    session.unlink()
    async with opened(read, project="acme") as screen:
        await screen.press("enter")
        assert "does not exist" in status(screen)
        await screen.press("e", "right_square_bracket", "escape")
        assert screen.app.screen is screen.queue


async def test_it_fits_every_size(screen: Screen) -> None:
    for size in ((120, 40), (80, 24), (60, 20)):
        await screen.resize(size)
        assert SAID[:30] in screen.text
        assert all(len(line) <= size[0] for line in screen.text.split("\n"))


async def test_hostile_lines_are_shown_harmless(engine: Engine, tmp_path: Path) -> None:
    told = Session()
    told.user(SAID)
    told.reply(HOSTILE)
    path = tmp_path / f"s{chr(27)}[2J.jsonl"
    path.write_bytes(told.bytes())
    engine.intake.ingest([path], project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("enter", "G")
        assert "␛" in screen.text
        assert not {"\x1b", "\x9b", "\u202e"} & set(screen.text)


async def test_tab_stays_in_the_text_while_there_is_no_difference(
    read: Engine, screen: Screen
) -> None:
    await screen.press("G", "k", "e", "tab", *" Always.", "ctrl+s")
    assert memories(read, "active") == ["Please keep the night boats in bold. Always."]


async def test_the_proof_stays_in_sight_when_another_program_writes(screen: Screen) -> None:
    await screen.press("e")
    session = screen_of(screen)
    assert session.line_pane.title.startswith("Its proof")
    session.reload()
    await screen.settle()
    assert session.line_pane.title.startswith("Its proof")


async def test_a_quote_that_the_row_of_a_tool_leaves_out_is_shown_below_it(
    read: Engine, session: Path
) -> None:
    lines = session.read_bytes().splitlines(keepends=True)
    told = Session()
    told.tool()
    told.result("total 3\n" * 40 + "tray: A5 only\n" + "total 4\n" * 40)
    session.write_bytes(b"".join([*lines, told.bytes()]))
    quote = CitedText(7, 7, 8, "tray: A5 only")
    row = rows_of(read_view(session), [quote])[-1]
    assert row.cited == (quote,)
    assert "tray" not in row.line.text
    shown = [block.text for block in line_blocks(row, (), (), GLYPHS)]
    assert shown[-2:] == ["◆ #7 comes from here", "tray: A5 only"]


async def test_of_several_quotes_the_one_that_was_opened_comes_first(
    read: Engine, session: Path
) -> None:
    for text in ("A tray lacks A4", "The person is patient"):
        read.proposals.word("acme", session, [3], text, promote=True)
    async with opened(read, project="acme") as screen:
        await screen.choose("other rows", "promoted")
        for _ in range(2):
            opened_row = present(screen.queue.model.current_id)
            await screen.press("enter")
            cited = present(screen_of(screen).model.current).cited
            assert (len(cited), cited[0].memory) == (2, opened_row)
            await screen.press("escape", "j")


async def test_the_queue_and_the_session_name_the_same_line(engine: Engine, tmp_path: Path) -> None:
    note = tmp_path / "adr.md"
    words = "We decided to print on A5 because the tray holds no A4 paper."
    note.write_text(
        f"# 7. Paper\n\nDate: 2025-01-02\n\n## Status\n\nAccepted\n\n{words}\n", "utf-8"
    )
    engine.intake.ingest([note], project="acme")
    async with opened(engine) as screen:
        assert "line 9 " in screen.text
        await screen.press("enter")
        assert "line 9 · note" in screen.text, "nobody said it in a dialogue"
        assert "9 note " in screen.text


async def test_the_quote_of_the_row_one_came_from_is_the_only_one_marked_and_in_sight(
    engine: Engine, tmp_path: Path
) -> None:
    other = "Never fold the timetable because the scanner rejects it."
    told = Session()
    told.user("\n".join([SAID, *(f"Stop {each} is served." for each in range(60)), other]))
    path = tmp_path / "stops.jsonl"
    path.write_bytes(told.bytes())
    engine.intake.ingest([path], project="acme")
    async with opened(engine, project="acme", size=(80, 24)) as screen:
        for _ in range(2):
            content = present(screen.model.current).content
            await screen.press("enter")
            pane = screen_of(screen).line_pane
            (block,) = (each for each in pane._blocks if each.spans)
            (span,) = block.spans
            assert content in block.text[span.start : span.end]
            shown = "".join(pane.render_line(y).text for y in range(pane.size.height))
            assert content[:30] in shown
            await screen.press("escape", "j")


async def test_a_memory_worded_while_all_projects_are_shown_is_of_the_project_of_its_session(
    read: Engine,
) -> None:
    async with opened(read) as screen:
        await screen.press("o", "j", "e", "ctrl+s")
    assert read.project_names() == ["acme"]
    assert memories(read, "active") == ["Please keep the night boats in bold."]


async def test_a_double_click_opens_no_line_while_a_memory_is_worded(screen: Screen) -> None:
    await screen.press("e")
    await screen.pilot.click("#lines", offset=(5, 2), times=2)
    await screen.settle()
    assert screen_of(screen).zoomed is None
