"""Both extractors over records, one after the other: everything they say, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.extraction.candidates import Setting
from reviewer.extraction.entities.extract import judge_entities
from reviewer.extraction.extract import KNOWN_TEXT, Statements
from reviewer.extraction.judged import Began, Event, Remembered, sentences
from reviewer.sources.records import Record, Use


class Findings:
    """Looks at the records of one source. Knows no other source, so it may run anywhere."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._statements = Statements(setting)

    def feed(self, record: Record) -> Iterator[Event]:
        """What is said of a record, and of the one before it, which its successor explains."""
        yield Began(record.key)
        if record.use in KNOWN_TEXT:
            yield Remembered(sentences(record.text))
        elif record.use is Use.SAID:
            yield from judge_entities(record, self._setting)
            yield from self._statements.feed(record)

    def finish(self) -> Iterator[Event]:
        """What is said of the last record."""
        yield from self._statements.finish()
