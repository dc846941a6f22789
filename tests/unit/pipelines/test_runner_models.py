"""Which model answers a stage: the node's own where the settings know it, and nothing silently."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from reviewer.llm.open_model import open_other_models
from reviewer.pipelines.events import RunStarted
from reviewer.pipelines.handlers import ANSWER_PART, SAFETY
from reviewer.pipelines.options import StandIn
from reviewer.settings import load_settings
from reviewer.text.tokens import counter
from tests.unit.llm.scripted import Scripted
from tests.unit.pipelines.running import Workshop, did

TWO = """
plan [prompt="Plan it", llm_model="large"]; build [prompt="Build it"]
start -> plan -> build -> done
"""


def named(name: str) -> Scripted:
    model = Scripted(did)
    model.name = name
    return model


def note(workshop: Workshop) -> str:
    (begun,) = (event for event in workshop.events if isinstance(event, RunStarted))
    return begun.note


def answered_by(workshop: Workshop) -> Sequence[tuple[str, str]]:
    """Each stage that asked a model, and the model that answered, as the run keeps them."""
    (begun,) = (event for event in workshop.events if isinstance(event, RunStarted))
    logs = workshop.runs.checkpoint(begun.run_id).logs
    return [(stage.node, stage.model) for stage in logs if stage.model]


@pytest.mark.parametrize("attribute", ["llm_model", "model"])
def test_a_nodes_own_model_answers_it_and_the_runs_own_the_others(
    workshop: Workshop, attribute: str
) -> None:
    large = named("large")
    path = workshop.write(TWO.replace("llm_model", attribute))
    done = workshop.start(path, models={"large": large})
    assert done.state == "done"
    assert answered_by(workshop) == [("plan", "large"), ("build", "scripted")]
    assert large.prompts() == ["Plan it"]
    assert note(workshop) == ""


def test_a_model_that_the_settings_do_not_know_is_named_on_the_run(workshop: Workshop) -> None:
    done = workshop.start(workshop.write(TWO), models={"small": named("small")})
    assert done.state == "done"
    assert answered_by(workshop) == [("plan", "scripted"), ("build", "scripted")]
    assert "scripted also answers for plan (large)" in note(workshop)
    assert "others under [model]" in note(workshop)


def test_the_stand_in_answers_for_all_and_claims_no_model(workshop: Workshop) -> None:
    workshop.start(workshop.write(TWO), model=None, models={"large": named("large")})
    assert {model for _, model in answered_by(workshop)} == {StandIn.name}
    assert note(workshop) == ""


def test_a_thread_goes_on_with_the_model_that_it_is_held_with(workshop: Workshop) -> None:
    large = named("large")
    path = workshop.write(
        'node [fidelity=full, thread_id=work]\nplan [prompt="Plan", llm_model=large];'
        ' build [prompt="Build"]; look [prompt="Look", thread_id=aside]\n'
        "start -> plan -> build -> look -> done"
    )
    workshop.start(path, models={"large": large})
    expected = [("plan", "large"), ("build", "large"), ("look", "scripted")]
    assert answered_by(workshop) == expected
    assert [each.content.splitlines()[-1] for each in large.asked[1]] == [
        "Plan", "did: Plan", "Build"
    ]  # fmt: skip


def test_others_of_the_settings_are_models_at_the_same_endpoint(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        '[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "small"\nothers = ["large", "small"]\n'
    )
    others = open_other_models(load_settings(path))
    assert list(others) == ["large"]
    assert others["large"].name == "large"


def answered_at_length(prompt: str) -> str:
    return f"{prompt.splitlines()[-1]} done. " + "A lamp lit. " * 900


@pytest.mark.parametrize("mode", ["compact", '"summary:high"', "full"])
def test_a_preamble_is_written_within_the_room_of_a_small_model(
    workshop: Workshop, mode: str
) -> None:
    workshop.model.answers = [answered_at_length]
    path = workshop.write(
        'plan [prompt="Plan it"]; build [prompt="Build it"]\n'
        f'look [prompt="Look at it", fidelity={mode}]\nstart -> plan -> build -> look -> done'
    )
    done = workshop.start(path, context_tokens=512)
    assert done.state == "done", done.message
    prompt = workshop.model.asked[-1][-1].content
    assert prompt.endswith("\n\nLook at it")
    assert counter().count(prompt) <= (512 - 512 // ANSWER_PART) * SAFETY


def test_a_prompt_that_never_fits_stops_the_run_with_what_to_do(workshop: Workshop) -> None:
    body = f'look [prompt="{"lamp " * 600}"]; start -> look -> done'
    done = workshop.start(workshop.write(body), context_tokens=512)
    assert (done.state, done.node) == ("failed", "look")
    assert "set [model] context_tokens" in done.message
