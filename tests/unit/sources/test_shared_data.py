"""Real transcripts and notes, where they are at hand: nothing crashes, every position holds."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from reviewer.errors import SourceError
from reviewer.sources.open import open_source
from reviewer.sources.records import Use

DATA = Path(__file__).parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no shared data beside the project")


def test_every_record_of_every_file_is_at_its_bytes() -> None:
    given = 0
    for path in sorted(path for path in DATA.rglob("*") if path.is_file()):
        data = path.read_bytes()
        try:
            scan = open_source(path)
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
    assert given > 2000


def test_no_wrapper_passes_for_a_persons_words() -> None:
    for path in sorted((DATA / "transcripts" / "claude-code").rglob("*.jsonl")):
        for record in open_source(path):
            if record.use is Use.SAID:
                assert not record.text.lstrip().startswith(
                    ("<command-", "<local-", "<task-", "<ide_")
                )
