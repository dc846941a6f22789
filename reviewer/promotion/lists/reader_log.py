"""The sessions read by a reader, listed beside the store, and the estimated cost of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from reviewer.errors import StoreError
from reviewer.files import append_own, read_own, write_atomic
from reviewer.llm.readers import Reader
from reviewer.promotion.lists.source_view import session_rows
from reviewer.sharing import personal
from reviewer.sources.records import RecordUse
from reviewer.store.database import Database
from reviewer.text.numerals import count

TOKENS_A_SESSION, TOKENS_A_CHARACTER, TOKENS_A_MEGABYTE = 1_900, 0.5, 1_500
"""Measured size of a prompt by characters of the dialogue and bytes of the file, rounded up."""
ANSWER_TOKENS = 900
MAX_OFFERED = 150_000
"""Tokens of one offer; the remaining sessions are offered after it."""
GROWN = 1.25
"""A session that has grown by this factor since it was read is offered again."""


class ReadSession(Struct, frozen=True, kw_only=True):
    """A session read by a reader. `end`: the offset in its text up to which it was read, 0 if the
    file has rows or several conversations.
    """

    project: str
    path: str
    bytes: int
    reader: str
    at: str
    end: int = 0


class Offer(Struct, frozen=True):
    """Sessions that a reader could read now, and the estimated cost; `beyond`: further sessions."""

    reader: Reader
    sessions: int
    tokens_in: int
    tokens_out: int
    beyond: int = 0

    def of(self, sessions: int) -> Offer:
        """The same for another number of the newest sessions, at a cost in proportion."""
        share = sessions / self.sessions
        return structs.replace(
            self,
            sessions=sessions,
            tokens_in=max(int(round(self.tokens_in * share, -3)), 1_000),
            tokens_out=sessions * ANSWER_TOKENS,
            beyond=self.sessions + self.beyond - sessions,
        )

    @property
    def what(self) -> str:
        """`12 sessions`, `the 12 newest of 14 sessions`"""
        number = f"{self.sessions:,} newest" if self.sessions > 1 else "newest"
        newest = f"the {number} of {self.sessions + self.beyond:,} sessions"
        return newest if self.beyond else count(self.sessions, "session")

    @property
    def sentence(self) -> str:
        """`Claude Code on 12 sessions: about 70,000 tokens in, 8,000 out`"""
        return f"{self.reader.title} on {self.what}: {self.price}"

    @property
    def short(self) -> str:
        """The same for a narrow screen."""
        return f"{self.reader.title}: {self.price}"

    @property
    def price(self) -> str:
        """`about 70,000 tokens in, 8,000 out`"""
        return f"about {self.amounts}"

    @property
    def amounts(self) -> str:
        return f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out"

    @property
    def command(self) -> str:
        return " ".join(("reviewer propose", *self.reader.options, f"--newest {self.sessions}"))


class ReaderLog:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._path = personal(database.path, ".readings")

    def note(self, session: ReadSession) -> None:
        """Record a session. Raises StoreError if the file cannot be written."""
        try:
            append_own(self._path, msgspec.json.encode(session) + b"\n")
        except OSError as problem:
            raise StoreError(f"{self._path} cannot be written: {problem.strerror}.") from problem

    def all(self) -> list[ReadSession]:
        """Every session, oldest first; a damaged line counts as none. Raises StoreError."""
        try:
            lines = read_own(self._path).splitlines()
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise StoreError(f"{self._path} cannot be read: {problem.strerror}.") from problem
        found = []
        for line in lines:
            try:
                found.append(_decoder.decode(line))
            except msgspec.MsgspecError:
                continue
        return found

    def forget(self, project: str) -> None:
        """Remove the sessions of a project. Raises StoreError and OSError."""
        kept = [each for each in self.all() if each.project != project]
        if self._path.exists():
            write_atomic(self._path, b"".join(msgspec.json.encode(each) + b"\n" for each in kept))

    def unread(self, project: str) -> list[Path]:
        """The ingested sessions that no reader has read, newest first."""
        return [path for path, _, _ in self._unread(project)]

    def ends(self, project: str) -> dict[Path, int]:
        """The offset up to which each session of a project was read."""
        return {Path(each.path): each.end for each in self.all() if each.project == project}

    def offer(self, readers: Sequence[Reader], project: str) -> list[Offer]:
        """The unread sessions that each reader could read in one go."""
        if not readers:
            return []
        unread = self._unread(project)
        sessions, tokens = 0, 0.0
        ends = self.ends(project)
        for path, size, source in unread:
            new = max(1 - ends.get(path, 0) / size, 0)
            more = TOKENS_A_CHARACTER * self._said(source) + TOKENS_A_MEGABYTE * size / 1e6
            more = TOKENS_A_SESSION + new * more
            if sessions and tokens + more > MAX_OFFERED:
                break
            sessions, tokens = sessions + 1, tokens + more
        if not sessions:
            return []
        said = max(round(tokens, -3), 1_000)
        beyond = len(unread) - sessions
        return [
            Offer(each, sessions, int(said), sessions * ANSWER_TOKENS, beyond) for each in readers
        ]

    def _unread(self, project: str) -> list[tuple[Path, int, int]]:
        """The unread sessions with their bytes and the number of their source."""
        read: dict[str, int] = {}
        for each in self.all():
            if each.project == project:
                read[each.path] = max(each.bytes, read.get(each.path, 0))
        rows = session_rows(self._database, project, "abs(s.bytes)", "s.id")
        return [
            (Path(path), size, source)
            for path, size, source in rows
            if size > read.get(path, 0) * GROWN
        ]

    def _said(self, source: int) -> int:
        """Characters of a session's dialogue, by a person or the agent."""
        ((said,),) = self._database.query(
            "SELECT coalesce(sum(length(text)), 0) FROM record WHERE source_id = ?"
            " AND role IN ('user', 'assistant') AND use = ?",
            (source, str(RecordUse.MESSAGE)),
        )
        return int(said)


_decoder = msgspec.json.Decoder(ReadSession)
