"""Connecting an agent on the screen: the difference first, and every byte back afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.agents.agent_files import AgentFiles, Given
from reviewer.engine import Engine
from tests.tui.conftest import opened

SETTINGS = '{\n  "theme": "dark" // mine\n}\n'


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of Claude Code in a home of its own."""
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(SETTINGS)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return path


async def test_the_difference_is_shown_before_anything_is_written(
    stocked: Engine, settings: Path
) -> None:
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("f9")
        assert "Claude Code   not connected" in screen.text
        await screen.press("c")
        assert "hook claude-code SessionStart" in screen.text or "mcpServers" in screen.text
        assert "c again changes 2 files" in screen.text
        assert settings.read_text() == SETTINGS
        await screen.press("escape")
        assert "Nothing was written." in screen.text
        await screen.press("c", "j", "c", "k")  # the question was about another agent
        assert settings.read_text() == SETTINGS
        await screen.press("c", "c")
        assert "SessionStart" in settings.read_text()
        await screen.press("d")
        assert "d again changes 2 files" in screen.text
        await screen.press("d")
        assert settings.read_text() == SETTINGS


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_it_shows_what_an_agent_was_given(
    stocked: Engine, settings: Path, size: tuple[int, int]
) -> None:
    AgentFiles(stocked.path).note_given(
        Given(
            agent="claude-code",
            session="one",
            project="acme",
            at="2026-03-02T09:00:00.000Z",
            text="The kiosk closes at nine.",
        )
    )
    async with opened(stocked, size=size, project="acme") as screen:
        await screen.press("f9", "enter")
        assert "Given to it in acme" in screen.text
        assert "The kiosk closes at nine." in screen.text
        assert "0 proposals of it wait for you" in screen.text
