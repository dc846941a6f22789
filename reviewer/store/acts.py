"""An act: row changes, written together with their ledger entry."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from reviewer.store.changes import (
    Image,
    LedgerEntry,
    Packed,
    RowChange,
    Run,
    Value,
    entry_hash,
    runs_of,
)
from reviewer.store.ownership import Owners, Ownership
from reviewer.store.stored_text import masked_columns, masked_image, masked_text

LEDGERED = (
    "project",
    "wave",
    "source",
    "record",
    "memory",
    "evidence",
    "content_history",
    "entity",
    "relation",
    "conflict",
    "state",
    "content",
    "context",
    "commit_",
    "annotation",
    "anchor",
    "compression",
    "segment",
    "pipeline_run",
    "finding",
    "erasure",
)
"""Tables that can be rebuilt from the ledger. All others are derived from them."""

CHUNK = 500
"""Rows of one `IN (...)` query."""

AMONG = "IN (SELECT value FROM json_each(?))"
"""With `listed` values as its parameter: one query for any number of them."""

BATCH = 10_000
"""Rows inserted at a time."""


MANY = 500
"""From this many memories in one run, their words are indexed together."""
INDEX_BYTES = 8 << 20
"""Bytes of the search index kept in memory meanwhile."""
ORDERS = ("memory_queue", "memory_queue_of_project")
"""Indexes with the order of the queue."""
SORTING_KIB = 16_384
"""The page cache while they are made: SQLite sorts in as much memory again, no faster with more."""


FORGET = "forget"
"""The kind of acts that erase; they cannot be undone."""


class Scope(StrEnum):
    """`undo` walks decisions only; an ingestion is undone by its number."""

    DECISION = "decision"
    INTAKE = "intake"


class Act:
    """An open transaction that records its changes. Created by `Ledger.act`."""

    def __init__(self, connection: sqlite3.Connection, title: str, ownership: Ownership) -> None:
        self._connection = connection
        self.ownership = ownership
        self.packed = Packed()
        """The changes so far."""
        self.touched = array("q")
        """Existing memories that were changed, once for each change."""
        self.owners = Owners()
        self.title = title
        """The title in the history; may be set until the act is closed."""
        self.target: int | None = None
        """The act that this one undoes, or the undo that it redoes."""
        self.id = 0
        """Ledger id, known once the act is closed."""

    @property
    def changed(self) -> bool:
        return len(self.packed) > 0

    def query(self, sql: str, parameters: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        """Rows as seen by this transaction."""
        return self._connection.execute(sql, parameters).fetchall()

    def changes_of(self, number: int) -> sqlite3.Blob:
        """The packed changes of an earlier act, for reading some of them at a time."""
        return self._connection.blobopen("ledger", "changes", number, readonly=True)

    def require_own(self, table: str, rows: Iterable[int]) -> None:
        """Raise OtherProjectError unless the rows belong to the current project."""
        self.ownership.require(self.query, table, rows)

    def insert(self, table: str, **values: Value) -> int:
        """Insert one row and return its id."""
        return self.insert_many(table, [values])[0]

    def insert_many(self, table: str, rows: Sequence[Image]) -> range:
        """Insert rows with the same columns; returns their ids, in order."""
        if not rows:
            return range(0)
        first = self.next_id(table)
        defaults = self._defaults(table)
        for start in range(0, len(rows), BATCH):
            images = rows[start : start + BATCH]
            given = {name: [image[name] for image in images] for name in rows[0]}
            assert all(len(image) == len(given) for image in images)
            values = {name: [value] * len(images) for name, value in defaults.items()}
            values |= masked_columns(table, given)
            ids = range(first + start, first + start + len(images))
            self.write(Run(table, [*ids], [*values], None, [*values.values()]))
        return range(first, first + len(rows))

    @contextmanager
    def in_bulk(self, changes: int) -> Iterator[None]:
        """Put the queue in order once, after the block, if more changes are made than there are
        memories.
        """
        many = changes > MANY and changes > self.query("SELECT count(*) FROM memory")[0][0]
        if not many:
            yield
            return
        cache = self.query("PRAGMA cache_size")[0][0]
        try:
            with _without(self._connection, ORDERS):
                yield
                self._connection.execute(f"PRAGMA cache_size = -{SORTING_KIB}")
        finally:
            self._connection.execute(f"PRAGMA cache_size = {cache}")

    def update(self, table: str, row: int, **values: Value) -> bool:
        """Change columns of one row; returns whether anything changed."""
        return self.update_many(table, [row], **values) == 1

    def update_many(self, table: str, rows: Sequence[int], **values: Value) -> int:
        """Change the same columns of many rows; returns the number of changed rows."""
        return sum(self._update(table, [(row, values) for row in chunk]) for chunk in chunks(rows))

    def update_each(self, table: str, updates: Sequence[tuple[int, Image]]) -> int:
        """Change columns row by row; returns the number of changed rows."""
        return sum(self._update(table, chunk) for chunk in chunks(updates))

    def delete(self, table: str, row: int) -> None:
        """Remove a row without references to it."""
        before = images(self._connection, table, [row], list(self._defaults(table)))
        if row not in before:
            raise KeyError(f"{table} {row}")
        self.apply([RowChange(table, row, before[row], None)])

    def _update(self, table: str, updates: Sequence[tuple[int, Image]]) -> int:
        done: list[RowChange] = []
        columns = sorted({column for _, values in updates for column in values})
        current = images(self._connection, table, [row for row, _ in updates], columns)
        for row, given in updates:
            old, values = current.get(row), masked_image(table, given)
            if old is None:
                raise KeyError(f"{table} {row}")
            changed = {c: v for c, v in values.items() if old[c] != v}
            if changed:
                done.append(RowChange(table, row, {c: old[c] for c in changed}, changed))
        self.apply(done)
        return len(done)

    def apply(self, changes: Iterable[RowChange]) -> None:
        """Apply changes unmodified."""
        for run in runs_of(changes):
            self.write(run)

    def write(self, run: Run) -> None:
        """Apply changes of the same columns unmodified (undo and redo)."""
        put(self._connection, run)
        self.packed.add(run)
        self.owners.see(run)
        if run.table == "memory" and run.before:
            self.touched.extend(run.rows)

    def _defaults(self, table: str) -> Image:
        """Every column with its default, because an inserted row's image has them all."""
        columns = self._connection.execute(f"PRAGMA table_info({table})").fetchall()
        names = [column[1] for column in columns if column[1] != "id"]
        values = ", ".join(str(column[4] or "NULL") for column in columns if column[1] != "id")
        row = self._connection.execute(f"SELECT {values}").fetchone()
        return dict(zip(names, row, strict=True))

    def next_id(self, table: str) -> int:
        """The id that the next inserted row will get."""
        row = self._connection.execute(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)
        ).fetchone()
        return int(row[0]) + 1 if row else 1


