"""Undo and redo as new acts, only allowed while the rows are still as the act left them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from typing import NamedTuple

from msgspec import Struct, structs

from reviewer.errors import ConflictError, UnknownIdError
from reviewer.store.acts import AMONG, FORGET, LEDGERED, Act, Scope, are_as, listed, stored
from reviewer.store.changes import (
    RowChange,
    Run,
    part_at,
    places,
    readable,
    runs_of,
    unpack,
    unpack_runs,
)
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.ledger import DanglingError, Ledger

SHARED = ("project", "content")
"""Tables with rows shared by several acts: inserted by the first that needs them."""
REFUSED = ("context", "commit_")
"""Tables with rows that are not deleted while something newer refers to them."""
REFERENCED = {*SHARED, *REFUSED}
NEWEST_COUNTS = {"annotation": "commit_id"}
"""Tables of which only the newest row of a column counts: without an older one nothing changes."""

_Row = tuple[str, int]
"""A table and the id of a row."""

MAX_LISTED = 1_000
"""Maximum number of memories listed in a reversal."""
MAX_NAMED = 3
"""The most acts named as preventing a reversal."""

IMPORTED = "import decisions"
"""The kind of acts whose actor is not the person at the keyboard."""

LEGACY_ACTOR = "you"
"""The actor of all acts written by earlier versions."""

IS_UNDONE = (
    "EXISTS (SELECT 1 FROM ledger u WHERE u.target = l.id AND u.kind = 'undo' AND NOT EXISTS"
    " (SELECT 1 FROM ledger r WHERE r.target = u.id AND r.kind = 'redo'))"
)
"""Whether the act in row `l` of the ledger is currently undone, in SQL."""


class ActRow(NamedTuple):
    """An act as needed for undo; `target` is 0 unless it reverses another act."""

    kind: str
    scope: str
    title: str
    target: int
    actor: str
    rows: int


class Undone(Struct, frozen=True):
    """A completed undo or redo."""

    act: int
    """Ledger id of the new act."""
    target: int
    """The act that was undone or redone."""
    title: str
    """Title of that act."""
    ids: tuple[int, ...]
    """Ids of the memories that it changed, at most MAX_LISTED."""


class Undo:
    """Walks the ledger backwards to find a person's next undo or redo."""

    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger

    def next_undo(self) -> tuple[int, str] | None:
        """Id and title of this person's latest decision here that is not undone."""
        undone = self._emptied()
        reversed_undos: set[int] = set()
        for number, kind, title, target in self._decisions_backwards():
            if kind == "redo":
                reversed_undos.add(target)
            elif kind == "undo":
                if number not in reversed_undos:
                    undone.add(target)
            elif number not in undone:
                return number, title
        return None

    def next_redo(self) -> tuple[int, str] | None:
        """Id of this person's latest undo that was not reversed or followed by a decision, and the
        title of its act.
        """
        reversed_undos: set[int] = set()
        for number, kind, _, target in self._decisions_backwards():
            if kind == "redo":
                reversed_undos.add(target)
            elif kind == "undo":
                if number not in reversed_undos:
                    return number, self._row(target).title
            else:
                return None
        return None

    def undo(self) -> Undone:
        """Undo this person's latest decision.

        Raises ConflictError if there is none, if it also changed other projects, or if rows have
        changed since.
        """
        found = self.next_undo()
        if found is None:
            raise ConflictError(f"Nothing to undo: {self._no_decision()}")
        others = [name for name in self.projects_of(found[0]) if name != self._project]
        if self._project is not None and others:
            raise ConflictError(
                f'The latest decision here, "{found[1]}", also changed project {others[0]}. To '
                f"undo all of it: reviewer undo {found[0]}"
            )
        return self.undo_act(found[0])

    @property
    def _project(self) -> str | None:
        return self._database.ownership.project

    def projects_of(self, number: int) -> list[str]:
        """The projects of an act; empty for one of the store as a whole."""
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(
                "SELECT project FROM ledger_project WHERE act = ? ORDER BY project", (number,)
            )
            return [row[0] for row in rows]

    def require_own(self, number: int) -> None:
        """Raise OtherProjectError for an act of other projects only."""
        projects = self.projects_of(number)
        if projects and self._project not in projects:
            self._database.ownership.require_name(f"Act {number}", projects[0])

    def decided_by_another(self, number: int) -> str:
        """The name of another person who made this decision; empty for one's own and for acts that
        are not decisions. Raises UnknownIdError.
        """
        row = self._row(number)
        if row.scope != Scope.DECISION or row.kind == IMPORTED or row.actor in self._own:
            return ""
        return row.actor

    def undo_act(self, number: int, *, anyone: bool = False) -> Undone:
        """Undo any act by its id, including an ingestion; with `anyone` also another person's
        decision.

        Raises UnknownIdError for an unknown act or another project's, ConflictError if it is
        already undone, is itself an undo or redo, or rows have changed since.
        """
        kind, title = self._row(number).kind, self._row(number).title
        self.require_own(number)
        if kind in ("undo", "redo"):
            opposite = "redo" if kind == "undo" else "undo"
            raise ConflictError(f"Act {number} is itself an act of {kind}; use {opposite}.")
        if kind == FORGET or number in self._emptied():
            raise ConflictError(f'Act {number} "{title}" cannot be undone: forgetting is final.')
        if self.is_undone(number):
            raise ConflictError(f'Act {number} "{title}" is already undone.')
        if not anyone and (other := self.decided_by_another(number)):
            raise ConflictError(
                f'Act {number} "{title}" is a decision of {other}. To undo it anyway: '
                f"reviewer undo {number} --anyone"
            )
        return self._reverse(number, "undo", f"Undid: {title}", number, title)

    def _later_acts(
        self, connection: sqlite3.Connection, row: _Row, number: int, *, inserted: bool = False
    ) -> str:
        """A sentence with the acts after `number` which have changed the row, or `inserted` it."""
        table, memory = row
        by_memory = table == "memory" and not inserted
        named: list[str] = []
        found = 0
        for act, title, actor in connection.execute(
            "SELECT l.id, l.title, l.actor FROM ledger l WHERE l.id > ?"
            f" AND l.kind NOT IN ('undo', 'redo') AND NOT {IS_UNDONE} ORDER BY l.id DESC",
            (number,),
        ).fetchall():
            touched = connection.execute(
                "SELECT 1 FROM ledger_touch WHERE (act, memory_id) = (?, ?)", (act, memory)
            )
            if not (
                (table == "memory" and touched.fetchone())
                or (not by_memory and row in self._rows_of(connection, act))
            ):
                continue
            found += 1
            if len(named) < MAX_NAMED:
                of = "" if actor in self._own else f" of {actor}"
                named.append(f'act {act} ("{title}"{of})')
        if not named:
            return ""
        rest = f", and {found - len(named):,} more" if found > len(named) else ""
        return f" Undo first: {', '.join(named)}{rest}"

    @staticmethod
    def _rows_of(connection: sqlite3.Connection, act: int) -> Iterator[_Row]:
        (blob,) = connection.execute("SELECT changes FROM ledger WHERE id = ?", (act,)).fetchone()
        with readable(act):
            yield from ((change.table, change.row) for change in unpack(blob))

    def redo(self) -> Undone:
        """Redo the most recently undone act.

        Raises ConflictError when nothing was undone since the last decision, or rows have changed.
        """
        found = self.next_redo()
        if found is None:
            raise ConflictError("Nothing to redo.")
        return self.redo_act(found[0])

    def redo_act(self, number: int) -> Undone:
        """Redo what an undo took back, by the id of any undo of the act.

        Raises ConflictError if it is already redone, or rows have changed since.
        """
        target = self._row(number).target
        title = self._row(target).title
        if self.is_redone(number):
            raise ConflictError(f'Act {target} "{title}" is already redone.')
        with failures_as_sentences(self._database.path):
            (latest,) = self._database.reader().execute(
                "SELECT max(id) FROM ledger WHERE target = ? AND kind = 'undo'", (target,)
            ).fetchone()  # fmt: skip
        return self._reverse(latest, "redo", f"Redid: {title}", target, title)

    def is_undone(self, number: int) -> bool:
        """Whether an act is currently undone."""
        return number in self.undone_between(number, number)

    def is_redone(self, undo: int) -> bool:
        """Whether the act that an undo took back is currently done again."""
        return not self.is_undone(self._row(undo).target)

    def undone_between(self, first: int, last: int) -> set[int]:
        """The acts from `first` to `last` that are currently undone."""
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(
                f"SELECT l.id FROM ledger l WHERE l.id BETWEEN ? AND ? AND {IS_UNDONE}",
                (first, last),
            )
            return {row[0] for row in rows}

    def _reverse(self, source: int, kind: str, title: str, target: int, name: str) -> Undone:
        try:
            with self._ledger.act(kind, title) as act, act.in_bulk(self._row(source).rows):
                memories = self._put_back(act, source, kind, name)
                act.target = source
        except DanglingError as problem:
            row = (problem.table, problem.row)
            later = self._later_acts(self._database.writer, row, source, inserted=True)
            raise ConflictError(
                f'"{name}" cannot be reversed: {problem}. Nothing was changed.{later}'
            ) from problem
        return Undone(act.id, target, name, memories)

    def _put_back(self, act: Act, source: int, kind: str, name: str) -> tuple[int, ...]:
        """Write the images before an act again; returns the ids of changed memories."""
        shared: list[RowChange] = []
        memories: dict[int, None] = {}
        for run in _runs_backwards(act, source):
            self._require_unchanged(run, name, source)
            back = _as_bound_now(act, run.reversed())
            try:
                act.write(back)
            except sqlite3.IntegrityError as problem:
                raise ConflictError(
                    f'Cannot {kind} "{name}": what it would put back has been written again '
                    "since. Nothing was changed."
                ) from problem
            if run.table in REFERENCED:
                shared += back.changes()
            if run.table == "memory":
                memories.update(dict.fromkeys(back.rows[:MAX_LISTED]))
        restore_referenced(act, self._database.writer, shared, name)
        return tuple(islice(memories, MAX_LISTED))

    def _require_unchanged(self, run: Run, title: str, number: int) -> None:
        """Raise ConflictError, naming the first row, unless every row is as the run left it."""
        connection = self._database.writer
        for row, problem in chain(_unlike(connection, run), _newer(connection, run)):
            later = self._later_acts(connection, (run.table, row), number)
            raise ConflictError(
                f'"{title}" cannot be reversed: {problem}. Nothing was changed.{later}'
            )

    def _emptied(self) -> set[int]:
        """The acts that are empty because everything they changed was forgotten."""
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute("SELECT act FROM erasure WHERE emptied")
            return {row[0] for row in rows}

    @property
    def _own(self) -> tuple[str, ...]:
        """The names under which this person has acted. Earlier versions called everybody "you";
        that now means the owner of the store's file.
        """
        actor = self._ledger.actor
        return (actor, LEGACY_ACTOR) if self._database.is_owner else (actor,)

    def latest_of_another(self) -> tuple[int, str, str] | None:
        """Id, title and actor of another person's latest decision that is not undone."""
        others = f"l.actor NOT IN ({','.join('?' * len(self._own))})"
        return self._latest(
            f"l.scope = 'decision' AND l.kind NOT IN ('undo', 'redo') AND {others}", self._own
        )

    def _no_decision(self) -> str:
        """Why there is nothing to undo, and which act could be undone by its number."""
        found = self.latest_of_another()
        if found is None:
            return f"there is no decision.{self._latest_intake()}"
        number, title, actor = found
        return (
            f'you have made no decision here. To undo the latest, "{title}" of {actor}: '
            f"reviewer undo {number} --anyone"
        )

    def _latest_intake(self) -> str:
        """The command for undoing the latest ingestion; empty if there is none."""
        found = self._latest("l.kind IN ('ingest', 'queue more')")
        return f' To undo "{found[1]}": reviewer undo {found[0]}' if found else ""

    def _latest(self, which: str, given: tuple[str, ...] = ()) -> tuple[int, str, str] | None:
        """Id, title and actor of the latest act here that meets a condition in SQL and is not
        undone.
        """
        with failures_as_sentences(self._database.path):
            row = (
                self._database.reader()
                .execute(
                    f"SELECT l.id, l.title, l.actor FROM ledger l WHERE {which}"
                    " AND EXISTS (SELECT 1 FROM ledger_project o WHERE o.act = l.id"
                    f" AND o.project = coalesce(?, o.project)) AND NOT {IS_UNDONE}"
                    " ORDER BY l.id DESC LIMIT 1",
                    (*given, self._project),
                )
                .fetchone()
            )
        return None if row is None else tuple(row)

    def _row(self, number: int) -> ActRow:
        with failures_as_sentences(self._database.path):
            row = (
                self._database.reader()
                .execute(
                    "SELECT kind, scope, title, target, actor, rows FROM ledger WHERE id = ?",
                    (number,),
                )
                .fetchone()
            )
        if row is None:
            raise UnknownIdError(f"There is no act {number}. See: reviewer history")
        return ActRow(row[0], row[1], row[2], row[3] or 0, row[4], row[5])

    def _decisions_backwards(self) -> Iterator[tuple[int, str, str, int]]:
        """Id, kind, title and target of the decisions of this person."""
        whose = f" AND l.actor IN ({','.join('?' * len(self._own))})"
        of_project = "1" if self._project is None else "o.project = ?"
        table = "ledger l"
        if self._project is not None:
            table = "ledger_project o JOIN ledger l ON l.id = o.act"
        sql = (
            f"SELECT l.id, l.kind, l.title, l.target FROM {table} WHERE {of_project}"
            f" AND l.scope = 'decision'{whose}"
            f" ORDER BY {'l.id' if self._project is None else 'o.act'} DESC"
        )
        parameters = (*(() if self._project is None else (self._project,)), *self._own)
        with failures_as_sentences(self._database.path):
            for row in self._database.reader().execute(sql, parameters):
                yield row[0], row[1], row[2], row[3] or 0


