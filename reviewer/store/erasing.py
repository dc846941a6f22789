"""Erases rows for good: from the tables, the images in the ledger, and the search indexes.

The hash of an act stays, so that the chain remains valid. The rest of an act that lost images is
sealed: the table `erasure` has the hash of that rest, and is covered by the act that erased.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from msgspec import Struct

from reviewer.files import open_own
from reviewer.store.acts import AMONG, LEDGERED, Act, images, listed
from reviewer.store.changes import (
    Image,
    LedgerEntry,
    RowChange,
    entry_hash,
    pack,
    parts,
    readable,
    unpack,
    unpack_part,
)
from reviewer.store.database import BUSY_MILLISECONDS, Database, failures_as_sentences
from reviewer.store.stored_text import UNMASKED

CLOSE_MILLISECONDS = 1_000
"""Milliseconds to wait for other programs before the store's log is left as it is."""
FILLER = "\u2588"
"""Replaces each character of a wording inside other text, so that spans remain valid."""
INDEXES = ("memory_text", "recall_text")
EMPTY_RECORD: Image = {"text": "", "headings": "[]", "meta": "{}"}
DECIDED = ("memory", "content_history", "entity", "relation", "conflict", "state", "project")
"""Tables with rows that are erased whole or not at all: a person's decisions stay legible."""
DERIVED = ("finding", "wave")
"""Tables with text made from sources."""

Row = tuple[str, int]
"""A table and the id of a row."""


class Wipe(Struct, frozen=True):
    """The material to erase: whole rows, the text of some records, and wordings in other text."""

    rows: frozenset[Row]
    records: frozenset[int] = frozenset()
    wordings: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    """The wordings and the quotes of their evidence, for text generated from them."""
    project: str = ""
    """A project that is erased whole, with the titles of its acts."""

    def illegible(self, table: str) -> tuple[str, ...]:
        """Wordings to make illegible in the texts of a table."""
        return () if table in DECIDED else self.passages if table in DERIVED else self.wordings


def forms(wordings: Iterable[str]) -> tuple[str, ...]:
    """Wordings as text, as JSON, and as JSON inside JSON; longest first."""
    found = set(wordings)
    for _ in range(2):
        found |= {json.dumps(form)[1:-1] for form in found}
        found |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in found}
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def without(text: str, wordings: Sequence[str]) -> str:
    """The text with every wording made illegible."""
    for wording in wordings:
        if wording in text:
            text = text.replace(wording, FILLER * len(wording))
    return text


def title_without(title: str, wordings: Sequence[str]) -> str:
    """The title with every wording made illegible, even if its quotation cuts it off."""
    title = without(title, wordings)
    quoted, mark, rest = title.partition("”")
    quoted, cut = quoted.rstrip("…"), "…" * quoted.endswith("…")
    for wording in wordings if mark else ():
        overlap = next(
            (
                n
                for n in range(min(len(wording), len(quoted)), 3, -1)
                if quoted.endswith(wording[:n])
            ),
            0,
        )
        quoted = quoted[: len(quoted) - overlap] + FILLER * overlap
    return f"{quoted}{cut}{mark}{rest}"


