"""Rows that an undo takes away although later acts need them."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.errors import ConflictError
from reviewer.store.changes import Change
from reviewer.store.ledger import LEDGERED, Act, chunks

SHARED = ("project", "content")
"""Tables whose rows several acts use and none owns: the first that needs one writes it."""
REFUSED = ("context", "commit_")
"""Tables of which a row that something newer refers to is not taken away."""
OF_INTEREST = {*SHARED, *REFUSED}


def keep_needed(act: Act, changes: Sequence[Change], title: str) -> None:
    """Put shared rows back that an undo deleted while others refer to them.

    `changes`: what it did to rows of the tables OF_INTEREST, in order; others do not matter.

    Raises ConflictError, naming what refers to it, where a deleted row belongs to the act alone.
    """
    for table in (*SHARED, *REFUSED):
        gone = {change.row: change for change in changes if change.table == table}
        gone = {row: change for row, change in gone.items() if change.after is None}
        if not gone:
            continue
        for child, column in _referring(act, table):
            for chunk in chunks(sorted(gone)):
                marks = ",".join("?" * len(chunk))
                for number, row in act.query(
                    f"SELECT id, {column} FROM {child} WHERE {column} IN ({marks})", chunk
                ):
                    if table in REFUSED:
                        raise ConflictError(
                            f'"{title}" cannot be reversed: {child.strip("_")} {number} refers to '
                            f"{table.strip('_')} {row}. Nothing was changed; undo the later act "
                            "first."
                        )
                    change = gone.pop(row, None)
                    if change is not None:
                        act.apply([change.reversed()])


def _referring(act: Act, table: str) -> list[tuple[str, str]]:
    """The tables and columns that refer to rows of a table."""
    return [
        (child, row[3])
        for child in LEDGERED
        for row in act.query(f"PRAGMA foreign_key_list({child})")
        if row[2] == table
    ]
