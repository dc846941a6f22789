"""What the parts of a context are called in lists."""

from __future__ import annotations

import pytest

from reviewer.compression.segments import title_of, with_call
from reviewer.compression.values import Segment, SegmentTurn
from tests.unit.compression.making import turn


def titled(*turns: SegmentTurn) -> str:
    return title_of(Segment("s1", turns, 10, "drawer kiosk sunday"))


def test_the_first_request_names_a_part() -> None:
    title = titled(
        turn("I'll read the drawer code.", role="assistant"),
        turn("ok"),
        turn(
            "This session is being continued from a previous conversation.\nLet me analyze it all:"
        ),
        turn("Can you fix the drawer cache on Sundays? It is never emptied."),
    )
    assert title == "Can you fix the drawer cache on Sundays? It is…"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("## Plan for the kiosk\n\nFirst the drawer.", "Plan for the kiosk"),
        ("<command-name>/context</command-name>\nShow the drawer again", "Show the drawer again"),
        ("src/drawer.py:69: it fails", "src/drawer.py:69: it fails"),
        (
            "This session is being continued from a talk",
            "This session is being continued from a talk",
        ),
        ("kiosk drawer " * 40, "kiosk drawer kiosk drawer kiosk drawer kiosk dr…"),
    ],
)
def test_a_title_is_the_opening(said: str, title: str) -> None:
    assert titled(turn(said)) == title


def test_a_call_names_its_tool_without_the_server() -> None:
    call = turn('{"tab": 3}', role="assistant", said="tool_use", name="mcp__kiosk_browser__click")
    assert titled(call) == 'click {"tab": 3}'


def test_a_result_that_its_format_joins_to_no_call_is_not_named_after_one() -> None:
    other = turn('{"file_path": "/srv/drawer.py"}', role="assistant", said="tool_use", name="Read")
    told = Segment("s1", (turn("Ran 3 tests", said="tool_result"),), 10, "drawer")
    assert with_call(told, {other.call: other}) == told
