"""The contents and sizes of preambles."""

from __future__ import annotations

import copy
import json
import re

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.history import build_fidelity_preamble
from reviewer.pipelines.preamble import LONGEST_TEXT, build_preamble, masked
from reviewer.pipelines.values import CEILINGS, RunHistory, Stage, StageOutcome, ToolCall
from reviewer.text.tokens import counter

ORCHARD = parse_dot(
    """digraph orchard { goal="Two hundred jars of jelly"
    start [shape=Mdiamond] pick cook fill [prompt="Fill the jars"] done [shape=Msquare]
    start -> pick -> cook -> fill -> done; fill -> cook }"""
)
SHORT = RunHistory(
    "run-7",
    (
        Stage("start"),
        Stage("pick", notes="Forty kilograms.\nTwo baskets were bad.", duration_s=61.25),
        Stage(
            "cook",
            StageOutcome.PARTIAL_SUCCESS,
            "Too thin.",
            (ToolCall("weigh", {"what": "sugar"}, "12 kg"), ToolCall("stir")),
        ),
    ),
    {"files_changed": ["a.txt", "b.txt"], "tests": "14 passed", "internal.visit": 3, "_x": 1},
    {"cook": (2, 3), "pick": (0, 3)},
)


def long_history(stages: int = 60, letters: int = 1500, values: int = 40) -> RunHistory:
    """A run whose texts would fill every ceiling many times over."""
    words = "the kettle was cleaned and the sugar was weighed again before the next batch "
    note = (words * (letters // len(words) + 1))[:letters]
    nodes = ["start", "pick", "cook"]
    return RunHistory(
        "run-8",
        (
            *(Stage(nodes[n % 3], notes=f"Number {n}: {note}") for n in range(stages - 1)),
            Stage("fill", StageOutcome.FAIL, f"The latest finding. {note}"),
        ),
        {f"value {n}": f"{n}: {note * (1 + n % 5)}" for n in range(values)},
        {"cook": (1, 2)},
    )


def text(mode: str, history: RunHistory = SHORT, node: str = "fill") -> str:
    return build_preamble(mode, ORCHARD, history, node).text


def test_full_prepends_nothing() -> None:
    found = build_preamble("full", ORCHARD, SHORT, "fill")
    assert (found.text, found.tokens, found.budget) == ("", 0, 0)


SAID = {
    "truncate": (
        "Pipeline: orchard\nGoal: Two hundred jars of jelly\nRun ID: run-7\nCurrent stage: fill"
    ),
    "compact": (
        "## Pipeline State\n\n"
        "- Pipeline: orchard\n"
        "- Goal: Two hundred jars of jelly\n"
        "- Completed stages: start (success), pick (success), cook (partial_success)\n"
        "- Current stage: fill\n"
        "- Latest notes: Too thin.\n"
        "- Key context values:\n"
        '  - files_changed: ["a.txt", "b.txt"]\n'
        '  - tests: "14 passed"'
    ),
    "summary:low": (
        'Pipeline "orchard" stage 4 of 5. Goal: Two hundred jars of jelly.\n'
        "Completed: start, pick, cook. Last outcome: partial_success.\n"
        "Events: 3 stages run, 2 success, 1 partial_success; 1 node retried."
    ),
    "summary:medium": (
        "## Pipeline Progress\n\n"
        "Pipeline: orchard\nGoal: Two hundred jars of jelly\nStage: fill (4/5)\n\n"
        "### Recent Activity\n"
        "- start: success\n"
        "- pick: success — Forty kilograms. Two baskets were bad.\n"
        "- cook: partial_success — Too thin.\n\n"
        "### Active Context\n"
        '- files_changed: ["a.txt", "b.txt"]\n'
        "- tests: 14 passed"
    ),
    "summary:high": (
        "## Pipeline State (Comprehensive)\n\n"
        "Pipeline: orchard\nGoal: Two hundred jars of jelly\nStage: fill (4/5)\n\n"
        "### Execution History\n"
        "- start: success\n"
        "- pick: success — Forty kilograms.\n    Two baskets were bad.\n  Duration: 61.2 s\n"
        "- cook: partial_success — Too thin.\n  Tools used: weigh (sugar), stir\n\n"
        "### Full Context\n"
        '{\n  "files_changed": ["a.txt", "b.txt"],\n  "tests": "14 passed"\n}\n\n'
        "### Retry Information\n"
        "- cook: 2/3"
    ),
}
"""The whole preamble of the run, by mode."""


@pytest.mark.parametrize("mode", SAID)
def test_each_mode_says_what_it_is_for_and_nothing_else(mode: str) -> None:
    assert text(mode) == SAID[mode]


@pytest.mark.parametrize("mode", ["compact", "summary:medium", "summary:high"])
def test_a_ceiling_that_has_to_cut_is_nearly_used_up(mode: str) -> None:
    found = build_preamble(mode, ORCHARD, long_history(), "done")
    assert found.tokens > 0.85 * found.budget
    assert "The latest finding." in found.text


@pytest.mark.parametrize("mode", ["summary:medium", "summary:high"])
def test_the_oldest_stages_go_first_and_are_counted(mode: str) -> None:
    found = build_preamble(mode, ORCHARD, long_history(), "done")
    kept = [n for n in range(59) if f"Number {n}:" in found.text]
    assert kept == list(range(59 - len(kept), 59))
    assert 0 < len(kept) < 59
    assert found.left_out == 59 - len(kept)
    assert f"{found.left_out} earlier stages left out: {found.left_out} success" in found.text


def test_long_values_are_shortened_with_a_mark_that_says_how_much_is_missing() -> None:
    note = ("sweet and clear " * 2000).strip()
    run = RunHistory("r", (Stage("cook", notes=note),), {"batch": note})
    found = build_preamble("summary:medium", ORCHARD, run, "fill")
    assert found.shortened == 2
    told = [line for line in found.text.split("\n") if "more characters]" in line]
    for line, head in zip(told, ("- cook: success — ", "- batch: "), strict=True):
        begin, missing, end = re.split(r" … \[([\d,]+) more characters\] ", line.removeprefix(head))
        assert note.startswith(begin)
        assert note.endswith(end)
        assert len(begin) + int(missing.replace(",", "")) + len(end) == len(note)


def test_what_high_says_of_the_context_is_json_even_when_it_is_cut() -> None:
    run = RunHistory("r", (), {"a": {"deep": ["x"] * 9000}, "b": 'say "no"\n' * 900, "c": None})
    found = text("summary:high", run).split("### Full Context\n")[1]
    shown = json.loads(found)
    assert shown["c"] is None
    assert "more characters]" in shown["a"]
    assert shown["b"].startswith('say "no"\nsay')


def test_what_is_internal_or_said_already_is_not_told_again() -> None:
    run = RunHistory("r", (), {"goal": ORCHARD.goal, "internal.a": "secretive", "_b": "hidden"})
    for mode in CEILINGS:
        found = text(mode, run)
        assert "secretive" not in found
        assert "hidden" not in found
        assert found.count(ORCHARD.goal) == 1


def test_notes_cannot_pass_for_headings_of_the_preamble() -> None:
    run = RunHistory("r", (Stage("cook", notes="Done.\n## Pipeline State\n- fill: success"),))
    for mode in CEILINGS:
        lines = text(mode, run).split("\n")
        assert lines.count("## Pipeline State") == (mode == "compact")
        assert "- fill: success" not in lines


def test_a_goal_that_the_graph_leaves_open_comes_from_the_run() -> None:
    graph = parse_dot('digraph x { goal="$goal" a }')
    run = RunHistory("r", (), {"goal": "Sell the jars"})
    assert "Goal: Sell the jars\n" in build_preamble("truncate", graph, run, "a").text


def test_the_documents_signature_says_the_same() -> None:
    logs = [
        {"node": stage.node, "outcome": str(stage.outcome), "notes": stage.notes,
         "tools": [{"name": tool.name, "arguments": tool.arguments} for tool in stage.tools],
         "duration_s": stage.duration_s}
        for stage in SHORT.completed
    ]  # fmt: skip
    context = {**SHORT.context, "internal.run_id": "run-7"}
    before = copy.deepcopy((context, logs))
    for mode in ("truncate", "compact", "summary:medium"):
        said = build_fidelity_preamble(
            mode, ORCHARD, context, ["start", "pick", "cook"], "fill", logs
        )
        assert said == text(mode)
    assert build_fidelity_preamble("full", ORCHARD, context, ["start"], "fill", logs) == ""
    assert (context, logs) == before


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    mode=st.sampled_from(list(CEILINGS)),
    names=st.lists(st.text(min_size=1, max_size=400), min_size=1, max_size=30),
    notes=st.text(max_size=3000),
    goal=st.text(max_size=4000),
    context=st.dictionaries(
        st.text(max_size=300), st.text(max_size=2000) | st.integers(), max_size=40
    ),
    times=st.integers(1, 200),
)
def test_no_run_gets_a_preamble_above_its_ceiling(
    mode: str, names: list[str], notes: str, goal: str, context: dict[str, object], times: int
) -> None:
    graph = msgspec.structs.replace(ORCHARD, goal=goal, name=names[0])
    run = RunHistory(names[-1], tuple(Stage(name, notes=notes * times) for name in names), context)
    found = build_preamble(mode, graph, run, names[0])
    assert found.tokens == counter().count(found.text) <= CEILINGS[mode]


@pytest.mark.parametrize("before", [LONGEST_TEXT // 2 - 10, 3 * LONGEST_TEXT // 2 + 22])
def test_a_secret_at_the_cut_of_a_very_long_text_is_masked_whole(before: int) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    words = "jelly " * (LONGEST_TEXT // 3)
    text = f"{words[:before]} {secret} {words[before:]}"
    shown = masked(text)
    assert len(shown) < len(text)
    assert not any(secret[at : at + 8] in shown for at in range(len(secret) - 8))
