"""Contexts about machines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import Screen, opened
from tests.tui.context.driving import TOPICS, stocked


@pytest.fixture
def kiosk(engine: Engine, tmp_path: Path) -> int:
    """The id of a context with one segment."""
    return stocked(engine, tmp_path)


@pytest.fixture
def two(engine: Engine, tmp_path: Path) -> int:
    """The id of a context with a segment for each of two machines."""
    return stocked(engine, tmp_path, 2)


@pytest.fixture
def three(engine: Engine, tmp_path: Path) -> int:
    """The id of a context with a segment for each of three machines."""
    return stocked(engine, tmp_path, 3)


@pytest.fixture
def four(engine: Engine, tmp_path: Path) -> int:
    """The id of a context with a segment for each of four machines."""
    return stocked(engine, tmp_path, len(TOPICS))


@pytest.fixture
async def screen(engine: Engine) -> AsyncIterator[Screen]:
    """The Context screen over what the fixtures before it have made."""
    async with opened(engine, project="acme", size=(120, 40), on="f3") as shown:
        yield shown
