"""Asks a person: the choices are the edges that leave the node."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.pipelines.outcomes import plain_label
from reviewer.pipelines.run_errors import RunError, WaitingError
from reviewer.pipelines.run_events import AnswerChoice, Ask, Question, Watch
from reviewer.pipelines.values import PipelineEdge, PipelineNode

_KEY = re.compile(r"^\s*(?:\[(?P<a>\w{1,3})\]|(?P<b>\w)\)\s|(?P<c>\w)\s+-\s)")
_AMPERSAND = re.compile(r"&(\w)")


def question_of(
    step: int, node: PipelineNode, edges: Sequence[PipelineEdge], text: str
) -> Question:
    """What a node asks. An edge is called by its label, else by the node that it leads to; its key
    is its accelerator (`[Y] Yes`), else its number. Any text will do where the node says
    `mode=freeform`, or where there is nothing to choose.
    """
    choices: list[AnswerChoice] = []
    for number, edge in enumerate(edges, 1):
        key = _accelerator(edge.label) or str(number)
        if any(choice.key == key for choice in choices):
            key = str(number)
        choices.append(AnswerChoice(key, edge.label or edge.target, edge.target, edge.index))
    freeform = not choices or node.attributes.get("mode", "").lower() == "freeform"
    default = node.attributes.get("human.default_choice") or node.attributes.get(
        "default_choice", ""
    )
    return Question(step, node.name, text, tuple(choices), freeform, default)


def matching_choice(question: Question, answer: str) -> AnswerChoice | None:
    """The choice that an answer names by label, target, key or number; None when by none."""
    wanted = plain_label(answer)
    for names in (
        lambda choice: plain_label(choice.label),
        lambda choice: plain_label(choice.target),
        lambda choice: choice.key.casefold(),
    ):
        for choice in question.choices:
            if wanted and names(choice) == wanted:
                return choice
    number = int(wanted) if len(wanted) < 5 and wanted.isdecimal() else 0
    return question.choices[number - 1] if 0 < number <= len(question.choices) else None


def ask_person(
    step: int,
    node: PipelineNode,
    edges: Sequence[PipelineEdge],
    text: str,
    answers: list[str],
    ask: Ask | None,
    watch: Watch,
) -> tuple[Question, str, AnswerChoice | None]:
    """The question, the answer, and the choice that it names (None for free text).

    Answers given in advance are used up in order, the last one again and again. Asks again while
    an answer names no choice. Raises WaitingError when nobody answers, RunError when an answer
    given in advance names no choice.
    """
    question = question_of(step, node, edges, text)
    watch(question)
    if answers:
        given = answers.pop(0) if len(answers) > 1 else answers[0]
        choice = matching_choice(question, given)
        if choice is None and not question.freeform:
            raise RunError(unknown_answer(question, given))
        return question, given, choice
    while True:
        said = ask(question) if ask is not None else None
        if said is None:
            raise WaitingError(question)
        given = said.strip() or question.default
        choice = matching_choice(question, given)
        if choice is not None or (question.freeform and given):
            return question, given, choice


def unknown_answer(question: Question, answer: str) -> str:
    """The sentence for an answer that names no choice."""
    labels = ", ".join(choice.label for choice in question.choices)
    return f'"{answer}" is no answer to {question.node}. It takes: {labels}.'


def _accelerator(label: str) -> str:
    found = _KEY.match(label)
    if found is not None:
        return str(found["a"] or found["b"] or found["c"])
    ampersand = _AMPERSAND.search(label)
    return ampersand[1] if ampersand else ""
