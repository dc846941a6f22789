"""Recomputes the ledger's hash chain, and every row from the ledger alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

from msgspec import Struct

from reviewer.store.acts import LEDGERED, put
from reviewer.store.changes import Entry, entry_hash, split, unpack_part
from reviewer.store.database import Database, failures_as_sentences, is_of_the_disk

SHOWN = 20
"""Problems that a verdict lists at most, for each kind."""


class Verdict(Struct, frozen=True):
    """The result of verifying; `ok` when there are no problems."""

    acts: int
    rows: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether ledger and rows agree."""
        return not self.problems


def verify(database: Database, progress: Callable[[int], None] | None = None) -> Verdict:
    """Check the file, the hash chain, and that replaying the ledger gives exactly today's rows.

    Works on a connection of its own inside one read transaction, so that other processes may go on
    writing. The replay lives in a temporary database that SQLite keeps on disk. `progress` gets
    the number of acts done. Raises StoreError when the store cannot be read.
    """
    database.require_in_place()
    with (
        failures_as_sentences(database.path),
        closing(database.connect()) as connection,
    ):
        connection.execute("PRAGMA foreign_keys = OFF")  # acts were checked when they were written
        connection.execute("ATTACH '' AS replay")
        connection.execute("BEGIN")
        problems = [
            f"file: {row[0]}"
            for row in connection.execute("PRAGMA main.integrity_check(5)")
            if row[0] != "ok"
        ]
        for table in LEDGERED:
            (sql,) = connection.execute(
                "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?", (table,)
            ).fetchone()
            # The same definition, so that columns younger than an act get their defaults.
            connection.execute(sql.replace("CREATE TABLE ", "CREATE TABLE replay.", 1))
        acts = _replay(connection, problems, progress)
        rows = _compare(connection, problems)
        connection.execute("ROLLBACK")
    return Verdict(acts, rows, tuple(problems))


def _replay(
    connection: sqlite3.Connection,
    problems: list[str],
    progress: Callable[[int], None] | None,
) -> int:
    previous, count = "", 0
    cursor = connection.execute(
        "SELECT id, at, actor, scope, kind, title, target, rows, changes, previous, hash"
        " FROM main.ledger ORDER BY id"
    )
    for *entry, blob, stated_previous, stated_hash in cursor:
        count += 1
        number = entry[0]
        if number != count:
            problems.append(f"ledger: act {count} is missing")
            count = number
        if stated_previous != previous:
            problems.append(f"ledger: act {number} does not follow the act before it")
        if entry_hash(stated_previous, Entry(*entry), blob) != stated_hash:
            problems.append(f"ledger: act {number} was changed after it was written")
        previous = stated_hash
        try:
            for part in split(blob):
                put(connection, unpack_part(part), "replay")
        except (ValueError, sqlite3.Error) as problem:
            if isinstance(problem, sqlite3.Error) and is_of_the_disk(problem):
                raise  # not a fault of the ledger
            problems.append(f"ledger: act {number} cannot be replayed: {problem}")
        if len(problems) > SHOWN:
            problems.append("ledger: more problems follow; stopped here")
            break
        if progress:
            progress(count)
    return count


def _compare(connection: sqlite3.Connection, problems: list[str]) -> int:
    total = 0
    for table in LEDGERED:
        total += connection.execute(f"SELECT count(*) FROM main.{table}").fetchone()[0]
        found: dict[int, str] = {}
        for here, there, words in (
            ("main", "replay", "not as the ledger left it"),
            ("replay", "main", "differs from the ledger"),
        ):
            differing = f"SELECT * FROM {here}.{table} EXCEPT SELECT * FROM {there}.{table}"
            for (row,) in connection.execute(f"SELECT id FROM ({differing}) LIMIT {SHOWN}"):
                found.setdefault(row, words)
        problems += [f"{table} {row}: {words}" for row, words in sorted(found.items())]
    return total
