"""What the parts of a context are called in lists."""

from __future__ import annotations

import pytest
from msgspec import structs

from reviewer.commits.values import Priority
from reviewer.compression.segments import title_of
from reviewer.compression.values import Segment, SegmentTurn
from tests.unit.compression.making import turn


def titled(*turns: SegmentTurn) -> str:
    return title_of(Segment("s1", turns, 10, "drawer kiosk sunday"))


def call(name: str, text: str) -> SegmentTurn:
    return structs.replace(turn(text, role="assistant"), kind="tool_use", name=name)


def result(text: str) -> SegmentTurn:
    return structs.replace(turn(text, role="tool"), kind="tool_result")


def test_the_first_request_names_a_part() -> None:
    title = titled(
        turn("I'll read the drawer code.", role="assistant"),
        turn("ok"),
        turn("This session is being continued from a previous conversation that ran out of room."),
        turn("Can you fix the drawer cache on Sundays? It is never emptied."),
    )
    assert title == "Can you fix the drawer cache on Sundays?"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Now let me also check the hook files.", "Now let me also check the hook files"),
        ("## Plan for the kiosk\n\nFirst the drawer.", "Plan for the kiosk"),
        ("<command-name>/context</command-name>\nShow the drawer again", "Show the drawer again"),
        ("the drawer stays open.", "The drawer stays open"),
        ("kiosk drawer " * 40, "Kiosk drawer kiosk drawer kiosk drawer kiosk ..."),
    ],
)
def test_a_title_is_the_opening(said: str, title: str) -> None:
    assert titled(turn(said)) == title


def test_without_words_a_call_and_its_file_name_it() -> None:
    assert titled(call("Read", '{"file_path": "/srv/kiosk/drawer.py"}'), result("1→x")) == (
        "Read drawer.py"
    )


def test_results_alone_name_it_by_their_first_line() -> None:
    assert titled(result("     1→// Package drawer counts coins\n     2→package drawer")) == (
        "Package drawer counts coins"
    )


def test_what_is_skipped_or_says_too_little_names_nothing() -> None:
    skipped = structs.replace(turn("Read the secret plans first"), priority=Priority.SKIP)
    assert titled(skipped, turn("yes please")) == "drawer kiosk sunday"
