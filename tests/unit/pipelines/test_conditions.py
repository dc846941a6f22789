"""Conditions on edges mean what people write, and decide with labels and weights which is taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.pipelines.conditions import ConditionError, choose_edge, is_true, parse_condition
from reviewer.pipelines.dot import parse_dot

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


HOLDS = [
    "",
    "outcome=success",
    "outcome=succeeded",
    "outcome != fail",
    "context.outcome=success",
    "$outcome = success",
    "tests_passed",
    "lint == false",
    "tool.last_line=done",
    "context.tool.last_line = 'done'",
    'files=["a.py"]',
    "missing=",
    "preferred_label=accept it",
    "outcome=success && tests_passed && coverage!=80",
]
DOES_NOT_HOLD = [
    "outcome=fail",
    "lint",
    "said_no",
    "missing",
    "missing=x",
    "outcome=success && missing",
]


@pytest.mark.parametrize("condition", [*HOLDS, *DOES_NOT_HOLD])
def test_whether_a_condition_holds(condition: str) -> None:
    assert is_true(condition, CONTEXT) is (condition in HOLDS)


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("a || b", "a || b"),
        ("a & b", "a & b"),
        ("coverage > 80", "coverage > 80"),
        ("a=b=c && d", "a=b=c"),
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


WISHES = {"preferred_label": "fix it", "suggested_next": ["nowhere", "z", "y"]}


@pytest.mark.parametrize(
    ("edges", "wishes", "target", "rule"),
    [
        # a true condition comes before everything else; the heaviest, then the first by name
        (["x weight=9 label='Fix it'", "z condition=bad", "y condition=ok"],
         WISHES, "y", "condition"),
        (["c condition=ok weight=1", "b condition=ok weight=5", "a condition=ok weight=5"],
         {}, "a", "condition"),
        # then the preferred label, whatever its case and accelerator
        (["z weight=9", "x label='Fix it'"], WISHES, "x", "preferred label"),
        (["z weight=9", "x label='[F] Fix it'"], WISHES, "x", "preferred label"),
        # then the first suggestion that an edge leads to, weight, name
        (["x weight=9", "y", "z"], WISHES, "z", "suggested next"),
        (["x", "y weight=1"], {}, "y", "weight"),
        (["y", "x"], {}, "x", "name"),
        # one whose condition is false is never taken
        (["z condition=bad label='Fix it' weight=9", "a"], WISHES, "a", "only edge"),
        (["x condition=bad"], {}, "", "no condition holds"),
        (["x condition='ok=1'", "x condition='ok=true' weight=7"], {}, "x", "condition"),
    ],
)  # fmt: skip
def test_which_edge_is_taken(
    edges: list[str], wishes: dict[str, Any], target: str, rule: str
) -> None:
    lines = ("a -> {} [{}]".format(*edge.replace("'", '"').partition(" ")[::2]) for edge in edges)
    found = parse_dot(f"digraph {{ {' '.join(lines)} }}").edges
    chosen = choose_edge(found, {"ok": True}, **wishes)
    assert (chosen.edge.target if chosen.edge else "", chosen.rule) == (target, rule)
    if target == "x" and rule == "condition":  # two edges to one node are told apart
        assert chosen.edge is found[1]


def test_a_condition_that_cannot_be_read_is_not_passed_over() -> None:
    edges = parse_dot('digraph { a -> x [condition="a || b"]; a -> y }').edges
    with pytest.raises(ConditionError):
        choose_edge(edges, {})
