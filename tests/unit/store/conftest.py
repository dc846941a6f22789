"""Fixtures of the tests of the store, each on a copy of an empty one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from tests.unit.store.faulty import Store, at_noon


@pytest.fixture
def path(tmp_path: Path, empty_store: Path) -> Path:
    return Path(shutil.copy(empty_store, tmp_path))


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """An open store."""
    opened = Store(path)
    yield opened
    opened.database.close()


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path)
    yield opened
    opened.close()


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database, actor="tester", clock=at_noon)
