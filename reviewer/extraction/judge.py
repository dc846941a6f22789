"""Runs both extractors on the records of one source."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.extraction.candidates import Setting
from reviewer.extraction.entities.extract import judge_entities
from reviewer.extraction.extract import KNOWN_TEXT, Statements
from reviewer.extraction.verdicts import Began, Event, Remembered, sentences
from reviewer.sources.records import Record, Use


class Judge:
    """Judges the records of one source, independently of all other sources."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._statements = Statements(setting)

    def feed(self, record: Record) -> Iterator[Event]:
        """Verdicts on a record's entities, and on the statements of the record before it."""
        yield Began(record.key)
        if record.use in KNOWN_TEXT:
            yield Remembered(sentences(record.text))
        elif record.use is Use.MESSAGE:
            yield from judge_entities(record, self._setting)
            yield from self._statements.feed(record)

    def finish(self) -> Iterator[Event]:
        yield from self._statements.finish()
