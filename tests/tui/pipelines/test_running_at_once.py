"""A run in its thread is faster than the screen, or the screen shows something else meanwhile."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.pipelines.events import RunDone, StageDone, StageQuestion
from reviewer.pipelines.service import RunOptions
from reviewer.tui.pipelines import model
from reviewer.tui.pipelines import screen as pipelines_screen
from reviewer.tui.pipelines.run import BackgroundRun
from reviewer.tui.pipelines.screen import RunMoved
from tests.present import present
from tests.tui.conftest import Screen, opened
from tests.tui.idle import idle
from tests.tui.pipelines.conftest import BAKERY
from tests.tui.pipelines.driving import shown, until_ended, until_it
from tests.waiting import PATIENCE, until


def run_of(screen: Screen) -> BackgroundRun:
    found = screen.app.background_run
    assert isinstance(found, BackgroundRun)
    return found


async def test_an_answer_is_only_for_the_question_that_was_shown(
    engine: Engine, bakery: Path
) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "r")
        await until_it(screen, "asks")
        run = run_of(screen)
        first = present(run.question)
        run.reply(first, "N")
        until(lambda: run.question not in (None, first))
        with pytest.raises(ConflictError, match="does not ask this any more"):
            run.reply(first, "Y")
        assert run.question is not None
        await screen.press("c")
        await until_ended(screen)


def test_a_stage_of_another_branch_does_not_hide_a_question(engine: Engine, bakery: Path) -> None:
    asked = StageQuestion(2, "taste", "Is it good?", (), True, "")
    answers: list[str | None] = []

    class Branches:
        """One branch asks just before a stage of the other one ends."""

        def start_run(self, *_: Any, ask: Any, watch: Any, **__: Any) -> RunDone:
            watch(asked)
            watch(StageDone(3, "glaze", "success", "", "", 0.0, 1, "", ""))
            answers.append(ask(asked))
            return RunDone("r", "done", "Reached done.", 3, "done", "")

    class Stub:
        pipelines = Branches()

    run = BackgroundRun(Stub(), bakery, stepping=False)  # type: ignore[arg-type]
    run.start("acme", RunOptions())
    until(lambda: run.question is asked)
    run.reply(asked, "yes")
    until(lambda: not run.running)
    assert run.defect is None
    assert answers == ["yes"]


async def test_an_answer_that_streams_does_not_begin_the_reading_of_the_run_again(
    engine: Engine, bakery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_run, go_on = model.read_run, Event()
    reads: list[str] = []

    def slowly(engine: Engine, view: Any) -> Any:
        reads.append(view.run_id)
        assert go_on.wait(PATIENCE)
        return read_run(engine, view)

    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        monkeypatch.setattr(pipelines_screen, "read_run", slowly)
        await screen.pilot.press("space")
        run = run_of(screen)
        await screen.until(lambda: run.pausing and reads)
        shown(screen).post_message(RunMoved())  # that the run waits may not have been seen yet
        await idle()
        before = len(reads)
        for _ in range(5):
            shown(screen).post_message(RunMoved())
            await idle()
        assert len(reads) == before
        go_on.set()
        await screen.until(lambda: shown(screen)._stages_shown(run) == run.stages)
        await screen.press("c")
        await until_ended(screen)


async def test_a_run_that_is_read_late_is_not_shown_on_another_pipeline(
    engine: Engine, bakery: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = folder / "other.dot"
    other.write_text(BAKERY.replace("bakery", "other"))
    read_run, go_on, began = model.read_run, Event(), Event()

    def slowly(engine: Engine, view: Any) -> Any:
        began.set()
        assert go_on.wait(PATIENCE)
        return read_run(engine, view)

    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "escape")
        shown(screen)._open(bakery)
        await screen.settle()
        await screen.press("r")
        await until_it(screen, "asks")
        await screen.press("enter", "enter")
        await until_ended(screen)
        finished = present(shown(screen).run_id)
        monkeypatch.setattr(pipelines_screen, "read_run", slowly)
        shown(screen)._read_run(finished)
        await screen.until(began.is_set)
        shown(screen)._open(other)
        await screen.until(lambda: present(shown(screen).graph.graph).pipeline.name == "other")
        go_on.set()
        await screen.settle()
        assert shown(screen).run is None


async def test_a_run_that_ended_behind_another_pipeline_is_said_when_it_is_shown_again(
    engine: Engine, bakery: Path, folder: Path
) -> None:
    other = folder / "other.dot"
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "r")
        await until_it(screen, "asks")
        run, path = run_of(screen), present(shown(screen).path)
        other.write_text(BAKERY.replace("bakery", "other"))
        shown(screen)._open(other)
        await screen.settle()
        run.cancel()
        await screen.until(lambda: not run.running)
        await screen.settle()
        shown(screen)._open(path)
        await until_ended(screen)
        assert "R resumes" in screen.status
