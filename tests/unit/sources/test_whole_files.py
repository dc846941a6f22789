"""Whole transcripts and notes: no reader crashes, and every record is at its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from reviewer.errors import SourceError
from tests.unit.sources.builders import Scanned


def test_every_record_of_every_file_is_at_its_bytes(data_folders: list[Path]) -> None:
    given = 0
    for path in sorted(path for folder in data_folders for path in folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        try:
            scan = Scanned(path)
            records = list(scan)
        except SourceError:
            continue
        assert len({record.key for record in records}) == len(records)
        for record in records:
            raw = data[record.byte_start : record.byte_end]
            assert hashlib.sha256(raw).hexdigest() == record.sha256
            assert record.line_start == data[: record.byte_start].count(b"\n")
            assert record.line_start < record.line_end
        given += len(records)
    assert given > 100
