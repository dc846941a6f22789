"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from reviewer.text.late_pattern import late


def test_a_late_pattern_finds_what_a_compiled_one_finds() -> None:
    pattern, compiled = late(r"gate (\d+)", re.IGNORECASE), re.compile(r"gate (\d+)", re.IGNORECASE)
    text = "Gate 4 and gate 12"
    for _ in range(2):
        assert pattern.findall(text) == compiled.findall(text)
        assert [each[1] for each in pattern.finditer(text)] == ["4", "12"]
        assert pattern.match(text, 1) is None
        assert pattern.sub("x", text) == "x and x"
    assert late(rb"\d+").search(b"gate 4") is not None


def test_a_wrong_pattern_is_refused_at_its_first_use() -> None:
    pattern = late("(")
    with pytest.raises(re.error):
        pattern.search("gate")
