"""A run in its thread is faster than the screen, or the screen shows something else meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.pipelines.events import RunDone, StageDone, StageQuestion
from reviewer.pipelines.service import RunOptions
from reviewer.tui.pipelines.run import BackgroundRun
from tests.present import present
from tests.tui.conftest import Screen, opened
from tests.tui.pipelines.conftest import BAKERY
from tests.tui.pipelines.driving import shown, until_ended, until_it
from tests.waiting import until


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
