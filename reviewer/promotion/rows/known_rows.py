"""Finds the rows of a project that already say something, with any status."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType
from reviewer.promotion.views import RowKind
from reviewer.store.acts import Act, chunks
from reviewer.store.changes import Value
from reviewer.text.normalise import duplicate_key
from reviewer.text.wording import same_wording, wording_key

Key = tuple[str, str, str]
"""The key, unique in a project: kind, type and normalised wording."""
SHORTLIST = 20
"""Rows sharing a rare word with a statement that are compared with it."""
_KINDS = (RowKind.MEMORY, RowKind.ENTITY)
_TYPES = sorted({*map(str, MemoryType), *map(str, EntityType)})
_WORD = re.compile(r"\w{3,}")
_OF_PROJECT = "+m.project_id = ?"
"""With a plus, so that SQLite begins with the few rows that were reworded, not with all rows."""


CLOSE = 0.6
"""Similarity of a memory that the person should see beside a new one, as it may contradict it."""


class Match(NamedTuple):
    """The row of a project that says the same as a statement, and the statement's novelty: 1 minus
    the highest similarity to another row.
    """

    row: int | None
    novelty: float


class StoredStatements:
    """Looks up the memories and entities of a project by their words, inside an act."""

    def __init__(self, act: Act, project_id: int) -> None:
        self._act = act
        self._project_id = project_id
        self._search = cache(self._search_store)
        rows = act.query(
            "SELECT m.kind, h.content, m.status, m.id FROM content_history h"
            f" JOIN memory m ON m.id = h.memory_id WHERE {_OF_PROJECT}",
            (project_id,),
        )
        self._worded = {
            (kind, wording_key(content)): (status == "candidate", number)
            for kind, content, status, number in rows
        }
        """Earlier wordings, which are not proposed again either, and rows written meanwhile."""
        self._written: list[str] = []

    def look_up(self, kind: str, statement: str) -> Match:
        """Look up a statement; a decided row comes first."""
        from reviewer.extraction.similarity import similarity  # late: decisions compare keys only

        nearest, same = self._search(kind, statement)
        nearest = max([nearest, *(similarity(statement, each) for each in self._written)])
        worded = self._worded.get((kind, wording_key(statement)))
        found = [*same, *([worded] if worded else [])]
        return Match(min(found)[1] if found else None, 1.0 - nearest)

    def add(self, number: int, kind: str, statement: str) -> None:
        """Know a row that was just written."""
        self._worded[kind, wording_key(statement)] = (True, number)
        self._written.append(statement)

    def _search_store(self, kind: str, statement: str) -> tuple[float, list[tuple[bool, int]]]:
        """The highest similarity to another row, and the rows that say the same."""
        from reviewer.extraction.similarity import similarity  # late, as above

        rows = self._act.query(
            "SELECT id, content, status, kind, 1 FROM memory WHERE project_id = ? AND kind = ?"
            f" AND type IN ({','.join('?' * len(_TYPES))}) AND key = ?",
            (self._project_id, kind, *_TYPES, duplicate_key(statement)),
        )
        if query := query_of(statement):
            rows += self._act.query(
                "SELECT m.id, m.content, m.status, iif(m.excerpt, '', m.kind), 0 FROM memory_text t"
                " JOIN memory m ON m.id = t.rowid WHERE memory_text MATCH ?"
                # By kind below: a rare kind would make the search read every match.
                " AND m.project_id = ? ORDER BY t.rank LIMIT ?",
                (query, self._project_id, SHORTLIST),
            )
        nearest, same = 0.0, list[tuple[bool, int]]()
        for number, content, status, of_kind, exact in rows:
            if exact or (of_kind == kind and same_wording(statement, content)):
                same.append((status == "candidate", number))
            else:
                nearest = max(nearest, similarity(statement, content))
        return nearest, same


def closest_memory(act: Act, project_id: int, number: int, statement: str) -> int | None:
    """The active memory most like a statement, besides the row `number`; None if none is close."""
    from reviewer.extraction.similarity import similarity  # late, as above

    if not (query := query_of(statement)):
        return None
    rows = act.query(
        "SELECT m.id, m.content FROM memory_text t JOIN memory m ON m.id = t.rowid"
        " WHERE memory_text MATCH ? AND m.project_id = ? AND m.status = 'active' AND m.id <> ?"
        " ORDER BY t.rank LIMIT ?",
        (query, project_id, number, SHORTLIST),
    )
    found = [(similarity(statement, content), other) for other, content in rows]
    best, other = max(found, default=(0.0, None))
    return other if best >= CLOSE else None


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
    alike: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for kind, type_, key in sorted(asked):
        alike[kind, type_].append(key)
    for (kind, type_), own in alike.items():
        for chunk in chunks(own):
            sql = (
                "SELECT key, id FROM memory WHERE (project_id, kind, type) = (?, ?, ?)"
                f" AND key IN ({','.join('?' * len(chunk))})"
            )
            for key, number in query(sql, (project_id, kind, type_, *chunk)):
                found[kind, type_, key] = number
    changed = dict(  # a retyped row is not proposed again under its old type
        query(
            "SELECT key, id FROM memory INDEXED BY memory_edited WHERE project_id = ?"
            " AND edited = 1 AND kind IN (?, ?) ORDER BY id",
            (project_id, *_KINDS),
        )
    )
    for content, kind, type_, number in query(
        "SELECT h.content, m.kind, m.type, m.id FROM content_history h"
        f" JOIN memory m ON m.id = h.memory_id WHERE {_OF_PROJECT}",
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
