"""Any sequence of acts, undos and redos, cut off anywhere, equals a replay of the ledger."""

from __future__ import annotations

import contextlib
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reviewer.errors import ConflictError, ReviewerError
from reviewer.store.acts import LEDGERED, Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.undo import Undo
from reviewer.store.verify import verify
from tests.clocks import TickingClock

NAMES = st.text("abcé\n'\"", min_size=1, max_size=4)


State = dict[str, list[tuple[Any, ...]]]


class CutError(Exception):
    """Simulates a crash of the process inside a transaction."""


class LedgerMachine(RuleBasedStateMachine):
    """Acts on `project` and `wave` rows, against a plain list of states as the model."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.open()
        self.out_of_order = False
        """Acts were undone by name: from then on only the invariant is checked, not the order."""
        self.past: list[tuple[State, State]] = []
        self.future: list[tuple[State, State]] = []

    def open(self) -> None:
        self.database = Database(Path(self.folder.name) / "store.db")
        self.ledger = Ledger(self.database, actor="tester", clock=TickingClock())
        self.undo = Undo(self.database, self.ledger)

    def state(self) -> State:
        return {
            table: self.database.writer.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
            for table in LEDGERED
        }

    def teardown(self) -> None:
        self.database.close()
        self.folder.cleanup()

    @initialize()
    def first_project(self) -> None:
        with self.ledger.act("make", scope=Scope.INTAKE) as act:
            act.insert("project", name="first")

    def decided(self, before: State) -> None:
        after = self.state()
        if after != before:
            self.past.append((before, after))
            self.future.clear()

    @rule(names=st.lists(NAMES, min_size=1, max_size=3, unique=True))
    def insert(self, names: list[str]) -> None:
        taken = {row[1] for row in self.state()["project"]}
        assume(not taken & set(names))
        before = self.state()
        with self.ledger.act("make") as act:
            act.insert_many("project", [{"name": name} for name in names])
        self.decided(before)

    @rule(name=NAMES, pick=st.randoms(use_true_random=False))
    def rename(self, name: str, pick: random.Random) -> None:
        rows = self.state()["project"]
        assume(rows and name not in {row[1] for row in rows})
        before = self.state()
        with self.ledger.act("rename") as act:
            act.update("project", pick.choice(rows)[0], name=name)
        self.decided(before)

    @rule(name=NAMES)
    def insert_and_change_in_one_act(self, name: str) -> None:
        before = self.state()
        taken = {row[1] for row in before["project"]}
        assume(name not in taken and f"{name}!" not in taken)
        with self.ledger.act("both") as act:
            row = act.insert("project", name=name)
            act.update("project", row, name=f"{name}!")
            act.insert("wave", project_id=row, started_at="t", state="done", roots="[]")
        self.decided(before)

    @rule(name=NAMES)
    def die_inside_an_act(self, name: str) -> None:
        before = self.state()
        assume(f"{name}?" not in {row[1] for row in before["project"]})
        with contextlib.suppress(CutError), self.ledger.act("cut") as act:
            act.insert("project", name=f"{name}?")
            raise CutError
        assert self.state() == before

    @rule()
    def reopen(self) -> None:
        self.database.close()
        self.open()

    @precondition(lambda self: self.past and not self.out_of_order)
    @rule()
    def undo_latest(self) -> None:
        before, after = self.past.pop()
        self.undo.undo()
        assert self.state() == before
        self.future.append((before, after))

    @precondition(lambda self: self.future and not self.out_of_order)
    @rule()
    def redo_latest(self) -> None:
        before, after = self.future.pop()
        self.undo.redo()
        assert self.state() == after
        self.past.append((before, after))

    @precondition(lambda self: not self.past and not self.out_of_order)
    @rule()
    def nothing_to_undo(self) -> None:
        with pytest.raises(ConflictError):
            self.undo.undo()

    @precondition(lambda self: not self.future and not self.out_of_order)
    @rule()
    def nothing_to_redo(self) -> None:
        with pytest.raises(ConflictError):
            self.undo.redo()

    @precondition(lambda self: self.out_of_order)
    @rule(back=st.booleans())
    def walk_on(self, back: bool) -> None:
        before = self.state()
        try:
            reversal = self.undo.undo() if back else self.undo.redo()
        except ConflictError:
            assert self.state() == before
        else:
            assert self.undo.is_undone(reversal.target) is back

    @rule(pick=st.randoms(use_true_random=False))
    def undo_any_act_or_be_refused(self, pick: random.Random) -> None:
        acts = self.database.writer.execute("SELECT id FROM ledger").fetchall()
        before = self.state()
        try:
            self.undo.undo_act(pick.choice(acts)[0])
        except ReviewerError:
            assert self.state() == before
        else:
            self.out_of_order = True

    @invariant()
    def ledger_explains_every_row(self) -> None:
        assert verify(self.database).problems == ()


LedgerMachine.TestCase.settings = settings(
    max_examples=3,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestLedger = LedgerMachine.TestCase