class References:
    """The references between the tables of the ledger."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.owner: dict[str, list[tuple[str, str]]] = defaultdict(list)
        """Table -> required columns that refer to other rows, with the table of these."""
        self.other: dict[str, list[tuple[str, str]]] = defaultdict(list)
        """Table -> nullable columns that refer to other rows, with the table of these."""
        for table in LEDGERED:
            info = connection.execute(f"PRAGMA table_info({table})")
            required = {row[1] for row in info if row[3]}
            for row in connection.execute(f"PRAGMA foreign_key_list({table})"):
                kind = self.owner if row[3] in required else self.other
                kind[table].append((row[3], row[2]))

    def owned(self, connection: sqlite3.Connection, seeds: Iterable[Row]) -> frozenset[Row]:
        """The rows with all rows that belong to them, also in the ledger."""
        rows: set[Row] = set()
        fresh = set(seeds)
        while fresh:
            rows |= fresh
            fresh = self._owned_now(connection, fresh) - rows
            fresh = fresh or self._owned_once(connection, rows)
        return frozenset(rows)

    def _owned_now(self, connection: sqlite3.Connection, rows: set[Row]) -> set[Row]:
        found: set[Row] = set()
        for table, columns in self.owner.items():
            for column, parent in columns:
                ids = listed(row for name, row in rows if name == parent)
                sql = f"SELECT id FROM {table} WHERE {column} {AMONG}"
                found |= {(table, row[0]) for row in connection.execute(sql, (ids,))}
        ids = listed(row for name, row in rows if name == "conflict")
        sql = f"SELECT memory_id FROM conflict WHERE id {AMONG}"
        return found | {("memory", row[0]) for row in connection.execute(sql, (ids,))}

    def _owned_once(self, connection: sqlite3.Connection, rows: set[Row]) -> set[Row]:
        """Rows that belonged to them but were deleted from the tables."""
        found: dict[str, set[int]] = defaultdict(set)
        for change in all_changes(connection):
            if (change.table, change.row) in rows:
                continue
            image = {**(change.before or {}), **(change.after or {})}
            for column, parent in self.owner[change.table]:
                number = image.get(column)
                if isinstance(number, int) and (parent, number) in rows:
                    found[change.table].add(change.row)
        gone: set[Row] = set()
        for table, numbers in found.items():
            there = images(connection, table, sorted(numbers), ["id"])
            gone |= {(table, row) for row in numbers if row not in there}
        return gone

    def cleaned(self, change: RowChange, wipe: Wipe) -> RowChange | None:
        """A change without the erased parts; None if its row is erased."""
        if (change.table, change.row) in wipe.rows:
            return None
        before, after = (
            image and self._cleaned_image(change.table, change.row, image, wipe)
            for image in (change.before, change.after)
        )
        return RowChange(change.table, change.row, before, after)

    def _cleaned_image(self, table: str, row: int, image: Image, wipe: Wipe) -> Image:
        changed: Image = {}
        for column, parent in self.other[table]:
            number = image.get(column)
            if isinstance(number, int) and (parent, number) in wipe.rows:
                changed[column] = None
        if table == "record" and row in wipe.records:
            changed |= {column: EMPTY_RECORD[column] for column in EMPTY_RECORD if column in image}
        elif wordings := wipe.illegible(table):
            for column, value in image.items():
                if isinstance(value, str) and f"{table}.{column}" not in UNMASKED:
                    clean = without(value, wordings)
                    if clean != value:
                        changed[column] = clean
        return {**image, **changed} if changed else image


def all_changes(connection: sqlite3.Connection) -> Iterator[RowChange]:
    """Every change of every act. Raises StoreError for a damaged act."""
    for number, blob in connection.execute("SELECT id, changes FROM main.ledger ORDER BY id"):
        with readable(number):
            yield from unpack(blob)


def erase(act: Act, connection: sqlite3.Connection, wipe: Wipe) -> None:
    """Erase inside an act, which records only the seals of the acts that lost images."""
    references = References(connection)
    _erase_rows(connection, references, wipe)
    seals = list(_rewritten(connection, references, wipe))
    known = dict(act.query("SELECT act, id FROM erasure"))
    act.update_each(
        "erasure",
        [
            (known[number], {"seal": seal, "emptied": int(emptied)})
            for number, seal, emptied in seals
            if number in known
        ],
    )
    act.insert_many(
        "erasure",
        [
            {"act": number, "seal": seal, "emptied": int(emptied)}
            for number, seal, emptied in seals
            if number not in known
        ],
    )
    for index in INDEXES:  # deleted words stay in its segments until these are merged
        connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")


def _erase_rows(connection: sqlite3.Connection, references: References, wipe: Wipe) -> None:
    by_table: dict[str, list[int]] = defaultdict(list)
    for table, row in sorted(wipe.rows):
        by_table[table].append(row)
    for table in LEDGERED:
        for column, parent in references.other[table]:
            connection.executemany(
                f"UPDATE {table} SET {column} = NULL WHERE {column} = ?",
                [(row,) for row in by_table[parent]],
            )
    for table in reversed(LEDGERED):
        connection.executemany(f"DELETE FROM {table} WHERE id = ?", [(n,) for n in by_table[table]])
    connection.executemany(
        "DELETE FROM ledger_touch WHERE memory_id = ?", [(row,) for row in by_table["memory"]]
    )
    assignments = ", ".join(f"{column} = ?" for column in EMPTY_RECORD)
    connection.executemany(
        f"UPDATE record SET {assignments} WHERE id = ?",
        [(*EMPTY_RECORD.values(), row) for row in sorted(wipe.records)],
    )
    for table, name in _derived_text_columns(connection):
        sql = f"UPDATE OR REPLACE {table} SET {name} = replace({name}, ?1, ?2)"
        connection.executemany(
            f"{sql} WHERE instr({name}, ?1)",
            [(each, FILLER * len(each)) for each in wipe.wordings],
        )
    for table in LEDGERED:
        wordings = wipe.illegible(table)
        for name in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]:
            if f"{table}.{name}" in UNMASKED:
                continue
            for wording in wordings:
                sql = f"SELECT id, {name} FROM {table} WHERE instr({name}, ?)"
                found = connection.execute(sql, (wording,)).fetchall()
                connection.executemany(
                    f"UPDATE {table} SET {name} = ? WHERE id = ?",
                    [(without(text, wordings), row) for row, text in found],
                )


def _derived_text_columns(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The text columns of tables outside the ledger: counts and derived text."""
    known = (*LEDGERED, "ledger", "ledger_touch", "ledger_project", "synced")
    tables = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE '%sqlite%'"
    ).fetchall()
    return [
        (table, row[1])
        for (table,) in tables
        if table not in known
        for row in connection.execute(f"PRAGMA table_info({table})")
        if row[2].upper() == "TEXT"
    ]


