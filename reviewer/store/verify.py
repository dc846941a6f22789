"""Recomputes the ledger's hash chain, and every row from the ledger alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

from msgspec import Struct

from reviewer.store.acts import LEDGERED, put
from reviewer.store.changes import LedgerEntry, entry_hash, parts, pieces, unpack_runs
from reviewer.store.database import CACHE_KIB, Database, failures_as_sentences, is_of_the_disk

SHOWN = 20
"""The most problems of a kind that a verdict lists."""


class Verification(Struct, frozen=True):
    """The result of verifying; `ok` if there are no problems."""

    acts: int
    rows: int
    problems: tuple[str, ...]
    head: str = ""
    """The hash of the latest act, which covers all acts before it; empty if there is none."""
    since: int | None = None
    """Acts after the expected head; None if none was expected or it was not found."""

    @property
    def ok(self) -> bool:
        """Whether ledger and rows agree."""
        return not self.problems


def verify(
    database: Database,
    progress: Callable[[int], None] | None = None,
    *,
    expected: str = "",
) -> Verification:
    """Check the file, the hash chain, and that replaying the ledger gives exactly today's rows.

    `expected`: the head of an earlier verdict, or its beginning; the chain must contain it. Works
    on a connection of its own in one read transaction, so that other processes may go on writing.
    The replay is a temporary database on disk. `progress` gets the number of acts done. Raises
    StoreError if the store cannot be read.
    """
    database.require_in_place()
    with (
        failures_as_sentences(database.path),
        closing(database.connect()) as connection,
    ):
        connection.execute("PRAGMA foreign_keys = OFF")  # acts were checked when they were written
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("ATTACH '' AS replay")
        connection.execute(f"PRAGMA replay.cache_size = -{CACHE_KIB}")
        connection.execute("BEGIN")
        problems = [
            f"file: {row[0]}"
            for row in connection.execute("PRAGMA main.integrity_check(5)")
            if row[0] != "ok"
        ]
        definitions = dict(
            connection.execute("SELECT name, sql FROM main.sqlite_master WHERE type = 'table'")
        )
        missing = [table for table in LEDGERED if table not in definitions]
        problems += (f"file: the table {table} is missing" for table in missing)
        tables = () if missing else LEDGERED
        for table in tables:
            # The same definition, so that columns younger than an act get their defaults.
            sql = definitions[table].replace("CREATE TABLE ", "CREATE TABLE replay.", 1)
            connection.execute(sql)
        chain = _replay(connection, problems, progress, expected, rows=bool(tables))
        rows = sum(_compare(connection, table, problems) for table in tables)
        connection.execute("ROLLBACK")
    if expected and chain.since is None:
        problems.append(
            f"ledger: no act has the hash {expected}, so the acts before it were rewritten, or"
            " this is another store"
        )
    return Verification(chain.acts, rows, tuple(problems), chain.head, chain.since)


class _Chain(Struct):
    acts: int = 0
    head: str = ""
    since: int | None = None


def _replay(
    connection: sqlite3.Connection,
    problems: list[str],
    progress: Callable[[int], None] | None,
    expected: str,
    *,
    rows: bool,
) -> _Chain:
    chain = _Chain()
    seals = dict(connection.execute("SELECT act, seal FROM main.erasure")) if rows else {}
    cursor = connection.execute(
        "SELECT id, at, actor, scope, kind, title, target, rows, previous, hash"
        " FROM main.ledger ORDER BY id"
    )
    for *entry, stated_previous, stated_hash in cursor:
        chain.acts += 1
        number = entry[0]
        if number != chain.acts:
            problems.append(f"ledger: act {chain.acts} is missing")
            chain.acts = number
        if stated_previous != chain.head:
            problems.append(f"ledger: act {number} does not follow the act before it")
        chain.head = stated_hash
        if chain.since is not None:
            chain.since += 1
        elif expected and stated_hash.startswith(expected):
            chain.since = 0
        try:
            with connection.blobopen("ledger", "changes", number, readonly=True) as blob:
                found = entry_hash(stated_previous, LedgerEntry(*entry), pieces(blob))
                if found not in (stated_hash, seals.get(number)):
                    problems.append(f"ledger: act {number} was changed after it was written")
                for part in parts(blob):
                    for run in unpack_runs(part):
                        if rows:
                            put(connection, run, "replay")
        except (ValueError, sqlite3.Error) as problem:
            if isinstance(problem, sqlite3.Error) and is_of_the_disk(problem):
                raise  # not a fault of the ledger
            problems.append(f"ledger: act {number} cannot be replayed: {problem}")
        if len(problems) > SHOWN:
            problems.append("ledger: more problems follow; stopped here")
            break
        if progress:
            progress(chain.acts)
    return chain


def _compare(connection: sqlite3.Connection, table: str, problems: list[str]) -> int:
    columns = connection.execute("SELECT name FROM pragma_table_info(?, 'main')", (table,))
    names = [name for (name,) in columns]
    ours, replayed = (", ".join(f"{row}.{name}" for name in names) for row in ("m", "r"))
    found = {
        row: words
        for sql, words in (
            (
                f"SELECT id FROM replay.{table} WHERE id NOT IN (SELECT id FROM main.{table})",
                "differs from the ledger",
            ),
            (
                f"SELECT m.id FROM main.{table} m LEFT JOIN replay.{table} r ON r.id = m.id"
                f" WHERE ({ours}) IS NOT ({replayed})",
                "not as the ledger left it",
            ),
        )
        for (row,) in connection.execute(f"{sql} LIMIT {SHOWN}")
    }
    problems += [f"{table} {row}: {words}" for row, words in sorted(found.items())]
    return int(connection.execute(f"SELECT count(*) FROM main.{table}").fetchone()[0])
