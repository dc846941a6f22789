"""A context folder about a kiosk, and a store that remembers a little of everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import Screen, opened
from tests.unit.packets.conftest import FILES


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def kiosk(tmp_path: Path) -> Path:
    """A context folder where reviewer is started."""
    folder = tmp_path / "work" / ".context"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
async def screen(engine: Engine, kiosk: Path) -> AsyncIterator[Screen]:
    """The Packet screen over that folder."""
    async with opened(engine, on="f4") as shown:
        yield shown


@pytest.fixture
def remembering(engine: Engine) -> Engine:
    """A store with a little of everything."""
    for type_, text in (
        ("preference", "We prefer thermal paper without BPA"),
        ("decision", "We will use a scale for the counting of coins"),
        ("knowledge", "A paper jam is reported after forty seconds"),
    ):
        engine.triage.promote(engine.entities.author("kiosk", type_, text).ids)
    engine.state.set("kiosk", "paper width", "80 mm")
    return engine
