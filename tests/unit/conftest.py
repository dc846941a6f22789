"""An open store, for the tests of every room."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.clocks import TickingClock


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


@pytest.fixture
def engine(tmp_path: Path, empty_store: Path, clock: TickingClock) -> Iterator[Engine]:
    opened = Engine.open(Path(shutil.copy(empty_store, tmp_path)), clock=clock)
    yield opened
    opened.close()
