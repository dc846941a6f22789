"""Pieces add up to the whole, and contain no secrets."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer.packets.token_counts import Measurer
from reviewer.text.tokens import counter

text = st.text(
    st.sampled_from("ab1 .-*`)(\t\n¤é漢🙂'#[]:\u200b\x1b"), min_size=1, max_size=30
).filter(str.strip)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(text, st.booleans()), min_size=1, max_size=8))
def test_the_tokens_of_a_text_are_those_of_its_pieces(
    encoder: Measurer, parts: list[tuple[str, bool]]
) -> None:
    pieces = [(encoder.piece(part), spaced) for part, spaced in parts]
    whole = "".join(
        f"{piece.text}\n\n" if spaced else f"{piece.text}\n" for piece, spaced in pieces
    )
    expected = sum(piece.tokens + (piece.gap if spaced else 0) for piece, spaced in pieces)
    assert counter().count(whole) == expected
