"""Contexts about machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.context.driving import TOPICS, stocked


@pytest.fixture
def kiosk(engine: Engine, tmp_path: Path) -> int:
    """The id of a context with one segment."""
    return stocked(engine, tmp_path)


@pytest.fixture
def four(engine: Engine, tmp_path: Path) -> int:
    """The id of a context with a segment for each of four machines."""
    return stocked(engine, tmp_path, len(TOPICS))
