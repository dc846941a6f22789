"""What an edit changed, in hunks that begin at word borders and can be put back."""

from __future__ import annotations

import random

import pytest

from reviewer.text.word_diff import Hunk, hunks, keep_only, put_back

ORIGINAL = "We use Postgres for billing, because it is fast."
EDITED = "We use SQLite for billing and mail, because it is simple."


def equal(text: str) -> Hunk:
    return Hunk("equal", text, text)


def test_changes_are_whole_words() -> None:
    assert hunks(ORIGINAL, EDITED) == (
        equal("We use "),
        Hunk("replace", "Postgres", "SQLite"),
        equal(" for billing"),
        Hunk("insert", "", " and mail"),
        equal(", because it is "),
        Hunk("replace", "fast", "simple"),
        equal("."),
    )


def test_a_word_that_was_dropped_is_deleted() -> None:
    assert hunks("keep it very short", "keep it short") == (
        equal("keep it "),
        Hunk("delete", "very ", ""),
        equal("short"),
    )


def test_changes_with_only_white_space_between_are_one() -> None:
    assert hunks("a b\n c d", "a x\n y d") == (
        equal("a "),
        Hunk("replace", "b\n c", "x\n y"),
        equal(" d"),
    )


def test_equal_texts_have_no_change() -> None:
    assert hunks("same text", "same text") == (equal("same text"),)
    assert hunks("", "") == ()


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, "We use Postgres for billing and mail, because it is simple."),
        (1, "We use SQLite for billing, because it is simple."),
        (2, "We use SQLite for billing and mail, because it is fast."),
    ],
)
def test_one_hunk_is_reverted_and_the_others_stay(index: int, expected: str) -> None:
    assert put_back(ORIGINAL, EDITED, index) == expected


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_beyond_the_changes_is_an_error(index: int) -> None:
    with pytest.raises(IndexError, match="there are 3"):
        put_back(ORIGINAL, EDITED, index)


def test_only_the_wanted_changes_are_kept() -> None:
    assert keep_only(ORIGINAL, EDITED, [0]) == "We use SQLite for billing, because it is fast."
    assert keep_only(ORIGINAL, EDITED, []) == ORIGINAL
    assert keep_only(ORIGINAL, EDITED, range(3)) == EDITED


def test_a_long_text_shows_each_small_edit_alone() -> None:
    # Every word occurs several times, so only runs of words identify a place.
    draw = random.Random(7)
    words = [f"word{draw.randrange(300)}" for _ in range(20_000)]
    edited = list(words)
    for at in range(500, 20_000, 1_000):
        edited[at] = f"new{at}"
    changed = [hunk for hunk in hunks(" ".join(words), " ".join(edited)) if hunk.op != "equal"]
    assert [hunk.edited for hunk in changed] == [f"new{at}" for at in range(500, 20_000, 1_000)]
    assert all(hunk.original.startswith("word") for hunk in changed)


def test_a_long_rewritten_text_is_one_change() -> None:
    before, after = "a b " * 10_000, "b c " * 10_000
    found = hunks(before, after)
    assert "".join(hunk.original for hunk in found) == before
    assert "".join(hunk.edited for hunk in found) == after
