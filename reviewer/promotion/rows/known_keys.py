"""Finds the statements that a project already has, with any status."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from reviewer.store.acts import Act, chunks
from reviewer.store.changes import Value
from reviewer.text.normalise import duplicate_key

Key = tuple[str, str, str]
"""The key, unique in a project: kind, type and normalised wording."""


def known_keys(
    connection: sqlite3.Connection, project_id: int, keys: Iterable[Key]
) -> dict[Key, int]:
    """The ids of the rows by those keys, including rows that a person has since reworded or
    retyped.
    """
    asked = set(keys)
    found: dict[Key, int] = {}
    changed: dict[str, int] = {}  # a retyped row is not proposed again under its old type
    for chunk in chunks(sorted({key for _, _, key in asked})):
        sql = (
            "SELECT kind, type, key, id, edited FROM memory WHERE project_id = ? AND"
            f" key IN ({','.join('?' * len(chunk))})"
        )
        for kind, type_, key, number, edited in connection.execute(sql, (project_id, *chunk)):
            found[kind, type_, key] = number
            if edited:
                changed[key] = number
    for content, kind, type_, number in connection.execute(
        "SELECT h.content, m.kind, m.type, m.id FROM content_history h"
        " JOIN memory m ON m.id = h.memory_id WHERE m.project_id = ?",
        (project_id,),
    ):  # nor a reworded row in its earlier words
        found.setdefault((kind, type_, duplicate_key(content)), number)
    for each in asked:
        if each not in found and each[2] in changed:
            found[each] = changed[each[2]]
    return {key: number for key, number in found.items() if key in asked}


def row_with_key(
    act: Act, project_id: Value, key: tuple[Value, Value, Value], *, besides: int = 0
) -> tuple[int, str] | None:
    """Id and status of the row that currently has a key, other than the row `besides`."""
    rows = act.query(
        "SELECT id, status FROM memory WHERE project_id = ? AND kind = ? AND type = ? AND key = ?"
        " AND id <> ?",
        (project_id, *key, besides),
    )
    return (int(rows[0][0]), str(rows[0][1])) if rows else None
