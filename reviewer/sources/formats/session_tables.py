"""Shared by the formats with many sessions in one database: a row per session and per message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from reviewer.sources.databases import Connection, opened
from reviewer.sources.fields import words
from reviewer.sources.reading import Reading, Spot, decoded, row_spot
from reviewer.sources.turns import Session, Turn

UNREADABLE = "row that cannot be read"
"""The tally reason for such rows."""


class MessageRow(Struct, frozen=True):
    """A message of a session, with the connection for data in other tables."""

    number: int
    """0-based, over all sessions of the database."""
    values: tuple[object, ...]
    """The columns selected by the format's query."""
    database: Connection
    tally: Counter[str]

    def spot(self, raw: object) -> Spot:
        """Its position. `raw`: the data to hash, so that changes to the message are noticed."""
        return row_spot(self.number, raw if isinstance(raw, bytes) else words(raw))


Stored = TypeVar("Stored", bound=Session)


class SessionTables(Struct, Generic[Stored], frozen=True, kw_only=True):
    """How a format lists its sessions and reads their messages."""

    sessions: Callable[[Connection, Path], list[Stored]]
    """The sessions in a fixed order."""
    messages: Callable[[Connection], str]
    """The query for the messages of one session in order; its parameter is the session's id."""
    turn: Callable[[Stored, MessageRow], Turn | None]
    """Called for a session's messages in order; returns None for an unreadable one."""

    def turns(self, reading: Reading) -> Iterator[Turn]:
        """The messages of the wanted sessions; a row counts as a line.

        All rows are numbered, so that positions do not depend on which sessions are wanted.
        """
        wanted = reading.sessions
        with opened(reading.path) as database:
            query = self.messages(database)
            number = 0
            for session in self.sessions(database, reading.path):
                if wanted is not None and session.id not in wanted:
                    count = f"SELECT count(*) FROM ({query})"
                    number += database.execute(count, (session.id,)).fetchone()[0]
                    continue
                for values in database.execute(query, (session.id,)):
                    row = MessageRow(number, values, database, reading.tally)
                    number += 1
                    if turn := self.turn(session, row):
                        yield turn
                    else:
                        reading.tally[UNREADABLE] += 1

    def outlines(self, path: Path) -> list[Stored]:
        """The sessions of a database. Raises SourceError if it cannot be read."""
        with opened(path) as database:
            return self.sessions(database, path)


def stored_json(value: object, tally: Counter[str]) -> object:
    """The decoded JSON of a column; None if it cannot be read."""
    data = value.encode("utf-8", "replace") if isinstance(value, str) else value
    try:
        return decoded(data, tally) if isinstance(data, bytes) else None
    except (ValueError, RecursionError):
        return None
