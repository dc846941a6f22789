"""Records and candidates for these tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reviewer.extraction.candidates import Candidate, MemoryType, Setting
from reviewer.extraction.extract import BootText, Dropped, Extractor
from reviewer.sources.records import Record, Role, Shape

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
SETTING = Setting(NOW)


def record(text: str, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "key": "r1",
        "line_start": 3,
        "line_end": 4,
        "byte_start": 0,
        "byte_end": len(text),
        "sha256": "0" * 64,
        "role": Role.ASSISTANT,
        "text": text,
    }
    return Record(**(values | changes))


def note(text: str, **changes: Any) -> Record:
    lines = text.count("\n") + 1
    values: dict[str, Any] = {
        "role": Role.NOTE,
        "shape": Shape.SECTION,
        "line_start": 10,
        "line_end": 10 + lines,
    }
    return record(text, **(values | changes))


def candidate(content: str, **changes: Any) -> Candidate:
    values: dict[str, Any] = {
        "type": MemoryType.KNOWLEDGE,
        "content": content,
        "rule": "root_cause",
        "prior": 0.5,
        "signal": 1.0,
        "freshness": 1.0,
        "confidence": 0.5,
        "record": record(content),
        "span_start": 0,
        "span_end": len(content),
        "extractor_version": "0.1.0",
    }
    return Candidate(**(values | changes))


def settled(*records: Record) -> list[Candidate | Dropped]:
    """What becomes of the statements of a source."""
    extractor, known = Extractor(SETTING), BootText()
    outcomes = (known.settle(event) for record in records for event in extractor.feed(record))
    return [each for each in outcomes if each is not None]


def extract(*records: Record) -> list[Candidate]:
    return [each for each in settled(*records) if isinstance(each, Candidate)]
