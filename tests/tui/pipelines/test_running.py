"""Running by key on the Pipelines screen: run, step, answer, cancel, resume, past runs."""

from __future__ import annotations

from pathlib import Path

from reviewer.engine import Engine
from reviewer.pipelines.service import RunOptions
from reviewer.tui.context.screen import ContextScreen
from reviewer.tui.pipelines.model import NodeState
from tests.tui.conftest import Screen, opened
from tests.tui.pipelines.driving import at, shown, until_ended, until_it


def states(screen: Screen) -> dict[str, tuple[str, int]]:
    return {
        name: (state.now or state.outcome, state.runs)
        for name, state in shown(screen).graph.states.items()
    }


async def run_to_the_question(screen: Screen) -> None:
    await screen.press("f6", "r")
    await until_it(screen, "asks")


async def test_a_run_asks_and_continues_with_the_answer(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await run_to_the_question(screen)
        assert at(screen) == "taste"
        assert screen.status == "Is it good? - enter answers"
        assert states(screen)["taste"] == ("asks", 0)
        await screen.press("enter")
        assert "leads to done" in screen.text
        await screen.press("enter")
        await until_ended(screen)
        assert "Reached done" in screen.status
        assert states(screen)["done"] == ("success", 1)
        assert "run done" in screen.text
        await screen.press("R")
        assert "there is nothing left" in screen.status


async def test_a_loop_continues_in_the_same_session(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await run_to_the_question(screen)
        await screen.press("enter", "N", "enter")
        await screen.until(lambda: states(screen).get("knead", ("", 0))[1] == 2)
        await until_it(screen, "asks")
        await screen.press("g", "j", "j", "1")
        assert shown(screen).input_pane.title.startswith("full · 3 turns")
        text = shown(screen).input_pane.plain_text
        assert "continues the session of «dough»" in text
        assert "A resume would lose them: the first such node gets summary:high" in text
        assert text.count("### knead") == 2
        await screen.press("c")
        await until_ended(screen)


async def test_one_stage_at_a_time(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "space")
        await until_it(screen, "waits after 1 stage")
        assert at(screen) == "knead"
        assert set(states(screen)) == {"start"}
        await screen.press("space")
        await until_it(screen, "waits after 2 stages")
        assert at(screen) == "shape"
        assert "continues the session of «dough»: 1 turn" in screen.text.replace("\n", " ")
        await screen.press("r")
        await until_it(screen, "asks")


async def test_the_cursor_goes_with_a_run_until_a_person_moves_it(
    engine: Engine, bakery: Path
) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "G", "space")
        await until_it(screen, "waits after 1 stage")
        assert at(screen) == "knead"
        await screen.press("G", "space")
        await until_it(screen, "waits after 2 stages")
        assert at(screen) == "done"
        await screen.press("g", "j", "j", "space")
        await until_it(screen, "waits after 3 stages")
        assert at(screen) == "bake"


async def test_a_cancelled_run_is_resumed(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "space")
        await until_it(screen, "waits")
        await screen.press("space")
        await until_it(screen, "waits after 2 stages")
        await screen.press("c")
        await until_ended(screen)
        assert "run cancelled" in screen.text
        assert "R resumes" in screen.status
        await screen.press("R")
        await until_it(screen, "asks")
        (run,) = engine.pipelines.runs()
        shaped = engine.pipelines.checkpoint(run.run_id).logs[2]
        assert (shaped.node, shaped.fidelity, shaped.degraded) == ("shape", "summary:high", True)


async def test_a_run_continues_while_another_screen_is_shown(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "space")
        await until_it(screen, "waits")
        await screen.press("f5")
        screen.app.background_run.proceed(stepping=False)  # type: ignore[union-attr]
        await screen.until(lambda: screen.app.background_run.question is not None)  # type: ignore[union-attr]
        await screen.press("f6")
        await until_it(screen, "asks")
        assert states(screen)["bake"] == ("success", 1)
        await screen.press("enter", "enter")
        await until_ended(screen)
        assert "run done" in screen.text


async def test_only_one_run_at_a_time(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await run_to_the_question(screen)
        for key in ("r", "R", "T"):
            await screen.press(key)
            assert "is in progress: c cancels it." in screen.status
        await screen.press("space")
        assert screen.status == "The run is asking something: enter answers."
        await screen.press("enter", "escape", "c")
        await until_ended(screen)
        (run,) = engine.pipelines.runs()
        assert run.state in ("waiting", "cancelled")


async def test_past_runs_are_looked_at(engine: Engine, bakery: Path) -> None:
    pipelines = engine.pipelines
    pipelines.start_run(bakery, "acme", ask=lambda question: "Y")
    pipelines.start_run(bakery, "acme", ask=lambda question: None)
    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        assert "run waiting" in screen.text
        await screen.choose("past runs")
        assert screen.text.count("2026-03-02 09:30") == 2
        await screen.press("down", "enter")
        assert "run done" in screen.text
        await screen.press("G", "k", "k", "k", "k", "7")
        assert at(screen) == "bake"
        assert "Bake them" in shown(screen).input_pane.plain_text


async def test_the_input_of_a_node_is_that_of_its_latest_run(engine: Engine, bakery: Path) -> None:
    engine.pipelines.start_run(bakery, "acme", ask=lambda question: "Y")
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "j", "j", "3")
        text = shown(screen).input_pane.plain_text
        assert "shape after 2 stages, before its latest run" in text
        assert "- Completed stages: start (success), knead (success)\n" in text


async def test_a_run_is_opened_as_a_context(engine: Engine, bakery: Path) -> None:
    engine.pipelines.start_run(bakery, "acme", ask=lambda question: "Y")
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "j")
        await screen.choose("as context")
        await screen.settle()
        assert isinstance(screen.app.screen, ContextScreen)
        await screen.until(lambda: "Pipeline State (Compr" in screen.text)
        assert engine.contexts.all()[0].commits == 4


