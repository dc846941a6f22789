"""Rows that recall writes: uses of memories, and derived moments. Both can be lost without harm, so
they are not in the ledger. A use is not evidence for its memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from reviewer.recall.event_kinds import START

TEXT = "text"
"""The kind of a `moment` row with the memory's text for agents, prepared because a hook has no
time for it."""
WORD = "word"
"""The kind of a `moment` row with a word inside a name of the memory."""
QUOTED = "quoted"
"""The kind of a `moment` row with words of a failure in lower case: a person's, or a signature."""
CUE_CHARS = 1_000
"""Characters of a cue that are stored."""


def note_use(
    store: sqlite3.Connection, memory: int, session: str, event: str, cue: str, at: str
) -> None:
    store.execute(
        "INSERT INTO use_of_memory (memory_id, session, moment, cue, at) VALUES (?, ?, ?, ?, ?)",
        (memory, session, event, cue[:CUE_CHARS], at),
    )


def note_start(store: sqlite3.Connection, memories: Iterable[int], session: str, at: str) -> None:
    """Record the memories in a session's packets, once each."""
    store.executemany(
        "INSERT INTO use_of_memory (memory_id, session, moment, cue, at)"
        f" SELECT id, ?2, '{START}', '', ?3 FROM memory WHERE id = ?1 AND NOT EXISTS (SELECT 1"
        f" FROM use_of_memory WHERE memory_id = ?1 AND session = ?2 AND moment = '{START}')",
        [(memory, session, at) for memory in memories],
    )


def put_moments(
    store: sqlite3.Connection, made: Iterable[tuple[int, Iterable[tuple[str, str]]]]
) -> None:
    for memory, moments in made:
        store.execute("DELETE FROM moment WHERE memory_id = ?", (memory,))
        store.executemany(
            "INSERT OR IGNORE INTO moment (memory_id, kind, value) VALUES (?, ?, ?)",
            [(memory, kind, value) for kind, value in moments],
        )
        store.execute("DELETE FROM moment_due WHERE memory_id = ?", (memory,))
    # A lookup visits every segment of the index; merging 1,000 pages at a time keeps them few.
    store.execute("INSERT INTO recall_text(recall_text, rank) VALUES ('merge', -1000)")


def in_transaction(store: sqlite3.Connection, work: Callable[[sqlite3.Connection], None]) -> None:
    store.execute("BEGIN IMMEDIATE")
    try:
        work(store)
    except BaseException:
        if store.in_transaction:
            store.execute("ROLLBACK")
        raise
    store.execute("COMMIT")
