"""A store as another program sees it: its rows, and acts that no screen or command would write."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from reviewer.clock import utc_now
from reviewer.store.acts import Act, Scope
from reviewer.store.changes import unpack
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


def rows_of(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows that a query finds in the file."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def write(path: Path, sql: str, *values: object) -> None:
    """Change the file as another program could."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql, values)


@contextmanager
def planted(
    path: Path, kind: str = "plant", title: str | None = None, scope: Scope = Scope.DECISION
) -> Iterator[Act]:
    """An act on the ledger of the file, written when the block ends."""
    database = Database(path)
    try:
        with Ledger(database, actor="you", clock=utc_now).act(kind, title, scope=scope) as act:
            yield act
    finally:
        database.close()


def everything_in(path: Path) -> bytes:
    """All values of a store, with the rows before and after of all acts, which are packed."""
    with closing(sqlite3.connect(path)) as connection:
        lines = list(connection.iterdump())
        for (blob,) in connection.execute("SELECT changes FROM ledger"):
            lines.append(repr(list(unpack(blob))))
    return "\n".join(lines).encode("utf-8", "surrogatepass") + path.read_bytes()
