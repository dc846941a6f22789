"""What a model may write around its statements, and how it is read."""

from __future__ import annotations

import json

import pytest

from reviewer.proposing.answers import (
    NO_TEXT,
    UNREADABLE,
    Statement,
    read_answer,
)
from reviewer.proposing.values import Quote

ONE = {
    "statement": "The kiosk prints receipts in the language of the customer.",
    "kind": "decision",
    "quotes": [{"line": 3, "text": "print it in their language"}],
    "confidence": 0.8,
}
READ = Statement(
    "The kiosk prints receipts in the language of the customer.",
    kind="decision",
    quotes=(Quote(3, "print it in their language"),),
    confidence=0.8,
)
TWO = {**ONE, "statement": "The drawer stays closed until the terminal has answered."}


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"statements": [ONE]}),
        f"Here:\n```json\n{json.dumps({'statements': [ONE]}, indent=2)}\n```\nAnything else?",
        json.dumps(ONE),
        json.dumps([ONE]),
        json.dumps({"result": {"statements": [ONE]}}),
        f"<think>Is {json.dumps(TWO)} one? No.</think>{json.dumps({'statements': [ONE]})}",
        json.dumps({"statements": [ONE]}) + "\n{not json",
    ],
    ids=["object", "fenced", "bare", "list", "nested", "thinking", "trailing"],
)  # fmt: skip
def test_json_is_found_wherever_it_is(answer: str) -> None:
    read = read_answer(answer)
    assert read.statements == (READ,)
    assert not read.dropped


def test_an_object_on_each_line_is_read() -> None:
    lines = "\n".join(json.dumps(each) for each in (ONE, TWO))
    assert [each.text for each in read_answer(lines).statements] == [
        ONE["statement"], TWO["statement"],
    ]  # fmt: skip


def test_of_an_answer_that_was_cut_off_the_whole_statements_are_read() -> None:
    whole = json.dumps({"statements": [ONE, TWO]})
    assert read_answer(whole[: whole.index("The drawer")]).statements == (READ,)


def test_nothing_worth_remembering_is_an_answer() -> None:
    read = read_answer('{"statements": []}')
    assert (read.statements, read.empty, read.unreadable) == ((), True, False)


@pytest.mark.parametrize("answer", ["", "I cannot help with that.", "{'statements': ['x']}", "[]"])
def test_prose_and_broken_json_are_counted_not_guessed_at(answer: str) -> None:
    read = read_answer(answer)
    assert read.unreadable
    assert read.dropped == {UNREADABLE: 1}


def test_items_without_a_statement_are_counted() -> None:
    read = read_answer(json.dumps({"statements": [ONE, {"kind": "trap"}, 7, {"statement": " "}]}))
    assert read.statements == (READ,)
    assert read.dropped == {NO_TEXT: 3}


def test_the_label_that_a_view_has_before_a_line_is_no_part_of_a_quote() -> None:
    quotes = [
        {"line": 4, "text": "TOOL: Bash: make lint"},
        {"line": 5, "text": "[5] AGENT TO AGENT: Implement the plan"},
        {"line": 6, "text": "Never: not even once"},
        {"line": 7, "text": "For IDLE/ENDED: only condense"},
    ]
    (statement,) = read_answer(json.dumps({"statement": "A rule", "quotes": quotes})).statements
    assert [quote.text for quote in statement.quotes] == [
        "Bash: make lint", "Implement the plan", "Never: not even once",
        "For IDLE/ENDED: only condense",
    ]  # fmt: skip


def test_values_of_the_wrong_type_are_left_out() -> None:
    odd = {
        "statement": "The kiosk\nprints   receipts.",
        "kind": ["trap"],
        "quotes": [{"line": "[12]", "text": "a"}, {"line": None, "text": "b"}, "c", {"line": 4}],
        "confidence": "high",
    }
    (statement,) = read_answer(json.dumps(odd)).statements
    assert statement == Statement("The kiosk prints receipts.", quotes=(Quote(12, "a"),))
