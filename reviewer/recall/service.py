"""Recall: the memories of a moment, the moments of a memory, and its uses."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.extraction.planted import is_planted
from reviewer.recall.at_call import MAX_MEMORIES, HookEvent, found_at, note_uses
from reviewer.recall.event_kinds import CALL, FILE, START
from reviewer.recall.moments import (
    BESIDE,
    NEVER,
    Moment,
    MomentKind,
    derived,
    read_moments,
)
from reviewer.recall.outcomes import MemoryUse, UseOutcome, uses_of
from reviewer.recall.search import (
    IS_LEFT_OUT,
    Recalled,
    call_triggers_of,
    words_of_names,
)
from reviewer.recall.uses import (
    QUOTED,
    TEXT,
    WORD,
    in_transaction,
    note_start,
    put_moments,
)
from reviewer.sessions.signatures import signature
from reviewer.store.acts import AMONG, listed
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import Ledger
from reviewer.text.for_agents import AgentText, without_tags
from reviewer.text.numerals import count, times

if TYPE_CHECKING:
    from reviewer.promotion.views import Done


LONGEST_MEMORY = 420
"""Characters of a memory as shown to an agent at a call."""
LONGEST_CHOICE = 500


class UseCount(Struct, frozen=True):
    """Uses of a memory and their known outcomes. `starts`: packets that contained it; `needed`:
    packets after which the failure occurred anyway; `saved`: about as many calls, one average cost
    of the failure for each use that helped, shared with the memories of the same moment.
    """

    memory: int
    content: str
    used: int
    last: str
    held: int = 0
    broken: int = 0
    starts: int = 0
    needed: int = 0
    saved: float = 0

    @property
    def given(self) -> int:
        """How often agents got it, at a call or in a packet."""
        return self.used + self.starts

    @property
    def worth(self) -> tuple[float, ...]:
        """The sort key by worth: calls saved, then uses that helped, that did not, and of unknown
        outcome.
        """
        return self.saved, self.held, self.broken, self.used, self.starts

    @property
    def words(self) -> str:
        """`given 42 times (30 in packets), helped 9 times, failed again once, saved about 18
        calls`.
        """
        packets = f" ({self.starts:,} in packets)" if self.starts else ""
        parts = [f"given {times(self.given)}{packets}" if self.given else "not given yet"]
        for number, what in ((self.held, "helped"), (self.broken + self.needed, "failed again")):
            parts += [f"{what} {times(number)}"] if number else []
        if calls := round(self.saved):
            parts.append(f"saved about {count(calls, 'call')}")
        return ", ".join(parts)


def event_of(kind: str, text: str, session: str = "", command: str = "") -> HookEvent:
    """The event that a person asks about. `kind`: `command`, `error`, `path` or `prompt`;
    `command`: the call that failed.
    """
    if kind == CALL:
        return HookEvent(kind, session, command=text, tool=text.strip())
    if kind == FILE:
        return HookEvent(kind, session, paths=(text,))
    return HookEvent(kind, session, command=command, text=text)


class Recall:
    """Finds memories by moment, and reads and writes the moments of memories."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def at(self, project: str, event: HookEvent, limit: int = MAX_MEMORIES) -> list[Recalled]:
        """The memories of a project that an agent gets at an event, best first; recorded as given
        to its session, if it has one. Raises StoreError.
        """
        self.derive()
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            row = reader.execute("SELECT id FROM project WHERE name = ?", (project,)).fetchone()
            key, found = found_at(reader, row[0], event, limit) if row else ("", [])
        if found and event.session:
            now = iso(self._clock())

            def note(store: sqlite3.Connection) -> None:
                nonlocal found
                found = note_uses(store, event, key, found, now)

            self._write(note)
        return found

    def derive(self) -> int:
        """Derive the moments of promoted and changed memories; returns how many memories."""
        with failures_as_sentences(self._database.path):
            if not self._database.reader().execute(f"{_DUE} LIMIT 1").fetchone():
                return 0
        made: list[tuple[int, list[tuple[str, str]]]] = []

        def work(store: sqlite3.Connection) -> None:
            # Read inside the transaction, so that a choice made meanwhile is not lost.
            due = store.execute(_DUE).fetchall()
            made.extend((row[0], self._moment_rows(*row)) for row in due)
            put_moments(store, made)

        self._write(work)
        return len(made)

    def _moment_rows(
        self, memory: int, content: str, chosen: str, flags: str
    ) -> list[tuple[str, str]]:
        """The moments of a memory, the words inside its names, and its text for agents."""
        found = [
            (str(moment.kind), moment.value) for moment in self._moments(memory, content, chosen)
        ]
        for kind, value in tuple(found) if chosen else ():
            if kind == MomentKind.ERROR:
                said = value, signature(value)
                found += [(QUOTED, words.lower()) for words in said if words]
        found += [(WORD, word) for word in words_of_names(content)]
        return (
            found if is_planted(content, flags.split()) else [*found, (TEXT, _for_agents(content))]
        )

    def call_triggers(self) -> tuple[str, ...]:
        """The chosen calls of all projects: `guard git push`. Raises StoreError."""
        self.derive()
        with failures_as_sentences(self._database.path):
            return call_triggers_of(self._database.reader())

    def moments(self, memory: int, *, derived: bool = False) -> tuple[Moment, ...]:
        """The moments of a memory or candidate, or those that would be `derived` for it. Raises
        StoreError.
        """
        with failures_as_sentences(self._database.path):
            row = self._database.reader().execute(
                "SELECT content, moments FROM memory WHERE id = ?", (memory,)
            ).fetchone()  # fmt: skip
        return () if row is None else self._moments(memory, row[0], "" if derived else row[1])

    def roots(self, memory: int) -> list[str]:
        """The folders of a memory's project. Raises StoreError."""
        with failures_as_sentences(self._database.path):
            row = self._database.reader().execute(
                "SELECT p.root FROM memory m JOIN project p ON p.id = m.project_id WHERE m.id = ?",
                (memory,),
            ).fetchone()  # fmt: skip
        return row[0].split("\n") if row else []

    def left_out(self, project: str | None) -> frozenset[int]:
        """The memories that are left out of packets. Raises StoreError."""
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(
                f"SELECT m.id FROM memory m WHERE m.status = 'active' AND {IS_LEFT_OUT}"
                " AND (?1 IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?1))",
                (project,),
            )
            return frozenset(number for (number,) in rows)

    def leave_out(self, memory: int, *, out: bool = True) -> Done:
        """Leave a memory out of packets, or not any more, as one act; its other moments stay.

        Raises as `set_moments` does.
        """
        title = f"Left #{memory} out of packets" if out else f"Put #{memory} into packets again"
        others = (MomentKind.ALWAYS, MomentKind.PINNED)
        return self._mark(memory, MomentKind.ONLY, others, title, marked=out)

    def pin(self, memory: int, *, pinned: bool = True) -> Done:
        """Put a memory first in every packet, or not any more, as one act; its other moments stay.

        Raises as `set_moments` does.
        """
        title = f"Pinned #{memory}: first in its section" if pinned else f"Unpinned #{memory}"
        return self._mark(memory, MomentKind.PINNED, (MomentKind.ONLY,), title, marked=pinned)

    def _mark(
        self,
        memory: int,
        kind: MomentKind,
        others: Sequence[MomentKind],
        title: str,
        *,
        marked: bool,
    ) -> Done:
        """Give a memory a moment in place of `others`, or remove it with these."""

        def chosen(before: Sequence[Moment]) -> list[Moment]:
            kept = [each for each in before if each.kind not in (kind, *others)]
            return [*kept, Moment(kind)] if marked else kept

        return self._choose(memory, chosen, title)

    def set_moments(self, memory: int, moments: Sequence[Moment]) -> Done:
        """Choose the moments of a memory, as one act; an empty choice derives them again.

        Raises UnknownIdError, ConflictError, StoreError, and ReviewerError for unusable moments.
        """
        moments = tuple(dict.fromkeys(moments))
        chosen = ", ".join(each.shown for each in moments) or "derived"
        if len(chosen) > LONGEST_CHOICE:
            raise ReviewerError(f"Moments have at most {LONGEST_CHOICE} characters in total.")
        for moment in moments:
            if moment.value and not any(map(str.isalnum, moment.value)):
                raise ReviewerError(f"{moment} has no word that could be recognised.")
        kinds = {each.kind for each in moments}
        if MomentKind.ONLY in kinds and kinds & {MomentKind.ALWAYS, MomentKind.PINNED}:
            raise ReviewerError("no packet excludes always (in packets only) and pinned.")
        if kinds == {MomentKind.PATH, *NEVER}:
            raise ReviewerError(
                f"Nothing would hand out #{memory}: a path comes with prompts. Write edit in place"
                " of path, or leave out no prompt or no packet."
            )
        title = f"Set when agents get #{memory}: {chosen}"
        return self._choose(memory, lambda _: moments, title)

    def _choose(
        self, memory: int, chosen: Callable[[Sequence[Moment]], Sequence[Moment]], title: str
    ) -> Done:
        """Give a memory the moments that are `chosen` from those that it has within the act."""
        from reviewer.promotion.views import Done

        with self._ledger.act("edit", title) as act:
            rows = act.query("SELECT status, moments FROM memory WHERE id = ?", (memory,))
            if not rows:
                raise UnknownIdError(f"There is no candidate or memory #{memory}.")
            act.require_own("memory", [memory])
            if rows[0][0] not in ("candidate", "active"):
                raise ConflictError(f"#{memory} is {rows[0][0]}. Nothing was changed.")
            moments = chosen(read_moments(rows[0][1]))
            act.update("memory", memory, moments="\n".join(map(str, moments)))
        return Done(act.id, title, (memory,))

    def note_start(self, memories: Sequence[int], session: str, at: str) -> None:
        """Record the memories in a packet handed to a session. Raises StoreError."""
        if memories:
            self._write(lambda store: note_start(store, memories, session, at))

    def use(self, memory: int) -> str:
        """The uses of a memory, in words; empty if it was never given."""
        return next((count.words for count in self.uses(None, memory)), "")

    def uses(self, project: str | None, memory: int | None = None) -> list[UseCount]:
        """Use counts of each used memory, or of one, most used first. Raises StoreError."""
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            found = uses_of(reader, project, memory)
            counts = {
                row[0]: UseCount(row[0], row[1], used=row[2], starts=row[3], last=row[4])
                for row in reader.execute(_COUNTS, (project, project, memory, memory))
            }
        outcomes = Counter((use.memory, use.event == START, came) for use, came in found)
        saved = defaultdict[int, float](float)
        for use, came in found:
            if came is UseOutcome.HELD:
                saved[use.memory] += use.calls
        for number, before in counts.items():
            counts[number] = structs.replace(
                before,
                saved=saved[number],
                held=outcomes[number, False, UseOutcome.HELD],
                broken=outcomes[number, False, UseOutcome.BROKEN],
                needed=outcomes[number, True, UseOutcome.BROKEN],
            )
        return sorted(counts.values(), key=lambda count: (-count.used, -count.starts, count.memory))

    def outcomes(self, memory: int) -> list[tuple[MemoryUse, UseOutcome]]:
        """The uses of a memory with their outcomes, the latest first. Raises StoreError."""
        with failures_as_sentences(self._database.path):
            found = uses_of(self._database.reader(), None, memory)
        return sorted(found, key=lambda use: use[0].at, reverse=True)

    def lost(self, memories: Sequence[int]) -> int:
        """The calls lost to the failures that these memories are about, each failure counted once.
        Raises StoreError.
        """
        with failures_as_sentences(self._database.path):
            (calls,) = self._database.reader().execute(_LOST, (listed(memories),)).fetchone()
        return int(calls)

    def _moments(self, memory: int, content: str, chosen: str) -> tuple[Moment, ...]:
        if chosen:
            own = read_moments(chosen)
            beside = all(each.kind in BESIDE for each in own)
            return (*self._moments(memory, content, ""), *own) if beside else own
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(
                "SELECT substr(r.text, max(v.span_start - 600, 0) + 1, min(v.span_start, 600)),"
                " substr(r.text, v.span_start + 1, min(v.span_end - v.span_start, 600)),"
                " substr(r.text, v.span_end + 1, 600), r.role FROM evidence v"
                " JOIN record r ON r.id = v.record_id WHERE v.memory_id = ? LIMIT 8",
                (memory,),
            ).fetchall()  # fmt: skip
        quotes = [_printed(*row) for row in rows]
        return derived(content, quotes, self.roots(memory))

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Write derived and counted rows, which are not in the ledger."""
        with self._database.write_lock, failures_as_sentences(self._database.path, writing=True):
            self._database.require_in_place()
            in_transaction(self._database.writer, work)


_COUNTS = f"""
SELECT m.id, m.content, sum(u.moment <> '{START}'), sum(u.moment = '{START}'), max(u.at)
FROM use_of_memory u JOIN memory m ON m.id = u.memory_id
WHERE (? IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?))
    AND (? IS NULL OR m.id = ?) GROUP BY m.id
