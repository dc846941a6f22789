"""SQL that every reader of commits shares: what holds of a commit, its edits applied.

An annotation and an edit belong to the commit that was first written (`origin`), so that one that
repeats it after a compression carries them too.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from reviewer.commits.values import DEFAULT_PRIORITIES, Priority
from reviewer.store.changes import Value
from reviewer.store.database import Database, failures_as_sentences

ORIGIN = "coalesce(c.origin_id, c.id)"
EDIT = (
    "(SELECT max(e.id) FROM commit_ e INDEXED BY commit_target"
    f" WHERE e.target_id = {ORIGIN} AND e.operation = 'edit')"
)
"""Id of the edit commit that holds, or NULL."""
EDIT_UNTIL = EDIT.removesuffix(")") + " AND e.id <= :until)"
"""The same as it was when the commit `:until` was written."""
ANNOTATION = f"(SELECT max(a.id) FROM annotation a WHERE a.commit_id = {ORIGIN})"
"""Id of the annotation that holds, or NULL."""
DEFAULT_PRIORITY = (
    "CASE c.type "
    + " ".join(f"WHEN '{kind}' THEN '{value}'" for kind, value in DEFAULT_PRIORITIES.items())
    + f" ELSE '{Priority.NORMAL}' END"
)
PRIORITY = f"coalesce(n.priority, {DEFAULT_PRIORITY})"


def joined(edit: str = EDIT) -> str:
    """The commit `c` with the content `t` that holds and the annotation `n` that holds."""
    return (
        f"commit_ c LEFT JOIN commit_ d ON d.id = {edit}"
        " JOIN content t ON t.id = coalesce(d.content_id, c.content_id)"
        f" LEFT JOIN annotation n ON n.id = {ANNOTATION}"
    )


UP_FROM = (
    "WITH RECURSIVE up(id, depth) AS (SELECT :until, 0 UNION ALL"
    " SELECT p.parent_id, up.depth + 1 FROM up JOIN commit_ p ON p.id = up.id"
    " WHERE p.parent_id IS NOT NULL)"
)
"""The commits from `:until` back to the first one, as `up`, to stand before a SELECT."""
CHAIN_UNTIL = f"up CROSS JOIN {joined(EDIT_UNTIL)} WHERE c.id = up.id AND c.operation <> 'edit'"
"""The chain as it was when `:until` was its head, for a FROM behind `UP_FROM`."""


Found = TypeVar("Found")


class Reader:
    """Runs queries on the calling thread's own connection."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._local = threading.local()

    def kept(self, key: Hashable, read: Callable[[], Found]) -> Found:
        """What `read` finds; found once for each key and thread until somebody writes.

        Raises StoreError, and what `read` raises.
        """
        with failures_as_sentences(self._database.path):
            version = self._database.data_version()
        if getattr(self._local, "version", None) != version:
            self._local.version, self._local.found = version, {}
        found: dict[Hashable, Any] = self._local.found
        if key not in found:
            found[key] = read()
        value: Found = found[key]
        return value

    def all(
        self, sql: str, parameters: Sequence[Value] | dict[str, Value] = ()
    ) -> list[sqlite3.Row]:
        """Every row. Raises StoreError."""
        with failures_as_sentences(self._database.path):
            return self._database.reader().execute(sql, parameters).fetchall()

    def one(self, sql: str, parameters: Sequence[Value] | dict[str, Value] = ()) -> Any:
        """The first row, or None. Raises StoreError."""
        with failures_as_sentences(self._database.path):
            return self._database.reader().execute(sql, parameters).fetchone()
