"""All writing: every change is an act, written with its images in one transaction."""

from __future__ import annotations

import gc
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError
from reviewer.projects import RootClaim
from reviewer.store.acts import Act, Scope, write_entry
from reviewer.store.database import BUSY_MILLISECONDS, Database, failures_as_sentences
from reviewer.store.project_rows import add_former

Watch = Callable[[int], bool]
"""Gets the number of rows written by an act so far; returns whether to stop it."""

WATCH_STEPS = 50_000
"""SQLite steps between two calls of a `Watch`: some milliseconds."""

SLICE_MILLISECONDS = 5
"""How long SQLite waits for another writer at a time. The longer it waits, the less often it tries:
with many writers, those who came first would come last."""


class Ledger:
    """Writes acts. `actor`: the person's name; `clock`: for the time of an act."""

    def __init__(self, database: Database, *, actor: str, clock: Clock) -> None:
        self._database = database
        self.actor = actor
        self.clock = clock
        self.writes = 0
        """Acts written by this process; with `data_version`, a sign that rows changed."""
        self.waiting = False
        """An act is waiting for another program's write."""
        self._within = False
        self._local = threading.local()

    @contextmanager
    def watched(self, watch: Watch) -> Iterator[None]:
        """Let `watch` follow the acts of the calling thread inside the block. A stopped act is
        rolled back, with ReadStoppedError.
        """
        self._local.watch = watch
        try:
            yield
        finally:
            self._local.watch = None

    def _show(self, connection: sqlite3.Connection) -> None:
        """Let the thread's `watch`, if any, follow an act."""
        watch: Watch | None = getattr(self._local, "watch", None)
        if watch is not None:
            before, seen = connection.total_changes, watch
            connection.set_progress_handler(
                lambda: seen(connection.total_changes - before), WATCH_STEPS
            )

    @contextmanager
    def act(
        self, kind: str, title: str | None = None, *, scope: Scope = Scope.DECISION
    ) -> Iterator[Act]:
        """One transaction. Leaving the block commits rows and ledger entry together; an exception
        inside rolls everything back. An act without changes leaves no entry (`id` stays 0).

        Raises StoreError if the store cannot be written.
        """
        connection = self._database.writer
        with (
            self._database.write_lock,
            failures_as_sentences(self._database.path, writing=True),
        ):
            if connection.in_transaction and not self._within:
                connection.execute("ROLLBACK")  # left over from a failed rollback
            self.waiting = True
            try:
                _begin(connection)
            finally:
                self.waiting = False
            self._within = True
            collecting = gc.isenabled()
            gc.disable()  # rows form no cycles, and looking for them takes 6 % of a large act
            try:
                self._database.require_in_place()
                connection.execute("PRAGMA defer_foreign_keys = ON")
                self._show(connection)
                draft = Act(connection, title or kind, self._database.ownership)
                yield draft
                if draft.changed or draft.target is not None:
                    self._bind_project(connection, self._database.ownership.claim)
                    draft.id = self._record(connection, kind, scope, draft)
                    self._database.require_in_place()
                connection.set_progress_handler(None, 0)
                _commit(connection)
            except BaseException:
                connection.set_progress_handler(None, 0)  # it would stop the rollback too
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._within = False
                if collecting:
                    gc.enable()
            self.writes += 1

    def bind_project(self, claim: RootClaim) -> None:
        """Bind an existing project to its work tree, without another act."""
        with self.act("bind project", scope=Scope.INTAKE):
            self._bind_project(self._database.writer, claim)

    def _bind_project(self, connection: sqlite3.Connection, claim: RootClaim | None) -> None:
        """Bind an existing project to its work tree in an act of its own, so that undoing a
        decision does not undo it.
        """
        ownership = self._database.ownership
        if claim is None or claim.before is None:
            return
        title = f"Bound project {claim.project} to {claim.root.splitlines()[-1]}"
        draft = Act(connection, title, ownership)
        for (row,) in draft.query(
            "SELECT id FROM project WHERE (name, root) = (?, ?)",
            (claim.project, claim.before),
        ):
            draft.update("project", row, root=claim.root)
            if claim.gone:
                add_former(draft, row, claim.gone)
            self._record(connection, "bind project", Scope.INTAKE, draft)
            ownership.bound = claim

    def _record(self, connection: sqlite3.Connection, kind: str, scope: Scope, draft: Act) -> int:
        return write_entry(connection, kind, scope, draft, actor=self.actor, at=iso(self.clock()))


class DanglingError(ConflictError):
    """An act would leave a reference to a missing row; nothing was changed."""

    def __init__(self, table: str, row: int, parent: str) -> None:
        super().__init__(
            f"{table.strip('_')} {row} refers to a {parent.strip('_')} that would be gone"
        )
        self.table, self.row = table, row


def _commit(connection: sqlite3.Connection) -> None:
    """Raises DanglingError, naming the first row."""
    try:
        connection.execute("COMMIT")
    except sqlite3.IntegrityError:
        found = connection.execute("PRAGMA foreign_key_check").fetchone()
        if found is None:
            raise
        raise DanglingError(*found[:3]) from None


def _begin(connection: sqlite3.Connection) -> None:
    """Begin to write as soon as no other program does.

    Raises sqlite3.Error after waiting for BUSY_MILLISECONDS. It waits in slices, because Ctrl-C has
    no effect while SQLite itself waits.
    """
    end = time.monotonic() + BUSY_MILLISECONDS / 1000
    connection.execute(f"PRAGMA busy_timeout = {SLICE_MILLISECONDS}")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as problem:
                busy = problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() >= end:
                    raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
