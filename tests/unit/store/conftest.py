"""Fixtures of the tests of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.store.faulty import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store."""
    opened = Store(tmp_path / "store.db")
    yield opened
    opened.database.close()
