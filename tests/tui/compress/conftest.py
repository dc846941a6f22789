"""Contexts that the Compress screen is tried on."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.compress.driving import stocked


@pytest.fixture
def kiosk(engine: Engine, tmp_path: Path) -> Engine:
    """One segment."""
    stocked(engine, tmp_path)
    return engine


@pytest.fixture
def machines(engine: Engine, tmp_path: Path) -> Engine:
    """Four segments, two of them Brief."""
    stocked(engine, tmp_path, 4)
    return engine
