"""Whether a call may concern a memory at all: asked before the search is imported.

Uses `_sqlite3`: importing `sqlite3` costs a hook a fifth of its time.
"""

from __future__ import annotations

from _sqlite3 import connect

from reviewer.store.version import SCHEMA_VERSION

TYPE_CHECKING = False  # recognised by type checkers; importing `typing` costs a fifth of the time
if TYPE_CHECKING:
    from collections.abc import Sequence

BUSY_SECONDS = 0.02
"""Wait for another process that is writing."""


def may_concern(store: str, kind: str, command: str, paths: Sequence[str]) -> bool:
    """Whether a memory of any project has a moment of this kind for the call or one of the files,
    judging by the words of its command and the last name of its path. Raises sqlite3.Error.
    """
    opened = connect(address(store, "rw"), uri=True, timeout=BUSY_SECONDS)
    try:
        if opened.execute("PRAGMA user_version").fetchone() != (SCHEMA_VERSION,):
            return False
        rows = opened.execute("SELECT DISTINCT value FROM moment WHERE kind = ?", (kind,))
        return any(
            all(word in command for word in value.split())
            or any(value.rpartition("/")[2] in path for path in paths)
            for (value,) in rows
        )
    finally:
        opened.close()


def address(store: str, mode: str) -> str:
    """The URI of a store; opening it does not create a missing file."""
    return f"file:{store.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode={mode}"
