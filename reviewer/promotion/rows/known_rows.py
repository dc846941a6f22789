"""Finds the rows of a project that already say something, with any status."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType
from reviewer.promotion.views import RowKind
from reviewer.store.acts import Act, chunks
from reviewer.store.changes import Value
from reviewer.text.normalise import duplicate_key
from reviewer.text.wording import same_wording

Key = tuple[str, str, str]
"""The key, unique in a project: kind, type and normalised wording."""
SHORTLIST = 20
"""Rows sharing a rare word with a statement that are compared with it."""
_KINDS = (RowKind.MEMORY, RowKind.ENTITY)
_TYPES = sorted({*map(str, MemoryType), *map(str, EntityType)})
_WORD = re.compile(r"\w{3,}")


class Known(NamedTuple):
    """What a project has about a statement: the row that says the same, and the statement's
    novelty, which is 1 minus the highest similarity to another row.
    """

    row: int | None
    novelty: float


def look_up(act: Act, project_id: int, kind: str, statement: str) -> Known:
    """Look up a memory or an entity by its words and by earlier ones; a decided row comes first."""
    from reviewer.extraction.similarity import similarity  # late: decisions compare keys only

    rows = act.query(
        "SELECT id, content, status, 1 FROM memory WHERE project_id = ? AND kind = ?"
        f" AND type IN ({','.join('?' * len(_TYPES))}) AND key = ?",
        (project_id, kind, *_TYPES, duplicate_key(statement)),
    )
    earlier = "JOIN content_history h ON h.memory_id = m.id"  # not proposed again either
    if query := query_of(statement):
        for wording, join in (("m.content", ""), ("h.content", earlier)):
            rows += act.query(
                f"SELECT m.id, {wording}, m.status, 0 FROM memory_text t"
                f" JOIN memory m ON m.id = t.rowid {join} WHERE memory_text MATCH ?"
                " AND m.project_id = ? AND m.kind = ? AND m.excerpt = 0"
                " ORDER BY t.rank LIMIT ?",
                (query, project_id, kind, SHORTLIST),
            )
    nearest, same = 0.0, list[tuple[bool, int]]()
    for number, content, status, exact in rows:
        if exact or same_wording(statement, content):
            same.append((status == "candidate", number))
        else:
            nearest = max(nearest, similarity(statement, content))
    return Known(min(same)[1] if same else None, 1.0 - nearest)


def query_of(statement: str) -> str:
    """The full-text query for rows sharing a rare word with a statement; may be empty."""
    words = sorted(set(_WORD.findall(statement.lower())), key=lambda word: (-len(word), word))[:6]
    return " OR ".join(f'"{word}"' for word in words)


def known_keys(
    query: Callable[..., Iterable[tuple[Any, ...]]], project_id: int, keys: Iterable[Key]
) -> dict[Key, int]:
    """The ids of the rows by those keys, including rows that a person has since reworded or
    retyped. `query` reads the store.
    """
    asked = set(keys)
    found: dict[Key, int] = {}
    changed: dict[str, int] = {}  # a retyped row is not proposed again under its old type
    for chunk in chunks(sorted({key for _, _, key in asked})):
        marks = [",".join("?" * len(each)) for each in (_KINDS, _TYPES, chunk)]
        sql = (  # with all columns of the index, so that it is not read from end to end
            "SELECT kind, type, key, id, edited FROM memory WHERE project_id = ?"
            f" AND kind IN ({marks[0]}) AND type IN ({marks[1]}) AND key IN ({marks[2]})"
        )
        for kind, type_, key, number, edited in query(sql, (project_id, *_KINDS, *_TYPES, *chunk)):
            found[kind, type_, key] = number
            if edited:
                changed[key] = number
    for content, kind, type_, number in query(
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
