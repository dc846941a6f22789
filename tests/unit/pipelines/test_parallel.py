"""Branches, which run one after another, and the fan-in where they meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.pipelines.events import RunError, StageDone, StageStarted
from tests.unit.pipelines.running import Workshop

FORK = """
split [shape=component]; meet [shape=tripleoctagon]
green [prompt="Green"]; black [prompt="Black"]; sip [prompt="Sip"]; serve [prompt="Serve"]
start -> split
split -> green; split -> black
green -> sip -> meet; black -> meet
meet -> serve -> done
"""
ANSWERS = {"Green": "green leaves", "Black": "black leaves", "Sip": "bitter", "Serve": "served"}


@pytest.fixture
def tea(workshop: Workshop) -> Workshop:
    workshop.model.answers = [lambda prompt: ANSWERS[prompt.splitlines()[-1]]]
    return workshop


def test_all_branches_run_and_the_run_goes_on_at_the_fan_in(tea: Workshop) -> None:
    done = tea.start(tea.write(FORK))
    assert (done.state, done.stages) == ("done", 8)
    assert tea.nodes(done) == [
        "start", "split", "green", "sip", "black", "meet", "serve", "done"
    ]  # fmt: skip
    results = tea.runs.checkpoint(done.run_id).context["parallel.results"]
    assert [(each["branch"], each["node"], each["notes"]) for each in results] == [
        ("green", "sip", "bitter"),
        ("black", "black", "black leaves"),
    ]


def test_a_branch_sees_nothing_of_another_one(tea: Workshop) -> None:
    tea.start(tea.write(FORK))
    sip = next(each[0].content for each in tea.model.asked if each[0].content.endswith("Sip"))
    assert "green leaves" in sip
    assert "black" not in sip


def test_threads_of_branches_are_their_own(tea: Workshop) -> None:
    tea.start(tea.write(f"node [fidelity=full, thread_id=pot]\n{FORK}"))
    started = [each for each in tea.events if isinstance(each, StageStarted)]
    threads = {each.node: each.thread for each in started}
    assert (threads["green"], threads["sip"], threads["black"]) == (
        "pot/green", "pot/green", "pot/black"
    )  # fmt: skip
    assert threads["serve"] == "pot"
    talk = next(each for each in tea.model.asked if each[-1].content == "Sip")
    assert [each.content.splitlines()[-1] for each in talk] == ["Green", "green leaves", "Sip"]


def test_a_fan_in_with_a_prompt_asks_about_the_results(tea: Workshop) -> None:
    ANSWERS_WITH = {**ANSWERS, "Choose": "black"}  # noqa: N806
    tea.model.answers = [lambda prompt: ANSWERS_WITH[prompt.splitlines()[-1]]]
    tea.start(tea.write(FORK.replace("tripleoctagon", 'tripleoctagon, prompt="Choose"')))
    asked = next(e[0].content for e in tea.model.asked if e[0].content.endswith("\nChoose"))
    assert "### green (success)\nbitter" in asked
    assert asked.index("### green") < asked.index("### black")


@pytest.mark.parametrize(
    ("green", "black", "outcome"),
    [("fail", "success", "partial_success"), ("fail", "fail", "fail")],
)
def test_the_outcome_tells_how_many_branches_succeeded(
    tea: Workshop, green: str, black: str, outcome: str
) -> None:
    words = {"Sip": green, "Black": black}
    tea.model.answers = [lambda prompt: f"Outcome: {words.get(prompt.splitlines()[-1], 'success')}"]
    tea.start(tea.write(FORK))
    ended = {e.stage.node: e.stage.outcome for e in tea.events if isinstance(e, StageDone)}
    assert ended["meet"] == outcome


def test_a_program_that_dies_within_branches_loses_and_repeats_no_stage(tea: Workshop) -> None:
    class PowerCutError(BaseException):
        pass

    def script(prompt: str) -> str:
        if prompt.endswith("Sip"):
            raise PowerCutError
        return ANSWERS[prompt.splitlines()[-1]]

    path = tea.write(FORK)
    tea.model.answers = [script]
    with pytest.raises(PowerCutError):
        tea.start(path)
    tea.model.answers = [lambda prompt: ANSWERS[prompt.splitlines()[-1]]]
    tea.model.asked.clear()
    run_id = tea.runs.runs()[0].run_id
    done = tea.resume(run_id)
    assert done.state == "done"
    assert tea.model.prompts() == ["Sip", "Black", "Serve"]
    folders = [path.name for path in Path(done.folder).iterdir() if path.name.startswith("sip")]
    assert folders == ["sip-4"]


def test_a_gate_in_a_branch(tea: Workshop) -> None:
    body = FORK.replace('sip [prompt="Sip"]', "sip [shape=hexagon]").replace(
        "green -> sip -> meet", 'green -> sip; sip -> meet [label="[Y] Yes, pour"]'
    )
    waiting = tea.start(tea.write(body))
    assert waiting.state == "waiting"
    assert tea.resume(waiting.run_id, answers={"sip": ["yes"]}).state == "done"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (FORK.replace("black -> meet", "black -> done"), "branches of split do not meet"),
        (FORK.replace("black -> meet", "black -> sip"), "sip is in two branches of split"),
        (FORK.replace("component", "component, join_policy=first_success"),
         "join_policy=first_success is not supported, only wait_all"),
        (FORK.replace("component", "component, error_policy=fail_fast"),
         "error_policy=fail_fast is not supported, only continue"),
        (FORK.replace("split -> green; split -> black", "start -> green; start -> black"),
         "split has no branches"),
        (FORK.replace('sip [prompt="Sip"]', "sip [shape=component]"),
         "sip is parallel within a branch of split"),
    ],
)  # fmt: skip
def test_what_is_no_fork_is_refused_by_name(tea: Workshop, body: str, sentence: str) -> None:
    with pytest.raises(RunError, match=sentence):
        tea.start(tea.write(body))
