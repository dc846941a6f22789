"""Pieces add up to the whole, leave without secrets, and are kept between calls."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer.packets.cache import CountCache
from reviewer.packets.measuring import ESTIMATE, Measurer, Piece
from reviewer.text.tokens import counter

text = st.text(
    st.sampled_from("ab1 .-*`)(\t\n¤é漢🙂'#[]:\u200b\x1b"), min_size=1, max_size=30
).filter(str.strip)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(text, st.booleans()), min_size=1, max_size=8))
def test_the_tokens_of_a_text_are_those_of_its_pieces(encoder, parts):
    pieces = [(encoder.piece(part), spaced) for part, spaced in parts]
    whole = "".join(
        f"{piece.text}\n\n" if spaced else f"{piece.text}\n" for piece, spaced in pieces
    )
    expected = sum(piece.tokens + (piece.gap if spaced else 0) for piece, spaced in pieces)
    assert counter().count(whole) == expected


def test_an_estimate_is_a_quarter_of_the_bytes_and_loads_nothing():
    measurer = Measurer(ESTIMATE)
    assert measurer.piece("abcd" * 10).tokens == 11
    assert not measurer.loaded


def test_a_piece_has_no_secret_and_nothing_that_a_terminal_obeys(encoder):
    piece = encoder.piece("the key is AKIAQWERTYUIOPASDFGH \x1b[31m\u202e")
    assert "AKIAQWERTYUIOPASDFGH" not in piece.text
    assert "\x1b" not in piece.text
    assert "\u202e" not in piece.text
    assert piece.masked == 1


def forbidden(_: str) -> int:
    raise AssertionError("counted again")


def second_call(folder: Path) -> Measurer:
    measurer = Measurer("cl100k_base", CountCache("kiosk", "cl100k_base", folder))
    measurer._count = forbidden
    return measurer


def test_what_was_counted_is_not_counted_again(tmp_path):
    first = Measurer("cl100k_base", CountCache("kiosk", "cl100k_base", tmp_path))
    pieces = [first.piece("Two words"), first.piece("password = hunter2hunter2X9")]
    assert first.keep() == ""
    second = second_call(tmp_path)
    assert [second.piece("Two words"), second.piece("password = hunter2hunter2X9")] == pieces
    with pytest.raises(AssertionError):
        second.piece("Three words now")


def test_the_cache_holds_no_words_but_masked_ones_and_is_private(tmp_path):
    cache = CountCache("kiosk", "cl100k_base", tmp_path / "new")
    measurer = Measurer("cl100k_base", cache)
    measurer.piece("Nobody reads this")
    measurer.piece("password = hunter2hunter2X9")
    measurer.keep()
    held = cache.path.read_text()
    assert "Nobody" not in held
    assert "hunter2" not in held
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.path.parent.stat().st_mode) == 0o700
    assert [each.name for each in cache.path.parent.iterdir()] == [cache.path.name]


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"format": 3}', b'{"format":"HEADER","counts":[1]}',
     b'{"format":"HEADER","counts":{"a":["x",0,0]}}', b'{"format":"HEADER","counts":{"a":[1]}}'],
)  # fmt: skip
def test_a_damaged_cache_is_said_and_made_again(tmp_path, damage):
    cache = CountCache("kiosk", "cl100k_base", tmp_path)
    cache.path.write_bytes(damage.replace(b"HEADER", cache._header.encode()))
    again = CountCache("kiosk", "cl100k_base", tmp_path)
    assert again.get("Two words") is None
    if damage != b'{"format": 3}':
        assert "damaged" in again.problem
    measurer = Measurer("cl100k_base", again)
    measurer.piece("Two words")
    measurer.keep()
    assert second_call(tmp_path).piece("Two words").tokens == 3


def test_a_cache_of_other_code_is_not_used(tmp_path):
    cache = CountCache("kiosk", "cl100k_base", tmp_path)
    cache.put("Two words", Piece("Two words", 1, 0))
    cache.write()
    held = json.loads(cache.path.read_text())
    cache.path.write_text(json.dumps({**held, "format": "counts of an older version"}))
    again = CountCache("kiosk", "cl100k_base", tmp_path)
    assert again.get("Two words") is None
    assert again.problem == ""


def test_a_place_that_cannot_be_written_is_said_and_nothing_fails(tmp_path):
    (tmp_path / "file").write_text("in the way")
    measurer = Measurer("cl100k_base", CountCache("kiosk", "cl100k_base", tmp_path / "file"))
    assert measurer.piece("Two words").tokens == 3
    assert "cannot be" in measurer.keep() or "can be kept" in measurer.keep()


def test_what_is_no_longer_used_is_forgotten(tmp_path):
    for words in ("first", "second"):
        measurer = Measurer("cl100k_base", CountCache("kiosk", "cl100k_base", tmp_path))
        measurer.piece(words)
        measurer.keep(forget=True)
    cache = CountCache("kiosk", "cl100k_base", tmp_path)
    assert cache.get("first") is None
    assert cache.get("second") is not None
