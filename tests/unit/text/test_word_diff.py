"""What an edit changed, in hunks that begin at word borders and can be put back."""

from __future__ import annotations

import pytest

from reviewer.text.word_diff import Hunk, hunks

ORIGINAL = "We use Postgres for billing, because it is fast."
EDITED = "We use SQLite for billing and mail, because it is simple."


def equal(text: str) -> Hunk:
    return Hunk(text, text)


@pytest.mark.parametrize(
    ("original", "edited", "found"),
    [
        (
            ORIGINAL,
            EDITED,
            [
                equal("We use "),
                Hunk("Postgres", "SQLite"),
                equal(" for billing"),
                Hunk("", " and mail"),
                equal(", because it is "),
                Hunk("fast", "simple"),
                equal("."),
            ],
        ),
        (
            "keep it very short",
            "keep it short",
            [equal("keep it "), Hunk("very ", ""), equal("short")],
        ),
        ("a b\n c d", "a x\n y d", [equal("a "), Hunk("b\n c", "x\n y"), equal(" d")]),
        ("same text", "same text", [equal("same text")]),
        ("", "", []),
    ],
)
def test_changes_are_whole_words(original: str, edited: str, found: list[Hunk]) -> None:
    assert list(hunks(original, edited)) == found


def test_a_long_rewritten_text_is_one_change() -> None:
    before, after = "a b " * 10_000, "b c " * 10_000
    (change, *_) = hunks(before, after)
    assert (change.original.strip(), change.edited.strip()) == (before.strip(), after.strip())
