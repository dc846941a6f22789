"""A view cut into pieces for a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer.proposing.values import LineRole, SessionView, ViewLine
from reviewer.proposing.view_pieces import Piece, pieces, view_text
from reviewer.sources.events import Speaker
from reviewer.text.tokens import counter

count = counter().count
WORDS = "The tray for the letters is closed by the clerk at night."


def user(line: int, text: str) -> ViewLine:
    return ViewLine(line, LineRole.USER, Speaker.PERSON, text)


def agent(line: int, text: str) -> ViewLine:
    return ViewLine(line, LineRole.ASSISTANT, Speaker.AGENT, text)


def view(*lines: ViewLine) -> SessionView:
    return SessionView(Path("session.jsonl"), "claude-code", lines)


def tokens(piece: Piece) -> int:
    return count(view_text((*piece.before, *piece.lines)))


def turns(number: int) -> list[ViewLine]:
    lines = []
    for at in range(number):
        lines += [user(10 * at, f"Question {at}. {WORDS}"), agent(10 * at + 5, WORDS * 3)]
    return lines


def test_a_view_that_fits_is_one_piece_with_nothing_before_it() -> None:
    lines = turns(3)
    assert pieces(view(*lines), max_tokens=5_000) == [Piece(tuple(lines))]
    assert pieces(view(), max_tokens=5_000) == []


def test_pieces_begin_with_what_the_person_says_and_have_every_line_once() -> None:
    lines = turns(40)
    cut = pieces(view(*lines), max_tokens=600)
    assert len(cut) > 2
    assert [line for piece in cut for line in piece.lines] == lines
    assert all(piece.lines[0].speaker is Speaker.PERSON for piece in cut)
    assert all(tokens(piece) <= 600 for piece in cut)


def test_what_comes_before_has_the_first_request_and_the_last_exchange() -> None:
    lines = turns(30)
    last = pieces(view(*lines), max_tokens=800)[-1]
    before = {line.line: line.text for line in last.before}
    assert before[0].startswith("Question 0.")
    exchange = last.lines[0].line
    assert {exchange - 10, exchange - 5} <= before.keys()


def test_the_last_to_do_list_comes_before_the_next_piece() -> None:
    lines = turns(30)
    for at, text in ((7, "to-do list: [x] fold"), (9, "to-do list: [~] print; [ ] fold")):
        lines[at] = ViewLine(at * 5, LineRole.EVENT, Speaker.AGENT, text)
    before = [line.text for line in pieces(view(*lines), max_tokens=800)[-1].before]
    assert "to-do list: [~] print; [ ] fold" in before
    assert "to-do list: [x] fold" not in before


def test_a_piece_that_is_too_small_for_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="100 tokens"):
        pieces(view(*turns(1)), max_tokens=20)


lines = st.lists(
    st.builds(
        ViewLine,
        line=st.integers(0, 10**6),
        role=st.sampled_from(LineRole),
        speaker=st.sampled_from(Speaker),
        text=st.text(max_size=300)
        | st.lists(st.sampled_from([WORDS, "always", "\n", "```", "çafé 日本語 🙂", "x" * 90]))
        .map(" ".join),
    ),
    max_size=30,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(lines, st.integers(100, 700))
def test_no_piece_is_too_long_and_nothing_is_lost(lines: list[ViewLine], most: int) -> None:
    cut = pieces(view(*lines), max_tokens=most)
    assert all(tokens(piece) <= most for piece in cut)
    kept = "".join(line.text for piece in cut for line in piece.lines)
    assert "".join(kept.split()) == "".join("".join(line.text for line in lines).split())
    assert all(piece.lines for piece in cut)
