"""The drawing reaches the terminal in fewer bytes, and looks the same there."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.tui.terminal import minimize

COLUMNS, ROWS = 12, 4
COLOURS = ["", "38;2;10;20;30", "38;2;90;20;30", "38;5;17", "31", "97"]
BACKGROUNDS = ["", "48;2;1;2;3", "48;2;7;7;7", "48;5;200", "44"]
ATTRIBUTES = ["", "1", "3", "7", "1;4", "58;2;1;2;3"]


def shown(data: str) -> tuple[list[list[object]], tuple[int, int]]:
    """Every cell of a terminal after this output, with its colours, and the place of the cursor."""
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(data)
    cells: list[list[object]] = [[screen.buffer[y][x] for x in range(COLUMNS)] for y in range(ROWS)]
    return cells, (screen.cursor.y, screen.cursor.x)


def styled(attributes: str, colour: str, background: str, text: str) -> str:
    """A piece of a line as Textual writes it."""
    style = ";".join(part for part in (attributes, colour, background) if part)
    return f"\x1b[{style}m{text}\x1b[0m" if style else text


pieces = st.builds(
    styled,
    st.sampled_from(ATTRIBUTES),
    st.sampled_from(COLOURS),
    st.sampled_from(BACKGROUNDS),
    st.text("ab ", max_size=3),
)
moves = st.builds("\x1b[{};{}H".format, st.integers(1, ROWS - 1), st.integers(1, COLUMNS))
pictures = st.lists(
    pieces | moves | st.sampled_from(["\x1b[1;2H\r\n\x1b[2;1H", "\x1b[2;1H\n\x1b[3;1H"]),
    max_size=12,
).map("".join)


@given(pictures)
def test_the_picture_is_the_same(data: str) -> None:
    assert shown(minimize(data)) == shown(data)


@given(pictures, pictures)
def test_the_next_text_begins_without_a_style(first: str, second: str) -> None:
    assert shown(minimize(first) + minimize(second)) == shown(first + second)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([("", "31", "44", "a"), ("", "31", "44", "b")], "\x1b[31;44mab\x1b[0m"),
        ([("", "31", "44", "a"), ("", "97", "44", "b")], "\x1b[31;44ma\x1b[97mb\x1b[0m"),
        ([("", "31", "44", "a"), ("1", "31", "44", "b")], "\x1b[31;44ma\x1b[1mb\x1b[0m"),
        ([("1", "31", "44", "a"), ("", "31", "44", "b")], "\x1b[1;31;44ma\x1b[0;31;44mb\x1b[0m"),
        ([("", "31", "44", "a"), ("", "31", "", "b")], "\x1b[31;44ma\x1b[0;31mb\x1b[0m"),
    ],
    ids=["the same", "another colour", "bold as well", "bold no more", "no background any more"],
)
def test_only_differences_are_written(pieces: list[tuple[str, str, str, str]], said: str) -> None:
    assert minimize("".join(styled(*piece) for piece in pieces)) == said


def test_of_several_cursor_moves_only_the_last_is_written() -> None:
    rows = "\x1b[1;1H\x1b[31ma\x1b[0m\x1b[1;2H\r\n\x1b[2;1H\x1b[31mb\x1b[0m\x1b[1;1H"

    assert minimize(rows) == "\x1b[1;1H\x1b[31ma\x1b[2;1Hb\x1b[1;1H\x1b[0m"
