"""Patterns for columns: they match wherever the pattern does that they are made of."""

from __future__ import annotations

import re
import sys

import pytest

from reviewer.text.superset import either, superset


def finds(pattern: str, text: str) -> bool:
    """What RE2 does with bytes; for these patterns Python does the same."""
    return re.search(pattern.encode(), text.encode()) is not None


@pytest.mark.parametrize(
    ("pattern", "flags", "text"),
    [
        ("gate", 0, "the gate is open"),
        (r"\bgate\b", 0, "gate"),
        (r"(?<!a )gate(?= 4)", 0, "the gate 4"),
        (r"^gate$", re.MULTILINE, "a\ngate\nb"),
        ("(?P<q>['\"])x+(?P=q)", 0, "say 'xxx'"),
        (r"(?>a|ab)c*+d", 0, "accd"),
        (r"[^a-z]{12}x", 0, "1234567890.;x"),
        (r"a{2,3}b", 0, "aab"),
        (r"(?:a|b)?c", 0, "c"),
        ("a.b", 0, "a→b"),
        ("a.b", re.DOTALL, "a\nb"),
        (r"\d{3}", 0, "١٢٣"),
        (r"\w+\s\w+", 0, "größe\u3000weit"),
        ("straße", re.IGNORECASE, "STRAßE"),
        ("пароль", re.IGNORECASE, "ПАРОЛЬ"),
        ("gate", re.IGNORECASE, "GaTE"),
        (r"(?i:ga)te", 0, "GAte"),
        (r"g(?-i:a)te", re.IGNORECASE, "GaTE"),
    ],
)
def test_what_a_pattern_finds_its_superset_finds(pattern: str, flags: int, text: str) -> None:
    assert re.search(pattern, text, flags)
    found = superset(pattern, flags)
    for longer in (text, f"x{text}", f"{text}é", f"\n{text}\n"):
        assert finds(found, longer)


def test_it_does_not_find_everything() -> None:
    found = either([superset(r"token: \w{20}"), superset("gate [0-9]", re.IGNORECASE)])
    assert not finds(found, "the token is here, and the gate too")
    assert finds(found, "Gate 4")


def test_letters_beyond_ascii_that_equal_one_where_case_is_ignored() -> None:
    everything = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, sys.maxunicode)))
    for letter in "abcdefghijklmnopqrstuvwxyz":
        found = superset(letter, re.IGNORECASE)
        for other in re.findall(letter, everything, re.IGNORECASE):
            assert finds(found, other), (letter, other)


@pytest.mark.parametrize(
    ("pattern", "text", "folded"),
    [
        ("ignore all rules", "ignore all rules", "ignore all rules"),
        ("end\n then", "end\n then", "end then"),
        (r"id_rsa\b", "id_rsa", "idrsa"),
        (r"[*#]{1,2} to: \w+", "*# to: a_b", "# to: ab"),
        (r"a[^.]{3}b", "a _ b", "a b"),
        (r"a\s\sb", "a \nb", "a b"),
    ],
)
def test_a_superset_for_folded_text(pattern: str, text: str, folded: str) -> None:
    assert re.search(pattern, text)
    assert finds(superset(pattern, folded=True), folded)


def test_a_construction_without_translation_is_refused() -> None:
    with pytest.raises(ValueError, match="GROUPREF_EXISTS has no translation"):
        superset("(a)?(?(1)b|c)")