"""
_LOST = f"""
SELECT coalesce(sum(calls), 0) FROM (
    SELECT max(cost) AS calls FROM memory WHERE id {AMONG}
    GROUP BY coalesce(nullif(signature, ''), id)
)
"""
_LINE_END = re.compile(r"\n| \| ")
"""Views show an output on one line."""
_DUE = (
    "SELECT m.id, m.content, m.moments, m.flags FROM moment_due d"
    " CROSS JOIN memory m ON m.id = d.memory_id WHERE m.status = 'active'"
)
"""CROSS JOIN makes SQLite start with the due rows, of which there are usually none."""


def _printed(before: str, quoted: str, after: str, role: str) -> str:
    """The whole lines of a quote as a tool printed them, without the tool's name, but not their
    neighbours: an output may report other failures, too.
    """
    begun = _LINE_END.split(before)[-1]
    if role == "tool" and begun == before:
        begun = begun.partition(": ")[2]
    lines = begun + quoted + _LINE_END.split(after)[0]
    return _LINE_END.sub("\n", lines)


def _for_agents(content: str) -> AgentText:
    """A content on one line, safe for agents."""
    text = without_tags(" ".join(content.split()))
    return AgentText(text if len(text) <= LONGEST_MEMORY else f"{text[: LONGEST_MEMORY - 1]}…")
