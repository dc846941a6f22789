"""Commits as rows of a list, and one commit with everything about it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from reviewer.commits import retention
from reviewer.commits.reader import EDIT, ORIGIN, PRIORITY, Reader, joined
from reviewer.commits.values import Annotation, CommitRow, CommitView, Priority
from reviewer.errors import UnknownIdError
from reviewer.store.ledger import chunks

FIRST_LINE = 200
_COLUMNS = (
    f"c.id, c.position, c.hash, c.role, c.type, c.name, {PRIORITY} AS priority,"
    " n.id IS NOT NULL AS annotated, n.retention_json, d.id IS NOT NULL AS edited, t.tokens"
)
_BLANKS = "char(32, 9, 10, 13, 160)"
_ROW = f"{_COLUMNS}, substr(ltrim(t.text, {_BLANKS}), 1, {FIRST_LINE}) AS start"


def commit_rows(reader: Reader, ids: Sequence[int]) -> list[CommitRow]:
    """The rows of those ids, in that order; ids that no longer exist are left out."""
    found: dict[int, CommitRow] = {}
    for chunk in chunks(list(ids)):
        marks = ",".join("?" * len(chunk))
        for row in reader.all(f"SELECT {_ROW} FROM {joined()} WHERE c.id IN ({marks})", chunk):
            found[row["id"]] = _commit_row(row)
    return [found[each] for each in ids if each in found]


def commit_view(reader: Reader, number: int) -> CommitView:
    """Everything about a commit; for an edit, about the commit that it edits.

    Raises UnknownIdError.
    """
    row = reader.one(
        f"SELECT {_ROW}, c.context_id, p.hash AS parent, t.text, c.operation, c.target_id,"
        f" c.at, c.source_line, {ORIGIN} AS origin, first.text AS first_text"
        f" FROM {joined()} LEFT JOIN commit_ p ON p.id = c.parent_id"
        " JOIN content first ON first.id = c.content_id WHERE c.id = ?",
        (number,),
    )
    if row is None:
        raise UnknownIdError(f"There is no commit #{number}. See: reviewer commit list CONTEXT")
    if row["operation"] == "edit":
        return commit_view(reader, row["target_id"])
    return CommitView(
        row=_commit_row(row),
        context=row["context_id"],
        parent=row["parent"],
        text=row["text"],
        original=row["first_text"] if row["edited"] else None,
        at=row["at"],
        name=row["name"],
        annotations=said_about(reader, row["origin"]),
        source_line=row["source_line"],
        summary_of=_sources(reader, row["origin"]) if row["operation"] == "summary" else (),
    )


def said_about(reader: Reader, origin: int) -> tuple[Annotation, ...]:
    """What was said about a commit, newest first."""
    return tuple(
        Annotation(
            priority=Priority(row["priority"]),
            retention=retention.from_json(row["retention_json"]),
            reason=row["reason"],
            at=row["at"],
            actor=row["actor"],
        )
        for row in reader.all(
            "SELECT * FROM annotation WHERE commit_id = ? ORDER BY id DESC", (origin,)
        )
    )


def texts(reader: Reader, ids: Sequence[int]) -> dict[int, str]:
    """The texts of commits by id, edits applied."""
    found: dict[int, str] = {}
    for chunk in chunks(list(ids)):
        sql = (
            "SELECT c.id, t.text FROM commit_ c"
            f" JOIN content t ON t.id = coalesce((SELECT content_id FROM commit_ WHERE id = {EDIT}"
            f"), c.content_id) WHERE c.id IN ({','.join('?' * len(chunk))})"
        )
        found.update((row[0], row[1]) for row in reader.all(sql, chunk))
    return found


def _commit_row(row: sqlite3.Row) -> CommitRow:
    lines = row["start"].splitlines()
    return CommitRow(
        id=row["id"],
        position=row["position"],
        hash=row["hash"],
        role=row["role"],
        type=row["type"],
        priority=Priority(row["priority"]),
        annotated=bool(row["annotated"]),
        criteria=retention.size(retention.from_json(row["retention_json"])),
        edited=bool(row["edited"]),
        tokens=row["tokens"],
        first_line=lines[0].rstrip() if lines else "",
    )


def _sources(reader: Reader, summary: int) -> tuple[str, ...]:
    found = reader.one(
        "SELECT sources FROM segment WHERE commit_id = ? ORDER BY id DESC LIMIT 1", (summary,)
    )
    if found is None:
        return ()
    ids = msgspec.json.decode(found[0], type=list[int])
    hashes = {
        row[0]: row[1]
        for chunk in chunks(ids)
        for row in reader.all(
            f"SELECT id, hash FROM commit_ WHERE id IN ({','.join('?' * len(chunk))})", chunk
        )
    }
    return tuple(hashes[each] for each in ids if each in hashes)
