"""Contexts by id, by name and in lists, with their sizes in tokens."""

from __future__ import annotations

import sqlite3
from collections import Counter

from reviewer.commits.reader import CHAIN_UNTIL, PRIORITY, UP_FROM, CommitReader, joined
from reviewer.commits.values import ContextView, Priority, TokenTotals
from reviewer.errors import UnknownIdError
from reviewer.store.changes import Value

_NAMED = 8
"""An error message lists at most this many contexts."""


def contexts(reader: CommitReader, where: str = "1", *parameters: Value) -> list[ContextView]:
    """Contexts that match an SQL condition over `x` and its project `p`, latest change first."""
    rows = reader.all(
        "SELECT x.*, p.name AS project, h.hash AS head FROM context x"
        " JOIN project p ON p.id = x.project_id LEFT JOIN commit_ h ON h.id = x.head_id"
        f" WHERE {where} ORDER BY x.changed_at DESC, x.id DESC",
        parameters,
    )
    return [_view(reader, row) for row in rows]


def _sizes(reader: CommitReader, number: int) -> tuple[int, int]:
    """Number of commits and tokens of a chain."""
    commits, tokens = reader.one(
        "SELECT count(*), coalesce(sum(t.tokens), 0)"
        f" FROM {joined()} WHERE c.context_id = ? AND c.live = 1",
        (number,),
    )
    return commits, tokens


def context(reader: CommitReader, number: int) -> ContextView:
    """One context. Raises UnknownIdError."""
    found = contexts(reader, "x.id = ?", number)
    if not found:
        raise UnknownIdError(f"There is no context #{number}. See: reviewer context list")
    return found[0]


def find_context(reader: CommitReader, name_or_id: str, project: str | None) -> ContextView:
    """The context with that name (in `project`, if given), that number, or that unique prefix.

    Raises UnknownIdError, listing close matches or the candidates.
    """
    wanted = name_or_id.strip()
    in_project = "(?1 IS NULL OR p.name = ?1)"
    found = contexts(reader, f"{in_project} AND x.name = ?2", project, wanted)
    number = wanted.removeprefix("#")
    if not found and number.isascii() and number.isdigit():
        found = contexts(reader, "x.id = ?", int(number[:18]))
    if not found and wanted:
        begins = f"{in_project} AND substr(x.name, 1, length(?2)) = ?2"
        found = contexts(reader, begins, project, wanted)
    if len(found) == 1:
        reader.ownership.require_name(f"Context #{found[0].id}", found[0].project)
        return found[0]
    if found:
        which = ", ".join(f"#{each.id} {each.name} in {each.project}" for each in found[:_NAMED])
        raise UnknownIdError(f'"{wanted}" may be {which}. Give the number.')
    names = [
        row[0]
        for row in reader.all(
            "SELECT x.name FROM context x JOIN project p ON p.id = x.project_id"
            f" WHERE {in_project} ORDER BY x.changed_at DESC",
            (project,),
        )
    ]
    for each in contexts(reader, "x.name = ?", wanted) if project is not None else ():
        reader.ownership.require_name(f'The context "{wanted}"', each.project)
    from difflib import get_close_matches

    near = get_close_matches(wanted, names, 3, 0.5) or names[:_NAMED]
    if not near:
        raise UnknownIdError(
            f'There is no context "{wanted}". Make one: reviewer context import FILE, or'
            " context create NAME"
        )
    raise UnknownIdError(f'There is no context "{wanted}". Close matches: {", ".join(near)}')


def first_requests(reader: CommitReader) -> dict[int, tuple[str, str]]:
    """By context: its first request by a person, and the time of its last turn."""
    return {
        row["context_id"]: (row["text"], row["last"] or "")
        for row in reader.all(
            "SELECT c.context_id, substr(t.text, 1, 2000) AS text, min(c.id),"
            " (SELECT max(at) FROM commit_ WHERE context_id = c.context_id) AS last"
            " FROM commit_ c JOIN content t ON t.id = c.content_id"
            " WHERE c.role = 'user' AND c.type = 'dialogue' GROUP BY c.context_id"
        )
    }


def totals(reader: CommitReader, number: int, until: int | None) -> TokenTotals:
    """Tokens and commits of a chain by priority and role; with `until`, from when that commit was
    the head.
    """
    by_priority: Counter[Priority] = Counter()
    by_role: Counter[str] = Counter()
    commits: Counter[Priority] = Counter()
    source = f"{joined()} WHERE c.live = 1" if until is None else CHAIN_UNTIL
    prefix = "" if until is None else UP_FROM
    for priority, role, tokens, count in reader.all(
        f"{prefix} SELECT {PRIORITY}, c.role, sum(t.tokens), count(*) FROM {source}"
        " AND c.context_id = :context GROUP BY 1, 2",
        {"context": number, "until": until},
    ):
        by_priority[Priority(priority)] += tokens
        by_role[role] += tokens
        commits[Priority(priority)] += count
    return TokenTotals(
        total=by_priority.total(),
        by_priority={each: by_priority[each] for each in Priority},
        by_role=dict(by_role.most_common()),
        commits_by_priority={each: commits[each] for each in Priority},
    )


def version(reader: CommitReader, number: int) -> tuple[int, ...]:
    """A value that changes with the chain, its annotations and its confirmed anchors."""
    row = reader.one(
        "SELECT coalesce(x.head_id, 0), x.changed_at,"
        " (SELECT coalesce(sum(a.id), 0) FROM commit_ c JOIN annotation a ON a.commit_id = c.id"
        "  WHERE c.context_id = x.id),"
        " (SELECT coalesce(sum(2 * a.id + a.confirmed), 0) FROM commit_ c"
        "  JOIN anchor a ON a.commit_id = c.id WHERE c.context_id = x.id)"
        " FROM context x WHERE x.id = ?",
        (number,),
    )
    return () if row is None else (row[0], hash(row[1]), row[2], row[3])


def _view(reader: CommitReader, row: sqlite3.Row) -> ContextView:
    number = row["id"]
    commits, tokens = reader.kept(("sizes", number), lambda: _sizes(reader, number))
    return ContextView(
        id=row["id"],
        project=row["project"],
        name=row["name"],
        head=row["head"],
        commits=commits,
        tokens=tokens,
        source_path=row["source_path"],
        created_at=row["created_at"],
        changed_at=row["changed_at"],
    )
