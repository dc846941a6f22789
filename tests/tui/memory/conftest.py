"""A store with one of each: trusted state, an entity, a memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import Screen, opened


@pytest.fixture
def memory(engine: Engine) -> int:
    """An active memory."""
    (number,) = engine.entities.author("acme", "preference", "Deploys need two approvals").ids
    engine.triage.promote([number])
    return number


@pytest.fixture
def entity(engine: Engine) -> int:
    """An active entity."""
    (number,) = engine.entities.author("acme", "decision", "We ship on Mondays only").ids
    engine.triage.promote([number])
    return number


@pytest.fixture
def known(engine: Engine, memory: int, entity: int, notes: Path) -> Engine:
    """A store with one of each: state, entity, memory."""
    engine.state.set("acme", "db", "Tapes", note="for now", evidence=f"{notes}:5")
    return engine


@pytest.fixture
async def screen(known: Engine) -> AsyncIterator[Screen]:
    """The program in the project of that store."""
    async with opened(known, project="acme") as shown:
        yield shown
