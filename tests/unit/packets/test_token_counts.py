"""Pieces add up to the whole, contain no secrets, and their counts are cached."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer.packets.token_counts import ESTIMATE, MOST_FILES, CountCache, Measurer
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


def test_an_estimate_is_a_quarter_of_the_bytes_and_loads_nothing() -> None:
    measurer = Measurer(ESTIMATE)
    assert measurer.piece("abcd" * 10).tokens == 11
    assert not measurer.loaded


def test_a_piece_has_no_secret_and_nothing_that_a_terminal_obeys(encoder: Measurer) -> None:
    piece = encoder.piece("the key is AKIAQWERTYUIOPASDFGH \x1b[31m\u202e")
    assert "AKIAQWERTYUIOPASDFGH" not in piece.text
    assert "\x1b" not in piece.text
    assert "\u202e" not in piece.text
    assert piece.masked == 1


def measurer_in(folder: Path) -> Measurer:
    return Measurer("cl100k_base", CountCache("kiosk", "cl100k_base", folder))


def cache_file(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A cache folder with one counted text."""
    folder = tmp_path / "cache"
    measurer = measurer_in(folder)
    measurer.piece("Two words")
    assert measurer.keep() == ""
    return folder


def test_a_counted_text_needs_no_encoding_in_the_next_call(tmp_path: Path) -> None:
    texts = ["Two words", "password = hunter2hunter2X9"]
    first = measurer_in(tmp_path)
    pieces = [first.piece(text) for text in texts]
    assert first.keep() == ""
    second = measurer_in(tmp_path)
    assert [second.piece(text) for text in texts] == pieces
    assert first.loaded
    assert not second.loaded
    second.piece("Three words now")
    assert second.loaded


def test_the_cache_has_only_masked_texts_and_is_private(tmp_path: Path) -> None:
    measurer = measurer_in(tmp_path / "new")
    measurer.piece("Nobody reads this")
    measurer.piece("password = hunter2hunter2X9")
    measurer.keep()
    path = cache_file(tmp_path / "new")
    assert "Nobody" not in path.read_text()
    assert "hunter2" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"format":"FORMAT","counts":[1]}',
     b'{"format":"FORMAT","counts":{"a":["x",0,0]}}', b'{"format":"FORMAT","counts":{"a":[1]}}'],
)  # fmt: skip
def test_a_damaged_cache_is_reported_and_written_again(counted: Path, damage: bytes) -> None:
    path = cache_file(counted)
    form = json.loads(path.read_text())["format"]
    path.write_bytes(damage.replace(b"FORMAT", form.encode()))
    measurer = measurer_in(counted)
    assert measurer.piece("Two words").tokens == 3
    assert measurer.loaded
    assert "damaged" in measurer.keep()
    again = measurer_in(counted)
    assert again.piece("Two words").tokens == 3
    assert not again.loaded


@pytest.mark.parametrize("form", ["counts of an older version", 3])
def test_a_cache_written_by_other_code_is_not_used(counted: Path, form: str | int) -> None:
    path = cache_file(counted)
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": form}))
    measurer = measurer_in(counted)
    measurer.piece("Two words")
    assert measurer.loaded
    assert measurer.keep() == ""


def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    measurer = measurer_in(tmp_path / "file")
    assert measurer.piece("Two words").tokens == 3
    assert "cannot be" in measurer.keep()


def test_counts_that_are_no_longer_used_are_dropped(counted: Path) -> None:
    measurer = measurer_in(counted)
    measurer.piece("Something else")
    measurer.keep(forget=True)
    again = measurer_in(counted)
    again.piece("Something else")
    assert not again.loaded
    again.piece("Two words")
    assert again.loaded


def test_old_cache_files_are_deleted(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 3):
        (tmp_path / f"{number}.json").write_text("")
        os.utime(tmp_path / f"{number}.json", (number, number))
    measurer = measurer_in(tmp_path)
    measurer.piece("Two words")
    measurer.keep()
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) == MOST_FILES
    assert "0.json" not in names
    assert f"{MOST_FILES + 2}.json" in names
