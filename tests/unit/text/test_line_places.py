"""The line of a character, in short texts and in long ones alike."""

from __future__ import annotations

import pytest

from reviewer.text.line_places import lines_before


@pytest.mark.parametrize("text", ["", "\n", "a\n\nb\nc", "word\n" * 900, "x" * 5000 + "\ny\n"])
def test_lines_before_counts_the_line_ends_before_a_place(text: str) -> None:
    for place in {0, 1, len(text) // 2, max(len(text) - 1, 0), len(text), len(text) + 5}:
        assert lines_before(text, place) == text.count("\n", 0, place)