async def test_shell_commands_are_refused_until_they_are_allowed(
    engine: Engine, bakery: Path, folder: Path
) -> None:
    bakery.write_text(
        'digraph { start -> t -> exit; t [shape=parallelogram tool_command="echo made > made"] }'
    )
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "r")
        await until_ended(screen)
        assert screen.status.startswith('. "allow tools" allows shell')
        assert not (folder / "made").exists()
        await screen.choose("allow tools")
        await screen.press("r")
        await until_ended(screen)
        assert (folder / "made").exists()
        assert "Reached exit" in screen.status
        bakery.write_text(bakery.read_text().replace("made", "others"))
        await screen.press("r")
        await until_ended(screen)
        assert not (folder / "others").exists()


async def test_the_hop_after_a_resume_shows_the_summary_and_not_full(
    engine: Engine, bakery: Path
) -> None:
    stopped = engine.pipelines.start_run(bakery, "acme", RunOptions(max_steps=2))
    engine.pipelines.resume_run(stopped.run_id, RunOptions(max_steps=3))
    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        await screen.until(lambda: "shape" in states(screen))
        assert shown(screen).graph.states["shape"].degraded_to == "summary:high"
        (line,) = [each for each in screen.text.splitlines() if "✓ shape" in each]
        assert "summary:high after a resume" in line


async def test_a_damaged_checkpoint_is_reported_and_the_graph_still_shown(
    engine: Engine, bakery: Path
) -> None:
    done = engine.pipelines.start_run(bakery, "acme", ask=lambda question: None)
    (Path(done.folder) / "checkpoint.json").write_bytes(b'{"run_id": "x')
    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        assert "cut or damaged" in screen.status
        assert at(screen) == "start"


async def test_who_answers_is_switched_where_a_model_is_set_up(
    engine: Engine, bakery: Path, tmp_path: Path, monkeypatch: object
) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        await screen.choose("who answers")
        assert "No model is set up" in screen.status
    config = tmp_path / "reviewer.toml"
    config.write_text('[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "tiny"\n')
    monkeypatch.setenv("REVIEWER_CONFIG", str(config))  # type: ignore[attr-defined]
    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        await screen.choose("who answers")
        assert screen.status == "The next run is answered by: tiny."
        assert "· tiny" in screen.text


FORKED = """digraph fork {
    start [shape=Mdiamond]; done [shape=Msquare]
    split [shape=component]; meet [shape=tripleoctagon]
    sweet [prompt="Bake it sweet"]; salty [prompt="Bake it salty"]
    choose [shape=hexagon, label="Which one?"]
    start -> split
    split -> sweet; split -> salty
    sweet -> meet; salty -> meet
    meet -> choose
    choose -> done [label="[S] Sweet"]; choose -> split [label="[A] Again"]
}
"""


async def test_branches_and_a_gate_are_run_left_and_resumed(engine: Engine, bakery: Path) -> None:
    fork = bakery.with_name("fork.dot")
    fork.write_text(FORKED)
    bakery.unlink()
    async with opened(engine, project="acme") as screen:
        await run_to_the_question(screen)
        assert at(screen) == "choose"
        assert {states(screen)[name] for name in ("sweet", "salty", "split", "meet")} == {
            ("success", 1)
        }
        text = shown(screen).input_pane.plain_text
        assert text.index("### sweet (success)") < text.index("### salty (success)")
        await screen.app.action_quit()
    assert engine.pipelines.runs()[0].state in ("cancelled", "waiting")
    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        await screen.settle()
        await screen.press("R")
        await until_it(screen, "asks")
        await screen.press("enter", "S", "enter")
        await until_ended(screen)
        assert "Reached done" in screen.status
        assert states(screen)["sweet"] == ("success", 1)


async def test_stages_that_ended_in_one_branch_are_shown_while_another_runs(
    engine: Engine, bakery: Path, folder: Path
) -> None:
    fork = FORKED.replace(
        'salty [prompt="Bake it salty"]',
        'salty [shape=parallelogram, tool_command="until test -e baked; do sleep 0.05; done"]',
    )
    bakery.write_text(fork)

    def activity(name: str) -> tuple[str, str]:
        state = shown(screen).graph.states.get(name, NodeState())
        return state.outcome, state.now

    async with opened(engine, project="acme") as screen:
        await screen.press("f6")
        await screen.choose("allow tools")
        await screen.press("r")
        expected = [("success", ""), ("", "runs")]
        await screen.until(lambda: [activity("sweet"), activity("salty")] == expected)
        (folder / "baked").touch()
        await until_it(screen, "asks")
        assert activity("salty") == ("success", "")
        assert activity("choose") == ("", "asks")
