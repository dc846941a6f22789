"""The marked block: nothing outside it moves, and what is broken is refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewer.promotion.export import marked_block
from reviewer.promotion.export.marked_block import BlockError
from reviewer.text.for_agents import AgentText

FILE = Path("AGENTS.md")


def with_block(existing: bytes, body: str) -> bytes:
    return marked_block.with_block(FILE, existing, AgentText(body))


def without_block(existing: bytes) -> bytes:
    return marked_block.without_block(FILE, existing)


BEGIN = b"<!-- reviewer:begin -->"
END = b"<!-- reviewer:end -->"
PIECES = [
    b"\n", b"\r\n", b"\r", b" ", b"    ", b"\t", b"text", b"# Head", b"- ", b"1. ", b"> ", b"```",
    b"~~~", b"````", b"<!--", b"-->", b"\xff\xfe", b"\xef\xbb\xbf", "é".encode(), b"<pre>", b"---",
    b"\x85", b"\x0b", b"\x0c", b"\xe2\x80\xa8", b"join=2",
]  # fmt: skip
MARKERS = [BEGIN, END, b"<!--reviewer:begin", b"<!-- reviewer:beginning -->", b"reviewer:end"]
untimed = settings(deadline=None)


def joined(pieces: list[bytes]) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(pieces), max_size=14).map(b"".join)


plain_files = joined(PIECES) | st.binary(max_size=40)
marked_files = joined(PIECES + 3 * MARKERS)
bodies = st.one_of(
    st.text(max_size=40),
    joined(PIECES + MARKERS).map(lambda data: data.decode("utf-8", "replace")),
)


@untimed
@given(plain_files, bodies)
@example(b"abc\r", "x")
@example(b"a\r\nb", "```\nopen")
@example(b"\xef\xbb\xbf", "x")
@example(b"- ```\n  code\n", "x")
@example(b"abc\n  ", "x")
@example(b"a\n\n\n", "")
def test_adding_and_removing_gives_the_file_back(existing: bytes, body: str) -> None:
    with suppress(BlockError):
        after = with_block(existing, body)
        assert after.startswith(existing)
        assert without_block(after) == existing


@untimed
@given(marked_files, bodies)
def test_planning_again_changes_nothing(existing: bytes, body: str) -> None:
    with suppress(BlockError):
        first = with_block(existing, body)
        assert with_block(first, body) == first


@untimed
@given(plain_files, plain_files, bodies, bodies)
def test_bytes_around_the_block_stay(head: bytes, tail: bytes, old: str, new: str) -> None:
    """Whoever moves text around the block finds it unchanged after an update."""
    with suppress(BlockError):
        moved = with_block(head, old) + tail
        after = with_block(moved, new)
        assert after.startswith(head)
        assert after.endswith(tail)
        assert with_block(after, old) == moved


@pytest.mark.parametrize(
    ("existing", "between"),
    [
        (b"# Mine", b"\n\n"),
        (b"# Mine\n", b"\n"),
        (b"# Mine\n\n", b""),
        (b"# Mine\r\n", b"\r\n"),
        (b"# Mine\n \t", b"\n"),
        (b"", b""),
        (b"\xef\xbb\xbf", b""),
    ],
)
def test_an_absent_block_is_added_after_one_blank_line(existing: bytes, between: bytes) -> None:
    ending = b"\r\n" if b"\r" in existing else b"\n"
    after = with_block(existing, "fact")
    assert after.startswith(existing + between + b"<!-- reviewer:begin")
    assert after.rstrip().endswith(b"fact" + ending * 2 + END)


@pytest.mark.parametrize(
    ("existing", "lines"),
    [
        (b"a\n" + BEGIN + b"\nold\n", "2"),
        (b"a\n\n" + END + b"\n", "3"),
        (END + b"\n" + BEGIN + b"\n", "1, 2"),
        (BEGIN + b"\n" + END + b"\n" + BEGIN + b"\n" + END, "1, 2, 3, 4"),
        (b"a\r" + BEGIN + b"\r\n", "2"),
    ],
)
def test_a_broken_file_is_refused_with_its_lines(existing: bytes, lines: str) -> None:
    with pytest.raises(BlockError, match=f"^AGENTS.md: .* line {lines}[.]"):
        with_block(existing, "new")


@pytest.mark.parametrize(
    "existing",
    [
        b"text\n\n    " + BEGIN + b"\n",
        b"It says " + BEGIN + b" there.\n",
        BEGIN + b" is how it begins.\n",
        b"> " + BEGIN + b"\n",
        b"<!-- reviewer:beginning -->\n",
    ],
)
def test_markers_in_prose_are_text(existing: bytes) -> None:
    after = with_block(existing, "fact")
    assert after.startswith(existing + b"\n<!-- reviewer:begin")
    assert with_block(after, "fact") == after


@pytest.mark.parametrize("data", ["text".encode("utf-16"), b"a\0b"])
def test_a_file_that_is_no_utf8_text_is_refused(data: bytes) -> None:
    with pytest.raises(BlockError, match="UTF-8"):
        with_block(data, "fact")


@pytest.mark.parametrize("body", [END.decode(), BEGIN.decode(), "<!--\treviewer:end-->"])
def test_marker_text_in_the_body_ends_no_block(body: str) -> None:
    first = with_block(b"mine\n", f"a\n{body}\nb")
    second = with_block(first, "c")
    assert second.count(b"<!--") == 2
    assert b"\nb\n" not in second
    assert without_block(first) == b"mine\n"


def test_the_body_takes_the_line_endings_of_the_file() -> None:
    after = with_block(b"one\r\ntwo\r\n", "a\nb\r\nc\n")
    assert b"\r\na\r\nb\r\nc\r\n" in after
    assert after.count(b"\n") == after.count(b"\r\n")


def test_what_follows_a_block_is_not_glued_to_what_stands_before_it() -> None:
    moved = with_block(b"mine", "fact") + b"yours"
    assert without_block(moved) == b"mine\n\nyours"
