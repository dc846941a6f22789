"""Contexts by id, by name and in lists, with their sizes in tokens."""

from __future__ import annotations

import sqlite3
from collections import Counter

from reviewer.commits.commit_sql import JOINED, ORIGIN, PRIORITY, read_as
from reviewer.commits.values import ContextView, Priority, TokenTotals
from reviewer.errors import UnknownIdError
from reviewer.store.changes import Value
from reviewer.store.database import Database

_NAMED = 8
"""An error message lists at most this many contexts."""
_IN_PROJECT = "(?1 IS NULL OR p.name = ?1)"
_BY_PERSON = "c.role = 'user' AND c.type = 'dialogue' AND instr(c.meta, '\"aside\":1') = 0"


class ContextReader:
    """Reads contexts. Safe to call from several threads at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, project: str | None = None) -> list[ContextView]:
        """The contexts of a project, or all of them, latest change first."""
        return self._views(_IN_PROJECT, project)

    def get(self, context: int) -> ContextView:
        """One context. Raises UnknownIdError, also for one of another project."""
        found = self._views("x.id = ?", context)
        if not found:
            raise UnknownIdError(f"There is no context #{context}. See: reviewer context list")
        self._database.ownership.require_name(f"Context #{context}", found[0].project)
        return found[0]

    def find(self, name_or_id: str, project: str | None = None) -> ContextView:
        """The context with that name (in `project`, if given), that number, or that unique prefix.

        Raises UnknownIdError, listing close matches or the candidates.
        """
        wanted, ownership = name_or_id.strip(), self._database.ownership
        found = self._views(f"{_IN_PROJECT} AND x.name = ?2", project, wanted)
        number = wanted.removeprefix("#")
        if not found and number.isascii() and number.isdigit():
            found = self._views("x.id = ?", int(number[:18]))
        if not found and wanted:
            begins = f"{_IN_PROJECT} AND substr(x.name, 1, length(?2)) = ?2"
            found = self._views(begins, project, wanted)
        if len(found) == 1:
            ownership.require_name(f"Context #{found[0].id}", found[0].project)
            return found[0]
        if found:
            them = ", ".join(f"#{each.id} {each.name} in {each.project}" for each in found[:_NAMED])
            raise UnknownIdError(f'"{wanted}" may be {them}. Give the number.')
        names = [
            row[0]
            for row in self._database.query(
                "SELECT x.name FROM context x JOIN project p ON p.id = x.project_id"
                f" WHERE {_IN_PROJECT} ORDER BY x.changed_at DESC",
                (project,),
            )
        ]
        for each in self._views("x.name = ?", wanted) if project is not None else ():
            ownership.require_name(f'The context "{wanted}"', each.project)
        from difflib import get_close_matches

        near = get_close_matches(wanted, names, 3, 0.5) or names[:_NAMED]
        if not near:
            raise UnknownIdError(
                f'There is no context "{wanted}". Make one: reviewer context import FILE, or'
                " context create NAME"
            )
        raise UnknownIdError(f'There is no context "{wanted}". Close matches: {", ".join(near)}')

    def first_requests(self) -> dict[int, tuple[str, str]]:
        """By context: its first request by a person, and the time of its last turn."""
        return {
            row["context_id"]: (row["text"], row["last"] or "")
            for row in self._database.query(
                "SELECT c.context_id, substr(t.text, 1, 2000) AS text, min(c.id),"
                " (SELECT max(at) FROM commit_ WHERE context_id = c.context_id) AS last"
                " FROM commit_ c JOIN content t ON t.id = c.content_id"
                f" WHERE {_BY_PERSON} GROUP BY c.context_id"
            )
        }

    def persons_messages(self, context: int) -> dict[int, int]:
        """The number of each of the person's messages, by commit; a copy has its original's."""
        found = self._database.query(
            f"SELECT c.id, {ORIGIN} AS origin FROM commit_ c"
            f" WHERE c.context_id = ? AND c.operation = 'append' AND {_BY_PERSON} ORDER BY origin",
            (context,),
        )
        numbers: dict[int, int] = {}
        return {each: numbers.setdefault(origin, len(numbers) + 1) for each, origin in found}

    def totals(self, context: int) -> TokenTotals:
        """Tokens and commits of a chain by priority and role; `skip`: those not compiled. A summary
        counts as `summary`: compiled for a chat, it is not the agent's.
        """
        by_priority: Counter[Priority] = Counter()
        by_role: Counter[str] = Counter()
        commits: Counter[Priority] = Counter()
        for priority, role, tokens, count in self._database.query(
            f"SELECT {PRIORITY}, iif(c.operation = 'summary', 'summary', c.role), sum(t.tokens),"
            f" count(*) FROM {JOINED}"
            " WHERE c.live = 1 AND c.context_id = ? GROUP BY 1, 2",
            (context,),
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

    def changed(self, context: int) -> tuple[int, ...]:
        """A cheap value that changes whenever the chain of a context, its annotations or its
        confirmed anchors do.
        """
        row = self._database.first(
            "SELECT coalesce(x.head_id, 0), x.changed_at,"
            " (SELECT coalesce(sum(a.id), 0) FROM commit_ c"
            "  JOIN annotation a ON a.commit_id = c.id WHERE c.context_id = x.id),"
            " (SELECT coalesce(sum(2 * a.id + a.confirmed), 0) FROM commit_ c"
            "  JOIN anchor a ON a.commit_id = c.id WHERE c.context_id = x.id)"
            " FROM context x WHERE x.id = ?",
            (context,),
        )
        return () if row is None else (row[0], hash(row[1]), row[2], row[3])

    def _views(self, where: str, *parameters: Value) -> list[ContextView]:
        """Contexts under an SQL condition over `x` and its project `p`, latest change first."""
        rows = self._database.query(
            "SELECT x.*, p.name AS project, h.hash AS head FROM context x"
            " JOIN project p ON p.id = x.project_id LEFT JOIN commit_ h ON h.id = x.head_id"
            f" WHERE {where} ORDER BY x.changed_at DESC, x.id DESC",
            parameters,
        )
        return [self._view(row) for row in rows]

    def _view(self, row: sqlite3.Row) -> ContextView:
        """A context, with the number of its commits and their tokens."""
        ((commits, tokens),) = self._database.query(
            "SELECT count(*), coalesce(sum(t.tokens), 0)"
            f" FROM {JOINED} WHERE c.context_id = ? AND c.live = 1",
            (row["id"],),
        )
        return read_as(ContextView, row, commits=commits, tokens=tokens)
