"""What the tests of faults share: an open store, and other programs on it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path

from reviewer.store.acts import Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.verify import verify

BIG = "x" * 100_000

PRELUDE = """
import os, resource, sys
from pathlib import Path
from reviewer.errors import StoreError
from tests.unit.store.faulty import BIG, Store
"""


def at_noon() -> datetime:
    """The moment of every act."""
    return datetime(2026, 3, 1, 12, tzinfo=UTC)


class Store:
    """An open store with a ledger."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database(path)
        self.ledger = Ledger(self.database, actor="tester", clock=at_noon)

    def add(self, *names: str) -> None:
        """One act with a row for each name."""
        with self.ledger.act("add", scope=Scope.INTAKE) as act:
            act.insert_many("project", [{"name": name} for name in names])

    def names(self) -> list[str]:
        rows = self.database.writer.execute("SELECT name FROM project ORDER BY id")
        return [row[0] for row in rows]

    def acts(self) -> int:
        return int(self.database.writer.execute("SELECT count(*) FROM ledger").fetchone()[0])

    def require_whole(self, *names: str) -> None:
        """Ledger and rows agree, and exactly those rows are there."""
        verdict = verify(self.database)
        assert verdict.ok, verdict.problems
        assert self.names() == list(names)


def in_another_program(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Python code that has a `Store` to open."""
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