BINDING = ("root", "former")
"""Columns of a project that are left alone when other acts are undone."""


def _runs_backwards(act: Act, number: int) -> Iterator[Run]:
    """The changes of an act, last first: each run finds the rows as it left them."""
    with readable(number), act.changes_of(number) as blob:
        for place in reversed(list(places(blob))):
            yield from reversed(unpack_runs(part_at(blob, place)))


def _as_bound_now(act: Act, run: Run) -> Run:
    """The same changes, but inserted and deleted projects keep their current work tree."""
    if run.table != "project" or (run.before and run.after):
        return run
    now = {
        row: dict(zip(BINDING, binding, strict=True))
        for row, *binding in act.query(
            f"SELECT id, {', '.join(BINDING)} FROM project WHERE id {AMONG}", (listed(run.rows),)
        )
    }
    changes = (
        (row, [image and {**image, **now.get(row, {})} for image in both])
        for _, row, *both in map(structs.astuple, run.changes())
    )
    return next(runs_of(RowChange("project", row, *both) for row, both in changes))


def is_changed(connection: sqlite3.Connection, run: Run) -> bool:
    """Whether any row is no longer as the run left it."""
    return any(True for _ in chain(_unlike(connection, run), _newer(connection, run)))


def _unlike(connection: sqlite3.Connection, run: Run) -> Iterator[tuple[int, str]]:
    """The rows that are not as the run left them: id, and the difference in words."""
    left_alone = BINDING if run.table == "project" and run.before is None else ()
    columns = [name for name in run.columns if name not in left_alone] if run.after else ["id"]
    if run.after and are_as(connection, run, columns):
        return
    current = stored(connection, run.table, run.rows, columns)
    values = [*zip(*map(run.column, columns), strict=True)] if run.after else repeat(None)
    for row, expected in zip(run.rows, values, strict=False):
        actual = current.get(row)
        if expected == actual:
            continue
        name = f"#{row}" if run.table == "memory" else f"{run.table.strip('_')} {row}"
        if expected is None or actual is None:
            yield row, f"{name} {'is back' if expected is None else 'is gone'}"
        else:
            yield row, f"{name} has changed since"


