"""Conditions on edges mean what people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.pipelines.conditions import ConditionError, holds, parse_condition

CONTEXT = {
    "outcome": "success",
    "preferred_label": "[A] Accept it",
    "tests_passed": True,
    "lint": False,
    "coverage": 81,
    "tool.last_line": "done",
    "review": {"verdict": "ship"},
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
        "review.verdict=ship",
        'files=["a.py"]',
        "missing=",
        "missing != anything",
        "preferred_label=accept it",
        "outcome=success && tests_passed && coverage!=80",
    ],
)
def test_it_holds(condition: str) -> None:
    assert holds(condition, CONTEXT)


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
        "review.other",
    ],
)
def test_it_does_not_hold(condition: str) -> None:
    assert not holds(condition, CONTEXT)


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
    assert holds("context.x=1", {"x": "1"})
    assert holds("x=1", {"context.x": "1"})


@given(st.text(max_size=40))
def test_any_text_is_a_condition_or_a_sentence_of_one_line(text: str) -> None:
    try:
        holds(text, CONTEXT)
    except ConditionError as problem:
        said = str(problem)
    else:
        said = ""
    assert len(said.splitlines()) <= 1
