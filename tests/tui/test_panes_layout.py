"""Wrapping: the text is complete, never wider than the pane, and spans stay on their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from reviewer.text.display import display_text
from reviewer.tui.kit.text import (
    Run,
    TextBlock,
    TextLine,
    TextSpan,
    cut,
    lay_out,
    tail,
    wrap,
)
from tests.tui.views import HOSTILE

texts = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab -\n\t"),
        st.sampled_from("日本語🚀e\r\u0301❤\ufe0f\u200d\u200b\u202e\x1b\x00"),
        st.characters(),
    ),
    max_size=200,
)
widths = st.integers(min_value=8, max_value=60)


def squeezed(text: str) -> str:
    return "".join(text.split())


def rows(block: TextBlock, width: int) -> list[str]:
    return [line.text for line in lay_out([block], width)]


def marked(lines: tuple[TextLine, ...]) -> str:
    return "".join(run.text for line in lines for run in line.runs if run.style == "span")


@pytest.mark.parametrize(
    ("block", "width", "shown"),
    [
        (TextBlock("the ledger uses postgres"), 12, ["the ledger", "uses", "postgres"]),
        (TextBlock("see /var/log/reviewer"), 10, ["see", "/var/log/r", "eviewer"]),
        (TextBlock("def f():\n\n    pass"), 20, ["def f():", "", "    pass"]),
        (TextBlock("日本語のテキスト"), 9, ["日本語の", "テキスト"]),
        (TextBlock("e\u0301" * 12), 8, ["e\u0301" * 8, "e\u0301" * 4]),
        (TextBlock("one two three", first=(Run("a: "),)), 10, ["a: one two", "   three"]),
        (TextBlock("one two", first=(Run("| a "),), rest=(Run("| "),)), 9, ["| a one", "| two"]),
        (TextBlock("one two three\nfour", wrap=False), 9, ["one two…", "four"]),
        (TextBlock("one two three four", most=2), 8, ["one two", "three…"]),
    ],
)
def test_a_text_is_wrapped_with_its_margins(block: TextBlock, width: int, shown: list[str]) -> None:
    assert rows(block, width) == shown


def test_a_span_stays_on_its_words_when_hidden_characters_grow() -> None:
    text = "\x1b[31m\u202e we use postgres now \x07"
    start = text.index("use")
    lines = lay_out([TextBlock(text, spans=(TextSpan(start, start + 12),))], 40)
    assert marked(lines) == "use postgres"


def test_only_rows_of_spans_that_a_pane_scrolls_to_are_marked() -> None:
    block = TextBlock(
        "aaaaaaa bbbbbbb ccccccc", spans=(TextSpan(8, 15), TextSpan(16, 23, "added", here=False))
    )
    assert [line.marked for line in lay_out([block], 8)] == [False, True, False]


def test_a_text_that_is_too_long_is_shown_around_its_span_with_the_size_of_the_rest() -> None:
    text = "x" * 500_000 + " NEEDLE " + "y" * 500_000
    block = TextBlock(text, spans=(TextSpan(500_001, 500_007),), more=", o opens the source")
    lines = lay_out([block], 60)
    assert marked(lines) == "NEEDLE"
    assert lines[0].text == "… 495 kB before, o opens the source"
    assert lines[-1].text == "… 489 kB more, o opens the source"
    assert len(lines) < 400


def test_fit_and_tail_cut_at_the_right_end() -> None:
    assert cut("日本語", 5) == "日本…"
    assert cut("abc", 3) == "abc"
    assert tail("/home/dev/notes/plan.md", 16) == "…/notes/plan.md"
    assert tail("/a/b.md", 16) == "/a/b.md"


@given(texts, widths)
def test_ranges_are_in_order_narrow_enough_and_only_white_space_lies_between(
    text: str, width: int
) -> None:
    paragraph = display_text(text).replace("\n", " ")
    at = 0
    for start, end in wrap(paragraph, width):
        assert at <= start <= end
        assert not paragraph[at:start].strip()
        assert cell_len(paragraph[start:end]) <= width
        at = end
    assert not paragraph[at:].strip()


@given(st.lists(texts, max_size=4), widths, st.data())
def test_rows_contain_the_whole_text_and_are_never_too_wide(
    parts: list[str], width: int, data: st.DataObject
) -> None:
    blocks = []
    for part in parts:
        a = data.draw(st.integers(0, len(part)))
        b = data.draw(st.integers(a, len(part)))
        blocks.append(TextBlock(part, spans=(TextSpan(a, b),), first=(Run("> "),)))
    lines = lay_out(blocks, width)
    for line in lines:
        assert cell_len(line.text) <= width
    for index, block in enumerate(blocks):
        shown = "".join(line.text[2:] for line in lines if line.block == index)
        assert squeezed(shown) == squeezed(display_text(block.text))


@given(st.integers(0, len(HOSTILE)), st.integers(0, len(HOSTILE)), widths)
def test_no_row_contains_a_character_that_a_terminal_obeys(a: int, b: int, width: int) -> None:
    for line in lay_out([TextBlock(HOSTILE, spans=(TextSpan(min(a, b), max(a, b)),))], width):
        assert display_text(line.text) == line.text
