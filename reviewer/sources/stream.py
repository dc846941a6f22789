"""The single pass over a file: its events, interleaved with the records for the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from reviewer.sources.event_maker import EventMaker
from reviewer.sources.events import Event, Rewind
from reviewer.sources.format import Format
from reviewer.sources.open import recognised
from reviewer.sources.reading import Reading
from reviewer.sources.record_maker import RecordMaker
from reviewer.sources.records import Record, RecordUse
from reviewer.sources.turns import Turn

REWOUND = str(RecordUse.REWOUND)


class EventStream:
    """The content of one file; iterate once, in one of its ways. This fills `tally` and
    `errors`.
    """

    def __init__(self, found: Format, reading: Reading) -> None:
        self._read, self.path, self.format = found.turns, reading.path, found.name
        self.is_log = found.is_log
        """The lines of the file are in time order."""
        self.several = found.several or found.outlines is not None
        """The file may have several conversations."""
        self._reading = reading
        self.tally, self.errors = reading.tally, reading.errors

    def __iter__(self) -> Iterator[Event]:
        for each in self.with_records(records=False):
            if not isinstance(each, Record):
                yield each

    def kept(self) -> list[Event]:
        """The events that the person did not take back, in line order."""
        events: list[Event] = []
        for event in self:
            if isinstance(event, Rewind):
                before = len(events)
                lines = range(event.first, event.end)
                events = [each for each in events if each.origin.line_start not in lines]
                self.tally[REWOUND] += before - len(events)
            else:
                events.append(event)
        return sorted(events, key=lambda each: each.origin.line_start) if self.is_log else events

    def records(self) -> Iterator[Record]:
        """The records with their final use, in line order."""
        records: list[Record] = []
        for each in self.with_records(events=False):
            if isinstance(each, Rewind):
                records = [_rewound(record, each) for record in records]
            elif isinstance(each, Record):
                if not self.is_log:
                    yield each
                    continue
                records.append(each)
        yield from sorted(records, key=lambda each: each.line_start)

    def _turns(self) -> Iterator[Turn | Rewind]:
        """The turns of the wanted lines and sessions as they come; a Rewind takes back those on its
        lines. Repeated ones, as in a resumed session, come once; another text under the same id is
        another turn.
        """
        reading, seen = self._reading, set[int]()
        for turn in self._read(reading):
            if isinstance(turn, Turn):
                origin = turn.origin
                if not origin.key.endswith(origin.sha256):  # it has an id
                    texts = [part.text for part in turn.parts]
                    name = hash((origin.key, origin.conversation, *texts))
                    if name in seen:
                        self.tally["repeated"] += 1
                        continue
                    seen.add(name)
                if origin.line_start < reading.first or origin.line_end > reading.end:
                    continue
                if reading.sessions is not None and origin.session not in reading.sessions:
                    continue
            yield turn

    def with_records(
        self, *, events: bool = True, records: bool = True
    ) -> Iterator[Record | Event]:
        """The records as soon as they are complete, between the events. A Rewind, which is yielded
        even without `events`, takes back the records on its lines.
        """
        maker, kept = EventMaker(self.format), RecordMaker(self._reading, self.format)
        for turn in self._turns():
            if isinstance(turn, Rewind):
                yield from kept.close()
                yield turn
                continue
            if records:
                yield from kept.add(turn)
            elif turn.rewound:
                self.tally[REWOUND] += len(turn.parts)
            if events:
                yield from maker.of_turn(turn)
        yield from kept.close()


def _rewound(record: Record, rewind: Rewind) -> Record:
    left = rewind.first <= record.line_start < rewind.end and record.use is RecordUse.MESSAGE
    return structs.replace(record, use=RecordUse.REWOUND) if left else record


def read(
    path: Path,
    *,
    line_start: int = 0,
    line_end: int | None = None,
    sessions: frozenset[str] | None = None,
) -> EventStream:
    """The events of a file, in one pass; lines are 0-based and half-open.

    `sessions`: which ones to read of a file with several. Raises OtherKindError if reviewer does
    not read this kind of file, and SourceError, here or while iterating, if it cannot be read.
    """
    found, reading = recognised(path)
    reading.first, reading.sessions = line_start, sessions
    reading.end = float("inf") if line_end is None else line_end
    return EventStream(found, reading)
