"""Connecting an agent on the screen: the difference first, and every byte back afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.agents.agent_files import AgentFiles, GivenPacket
from reviewer.engine import Engine
from reviewer.recall.at_call import HookEvent, memories_at
from reviewer.recall.event_kinds import GUARD
from reviewer.text.for_agents import AgentText
from tests.tui.conftest import opened
from tests.waiting import until_async

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
    async with opened(stocked, size=(120, 40), project="acme", on="f7") as screen:
        assert "Claude Code   not connected" in screen.text
        assert "Connected, it starts each session with what you promoted" in screen.text
        await screen.press("c", "enter")
        assert "hook claude-code SessionStart" in screen.text or "mcpServers" in screen.text
        assert "change 2 files as shown" in screen.text
        assert settings.read_text() == SETTINGS
        await screen.press("enter")
        assert settings.read_text() == SETTINGS
        assert "last packet none yet" in screen.text
        await screen.press("c", "enter", "c", "enter", "escape")
        assert settings.read_text() == SETTINGS, "a letter in the middle is no answer"
        await screen.press("enter", "c", "enter")
        assert "--- /dev/null" in screen.text, "the question covers no change"
        await screen.press("y", "enter")
        assert "SessionStart" in settings.read_text()
        assert "d disconnect" in screen.text
        await screen.press("enter", "d")
        assert "change 2 files as shown" in screen.text
        assert "--- " in screen.text, "nor when the details were zoomed"
        await screen.press("y", "enter")
        assert settings.read_text() == SETTINGS


async def test_a_long_difference_is_read_to_its_end_before_the_answer(
    stocked: Engine, settings: Path
) -> None:
    async with opened(stocked, size=(80, 24), project="acme") as screen:
        await screen.press("f7", "c", "enter")
        assert "UserPromptSubmit" not in screen.text
        for _ in range(20):
            await screen.press("pagedown")
            if "UserPromptSubmit" in screen.text:
                break
        assert "UserPromptSubmit" in screen.text
        assert settings.read_text() == SETTINGS


async def test_it_shows_what_an_agent_was_given(stocked: Engine, settings: Path) -> None:
    AgentFiles(stocked.path).note_given(
        GivenPacket(
            agent="claude-code",
            session="one",
            project="acme",
            at="2026-03-02T09:00:00.000Z",
            text=AgentText("The kiosk closes at nine."),
        )
    )
    async with opened(stocked, project="acme") as screen:
        await screen.press("f7", "enter")
        for size in ((120, 40), (80, 24)):
            await screen.resize(size)
            assert "Sent in acme" in screen.text
            assert "The kiosk closes at nine." in screen.text


async def test_the_demo_connects_no_agent_to_its_store(stocked: Engine, settings: Path) -> None:
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        screen.app.is_demo = True
        await screen.press("f7", "c", "enter")
        assert "The demo's store is removed when you quit" in screen.text
        assert settings.read_text() == SETTINGS
        assert not (settings.parent.parent / ".claude.json").exists()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree of the project, as the working folder."""
    folder = tmp_path / "acme"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folder)
    return folder


async def test_an_agent_is_connected_for_one_project_and_disconnecting_takes_it_back(
    stocked: Engine, settings: Path, tree: Path
) -> None:
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("f7", "c", *"this", "enter")
        assert "Connect Claude Code for this folder's project" in screen.text
        assert not (tree / ".mcp.json").exists()
        await screen.press("y", "enter")
        assert "reviewer" in (tree / ".mcp.json").read_text()
        assert settings.read_text() == SETTINGS
        assert "d takes it back" in screen.text
        await screen.press("u")
        assert "There is nothing to undo." in screen.text
        await screen.press("d", "y", "enter")
        assert not (tree / ".mcp.json").exists()


async def test_without_its_package_the_server_is_left_out_until_the_next_connecting(
    stocked: Engine, settings: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as lacking:
        lacking.setattr("reviewer.agents.program.find_spec", lambda _: None)
        async with opened(stocked, size=(120, 40), project="acme") as screen:
            await screen.press("f7", "c", *"this", "enter", "y", "enter")
            assert "install" in screen.status
            assert not (tree / ".mcp.json").exists()
            assert "SessionStart" in (tree / ".claude" / "settings.json").read_text()
            assert "connect again to add it" not in screen.text
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("a", "f5", "e", *"when", "enter", *"guard git push", "enter")
        await screen.until(lambda: screen.status.endswith("The settings of Claude Code follow."))
        await screen.press("f7")
        assert "connect again to add it" in screen.text
        await screen.press("c", *"this", "enter", "y", "enter")
        assert "reviewer" in (tree / ".mcp.json").read_text()
        assert "Bash(*git*push*)" in (tree / ".claude" / "settings.json").read_text()


async def test_an_agent_that_gives_nothing_here_says_why_and_connecting_binds_the_folder(
    stocked: Engine, settings: Path, tree: Path
) -> None:
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("a", "f7", "c", "enter", "y", "enter")
        assert "This folder is not bound to a project yet" in screen.text
        await screen.press("c", *"this", "enter", "y", "enter")
        assert f"{tree} is now bound to project acme" in " ".join(screen.status.split())
        assert "not bound" not in screen.text


async def test_a_folder_is_not_bound_to_a_project_that_is_only_looked_at(
    stocked: Engine, settings: Path, tree: Path, notes: Path
) -> None:
    stocked.intake.ingest([notes], project="other")
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("p", *"other", "enter", "f7", "c", *"this", "enter", "y", "enter")
        assert f"{tree} is now bound to project acme" in " ".join(screen.status.split())


async def test_a_memory_folder_follows_what_is_decided_on_the_screen(
    stocked: Engine, settings: Path, tree: Path
) -> None:
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("a", "f7", "c", *"memory", "enter", "y", "enter")
        (path,) = settings.parent.rglob("memory/reviewer.md")
        first = path.read_text()
        await screen.press("j", "j", "c", *"memory", "enter")
        assert "Gemini CLI has no memory folder" in screen.text
        await screen.press("f2", "a")
        await until_async(lambda: path.read_text() != first)
        await screen.press("u")
        await until_async(lambda: path.read_text() == first)
        await screen.press("f7", "g", "d", "y", "enter")
        assert not path.exists()


async def test_a_guard_set_before_connecting_stops_its_call(
    stocked: Engine, settings: Path, tree: Path
) -> None:
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("a", "f5", "e", *"when", "enter", *"guard git push", "enter")
        await screen.press("f7", "c", *"this", "enter", "y", "enter")
    call = HookEvent(GUARD, "s-1", str(tree), command="git push")
    assert "git push" in memories_at(str(stocked.path), None, call)


async def test_the_settings_follow_a_guard_at_once_and_the_screen_says_so(
    stocked: Engine, settings: Path
) -> None:
    follow = "to undo. The settings of Claude Code follow."
    async with opened(stocked, size=(120, 40), project="acme") as screen:
        await screen.press("a", "f7", "c", "enter", "y", "enter", "f5", "G")
        await screen.press("e", *"when", "enter", *"guard git push", "enter")
        await screen.until(lambda: screen.status.endswith(follow))
        assert "Bash(*git*push*)" in settings.read_text()
        await screen.press("u")
        await screen.until(lambda: screen.status.endswith(follow.replace("undo", "redo")))
        assert "Bash(*git*push*)" not in settings.read_text()