def write_entry(
    connection: sqlite3.Connection, kind: str, scope: Scope, draft: Act, *, actor: str, at: str
) -> int:
    """Write the ledger entry of an act; returns its number."""
    last = connection.execute("SELECT id, hash, at FROM ledger ORDER BY id DESC LIMIT 1").fetchone()
    number, previous, earliest = (last[0] + 1, last[1], last[2]) if last else (1, "", "")
    entry = LedgerEntry(
        number,
        max(at, earliest),  # the order survives a clock that was set back
        masked_text(actor),
        str(scope),
        kind,
        masked_text(draft.title),
        draft.target,
        len(draft.packed),
    )
    size = draft.packed.close()
    connection.execute(
        "INSERT INTO ledger (id, at, actor, scope, kind, title, target, rows, changes,"
        " previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, zeroblob(?), ?, ?)",
        (
            entry.id,
            entry.at,
            entry.actor,
            entry.scope,
            entry.kind,
            entry.title,
            entry.target,
            entry.rows,
            size,
            previous,
            entry_hash(previous, entry, draft.packed.pieces()),
        ),
    )
    with connection.blobopen("ledger", "changes", number) as blob:
        for piece in draft.packed.pieces():
            blob.write(piece)
    connection.executemany(
        "INSERT OR IGNORE INTO ledger_touch (memory_id, act) VALUES (?, ?)",
        ((row, number) for row in sorted(draft.touched)),
    )
    _write_owners(connection, number, draft)
    return number


def _write_owners(connection: sqlite3.Connection, number: int, draft: Act) -> None:
    """Record the projects of an act. An undo or redo has those of the act that it reverses, because
    the rows of that act may be gone.
    """
    if draft.target is not None:
        connection.execute(
            "INSERT INTO ledger_project (project, act)"
            " SELECT project, ? FROM ledger_project WHERE act = ?",
            (number, draft.target),
        )
        return
    connection.executemany(
        "INSERT INTO ledger_project (project, act) VALUES (?, ?)",
        ((name, number) for name in sorted(draft.owners.names(draft.query))),
    )


def listed(values: Iterable[int] | Iterable[str]) -> str:
    """Ids or hashes as the parameter of AMONG. SQLite would cut other texts at a NUL."""
    return json.dumps(list(values))


def chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The items in slices of at most CHUNK."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def images(
    connection: sqlite3.Connection, table: str, rows: Sequence[int], columns: Sequence[str]
) -> dict[int, Image]:
    """These columns of the existing rows, by id."""
    found = stored(connection, table, rows, columns)
    return {row: dict(zip(columns, values, strict=True)) for row, values in found.items()}


def stored(
    connection: sqlite3.Connection, table: str, rows: Sequence[int], columns: Sequence[str]
) -> dict[int, tuple[Value, ...]]:
    """The values of these columns in the existing rows, by id."""
    sql = f"SELECT id, {', '.join(columns)} FROM {table} WHERE id {AMONG}"
    return {row[0]: row[1:] for row in connection.execute(sql, (listed(rows),))}


def are_as(connection: sqlite3.Connection, run: Run, columns: Sequence[str]) -> bool:
    """Whether rows with adjacent ids have these columns as the run left them: one query
    is faster than the many of `stored`. False for other rows.
    """
    if not run.rows or run.rows[-1] - run.rows[0] + 1 != len(run.rows):
        return False
    sql = f"SELECT id, {', '.join(columns)} FROM {run.table} WHERE id BETWEEN ? AND ? ORDER BY id"
    found = connection.execute(sql, (run.rows[0], run.rows[-1])).fetchall()
    return found == [*zip(run.rows, *map(run.column, columns), strict=True)]


def put(connection: sqlite3.Connection, run: Run, schema: str = "main") -> None:
    """Write the after images: insert, update or delete, in the given order."""
    changed = run.before and run.after
    if schema != "main" or run.table != "memory" or len(run.rows) < MANY or changed:
        _execute(connection, run, schema)
        return
    inserted = run.before is None
    event = "insert" if inserted else "delete"
    triggers = [f"memory_text_{event}"]
    if "active" not in run.column("status"):
        triggers.append(f"recall_{event}")  # would never fire for them
    command = "" if inserted else "memory_text, "
    marks = "?, ?" if inserted else "'delete', ?, ?"
    with _without(connection, triggers), _indexing_at_once(connection):
        _execute(connection, run, schema)
        connection.executemany(
            f"INSERT INTO memory_text({command}rowid, content) VALUES ({marks})",
            # FTS5 flushes its index whenever a number is lower than the previous one.
            sorted(zip(run.rows, run.column("content"), strict=True)),
        )


def _execute(connection: sqlite3.Connection, run: Run, schema: str) -> None:
    """Execute the statement of a run; adjacent rows are deleted together."""
    table = f"{schema}.{run.table}"
    if run.after is None:
        first, last = min(run.rows), max(run.rows)
        if last - first + 1 == len(run.rows):
            connection.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", (first, last))
            return
        sql = f"DELETE FROM {table} WHERE id = ?"
    elif run.before is None:
        names = ", ".join(run.columns)
        sql = f"INSERT INTO {table} ({names}, id) VALUES ({_marks(len(run.columns) + 1)})"
    else:
        settings = ", ".join(f"{column} = ?" for column in run.columns)
        sql = f"UPDATE {table} SET {settings} WHERE id = ?"
    connection.executemany(sql, zip(*(run.after or ()), run.rows, strict=True))


@contextmanager
def _without(connection: sqlite3.Connection, names: Sequence[str]) -> Iterator[None]:
    """Drop these triggers or indexes meanwhile: a trigger that never fires costs an insertion a
    third of its time.

    Inside the transaction of the act, so that nobody ever sees the store without them.
    """
    found = connection.execute(
        f"SELECT type, name, sql FROM sqlite_master WHERE name IN ({_marks(len(names))})"
        " ORDER BY rowid",
        names,
    ).fetchall()
    for kind, name, _ in found:
        connection.execute(f"DROP {kind} {name}")
    yield
    for _, _, sql in found:
        connection.execute(sql)


@contextmanager
def _indexing_at_once(connection: sqlite3.Connection) -> Iterator[None]:
    """Let the search index write the words of all rows together, several times faster than after
    every row.
    """
    _configure_index(connection, hashsize=INDEX_BYTES, automerge=0)
    yield
    connection.execute("SAVEPOINT indexed")  # makes FTS5 flush its memory
    connection.execute("RELEASE indexed")
    _configure_index(connection, hashsize=1 << 20, automerge=4)  # the defaults of FTS5


def _configure_index(connection: sqlite3.Connection, **settings: int) -> None:
    connection.executemany(
        "INSERT INTO memory_text(memory_text, rank) VALUES (?, ?)", settings.items()
    )


def _marks(number: int) -> str:
    return ", ".join("?" * number)
