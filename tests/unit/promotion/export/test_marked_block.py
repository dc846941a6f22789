"""The marked block: nothing outside it moves, and what is broken is refused."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewer.promotion.export import marked_block
from reviewer.promotion.export.marked_block import plan_removal
from reviewer.promotion.export.plans import FilePlan
from reviewer.text.for_agents import AgentText


def plan_block(existing: bytes | None, body: str) -> FilePlan:
    return marked_block.plan_block(existing, AgentText(body))


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
    plan = plan_block(existing, body)
    if plan.problem:
        assert plan.after == existing
        assert not plan.changed
        return
    assert plan.after.startswith(existing)
    assert plan_removal(plan.after).after == existing


@untimed
@given(marked_files, bodies)
def test_planning_again_changes_nothing(existing: bytes, body: str) -> None:
    first = plan_block(existing, body)
    again = plan_block(first.after, body)
    assert again.problem == first.problem
    assert again.after == first.after


@untimed
@given(plain_files, plain_files, bodies, bodies)
def test_bytes_around_the_block_stay(head: bytes, tail: bytes, old: str, new: str) -> None:
    """Whoever moves text around the block finds it unchanged after an update."""
    first = plan_block(head, old)
    if first.problem:
        return
    moved = first.after + tail
    plan = plan_block(moved, new)
    if plan.problem:
        return
    assert plan.after.startswith(head)
    assert plan.after.endswith(tail)
    back = plan_block(plan.after, old)
    assert back.after == moved


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
    after = plan_block(existing, "fact").after
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
    plan = plan_block(existing, "new")
    assert plan.after == existing
    assert not plan.changed
    assert f"line {lines}." in plan.problem


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
    plan = plan_block(existing, "fact")
    assert plan.after.startswith(existing + b"\n<!-- reviewer:begin")
    assert plan_block(plan.after, "fact").after == plan.after


@pytest.mark.parametrize("data", ["text".encode("utf-16"), b"a\0b"])
def test_a_file_that_is_no_utf8_text_is_refused(data: bytes) -> None:
    assert "UTF-8" in plan_block(data, "fact").problem


@pytest.mark.parametrize("body", [END.decode(), BEGIN.decode(), "<!--\treviewer:end-->"])
def test_marker_text_in_the_body_ends_no_block(body: str) -> None:
    first = plan_block(b"mine\n", f"a\n{body}\nb").after
    second = plan_block(first, "c").after
    assert second.count(b"<!--") == 2
    assert b"\nb\n" not in second
    assert plan_removal(first).after == b"mine\n"


def test_the_body_takes_the_line_endings_of_the_file() -> None:
    after = plan_block(b"one\r\ntwo\r\n", "a\nb\r\nc\n").after
    assert b"\r\na\r\nb\r\nc\r\n" in after
    assert after.count(b"\n") == after.count(b"\r\n")


def test_what_follows_a_block_is_not_glued_to_what_stands_before_it() -> None:
    moved = plan_block(b"mine", "fact").after + b"yours"
    assert plan_removal(moved).after == b"mine\n\nyours"
