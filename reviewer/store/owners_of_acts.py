"""To which projects the acts of an older store belong."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from reviewer.store.changes import Value, unpack_first
from reviewer.store.ownership import Owners, projects_of

LOOKED_AT = 200
"""Changes of an act that are looked at; the first ones name the project where one is named."""


def fill_owners(connection: sqlite3.Connection) -> None:
    """Fill `ledger_project` for every act there is; a damaged act belongs to no project."""
    acts = connection.execute("SELECT id, target FROM ledger ORDER BY id").fetchall()
    for number, target in acts:
        if target is not None:
            names = {
                row[0]
                for row in connection.execute(
                    "SELECT project FROM ledger_project WHERE act = ?", (target,)
                )
            }
        else:
            names = _names(connection, number)
        connection.executemany(
            "INSERT OR IGNORE INTO ledger_project (project, act) VALUES (?, ?)",
            ((name, number) for name in sorted(names)),
        )


def _names(connection: sqlite3.Connection, number: int) -> set[str]:
    def query(sql: str, parameters: Sequence[Value]) -> Iterable[Sequence[Any]]:
        return connection.execute(sql, parameters)

    touched = [
        row[0]
        for row in connection.execute("SELECT memory_id FROM ledger_touch WHERE act = ?", (number,))
    ]
    names = {name for _, name in projects_of(query, "memory", touched)}
    if names:
        return names
    (blob,) = connection.execute("SELECT changes FROM ledger WHERE id = ?", (number,)).fetchone()
    owners = Owners()
    try:
        owners.see(unpack_first(blob, LOOKED_AT))
    except ValueError:
        return set()  # `reviewer verify` tells of it
    return owners.names(query)
