"""Conditions on edges mean what people write, and decide with labels and weights which is taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.pipelines.conditions import ConditionError, choose_edge, is_true, parse_condition
from reviewer.pipelines.values import PipelineEdge

CONTEXT = {
    "outcome": "success",
    "preferred_label": "[A] Accept it",
    "tests_passed": True,
    "lint": False,
    "coverage": 81,
    "tool.last_line": "done",
    "files": ["a.py"],
    "empty": "",
    "said_no": "false",
}


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "outcome=success",
        "outcome == success",
        "outcome=succeeded",
        "outcome=SUCCESS",
        "outcome != fail",
        "context.outcome=success",
        "$outcome = success",
        "tests_passed",
        "context.tests_passed == true",
        "lint == false",
        "coverage=81",
        "tool.last_line=done",
        "context.tool.last_line = 'done'",
        'tool.last_line="done"',
        'files=["a.py"]',
        "missing=",
        "missing != anything",
        "preferred_label=accept it",
        "outcome=success && tests_passed && coverage!=80",
    ],
)
def test_it_holds(condition: str) -> None:
    assert is_true(condition, CONTEXT)


@pytest.mark.parametrize(
    "condition",
    [
        "outcome=fail",
        "lint",
        "empty",
        "said_no",
        "missing",
        "missing=x",
        "tests_passed=True",
        "tool.last_line=Done",
        "outcome=success && missing",
    ],
)
def test_it_does_not_hold(condition: str) -> None:
    assert not is_true(condition, CONTEXT)


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("a || b", "a || b"),
        ("a=1 && ", '""'),
        ("a & b", "a & b"),
        ("coverage > 80", "coverage > 80"),
        ("output contains x", "output contains x"),
        ("a=b=c && d", "a=b=c"),
        ("=success", "=success"),
        ("!done", "!done"),
    ],
)
def test_what_is_no_condition_is_refused_with_the_part_that_is_wrong(
    condition: str, part: str
) -> None:
    with pytest.raises(ConditionError, match="cannot be read") as refused:
        parse_condition(condition)
    assert part.strip('"') in str(refused.value)
    assert "&&" in str(refused.value)


def test_a_key_with_context_before_it_is_found_by_its_bare_name_and_the_other_way_round() -> None:
    assert is_true("context.x=1", {"x": "1"})
    assert is_true("x=1", {"context.x": "1"})


@given(st.text(max_size=40))
def test_any_text_is_a_condition_or_a_sentence_of_one_line(text: str) -> None:
    try:
        is_true(text, CONTEXT)
    except ConditionError as problem:
        said = str(problem)
    else:
        said = ""
    assert len(said.splitlines()) <= 1


# Which edge is taken: condition, preferred label, suggested next, weight, name.


def edges(*rows: dict[str, Any]) -> list[PipelineEdge]:
    return [PipelineEdge(source="a", index=at, **row) for at, row in enumerate(rows)]


def choice(found: list[PipelineEdge], context: Any = None, **wishes: Any) -> tuple[str, str]:
    chosen = choose_edge(found, context or {}, **wishes)
    return (chosen.edge.target if chosen.edge else ""), chosen.rule


def test_a_true_condition_comes_before_everything_else() -> None:
    found = edges(
        {"target": "x", "weight": 9, "label": "Go"},
        {"target": "y", "condition": "outcome=fail"},
        {"target": "z", "condition": "outcome=success"},
    )
    wishes = {"preferred_label": "Go", "suggested_next": ["x"]}
    assert choice(found, {"outcome": "fail"}, **wishes) == ("y", "condition")


def test_of_several_true_conditions_the_heaviest_then_the_first_by_name() -> None:
    found = edges(
        {"target": "c", "condition": "ok", "weight": 1},
        {"target": "b", "condition": "ok", "weight": 5},
        {"target": "a", "condition": "ok", "weight": 5},
    )
    assert choice(found, {"ok": True}) == ("a", "condition")


@pytest.mark.parametrize("label", ["fix it", "Fix it", "[F] Fix it", "F) Fix it", "&Fix it"])
def test_the_preferred_label_comes_next_whatever_its_case_and_accelerator(label: str) -> None:
    found = edges({"target": "x", "weight": 9}, {"target": "y", "label": label})
    assert choice(found, preferred_label="fix it") == ("y", "preferred label")


def test_then_the_first_suggestion_that_an_edge_leads_to() -> None:
    found = edges({"target": "x", "weight": 9}, {"target": "y"}, {"target": "z"})
    assert choice(found, suggested_next=["nowhere", "z", "y"]) == ("z", "suggested next")


def test_then_weight_then_name() -> None:
    assert choice(edges({"target": "x"}, {"target": "y", "weight": 1})) == ("y", "weight")
    assert choice(edges({"target": "y"}, {"target": "x"})) == ("x", "name")


def test_an_edge_whose_condition_is_false_is_never_taken() -> None:
    found = edges({"target": "x", "condition": "ok", "label": "Go", "weight": 9}, {"target": "y"})
    assert choice(found, preferred_label="Go", suggested_next=["x"]) == ("y", "only edge")


def test_when_no_edge_leads_on_the_rule_says_why() -> None:
    assert choice(edges({"target": "x", "condition": "ok"})) == ("", "no condition holds")
    assert choice([]) == ("", "no edge")


def test_two_edges_to_the_same_node_are_told_apart_by_their_condition() -> None:
    found = edges({"target": "x", "condition": "ok=1"}, {"target": "x", "condition": "ok=2"})
    chosen = choose_edge(found, {"ok": "2"})
    assert chosen.edge is not None
    assert chosen.edge.index == 1


def test_a_condition_that_cannot_be_read_is_not_passed_over() -> None:
    with pytest.raises(ConditionError):
        choice(edges({"target": "x", "condition": "a || b"}, {"target": "y"}))
