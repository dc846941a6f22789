"""The ledger for a person to read: acts and their changes, undo and redo."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from msgspec import Struct

from reviewer.errors import UnknownIdError
from reviewer.store.acts import AMONG, FORGET, Scope, listed
from reviewer.store.changes import Image, RowChange, Value, readable, runs_of, unpack
from reviewer.store.undo import Undo, Undone, is_changed
from reviewer.store.verify import Verification, verify

__all__ = ["ActView", "ChangeView", "History", "Undone"]

_NO_STEP = "kind NOT IN ('wave', 'read') AND NOT (kind = 'ingest' AND rows = 1)"
"""Steps of an ingestion change no row that a person decides on; the act `ingest` reports their
result. An `ingest` that only ends its wave added nothing.
"""
_NUMBER = re.compile(r"#(\d{1,18})\b")
_OF_PROJECT = "EXISTS (SELECT 1 FROM ledger_project o WHERE o.project = ?3 AND o.act = ledger.id)"


class ActView(Struct, frozen=True):
    """An act of the ledger. `undone`: currently."""

    id: int
    at: str
    actor: str
    scope: str
    kind: str
    title: str
    rows: int
    target: int | None
    undone: bool


class ChangeView(Struct, frozen=True):
    """An act's change of one row; `label`: a memory's wording."""

    table: str
    row: int
    before: Image | None
    after: Image | None
    label: str


class History(Undo):
    """Undo, redo, and the ledger: of the current project, or of all projects."""

    def another_who_decided(self, memory: int) -> str:
        """The name of another person who made the latest decision on a memory; empty if this person
        did.
        """
        row = self._database.first(
            "SELECT l.id FROM ledger_touch t JOIN ledger l ON l.id = t.act"
            " WHERE t.memory_id = ? AND l.scope = 'decision' ORDER BY t.act DESC LIMIT 1",
            (memory,),
        )
        return self.decided_by_another(row[0]) if row else ""

    def retired(self, memories: Iterable[int]) -> set[int]:
        """Those of these rejected memories that were promoted until then."""
        left, found = set(memories), set[int]()
        acts = self._database.query(
            f"SELECT DISTINCT act FROM ledger_touch WHERE memory_id {AMONG} ORDER BY act DESC",
            (listed(left),),
        )
        for (number,) in acts:
            rows = self._database.query("SELECT changes FROM ledger WHERE id = ?", (number,))
            with readable(number):
                for each in unpack(rows[0][0]):
                    before, after = each.before or {}, each.after or {}
                    if each.table == "memory" and after.get("status") == "invalid":
                        if each.row in left and before.get("status") == "active":
                            found.add(each.row)
                        left.discard(each.row)
                        if not left:
                            return found
        return found

    def acts_on(self, memory: int) -> frozenset[int]:
        """The acts that changed a memory."""
        found = self._database.query("SELECT act FROM ledger_touch WHERE memory_id = ?", (memory,))
        return frozenset(act for (act,) in found)

    def acts(self, *, limit: int | None = None, actor: str | None = None) -> list[ActView]:
        """The latest acts, newest first. `actor`: acts of this person or agent only."""
        project = self._project
        return self._views(
            "WHERE (?1 IS NULL OR actor = ?1)"
            f" AND {_OF_PROJECT if project is not None else '?3 IS NULL'}"
            " ORDER BY id DESC LIMIT ifnull(?2, -1)",
            (actor, limit, project),
        )

    def folded(self, wanted: Callable[[ActView], bool] | None = None) -> array[int]:
        """The ids of all acts but undo, redo and the steps of an ingestion, newest first; with
        `wanted` only those.
        """
        sql, given = f"SELECT id FROM ledger l WHERE target IS NULL AND {_NO_STEP}", list[Value]()
        if self._project is not None:
            sql += " AND id IN (SELECT act FROM ledger_project WHERE project = ?)"
            given.append(self._project)
        ids = array("q", (row[0] for row in self._database.query(f"{sql} ORDER BY id DESC", given)))
        if wanted is None:
            return ids
        return array("q", (act.id for act in self.views(ids) if wanted(act)))

    def views(self, ids: Sequence[int]) -> list[ActView]:
        """Some acts, newest first."""
        return self._views(f"WHERE id {AMONG} ORDER BY id DESC", (listed(ids),))

    def wordings(self, acts: Sequence[ActView]) -> dict[int, str]:
        """The text of the memory that a decision is about, by act: the only one that its title
        names, if the act changed it. A title may also quote a number.
        """
        found: dict[int, str] = {}
        for act in acts:
            named = _NUMBER.findall(act.title) if act.scope == Scope.DECISION else []
            if len(named) == 1 and (
                row := self._database.first(
                    "SELECT m.content FROM ledger_touch t JOIN memory m ON m.id = t.memory_id"
                    " WHERE (t.memory_id, t.act) = (?, ?)",
                    (int(named[0]), act.id),
                )
            ):
                found[act.id] = row[0]
        return found

    def reversals(self, act: int) -> list[ActView]:
        """The undos and redos of an act, oldest first."""
        own = "(SELECT id FROM ledger WHERE target = ?1)"
        return self._views(f"WHERE target = ?1 OR target IN {own} ORDER BY id", (act,))

    def _views(self, rest: str, parameters: Sequence[Value]) -> list[ActView]:
        rows = self._database.query(
            f"SELECT id, at, actor, scope, kind, title, rows, target FROM ledger {rest}",
            parameters,
        )
        if not rows:
            return []
        numbers = [row["id"] for row in rows]
        undone = self.undone_between(min(numbers), max(numbers))
        return [ActView(**dict(row), undone=row["id"] in undone) for row in rows]

    def changes(self, act: int, *, limit: int = 500) -> list[ChangeView]:
        """The changes of an act, row by row, at most `limit` rows. Raises UnknownIdError, also for
        an act of another project, StoreError if the act is damaged.
        """
        self.require_own(act)
        row = self._database.first("SELECT changes FROM ledger WHERE id = ?", (act,))
        if row is None:
            raise UnknownIdError(f"There is no act {act}. See: reviewer history")
        with readable(act):
            changes = list(islice(unpack(row[0]), limit))
        labels = self._labels(changes)
        return [ChangeView(c.table, c.row, c.before, c.after, _label(c, labels)) for c in changes]

    def can_undo(self, act: ActView, changes: Sequence[ChangeView]) -> bool:
        """Whether an act can be undone. `changes`: its first; of an act with more, it is not
        checked whether they are as it left them.
        """
        if act.undone or act.kind == FORGET or act.id in self._emptied():
            return False
        if len(changes) < act.rows:
            return True
        last = {
            (each.table, each.row): RowChange(each.table, each.row, each.before, each.after)
            for each in changes
        }
        reader = self._database.reader()
        return not any(is_changed(reader, run) for run in runs_of(last.values()))

    def verify(
        self, progress: Callable[[int], None] | None = None, *, expected: str = ""
    ) -> Verification:
        """Recompute the hash chain, and the rows from the ledger; `expected`: an earlier head."""
        return verify(self._database, progress, expected=expected)

    def _labels(self, changes: Sequence[RowChange]) -> dict[tuple[str, int], str]:
        """Current wordings: a change may contain only the columns that differ."""
        found: dict[tuple[str, int], str] = {}
        for table, label in _LABELS.items():
            ids = listed(c.row for c in changes if c.table == table)
            sql = f"SELECT id, {label} FROM {table} WHERE id {AMONG}"
            rows = self._database.query(sql, (ids,))
            found.update(((table, row[0]), row[1]) for row in rows)
        return found


_LABELS = {
    "memory": "content",
    "state": "key || ' = ' || value",
    "annotation": "priority || ' “' || (SELECT substr(t.text, 1, 100) || '” in ' || x.name"
    " FROM commit_ c JOIN context x ON x.id = c.context_id JOIN content t ON t.id = c.content_id"
    " WHERE c.id = commit_id)",
}
"""Tables whose changes are labelled by the current row, each with the SQL of its label."""


def _label(change: RowChange, labels: dict[tuple[str, int], str]) -> str:
    if (change.table, change.row) in labels:
        return labels[change.table, change.row]
    for image in (change.after, change.before):
        if image and change.table == "state" and "key" in image:
            return f"{image['key']} = {image['value']}"
        for column in ("content", "name", "path", "text", "roots"):
            if image and image.get(column):
                return str(image[column])
    return ""
