"""The filter line over commits, in chain order, with edits applied."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewer.commits.contexts import Contexts
from reviewer.commits.search import parse_filter
from reviewer.commits.values import CommitQuery
from reviewer.errors import FilterError
from tests.unit.commits.conftest import Say


@pytest.fixture
def matching(contexts: Contexts, context: int, say: Say) -> Callable[[str], list[str]]:
    """The first words of the commits that match a filter line."""
    contexts.add(context, role="system", text="boot: Answer briefly.")
    long = say("budget: It is $50k, " + "and that is all there is to spend " * 20)
    contexts.annotate(long, priority="important", retain_match=["$50k"])
    say("call: ls -l", "assistant", type="tool_call", name="Bash")
    say("result: The Printer is\n\n  idle.", "tool", name="Bash")
    thought = say("thought: maybe http://spooler:9100/ is down", "assistant", type="reasoning")
    contexts.edit(thought, "thought: the spooler is down")
    last = say("end: The printer works.")
    contexts.annotate(last, priority="pinned")

    def find(text: str) -> list[str]:
        found = contexts.rows(contexts.ids(CommitQuery(context, text)))
        return [row.first_line.partition(":")[0] for row in found]

    return find


EVERYTHING = ["boot", "budget", "call", "result", "thought", "end"]


FOUND = {
    "": EVERYTHING,
    "   ": EVERYTHING,
    "priority:important": ["budget"],
    "priority:pin": ["boot", "end"],
    "priority:": EVERYTHING,
    "-priority:pinned": ["budget", "call", "result", "thought"],
    "priority:skip": ["thought"],
    "role:user": ["budget", "end"],
    "role:user tokens>50": ["budget"],
    "tokens<=50 -role:user": ["boot", "call", "result", "thought"],
    "tokens>": EVERYTHING,
    "type:tool_call": ["call"],
    "type:tool": ["call", "result"],
    "name:bash": ["call", "result"],
    "is:criteria": ["budget"],
    "-is:criteria": ["boot", "call", "result", "thought", "end"],
    "is:edited": ["thought"],
    "-is:edited role:assistant": ["call"],
    "is:annotated": ["budget", "end"],
    "is:": EVERYTHING,
    "printer": ["result", "end"],
    "PRINTER works": ["end"],
    "printer -works": ["result"],
    '"printer is idle"': ["result"],
    '-"printer is idle" printer': ["end"],
    '"$50k"': ["budget"],
    "$50": ["budget"],
    "down role:assistant": ["thought"],
    "http": [],
    "http://spooler:9100": [],
    "spool": ["thought"],
    "-": EVERYTHING,
}


def test_a_filter_line_finds(matching: Callable[[str], list[str]]) -> None:
    assert {text: matching(text) for text in FOUND} == FOUND


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nonsense:x", "fields: priority, role"),
        ("priority:urgent", "priority: takes skip, normal, important or pinned, not"),
        ("tokens:many", "wants a number"),
        ("is:legs", "is: takes edited, annotated, summary or criteria"),
        ("role>3", "is not a number"),
        ("word " * 101, "A filter has at most 100 words."),
    ],
)
def test_what_is_not_understood_is_said(text: str, sentence: str) -> None:
    with pytest.raises(FilterError, match=sentence):
        parse_filter(text)


def test_words_of_other_alphabets_and_phrases_are_found(
    contexts: Contexts, context: int, say: Say
) -> None:
    number = say("Die ÄNDERUNG gilt\u00a0ab  Montag.")
    for text in ("änderung", '"gilt ab montag"'):
        assert list(contexts.ids(CommitQuery(context, text))) == [number]
