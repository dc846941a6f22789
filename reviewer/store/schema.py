"""Compares the schema of a store with that of this program.

A trigger or view planted by another program would take effect with the next act.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache

from reviewer.store.migrations import migrate

SEARCH_INDEX = "memory_text"

MIGRATION_TABLES = {
    ("table", "_sqlite_migrations"),
    ("index", "idx__sqlite_migrations_migration_set_name"),
}
"""The list of applied migrations, kept by `sqlite_utils`; missing in the first stores."""


def schema_problems(connection: sqlite3.Connection) -> list[str]:
    """The differences between a store and a new one, as sentences."""
    return list(_differences(_objects(connection), _wanted()))


@cache
def _wanted() -> Mapping[tuple[str, str], object]:
    """The objects of a new store."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh, is_new=True)
        return _objects(fresh)


def _differences(
    found: Mapping[tuple[str, str], object], wanted: Mapping[tuple[str, str], object]
) -> Iterator[str]:
    for kind, name in sorted(found.keys() - wanted.keys() - MIGRATION_TABLES):
        yield f"schema: {kind} {name} is not part of reviewer's schema"
    for kind, name in sorted(wanted.keys() - found.keys() - MIGRATION_TABLES):
        yield f"schema: {kind} {name} is missing"
    for key in sorted(found.keys() & wanted.keys()):
        if found[key] != wanted[key]:
            yield f"schema: {key[0]} {key[1]} differs from reviewer's schema"


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], object]:
    """Every table, index, trigger and view by kind and name.

    Tables are compared by their columns in any order, because a migration adds columns at the end;
    everything else by its text.
    """
    rows = connection.execute(
        "SELECT type, name, sql, rootpage FROM main.sqlite_master"
        " WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    found: dict[tuple[str, str], object] = {}
    for kind, name, sql, page in rows:
        plain = kind == "table" and page
        found[kind, name] = _columns(connection, name) if plain else " ".join(str(sql).split())
    return found


def _columns(connection: sqlite3.Connection, table: str) -> object:
    columns = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (table,)).fetchall()
    references = connection.execute(
        'SELECT "from", "table", "to", on_update, on_delete FROM pragma_foreign_key_list(?)',
        (table,),
    ).fetchall()
    unique = [
        connection.execute("SELECT name FROM pragma_index_info(?)", (index,)).fetchall()
        for index, origin in connection.execute(
            "SELECT name, origin FROM pragma_index_list(?)", (table,)
        ).fetchall()
        if origin != "c"
    ]
    return sorted(column[1:] for column in columns), sorted(references), sorted(unique)
