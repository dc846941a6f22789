"""Questions of a run to a person, and the edge for an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import structs

from reviewer.pipelines.attribute_meanings import DEFAULT_CHOICE, first_of
from reviewer.pipelines.events import AnswerChoice, RunError, StageQuestion
from reviewer.pipelines.outcomes import plain_label
from reviewer.pipelines.values import (
    Handler,
    Pipeline,
    PipelineEdge,
    PipelineNode,
)
from reviewer.text.numerals import some_of

_KEY = re.compile(r"^\s*(?:\[(?P<a>\w{1,3})\]|(?P<b>\w)\)\s|(?P<c>\w)\s+-\s)|&(?P<d>\w)")


def question_of(
    node: PipelineNode, edges: Sequence[PipelineEdge], text: str, step: int = 0
) -> StageQuestion:
    """The question of a node. Each edge is a choice, named by its label or else its target; its key
    is the accelerator (`[Y] Yes`) or else its number. An invalid default is dropped.
    """
    choices: list[AnswerChoice] = []
    for number, edge in enumerate(edges, 1):
        found = _KEY.search(edge.label)
        key = found[found.lastgroup] if found and found.lastgroup else str(number)
        if any(choice.key == key for choice in choices):
            key = str(number)
        choices.append(AnswerChoice(key, edge.label or edge.target, edge.target, edge.index))
    default = first_of(node.attributes, DEFAULT_CHOICE) or ""
    question = StageQuestion(step, node.name, text, tuple(choices), default)
    if matching_choice(question, default) is None:
        return structs.replace(question, default="")
    return question


def matching_choice(question: StageQuestion, answer: str) -> AnswerChoice | None:
    """The choice for an answer: by label, target, key or number, or by the first words of one label
    (`yes` for `[Y] Yes, go`); or None.
    """
    wanted = plain_label(answer)
    if not wanted:
        return None
    names = [
        (plain_label(choice.label), plain_label(choice.target), choice.key.casefold(), str(number))
        for number, choice in enumerate(question.choices, 1)
    ]
    for kind in range(4):
        for choice, named in zip(question.choices, names, strict=True):
            if named[kind] == wanted:
                return choice
    begin = re.compile(rf"{re.escape(wanted)}\b")
    near = [each for each in question.choices if begin.match(plain_label(each.label))]
    return near[0] if len(near) == 1 else None


def unknown_answer(question: StageQuestion, answer: str) -> str:
    """The message for an answer that names no choice."""
    labels = ", ".join(choice.label for choice in question.choices)
    return f'"{answer}" is not an answer to {question.node}. Answers: {labels}.'


def require_answers(pipeline: Pipeline, answers: Mapping[str, Sequence[str]]) -> None:
    """Raise RunError unless all answers given in advance are valid."""
    for name, given in answers.items():
        node = pipeline.nodes.get(name)
        if node is None or node.handler != Handler.HUMAN:
            asking = [
                each.name for each in pipeline.nodes.values() if each.handler == Handler.HUMAN
            ]
            raise RunError(f"{name} asks no question. Nodes that do: {some_of(asking) or 'none'}.")
        question = question_of(node, pipeline.edges_from(name), node.label)
        for answer in given:
            if question.choices and matching_choice(question, answer) is None:
                raise RunError(unknown_answer(question, answer))
