"""Choosing the units of a summary: greedy, without comparing each with all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.compression.anchor_types import Section
from reviewer.compression.extractive.coverage import (
    SAME,
    Coverage,
    DuplicateIndex,
    Piece,
    Selection,
)
from reviewer.compression.extractive.units import Form, SourceUnit
from reviewer.compression.words import Expected, words_of

WORDS = ("drawer", "kiosk", "opens", "twice", "spool", "printer", "7", "12", "late", "receipt")
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=12
)


def pieces_of(texts: list[str]) -> list[Piece]:
    """A piece for each text that costs as many tokens as it has words; capitals are its names."""
    expected = Expected([words_of(text) for text in texts])
    return [
        Piece(
            number,
            SourceUnit(0, Form.PROSE, text),
            Section.FINDINGS,
            len(text.split()),
            expected,
            names=[word for word in text.split() if word in ("spool", "printer")],
        )
        for number, text in enumerate(texts)
    ]


def says(other: Piece, piece: Piece) -> bool:
    """What `DuplicateIndex` promises, for one pair."""
    if piece.key in other.key:
        return True
    common, either = len(piece.bag & other.bag), len(piece.bag | other.bag)
    missing = piece.bag - other.bag
    return (
        set(piece.names) <= set(other.names)
        and common > SAME * either
        and not any(word.isdigit() for word in missing)
    )


@given(texts=TEXTS)
def test_the_index_finds_what_comparing_with_each_would_find(texts: list[str]) -> None:
    *others, piece = pieces_of(texts)
    expected = any(says(other, piece) for other in others)
    assert DuplicateIndex(others).contains_similar(piece) == expected


def test_another_number_is_another_fact() -> None:
    texts = ["the drawer of kiosk 7 opens twice late at night", "the drawer opens twice late"]
    other = "the drawer of kiosk 12 opens twice late at night"
    said, short, new = pieces_of([*texts, other])
    assert not DuplicateIndex([said]).contains_similar(new)
    assert not DuplicateIndex([said]).contains_similar(short)
    assert DuplicateIndex([said]).contains_similar(
        pieces_of(["the drawer of kiosk 7 opens late twice at night"])[0]
    )


@given(texts=TEXTS, budget=st.integers(1, 40))
def test_every_choice_adds_the_most_for_its_tokens(texts: list[str], budget: int) -> None:
    pieces = pieces_of(texts)
    selection = Selection(pieces, Coverage({"spool": 1.0}))
    selection.fill(budget)
    assert selection.spent == sum(piece.cost for piece in selection.chosen) <= budget

    covered, spent, taken = Coverage({"spool": 1.0}), 0, list[Piece]()
    for piece in pieces:
        covered.register(piece)
    for chosen in selection.chosen:
        best = max(
            (
                covered.gain(piece) / piece.cost
                for piece in pieces
                if spent + piece.cost <= budget and not any(says(other, piece) for other in taken)
            ),
            default=0.0,
        )
        assert covered.gain(chosen) / chosen.cost >= best
        covered.take(chosen)
        spent += chosen.cost
        taken.append(chosen)


def test_thousands_of_lines_of_one_kind_are_not_all_weighed_for_each_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weighed: list[Piece] = []
    gain = Coverage.gain

    def counted(self: Coverage, piece: Piece) -> float:
        weighed.append(piece)
        return gain(self, piece)

    monkeypatch.setattr(Coverage, "gain", counted)
    texts = [f"the drawer of kiosk {n * 7919 % 9973} opens twice after {n} s" for n in range(1_200)]
    selection = Selection(pieces_of(texts), Coverage({}))
    selection.fill(6_000)
    assert len(selection.chosen) == 600
    assert len(weighed) < 130 * len(selection.chosen)