def _newer(connection: sqlite3.Connection, run: Run) -> Iterator[tuple[int, str]]:
    """The rows that count in place of those of the run: id, and why in words."""
    column = NEWEST_COUNTS.get(run.table)
    if column is None or run.after is None:
        return
    for value in run.column(column):
        (newest,) = connection.execute(
            f"SELECT max(id) FROM {run.table} WHERE {column} = ?", (value,)
        ).fetchone()
        if newest not in run.rows:
            yield newest, f"a later {run.table} counts instead"


def restore_referenced(
    act: Act, connection: sqlite3.Connection, changes: Sequence[RowChange], title: str
) -> None:
    """Restore shared rows that an undo deleted although others refer to them.

    `changes`: its changes to rows of the REFERENCED tables, in order.

    Raises ConflictError, naming the reference, if the deleted row belongs to the act alone.
    """
    for table in (*SHARED, *REFUSED):
        gone = {change.row: change for change in changes if change.table == table}
        gone = {row: change for row, change in gone.items() if change.after is None}
        if not gone:
            continue
        for child, column in _referring(connection, table):
            sql = f"SELECT id, {column} FROM {child} WHERE {column} {AMONG}"
            for number, row in act.query(sql, (listed(gone),)):
                if table in REFUSED:
                    raise ConflictError(
                        f'"{title}" cannot be reversed: {child.strip("_")} {number} refers to '
                        f"{table.strip('_')} {row}. Nothing was changed; undo the later act first."
                    )
                change = gone.pop(row, None)
                if change is not None:
                    act.apply([change.reversed()])


def _referring(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    return [
        (child, row[3])
        for child in LEDGERED
        for row in connection.execute(f"PRAGMA foreign_key_list({child})")
        if row[2] == table
    ]
