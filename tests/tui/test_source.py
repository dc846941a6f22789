"""Looking into a source: the line, its surroundings, and files that changed or were deleted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.promotion.lists.source_view import FileWindow
from reviewer.promotion.views import QueueQuery
from reviewer.tui.evidence.source import (
    SourceScreen,
    file_blocks,
    search_file,
)
from reviewer.tui.kit.text import lay_out
from reviewer.tui.theme import GLYPHS
from tests.tui.conftest import Screen, opened
from tests.tui.views import HOSTILE, evidence

WANTED = "We decided to use advisory locks for the nightly close instead of a table of locks."


def window(*lines: str, first: int = 0, total: int | None = None) -> FileWindow:
    return FileWindow("/n/plan.md", first, lines, total)


def marked(blocks: Sequence[Any], style: str = "span") -> list[str]:
    lines = lay_out(blocks, 200)
    return [run.text for line in lines for run in line.runs if run.style == style]


# as text


def test_the_cited_line_has_number_bar_and_span() -> None:
    note = evidence(
        shape="section", role="note", line_start=10, line_end=13,
        text="a\nwe use it here\nc", span=(5, 11),
    )  # fmt: skip
    blocks = file_blocks(window("a", "we use it here", "c", first=10), note, GLYPHS)
    assert marked(blocks) == ["use it"]
    assert [line.text for line in lay_out(blocks, 40)] == [
        " 11   a",
        " 12 ▌ we use it here",
        " 13   c",
    ]


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_span_is_found_in_json_as_json_writes_it(ascii_only: bool) -> None:
    text = 'so "größer" is fine'
    line = json.dumps({"content": text, "more": 1}, ensure_ascii=ascii_only)
    turn = evidence(line_start=7, line_end=8, text=text, span=(3, 11))
    blocks = file_blocks(window("{}", line, "{}", first=6), turn, GLYPHS)
    assert marked(blocks) == [json.dumps('"größer"', ensure_ascii=ascii_only)[1:-1]]


def test_lines_of_json_that_are_not_cited_take_one_row_each() -> None:
    turn = evidence(line_start=1, line_end=2, text="x", span=(0, 1))
    long = json.dumps({"text": "word " * 500})
    blocks = file_blocks(window(long, '{"text": "x"}', long), turn, GLYPHS)
    assert len(lay_out(blocks, 60)) == 3


# searching


class File:
    """Lines of a made file."""

    def __init__(self, count: int) -> None:
        self.texts = [f"line {n} of many" for n in range(count)]

    def lines(self, path: str, around_line: int, *, context: int = 200) -> FileWindow:
        first, last = max(0, around_line - context), around_line + context + 1
        held = tuple(self.texts[first:last])
        return FileWindow(path, first, held, len(self.texts) if last > len(self.texts) else None)


@pytest.mark.parametrize(
    ("needle", "start", "step", "line"),
    [
        ("line 9999 ", 3, 1, 9999),
        ("line 5 ", 9000, -1, 5),
        ("line 3 ", 3, 1, 3),
        ("line 3 ", 4, 1, None),
        ("line 4001 ", 4000, -1, None),
        ("nowhere", 0, 1, None),
    ],
)
def test_the_whole_file_is_searched_in_either_direction(
    needle: str, start: int, step: int, line: int | None
) -> None:
    match = search_file(File(10_000), "f", needle, start, step)
    assert (match.line if match else None) == line


# on the screen


def source(screen: Screen) -> SourceScreen:
    found = screen.app.screen
    assert isinstance(found, SourceScreen)
    return found


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
    """A transcript whose fourth line decides something."""
    turns = [
        ("user", "please look at the nightly close first"),
        ("assistant", f"Two of them ran at once. {HOSTILE}"),
        ("assistant", "and how do we stop that?"),
        ("user", WANTED),
        ("assistant", "fine, I do that"),
    ]
    records = [
        {
            "parentUuid": f"u{n - 1}" if n else None, "uuid": f"u{n}", "type": role,
            "isSidechain": False, "sessionId": "s1", "version": "2.1.0", "cwd": "/work/shop",
            "timestamp": f"2026-02-14T10:00:0{n}.000Z",
            "message": {
                "role": role, "id": f"m{n}",
                "content": text if role == "user" else [{"type": "text", "text": text}],
            },
        }
        for n, (role, text) in enumerate(turns)
    ]  # fmt: skip
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    engine.intake.ingest([path], project="acme")
    return path


def wanted(engine: Engine) -> int:
    for number in engine.queue.ids(QueueQuery(status="all")):
        if "advisory locks" in engine.queue.candidate(number).content:
            return number
    raise AssertionError("the notes hold no such candidate")


async def look(screen: Screen, engine: Engine) -> None:
    """Open the source of the wanted candidate with the keyboard."""
    at = list(screen.model.ids).index(wanted(engine))
    await screen.pilot.press(*["j"] * at, "o")
    await screen.settle()


async def test_a_note_is_opened_at_the_line(engine: Engine, long_note: Path) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        assert f" 1501 ▌ {WANTED}" in screen.text
        assert "long.md · line 1,501" in screen.text


async def test_more_lines_are_read_while_scrolling_and_the_ends_are_reached(
    engine: Engine, long_note: Path
) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        await screen.press("g")
        assert "   1   plain words of line 1 " in screen.text
        await screen.press("G")
        assert " 3000   plain words of line 3000" in screen.text
        await screen.press("enter")
        assert f" 1501 ▌ {WANTED}" in screen.text
        for _ in range(20):
            await screen.pilot.press("pagedown")
        await screen.settle()
        numbers = [int(row.split()[0]) for row in screen.text.split("\n") if "plain words" in row]
        assert numbers[0] > 1501 + 300
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_words_are_searched_in_the_whole_file(engine: Engine, long_note: Path) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        await screen.press("/", *"line 2999", "enter")
        assert " 2999   plain words of line 2999" in screen.text
        await screen.press("n")
        assert screen.status == '"line 2999" does not occur below; N searches above.'
        await screen.press("/", *["backspace"] * 9, *"line 77", "enter")
        await screen.press("N")
        assert "plain words of line 779" in screen.text
        await screen.press("enter")
        assert f" 1501 ▌ {WANTED}" in screen.text


async def test_a_turn_is_shown_as_a_record_and_as_lines_of_the_file(
    engine: Engine, chat: Path
) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        assert f" 4 ▌ user       {WANTED}" in screen.text
        assert " 3   assistant  and how do we stop that?" in screen.text
        await screen.press("r")
        assert ' 4 ▌ {"parentUuid": "u2", "uuid": "u3"' in screen.text
        await screen.press("r")
        assert f" 4 ▌ user       {WANTED}" in screen.text


async def test_a_search_in_the_records_stays_there(engine: Engine, chat: Path) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        await screen.press("/", *"Fine", "enter")
        assert source(screen).match is not None
        assert "line 5 · as it was written" in screen.text


async def test_a_file_that_is_gone_leaves_the_stored_text(engine: Engine, chat: Path) -> None:
    chat.unlink()
    async with opened(engine) as screen:
        await look(screen, engine)
        assert f"▌ user       {WANTED}" in screen.text
        assert "This is the text that was stored." in screen.status
        await screen.press("r", "g", "G", "j", "n", "N")
        assert f"▌ user       {WANTED}" in screen.text


async def test_a_file_that_changed_says_so(engine: Engine, long_note: Path) -> None:
    long_note.write_text(long_note.read_text("utf-8").replace(WANTED, "Something else."), "utf-8")
    async with opened(engine) as screen:
        await look(screen, engine)
        assert "The file changed since it was read" in screen.status
        await screen.press("r")
        assert WANTED in screen.text


async def test_y_copies_path_and_line(engine: Engine, long_note: Path) -> None:
    async with opened(engine) as screen:
        await look(screen, engine)
        await screen.press("y")
        assert screen.app.clipboard == f"{long_note}:1501"
        assert screen.status == f"Copied {long_note}:1501"


async def test_without_an_editor_e_says_what_to_set(
    engine: Engine, long_note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with opened(engine) as screen:
        await look(screen, engine)
        await screen.press("E")
        assert "set $VISUAL or $EDITOR" in screen.status
