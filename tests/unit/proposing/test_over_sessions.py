"""What a reader says of the statements of all sessions, read from its answer."""

from __future__ import annotations

import json

import pytest

from reviewer.proposing.over_sessions import read_relations
from reviewer.proposing.values import Relations, Sentence

ASKED = [
    Sentence(1, "2026-01-02", "Run uv sync before the tests."),
    Sentence(2, "2026-01-09", "The tests need uv sync first."),
    Sentence(3, "2026-01-05", "The retry limit is 3."),
    Sentence(4, "2026-02-01", "The retry limit is 5."),
]


def read(**answer: object) -> Relations:
    return read_relations(json.dumps(answer), ASKED)


def test_groups_and_pairs_are_read_whatever_stands_around_them() -> None:
    text = 'Here: ```json\n{"same": [[2, 1]], "untrue": [{"old": 3, "new": 4}]}\n``` Done.'
    assert read_relations(text, ASKED) == Relations(same=((2, 1),), untrue=((3, 4),))


def test_the_statement_with_the_later_day_is_never_the_untrue_one() -> None:
    assert read(untrue=[{"old": 4, "new": 3}]).untrue == ((3, 4),)


@pytest.mark.parametrize(
    ("old", "new", "now", "wording"),
    [
        (3, 4, "The retry limit is 5, as before.", "The retry limit is 5, as before"),
        (3, 4, "The retry limit is 6.", ""),
        (3, 4, "Five.", ""),
        (3, 4, "The \x1b[31mretry\x1b[m limit is 5.", "The retry limit is 5"),
        (3, 4, "The retry limit is \x00 5.", ""),
        (3, 4, "The retry limit is \ud800 5.", ""),
        (4, 3, "The retry limit is 5, as before.", ""),
    ],
)
def test_a_corrected_wording_is_used_if_it_invents_nothing(
    old: int, new: int, now: str, wording: str
) -> None:
    found = read(untrue=[{"old": old, "new": new, "now": now}, {"old": 1, "new": 4, "now": ""}])
    assert found == Relations(untrue=((1, 4),), corrected=((3, 4, wording),))


def test_a_part_of_a_number_proves_no_other() -> None:
    asked = [Sentence(1, "2026-01-02", "The limit is 15."), Sentence(2, "2026-01-03", "Not so.")]
    untrue = [{"old": 1, "new": 2, "now": "The limit is 5."}]
    assert read_relations(json.dumps({"untrue": untrue}), asked).corrected == ((1, 2, ""),)


def test_of_two_corrections_of_one_statement_the_second_is_left_to_the_person() -> None:
    five, three = "The retry limit is 5 here", "The retry limit is 3 there"
    found = read(untrue=[{"old": 3, "new": 4, "now": five}, {"old": 3, "new": 2, "now": three}])
    assert found == Relations(corrected=((3, 4, five), (3, 2, "")))


@pytest.mark.parametrize(
    "answer",
    [
        {"same": [[1]]},
        {"same": [[1, 99]]},
        {"same": [[1, 1]]},
        {"same": "1, 2"},
        {"same": [[True, "2"]]},
        {"untrue": [{"old": 3}, [3, 4], {"old": 3, "new": 3}]},
        {"contradict": [[1, 2, 3], [3, 99], None]},
    ],
)
def test_what_names_nothing_that_was_asked_counts_as_not_said(answer: dict[str, object]) -> None:
    assert read(**answer) == Relations()


def test_a_statement_is_in_one_group_and_a_pair_is_said_once() -> None:
    found = read(
        same=[[1, 2], [2, 3]],
        untrue=[{"old": 3, "new": 4}, {"old": 1, "new": 2}],
        contradict=[[4, 3], [1, 3]],
    )
    assert found == Relations(same=((1, 2),), untrue=((3, 4),), contradict=((1, 3),))


@pytest.mark.parametrize("answer", ["", "Nothing.", "{", "[1, 2]", "{" * 100_000])
def test_an_answer_without_an_object_says_nothing(answer: str) -> None:
    assert read_relations(answer, ASKED) == Relations()