def _rewritten(
    connection: sqlite3.Connection, references: References, wipe: Wipe
) -> Iterator[tuple[int, str, bool]]:
    """Rewrite the acts with something to erase; yields each one's number, the hash of its rest, and
    whether the rest is empty.
    """
    alone = _acts_of(connection, wipe.project)
    connection.execute("DELETE FROM ledger_project WHERE project = ?", (wipe.project,))
    for (number,) in connection.execute("SELECT id FROM ledger ORDER BY id").fetchall():
        *columns, blob, previous = connection.execute(
            "SELECT id, at, actor, scope, kind, title, target, rows, changes, previous"
            " FROM ledger WHERE id = ?",
            (number,),
        ).fetchone()
        old = LedgerEntry(*columns)
        kept: list[bytes] = []
        lost = False
        for part in parts(BytesIO(blob)):
            changes = unpack_part(part)
            cleaned = [references.cleaned(change, wipe) for change in changes]
            left = [change for change in cleaned if change is not None]
            if left == changes:
                kept.append(part)
            else:
                lost = True
                kept += [pack(left)] if left else []
        alone_in = number in alone
        title = old.kind.capitalize() if alone_in else title_without(old.title, wipe.wordings)
        if not lost and title == old.title:
            continue
        columns[5] = title
        rest = b"".join(kept) or pack([])
        connection.execute(
            "UPDATE ledger SET title = ?, changes = ? WHERE id = ?", (title, rest, number)
        )
        yield number, entry_hash(previous, LedgerEntry(*columns), [rest]), lost and not kept


def _acts_of(connection: sqlite3.Connection, project: str) -> set[int]:
    rows = connection.execute(
        "SELECT act FROM ledger_project GROUP BY act HAVING max(project) = ? AND count(*) = 1",
        (project,),
    )
    return {row[0] for row in rows}


def _marker(store: Path) -> Path:
    return store.with_name(f"{store.name}-forgetting")


def begin(store: Path) -> None:
    """Record that an erasure has begun, so that `finish` runs even after a crash."""
    os.close(open_own(_marker(store), os.O_WRONLY | os.O_CREAT))


def finish(database: Database) -> bool:
    """Rewrite the file and empty its log, so that no erased byte is left; False while another
    program reads the store.
    """
    with failures_as_sentences(database.path, writing=True), database.write_lock:
        try:
            database.writer.execute(f"PRAGMA busy_timeout = {CLOSE_MILLISECONDS}")
            database.writer.execute("VACUUM")
            busy = database.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return False
        finally:
            database.writer.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
    if busy:
        return False
    with suppress(FileNotFoundError):
        _marker(database.path).unlink()
    return True
