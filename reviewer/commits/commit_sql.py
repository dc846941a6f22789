"""SQL about commits: edits applied, latest annotation joined.

Annotations and edits refer to the original commit (`origin`), so that its copies after a
compression have them too.
"""

from __future__ import annotations

import sqlite3
from typing import TypeVar

import msgspec

from reviewer.commits.values import DEFAULT_PRIORITIES, Priority

ORIGIN = "coalesce(c.origin_id, c.id)"
EDIT = (
    "(SELECT max(e.id) FROM commit_ e INDEXED BY commit_target"
    f" WHERE e.target_id = {ORIGIN} AND e.operation = 'edit')"
)
"""Id of the latest edit, or NULL."""
ANNOTATION = f"(SELECT max(a.id) FROM annotation a WHERE a.commit_id = {ORIGIN})"
"""Id of the latest annotation, or NULL."""
DEFAULT_PRIORITY = (
    "CASE c.type "
    + " ".join(f"WHEN '{kind}' THEN '{value}'" for kind, value in DEFAULT_PRIORITIES.items())
    + f" ELSE '{Priority.NORMAL}' END"
)
PRIORITY = f"coalesce(n.priority, {DEFAULT_PRIORITY})"


JOINED = (
    f"commit_ c LEFT JOIN commit_ d ON d.id = {EDIT}"
    " JOIN content t ON t.id = coalesce(d.content_id, c.content_id)"
    f" LEFT JOIN annotation n ON n.id = {ANNOTATION}"
)
"""FROM clause: commit `c`, its latest edit `d`, its current content `t`, annotation `n`."""

Read = TypeVar("Read")


def read_as(type_: type[Read], row: sqlite3.Row, /, **others: object) -> Read:
    """A row as a value with the same names; `others`: the fields with other values."""
    return msgspec.convert({**dict(row), **others}, type_, strict=False)
