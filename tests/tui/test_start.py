"""The first start: what was found, one key that reads it, and the queue."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reviewer.cli.demo import SampleStart
from reviewer.engine import Engine
from reviewer.errors import StoreError
from reviewer.promotion.waves.report import WaveProgress
from reviewer.sources.discovery import Machine
from reviewer.start import MachineStart
from reviewer.tui.app import ReviewerApp
from reviewer.tui.queue.screen import QueueScreen
from reviewer.tui.start.screen import StartScreen
from tests.present import present
from tests.tui.conftest import Screen
from tests.unit.sources.builders import Session
from tests.waiting import until_async

SAID = [
    "Decision: seat maps are cached for ten minutes, because the venue changes them at night.",
    "We decided to use Redis 8 for holds because a hold expires by itself.",
    "The root cause was that `release_hold` read the clock of the web server.",
    "Always run `make seats` before a push.",
]


class Home:
    """A home folder with the sessions of agents."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machine = Machine(folder, {}, "linux")

    def project(self, name: str, *, git: bool = True) -> Path:
        folder = self.folder / "work" / name
        folder.mkdir(parents=True)
        if git:
            (folder / ".git").mkdir()
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return folder

    def claude(self, cwd: Path | str, name: str = "one") -> None:
        place = self.folder / ".claude" / "projects" / str(cwd).replace(os.sep, "-")
        place.mkdir(parents=True, exist_ok=True)
        told = Session(name)
        for text in SAID:
            told.user(text, cwd=str(cwd))
        (place / f"{name}.jsonl").write_bytes(told.bytes())

    def codex(self, cwd: Path) -> None:
        place = self.folder / ".codex" / "sessions"
        place.mkdir(parents=True, exist_ok=True)
        row = {
            "timestamp": "2026-03-01T10:00:00.000Z",
            "type": "session_meta",
            "payload": {"id": "c-1", "cwd": str(cwd), "cli_version": "0.142.0"},
        }
        (place / "rollout-1.jsonl").write_text(json.dumps(row) + "\n", "utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@asynccontextmanager
async def started(
    engine: Engine, start: MachineStart | SampleStart, size: tuple[int, int] = (110, 34)
) -> AsyncIterator[tuple[Screen, StartScreen]]:
    app = ReviewerApp(engine, engine.project, start=start)
    async with app.run_test(size=size) as pilot:
        screen = Screen(pilot, app)
        await screen.settle()
        yield screen, screen.top(StartScreen)


def names(first: StartScreen) -> list[str]:
    """The projects, without the row for all of them."""
    return [each.name for each in present(first.found).projects if not each.parts]


@pytest.fixture
def away(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Two projects with sessions; the working folder is the home folder itself."""
    home.claude(home.project("box-office"))
    home.claude(home.project("venue-maps"), "two")
    home.codex(home.folder / "work" / "venue-maps")
    monkeypatch.chdir(home.folder)
    return home


async def test_it_lists_the_projects_with_their_agents(engine: Engine, away: Home) -> None:
    async with started(engine, MachineStart(engine, None, away.machine)) as (_, first):
        assert sorted(names(first)) == ["box-office", "venue-maps"]
        agents = {each.name: dict(each.agents) for each in present(first.found).projects}
        assert agents["venue-maps"] == {"Claude Code": 1, "Codex CLI": 1}
        assert "Nothing leaves this machine" in str(first.words.content)


async def test_one_key_reads_and_opens_the_queue_at_its_best_row(
    engine: Engine, away: Home
) -> None:
    async with started(engine, MachineStart(engine, None, away.machine)) as (screen, first):
        chosen = present(first.found).projects[0]
        await screen.press("enter")
        await until_async(lambda: screen.queue.is_active and screen.queue.model.ids)
        await screen.settle()
        screen.top(QueueScreen)
        assert screen.app.project == engine.project == chosen.name
        assert screen.queue.model.cursor == 0
        assert screen.queue.candidate.region.width
        assert Path.cwd() == chosen.folder
        assert "Read 1 file" in screen.queue.status.text or "Read 2 files" in (
            screen.queue.status.text
        )


async def test_the_last_row_reads_all_projects_each_into_its_own(
    engine: Engine, away: Home
) -> None:
    async with started(engine, MachineStart(engine, None, away.machine)) as (screen, first):
        assert "no sessions of its own" in str(first.words.content)
        await screen.press("G")
        assert "all 2 projects, each into its own (3 sessions" in str(first.words.content)
        await screen.press("enter")
        await until_async(lambda: screen.queue.is_active and screen.queue.model.ids)
        await screen.settle()
        assert engine.project_names() == ["box-office", "venue-maps"]
        assert screen.app.project is None
        assert screen.queue.header.project == "all projects"
        assert "in project" in screen.text


async def test_projects_of_the_store_are_listed_with_what_waits_and_opened(
    engine: Engine, home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(home.project("empty"))
    notes = tmp_path / "notes.md"
    notes.write_text("- [Decision] Tickets are printed on thermal paper, since ink dries out.\n")
    engine.intake.ingest([notes], project="entire")
    engine.work_in_all()
    async with started(engine, MachineStart(engine, None, home.machine)) as (screen, first):
        assert first.list.render_line(0).text.split()[1:] == ["entire", "1", "waiting"]
        assert "enter open" in screen.text
        await screen.press("enter")
        assert screen.queue.is_active
        assert screen.app.project == engine.project == "entire"
        assert len(screen.queue.model.ids) == 1
        await screen.press("p")
        await screen.until(lambda: "entire  1 waiting" in screen.text)


async def test_a_project_that_waits_and_has_sessions_is_one_row(engine: Engine, away: Home) -> None:
    async with started(engine, MachineStart(engine, None, away.machine)) as (screen, first):
        name = names(first)[0]
        await screen.press("enter")
        await screen.until(lambda: f"is now bound to project {name}:" in screen.flowing)
        await screen.press("p", *"attic")
        assert "Nothing matches. Empty this line" in screen.text
        await screen.press("ctrl+u", "end", "enter")
        await screen.until(lambda: f"{name} (this project)   all 2 read" in screen.text)
        assert " waiting" not in screen.text
        await screen.press("enter")
        await screen.until(lambda: "to decide on" in screen.status)
        assert engine.queue.waiting_by_project()[name]


async def test_two_folders_of_one_name_are_two_projects(engine: Engine, away: Home) -> None:
    other = away.folder / "old" / "box-office"
    (other / ".git").mkdir(parents=True)
    (other / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    away.claude(other, "four")
    async with started(engine, MachineStart(engine, None, away.machine)) as (screen, _):
        await screen.press("G", "enter")
        await until_async(lambda: screen.queue.is_active)
        assert len(engine.project_names()) == 3
        assert "venue-maps" in engine.project_names()
        assert {"old-box-office", "work-box-office"} & set(engine.project_names())


async def test_the_project_of_the_working_folder_comes_first(
    engine: Engine, away: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("box-office", "venue-maps"):
        monkeypatch.chdir(away.folder / "work" / name)
        async with started(engine, MachineStart(engine, None, away.machine)) as (_, first):
            assert names(first)[0] == name
            assert first.list.current == present(first.found).projects[0]
            assert present(first.found).here


async def test_escape_goes_on_without_reading_and_r_in_the_empty_queue_opens_it_again(
    engine: Engine, away: Home
) -> None:
    async with started(engine, MachineStart(engine, "acme", away.machine)) as (screen, _):
        await screen.press("escape")
        assert not engine.project_names()
        assert "r looks for sessions to read" in screen.text
        await screen.press("r")
        screen.top(StartScreen)


async def test_ctrl_q_leaves_and_q_says_so(engine: Engine, away: Home) -> None:
    async with started(engine, MachineStart(engine, None, away.machine)) as (screen, first):
        assert "ctrl+q quit" in screen.text
        await screen.press("q")
        assert first.status.text.startswith("ctrl+q quits")
        await screen.press("ctrl+q")
        assert screen.app.return_code == 0


async def test_a_machine_without_sessions_says_what_else_can_be_read(
    engine: Engine, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.project("empty"))
    async with started(engine, MachineStart(engine, None, home.machine)) as (screen, first):
        assert "No agents' sessions were found" in str(first.words.content)
        assert "reviewer ingest PATH" in str(first.words.content)
        assert "enter read" not in screen.text
        await screen.press("enter")
        assert first.status.text == "Nothing to read here."


async def test_sessions_of_a_folder_that_is_gone_are_read_into_the_project_of_this_one(
    engine: Engine, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, old = home.project("box-office"), home.folder / "work" / "gone"
    home.claude(here)
    home.claude(old, "two")
    home.claude("/net/../elsewhere", "three")
    monkeypatch.chdir(here)
    async with started(engine, MachineStart(engine, None, home.machine)) as (screen, first):
        assert names(first) == ["box-office", "gone"]
        assert "lists 1 more session" in str(first.words.content)
        await screen.press("down")
        assert "into this project." in str(first.words.content)
        await screen.press("enter")
        await until_async(lambda: screen.app.screen is not first)
    assert engine.project == "box-office"
    assert engine.former_folders() == (str(old),)
    assert any("two" in each.path for each in engine.sources.sessions("box-office"))


async def test_all_folders_that_are_gone_are_read_into_this_project_by_one_key(
    engine: Engine, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [home.folder / "work" / ("far/" * 12 + name) for name in ("main", "worktree")]
    for number, folder in enumerate(old):
        home.claude(folder, f"session {number}")
    here = home.project("box-office")
    monkeypatch.chdir(here)
    async with started(engine, MachineStart(engine, None, home.machine), (80, 24)) as (
        screen,
        first,
    ):
        assert "all folders that are gone" in first.list.render_line(0).text
        assert {"main (gone)", "worktree (gone)"} == {
            first.list.render_line(at).text.split("/")[-1][:15].strip() for at in (1, 2)
        }
        await screen.press("enter")
        await until_async(lambda: screen.app.screen is not first)
    assert engine.project == "box-office"
    assert set(engine.former_folders()) == set(map(str, old))
    assert len(engine.sources.sessions("box-office")) == 2


async def test_r_in_a_queue_without_rows_and_news_offers_the_other_folders(
    engine: Engine, away: Home
) -> None:
    async with started(engine, MachineStart(engine, None, away.machine)) as (screen, first):
        await screen.press("enter")
        await until_async(lambda: screen.app.screen is not first)
        await screen.press("*", "x", "r")
        await until_async(lambda: isinstance(screen.app.screen, StartScreen))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_long_name_leaves_room_for_the_sessions_and_agents(
    engine: Engine, home: Home, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    here = home.project("box-office-" + 100 * "x")
    home.claude(here)
    monkeypatch.chdir(home.folder)
    async with started(engine, MachineStart(engine, None, home.machine), size) as (_, first):
        row = first.list.render_line(0).text
        assert "1 session" in row
        assert "Claude Code 1" in row
        assert 50 * "x" not in str(first.words.content)


async def test_escape_while_reading_stops_and_keeps_what_was_read(
    engine: Engine, away: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = MachineStart(engine, None, away.machine)
    read = start.read

    def slowly(
        project: object, progress: Callable[[WaveProgress], None], cancelled: Callable[[], bool]
    ) -> object:
        progress(WaveProgress(1, 4, 500_000, 2_000_000, "/x/session.jsonl", 10, 3))
        while not cancelled():
            time.sleep(0.01)
        return read(project, progress, cancelled)  # type: ignore[arg-type]

    monkeypatch.setattr(start, "read", slowly)
    async with started(engine, start) as (screen, first):
        await screen.pilot.press("enter")
        await until_async(lambda: "1 of 4 files" in first.status.text)
        assert "0.5 of 2.0 MB" in first.status.text
        assert "esc stops" in str(first.words.content)
        await screen.pilot.press("escape")
        await until_async(lambda: screen.queue.is_active)
        assert "Stopped; results so far are kept." in screen.queue.status.text


async def test_a_reading_that_failed_is_offered_again(
    engine: Engine, away: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = MachineStart(engine, None, away.machine)

    def fails(*_: object) -> object:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(start, "read", fails)
    async with started(engine, start) as (screen, first):
        await screen.press("enter")
        assert first.status.text == "The disk is full."
        assert "reads the sessions of" in str(first.words.content)
