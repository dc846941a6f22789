"""Running by key on the Pipelines screen: run, answer, cancel, resume, past runs."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.pipelines.options import RunOptions
from reviewer.pipelines.run_store import RunView
from reviewer.tui.pipelines import screen as pipelines_screen
from reviewer.tui.pipelines.model import RunShown, read_run
from tests.present import present
from tests.tui.conftest import Screen, opened
from tests.tui.pipelines.driving import at, shown, states, until_ended, until_it
from tests.waiting import PATIENCE, until

YES = ("down", "enter")
"""Answers the question before a run: the first line is No, the next the offline stand-in."""


@asynccontextmanager
async def asking(engine: Engine) -> AsyncIterator[Screen]:
    """The Pipelines screen with a run that asks its question."""
    async with opened(engine, project="acme", on="f6") as screen:
        await screen.press("r", *YES)
        await until_it(screen, "asks")
        yield screen


@pytest.fixture
async def screen(engine: Engine, bakery: Path) -> AsyncIterator[Screen]:
    """The same, of the bakery."""
    async with asking(engine) as shown:
        yield shown


async def test_a_run_asks_and_continues_with_the_answer(screen: Screen) -> None:
    assert at(screen) == "taste"
    assert screen.status == "Is it good? - enter answers"
    assert states(screen)["taste"] == ("asks", 0)
    for key in ("r", "R"):
        await screen.press(key)
        assert "is in progress: c cancels it." in screen.status
    await screen.press("enter")
    assert "leads to done" in screen.text
    await screen.press("enter")
    await until_ended(screen)
    assert "Reached done" in screen.status
    assert states(screen)["done"] == ("success", 1)
    assert "run done" in screen.text
    await screen.press("R")
    assert "has reached its exit" in screen.status


async def test_a_run_that_ends_while_it_is_read_is_shown_as_it_ended(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, screen: Screen
) -> None:
    run = present(screen.app.background_run)
    read = threading.Event()

    def read_until_it_ends(engine: Engine, view: RunView) -> RunShown:
        found = read_run(engine, view)
        if run.question is None:
            read.set()
            until(lambda: not run.running)
        return found

    def told_once_and_at_the_end() -> None:
        if run.running and not read.is_set():
            tell()
            read.wait(PATIENCE)
        elif not run.running:
            time.sleep(0.3)  # what was read is shown before the end is told
            tell()

    tell, run.listener = present(run.listener), told_once_and_at_the_end
    monkeypatch.setattr(pipelines_screen, "read_run", read_until_it_ends)
    await screen.press("enter", "enter")
    await until_ended(screen)
    assert states(screen)["done"] == ("success", 1)


async def test_a_loop_continues_in_the_same_session(screen: Screen) -> None:
    await screen.press("enter", "N", "enter")
    await screen.until(lambda: states(screen).get("knead", ("", 0))[1] == 2)
    await until_it(screen, "asks")
    await screen.press("g", "j", "j")
    assert shown(screen).input_pane.title.startswith("full: 3 turns")
    text = " ".join(shown(screen).input_pane.plain_text.split())
    assert "shape after 6 stages, before its latest run" in text
    assert "A resume would lose the session: summary:high replaces it once" in text
    assert text.count("### knead") == 2
    await screen.press("c")
    await until_ended(screen)


async def test_a_cancelled_run_is_resumed(engine: Engine, screen: Screen) -> None:
    await screen.press("c")
    await until_ended(screen)
    assert "R resumes" in screen.status
    await screen.press("R", *YES)
    await until_it(screen, "asks")
    await screen.press("enter", "enter")
    await until_ended(screen)
    assert engine.pipelines.runs()[0].state == "done"


async def test_a_run_continues_while_another_screen_is_shown(screen: Screen) -> None:
    await screen.press("f5")
    run = present(screen.app.background_run)
    run.reply(present(run.question), "N")
    await screen.until(lambda: run.question is not None)
    await screen.press("f6")
    await until_it(screen, "asks")
    assert states(screen)["bake"] == ("success", 2)
    await screen.press("enter", "enter")
    await until_ended(screen)
    assert "run done" in screen.text


async def test_past_runs_are_looked_at(engine: Engine, bakery: Path) -> None:
    pipelines = engine.pipelines
    pipelines.start_run(bakery, "acme", RunOptions(ask=lambda question: "Y"))
    pipelines.start_run(bakery, "acme", RunOptions(ask=lambda question: None))
    async with opened(engine, project="acme", on="f6") as screen:
        assert "run waiting" in screen.text
        await screen.choose("pipelines")
        assert screen.text.count("run of 2026-03-02 09:30") == 2
        await screen.press(*"done at", "enter")
        assert "run done" in screen.text
        await screen.press("j", "greater_than_sign")
        assert "asked for: Knead the dough" in shown(screen).input_pane.plain_text


async def test_a_run_asks_first_and_shows_every_prompt_and_command(
    engine: Engine, bakery: Path, folder: Path
) -> None:
    bakery.write_text(
        "digraph { start -> knead -> t -> exit; knead [prompt=Knead]"
        ' t [shape=parallelogram tool_command="echo made > made"] }'
    )
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "r")
        assert "1 prompt, 1 command with your rights" in screen.text
        assert "t  $ echo made > made" in screen.text
        assert "knead  prompt: Knead" in screen.text
        await screen.press("enter")
        assert screen.status == "Not run."
        assert "echo made" not in screen.text
        assert engine.pipelines.runs() == []
        await screen.press("r")
        bakery.write_text(bakery.read_text().replace("made", "others"))
        await screen.press(*YES)
        assert "has changed" in screen.status
        assert engine.pipelines.runs() == []
        await screen.press("r", *YES)
        await until_ended(screen)
        assert (folder / "others").exists()
        assert "Reached exit" in screen.status


async def test_a_resume_asks_first_too(engine: Engine, bakery: Path) -> None:
    engine.pipelines.start_run(bakery, "acme", RunOptions(max_steps=2))
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "R")
        assert "Resume bakery? Its effects cannot be undone" in screen.text
        await screen.press("enter")
        assert screen.status == "Not run."


async def test_the_hop_after_a_resume_shows_the_summary_and_not_full(
    engine: Engine, bakery: Path
) -> None:
    stopped = engine.pipelines.start_run(bakery, "acme", RunOptions(max_steps=2))
    engine.pipelines.resume_run(stopped.run_id, RunOptions(max_steps=3))
    async with opened(engine, project="acme", on="f6") as screen:
        (line,) = [each for each in screen.text.splitlines() if "✓ shape" in each]
        assert "summary:high after a resume" in line


async def test_a_damaged_checkpoint_is_reported_and_the_graph_still_shown(
    engine: Engine, bakery: Path
) -> None:
    done = engine.pipelines.start_run(bakery, "acme", RunOptions(ask=lambda question: None))
    (Path(done.folder) / "checkpoint.json").write_bytes(b'{"run_id": "x')
    async with opened(engine, project="acme", on="f6") as screen:
        assert "is damaged" in screen.status
        assert at(screen) == "start"


async def test_with_a_model_it_asks_who_answers(
    engine: Engine, bakery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "reviewer.toml"
    config.write_text('[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "tiny"\n')
    monkeypatch.setenv("REVIEWER_CONFIG", str(config))
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "r")
        assert "Yes, tiny answers" in screen.text
        await screen.press(*YES)
        await until_it(screen, "asks")
        await screen.press("c")
        await until_ended(screen)


async def test_an_answer_is_only_for_the_question_that_was_shown(screen: Screen) -> None:
    run = present(screen.app.background_run)
    first = present(run.question)
    run.reply(first, "N")
    until(lambda: run.question not in (None, first))
    with pytest.raises(ConflictError, match="no longer asks this"):
        run.reply(first, "Y")
    assert run.question is not None
    await screen.press("c")
    await until_ended(screen)


async def test_a_run_that_ended_behind_another_pipeline_is_said_when_it_is_shown_again(
    bakery: Path, folder: Path, screen: Screen
) -> None:
    run = present(screen.app.background_run)
    (folder / "other.dot").write_text("digraph other { start -> exit }")
    await screen.choose("pipelines", "other")
    run.cancel()
    await screen.until(lambda: not run.running)
    await screen.choose("pipelines", "bakery")
    await until_ended(screen)
    assert "R resumes" in screen.status
