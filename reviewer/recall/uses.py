"""What recall writes: uses of memories and derived moments. Both can be lost without harm, so they
are not in the ledger; a use is no evidence of its own memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

TEXT = "text"
"""The kind of a row of `moment` with the memory's text as agents get it. It is prepared, because a
hook has no time for that."""
WORD = "word"
"""The kind of a row of `moment` with a word of a name in the memory."""
QUOTED = "quoted"
"""The kind of a row of `moment` with words of a failure, in lower case: as a person wrote them, and
as signatures have them."""
START = "start"
"""The moment of a packet, which hands over most memories of a small project."""
CUE_CHARS = 1_000
"""Characters that are kept of a moment's key."""


def note_use(
    store: sqlite3.Connection, memory: int, session: str, moment: str, cue: str, at: str
) -> None:
    """Note that a session was handed a memory."""
    store.execute(
        "INSERT INTO use_of_memory (memory_id, session, moment, cue, at) VALUES (?, ?, ?, ?, ?)",
        (memory, session, moment, cue[:CUE_CHARS], at),
    )


def note_start(store: sqlite3.Connection, memories: Iterable[int], session: str, at: str) -> None:
    """Note the memories of the packets that a session was given, once."""
    store.executemany(
        "INSERT INTO use_of_memory (memory_id, session, moment, cue, at)"
        f" SELECT id, ?2, '{START}', '', ?3 FROM memory WHERE id = ?1 AND NOT EXISTS (SELECT 1"
        f" FROM use_of_memory WHERE memory_id = ?1 AND session = ?2 AND moment = '{START}')",
        [(memory, session, at) for memory in memories],
    )


def put_moments(
    store: sqlite3.Connection, made: Iterable[tuple[int, Iterable[tuple[str, str]]]]
) -> None:
    """Put the moments of memories in place of those that they had."""
    for memory, moments in made:
        store.execute("DELETE FROM moment WHERE memory_id = ?", (memory,))
        store.executemany(
            "INSERT OR IGNORE INTO moment (memory_id, kind, value) VALUES (?, ?, ?)",
            [(memory, kind, value) for kind, value in moments],
        )
        store.execute("DELETE FROM moment_due WHERE memory_id = ?", (memory,))
    # A lookup asks every segment of the index. Of a large one, 1,000 pages are merged at a time.
    store.execute("INSERT INTO recall_text(recall_text, rank) VALUES ('merge', -1000)")


def in_transaction(store: sqlite3.Connection, work: Callable[[sqlite3.Connection], None]) -> None:
    """Carry out work as one transaction."""
    store.execute("BEGIN IMMEDIATE")
    try:
        work(store)
    except BaseException:
        if store.in_transaction:
            store.execute("ROLLBACK")
        raise
    store.execute("COMMIT")
