"""Stores for properties of everything that is done to one."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without rows, to be copied."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    Engine.open(path).close()
    return path
