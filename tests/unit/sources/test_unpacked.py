"""Compressed files are read as the text inside them, at the lines and offsets of that text."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.errors import SourceError
from reviewer.promotion.lists.source_view import record_state, window
from reviewer.promotion.views import SourceState
from reviewer.sources import unpacked
from reviewer.sources.records import Record
from reviewer.sources.walk import walk
from tests.conftest import SAMPLE_DATA
from tests.unit.sources.builders import Scanned, put

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NOTE = "# Printing Ċ\n\n- [Decision] Receipts are printed on paper without BPA.\n"

Pack = Callable[[bytes], bytes]
both = pytest.mark.parametrize(
    ("pack", "suffix"), [(gzip.compress, ".gz"), (zstd.compress, ".zst")], ids=["gz", "zst"]
)
each_form = pytest.mark.parametrize(
    ("pack", "suffix"),
    [
        (gzip.compress, ".gz"),
        (zstd.compress, ".zst"),
        (lambda data: data.decode().encode("utf-16"), ""),
        (lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"), ""),
    ],
    ids=["gz", "zst", "utf16", "utf16 the other way"],
)


def records(path: Path) -> list[Record]:
    """What a reader finds."""
    return list(Scanned(path))


@each_form
def test_the_same_records_at_the_same_places(pack: Pack, suffix: str, tmp_path: Path) -> None:
    for plain in sorted(SAMPLE_DATA.rglob("*.jsonl")):
        packed = put(tmp_path, f"{plain.name}{suffix}", pack(plain.read_bytes()))
        assert records(packed) == records(plain)


@each_form
def test_a_note_keeps_its_kind_and_its_lines(pack: Pack, suffix: str, tmp_path: Path) -> None:
    packed = put(tmp_path, f"notes.md{suffix}", pack(NOTE.encode()))
    (record,) = records(packed)
    assert "without BPA" in record.text
    assert window(packed, 2, 3).lines == (NOTE.split("\n")[2],)
    place = (record.byte_start, record.byte_end, record.sha256)
    assert record_state(packed, *place) is SourceState.SAME
    packed.write_bytes(pack(b"# Another\n\nWords that are not the same at all.\n"))
    assert record_state(packed, *place) is SourceState.CHANGED


@both
def test_folders_are_searched_for_them(pack: Pack, suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"notes.md{suffix}").write_bytes(pack(NOTE.encode()))
    (tmp_path / f"photo.png{suffix}").write_bytes(pack(NOTE.encode()))
    (tmp_path / f"program{suffix}").write_bytes(pack(bytes(range(256)) * 40))
    found = {each.path.name: each.reason for each in walk([tmp_path])}
    left_out = {f"photo.png{suffix}": "binary", f"program{suffix}": "binary"}
    assert found == {f"notes.md{suffix}": "", **left_out}


@both
def test_one_that_ends_too_early_or_is_damaged_says_so(
    pack: Pack, suffix: str, tmp_path: Path
) -> None:
    packed = tmp_path / f"notes.md{suffix}"
    whole = pack(NOTE.encode() * 9_000)
    packed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="cannot be read: the compressed file ends too early"):
        records(packed)
    packed.write_bytes(whole[:6] + b"\xff" * (len(whole) - 6))
    with pytest.raises(SourceError, match="cannot be read: the compressed file is damaged"):
        records(packed)


@both
@pytest.mark.parametrize("limit", ["UNPACKED_LIMIT", "ANY_RATIO"])
def test_one_that_would_fill_the_disk_is_refused(
    limit: str, pack: Pack, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, limit, 8_000_000)
    bomb = put(tmp_path, f"notes.md{suffix}", pack(b"0" * 40_000_000))
    with pytest.raises(SourceError, match=r"more than [\d,]+ bytes inside: unpack it and check"):
        records(bomb)


@both
def test_a_database_inside_has_to_be_unpacked(pack: Pack, suffix: str, tmp_path: Path) -> None:
    packed = put(tmp_path, f"state.db{suffix}", pack(b"SQLite format 3\0" + bytes(100)))
    with pytest.raises(SourceError, match="a compressed database or archive"):
        records(packed)


@both
def test_a_compressed_file_in_a_compressed_file_is_not_unpacked_again(
    pack: Pack, suffix: str, tmp_path: Path
) -> None:
    nested = put(tmp_path, f"session.jsonl{suffix}", pack(pack(NOTE.encode())))
    with pytest.raises(SourceError, match="is not text"):
        records(nested)
