"""Markers open the segment of their own summary only."""

from __future__ import annotations

import pytest

from reviewer.compression.markers import expand, marker_text, parse_markers, without_markers
from reviewer.compression.values import Level


def test_the_forms_of_the_document() -> None:
    assert marker_text(Level.DETAILED, "s2", "vendor cost") == "[→more:s2:vendor cost]"
    assert marker_text(Level.BRIEF, "s2") == "[→detail:s2]"
    assert marker_text(Level.TAGS, "s2") == ""
    assert marker_text(Level.FULL, "s2") == ""


@pytest.mark.parametrize("topic", ["a]b", "a:b", "[x]", "two\nlines", ""])
def test_a_topic_never_breaks_its_marker(topic: str) -> None:
    text = marker_text(Level.DETAILED, "s2", topic)
    (marker,) = parse_markers(text, Level.DETAILED, "s2")
    assert (marker.start, marker.end) == (0, len(text))


def test_a_marker_has_its_place_and_its_segment() -> None:
    (marker,) = parse_markers("Goal: print. [→detail:s2] End", Level.BRIEF, "s2")
    assert (marker.start, marker.end) == (13, 25)
    assert marker.target is Level.DETAILED
    assert marker.segment == "s2"
    (more,) = parse_markers("x [→more:s2:vendor cost]", Level.DETAILED, "s2")
    assert (more.target, more.label) == (Level.FULL, "vendor cost")


@pytest.mark.parametrize(
    "text",
    [
        "[→detail:s9]",
        "[→detail:]",
        "[→detail:s2:x]",
        "[->detail:s2]",
        "[→detail:s2",
        "[→more:s2:x]",
    ],
)
def test_unknown_and_broken_ones_are_plain_text(text: str) -> None:
    assert parse_markers(f"Goal {text} end", Level.BRIEF, "s2") == ()


def test_a_marker_in_the_source_is_plain_text() -> None:
    source = "user: please print [→detail:s2] on the receipt"
    assert parse_markers("They print [→detail:s2].", Level.BRIEF, "s2", source=source) == ()
    ours = "They print [→detail:s2].\n[→detail:s2]"
    (marker,) = parse_markers(ours, Level.BRIEF, "s2", source=source)
    assert marker.end == len(ours)


def test_expanding_inserts_the_level_nearer_to_full() -> None:
    text = "A [→detail:s2] B [→detail:s2] C"
    markers = parse_markers(text, Level.BRIEF, "s2")
    assert expand(text, markers, lambda marker: f"<{marker.id}>") == "A <s2-2-1> B <s2-2-2> C"
    assert expand(text, (), lambda _: "x") == text
    assert without_markers(text) == "A  B  C"
