"""The first line: the project and the screens that are always there, at every width."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.kit.choice import ChoiceScreen
from reviewer.tui.pipelines.model import is_any_pipeline
from tests.tui.conftest import SOON, opened

ALWAYS = ("Queue", "Context", "Packet", "Memory")


def bar(text: str) -> str:
    return text.splitlines()[0].rstrip()


LONG = "a-project-with-quite-a-name"


@pytest.mark.parametrize(
    ("width", "key", "project", "end"),
    [
        (60, "f2", "acme", "  F5 Memory  F7  F8"),
        (60, "f2", LONG, " F5 Memory F7 F8"),
        (60, "f6", LONG, " F5 Memory F6 F7 F8"),
        (60, "f8", "acme", " F5 Memory F7 F8"),
        (70, "f8", "acme", "  F5 Memory  F7  F8 History"),
        (80, "f2", LONG, "  F5 Memory  F7 Agents  F8 History"),
        (80, "f6", LONG, "  F5 Memory  F6 Pipelines  F7  F8"),
        (100, "f2", "acme", "   F5 Memory   F7 Agents   F8 History"),
        (120, "f6", LONG, "   F5 Memory   F6 Pipelines   F7 Agents   F8 History"),
    ],
)
async def test_four_screens_are_always_named_and_the_others_where_there_is_room(
    engine: Engine, width: int, key: str, project: str, end: str
) -> None:
    async with opened(engine, size=(width, 20), project=project) as screen:
        await screen.press(key)
        shown = bar(screen.text)
        assert shown.startswith(f" {project[:3]}")
        assert all(f" F{number} {name}" in shown for number, name in enumerate(ALWAYS, 2))
        assert shown.endswith(end)


async def test_pipelines_has_a_tab_as_soon_as_there_is_one(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.tui.pipelines.model.is_any_pipeline", is_any_pipeline)
    monkeypatch.setattr("reviewer.tui.queue.screen.FIRST_LOOK_SECONDS", 0.001)
    folder = tmp_path / "work"
    (folder / "flows").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("reviewer.tui.queue.screen.LOOK_SECONDS", 2 * SOON)  # keys end between
    async with opened(engine, size=(120, 20), project="acme") as screen:
        assert "Pipelines" not in bar(screen.text)
        (folder / "flows" / "release.dot").write_text("digraph { start -> done }", "utf-8")
        await screen.until(lambda: "F6 Pipelines" in bar(screen.text))
        await screen.press("f5")
        assert "F6 Pipelines" in bar(screen.text)


@pytest.mark.parametrize("key", ["f2", "f3", "f4", "f5", "f6", "f7"])
async def test_a_screen_opens_after_its_folder_was_deleted(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr("reviewer.tui.pipelines.model.is_any_pipeline", is_any_pipeline)
    monkeypatch.setattr("reviewer.tui.queue.screen.FIRST_LOOK_SECONDS", 0.001)
    folder = tmp_path / "worktree"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    async with opened(engine, size=(120, 20), project="acme") as screen:
        await screen.press(key)
        await screen.settle()
        assert "acme" in bar(screen.text)


async def test_p_changes_the_project_on_every_screen(stocked: Engine) -> None:
    stocked.state.set("other", "db", "Discs")
    async with opened(stocked, size=(80, 24)) as screen:
        for key in ("f2", "f3", "f4", "f5", "f6", "f7", "f8"):
            for project in ("acme", "other"):
                await screen.press("f2", key)
                if isinstance(screen.app.screen, ChoiceScreen):
                    await screen.press("escape")  # a question of the empty screen
                shown = type(screen.app.screen)
                await screen.press("p", *project, "enter")
                assert bar(screen.text).startswith(f" {project}"), key
                assert type(screen.app.screen) in (shown, ChoiceScreen), key
                await screen.settle()
                assert f"Queue {stocked.queue.counts(project).waiting} " in bar(screen.text), key
                await screen.press("escape")


async def test_a_message_goes_when_another_screen_is_shown(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        for key in ("f3", "f4", "f5", "f6", "f7", "f8", "o", "enter"):
            await screen.press("u", "u", "a")  # the first u only names what was done earlier
            assert screen.status.startswith("Promoted #")
            await screen.press("full_stop", "escape")
            assert screen.status.startswith("Promoted #"), "a question is not another screen"
            await screen.press(key, "escape", "f2")
            assert screen.status == "", key


async def test_what_was_undone_on_another_screen_is_not_offered_to_undo(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("a", "f8", "x")
        assert screen.status.startswith("Undone: Promoted #")
        await screen.press("f2")
        assert "undo" not in screen.status
