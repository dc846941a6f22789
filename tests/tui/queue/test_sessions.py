"""One key reads the sessions of the project that agents have left on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import opened
from tests.unit.sources.families import lines


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, and a home folder without sessions."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(folder)
    return folder


def session(shop: Path) -> None:
    message = "Always weigh the trays twice before you print the label."
    lines(
        ".codex/sessions/rollout-a.jsonl",
        {"type": "session_meta", "payload": {"id": "a", "cwd": str(shop)}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": message}},
    )(shop.parent / "home")


async def test_the_empty_queue_offers_to_read_the_sessions_and_i_reads_them(
    engine: Engine, shop: Path
) -> None:
    session(shop)
    async with opened(engine, project="shop") as screen:
        assert "i reads this project's sessions" in screen.text
        await screen.press("i")
        await screen.until(lambda: screen.status.startswith("Read 1 file"))
        await screen.settle()
        assert screen.status == "Read 1 file, 0 unchanged: 1 new candidate."
        assert "weigh the trays twice" in screen.text
        await screen.press("i")
        await screen.until(lambda: "1 unchanged" in screen.status)


async def test_without_sessions_the_key_says_so(engine: Engine, shop: Path) -> None:
    async with opened(engine, project="shop") as screen:
        await screen.press("i")
        await screen.until(lambda: screen.status)
        assert screen.status == "There are no sessions of this project on this machine."
