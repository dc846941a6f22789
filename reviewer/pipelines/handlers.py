"""Handlers of the node types: one function each, which makes one attempt of a stage.

Also what they need: the conversation of a thread, and the questions to a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, structs

from reviewer.llm.model import CancelledError, ChatMessage
from reviewer.pipelines.attribute_meanings import DEFAULT_CHOICE, first_of
from reviewer.pipelines.commands import CommandError, command_of, run_command
from reviewer.pipelines.conditions import as_text
from reviewer.pipelines.events import (
    AnswerChoice,
    RunError,
    StageQuestion,
    StoppedError,
    WaitingError,
)
from reviewer.pipelines.options import RunOptions
from reviewer.pipelines.outcomes import Attempt, plain_label, read_answer
from reviewer.pipelines.preamble import build_preamble, count_tokens, goal_of, shortened
from reviewer.pipelines.resolve import DEGRADED_MODE
from reviewer.pipelines.values import (
    Handler,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    RunHistory,
    Stage,
    StageOutcome,
    ToolCall,
)
from reviewer.text.numerals import count, some_of

NOTES = 2_000
"""Maximum length of a stage's notes, in characters; its folder has the whole answer."""
LAST_RESPONSE = 500
ANSWER_PART = 4
"""An answer gets at most this fraction (1/n) of the model's context."""
LONGEST_ANSWER = 4_096
_MIN_PREAMBLE = 32
"""Minimum tokens for a useful preamble."""
_JOINT_TOKENS = 8
"""Maximum tokens added by joining a preamble and a prompt."""
OVERHEAD = 8
"""Maximum tokens a chat format adds to a message."""
SAFETY = 0.9
"""Share of a model's context to use, because its encoding may count more tokens than ours."""
_MARK_TOKENS = 24
_KEY = re.compile(r"^\s*(?:\[(?P<a>\w{1,3})\]|(?P<b>\w)\)\s|(?P<c>\w)\s+-\s)|&(?P<d>\w)")


class Fitted(NamedTuple):
    """Messages that fit a model's context, and how much of the history they omit."""

    messages: list[ChatMessage]
    left_out_turns: int
    left_out_tokens: int


class Session:
    """The conversation of a thread; lost when the program ends. Its history is kept whole, but a
    model gets the newest turns that fit its context.

    `model`: the model named by the last node that named one; empty for the run's model.
    """

    def __init__(self) -> None:
        self.model = ""
        self.turns: list[tuple[str, str]] = []

    def fitting(self, prompt: str, limit: int) -> Fitted:
        """The conversation with a new prompt in at most `limit` tokens: the newest turns, and a
        note in the first message if older ones are left out.

        Raises RunError if the prompt alone is too long.
        """
        room = room_beside(prompt, limit)
        if room < 0:
            raise RunError(
                f"The prompt takes about {int(limit * SAFETY) - room:,} tokens, and the model has "
                f"room for {int(limit * SAFETY):,}. Shorten it, choose a smaller fidelity, or set "
                "[model] context_tokens."
            )
        sizes = [
            count_tokens(asked) + count_tokens(answer) + 2 * OVERHEAD
            for asked, answer in self.turns
        ]
        first = 0
        if sum(sizes) > room:
            room -= _MARK_TOKENS
            while first < len(sizes) and sum(sizes[first:]) > room:
                first += 1
        messages: list[ChatMessage] = []
        for asked, answer in self.turns[first:]:
            messages += [ChatMessage("user", asked), ChatMessage("assistant", answer)]
        messages.append(ChatMessage("user", prompt))
        left_out = sum(sizes[:first])
        if first:
            earlier = count(first, "earlier turn")
            mark = f"[{earlier} of this conversation left out: {left_out:,} tokens]"
            messages[0] = ChatMessage("user", f"{mark}\n\n{messages[0].content}")
        return Fitted(messages, first, left_out)


def room_beside(prompt: str, limit: int) -> int:
    """Tokens left of `limit` after a prompt; negative if it alone is too long."""
    return int(limit * SAFETY) - count_tokens(prompt) - OVERHEAD


class Visit(Struct, frozen=True):
    """A stage about to run. `session`: the thread's, or a fresh one. `folder`: where commands run.
    `about`: the previous answer.
    """

    step: int
    node: PipelineNode
    pipeline: Pipeline
    history: RunHistory
    fidelity: str
    thread: str
    session: Session
    folder: Path
    about: str = ""

    @property
    def context(self) -> Mapping[str, Any]:
        return self.history.context

    @property
    def goal(self) -> str:
        """The goal of the graph or of the run."""
        return goal_of(self.pipeline, self.context)

    def filled(self) -> str:
        """The node's prompt, else its label, with the values of the context."""
        return fill_template(self.node.prompt or self.node.label, self.goal, self.context)


def clean_text(text: str) -> str:
    """Text from outside, cleaned for storage: valid UTF-8, secrets masked."""
    from reviewer.text.secrets import mask  # late: `pipeline check` does not need its patterns

    return mask(text.encode("utf-8", "replace").decode()).text


def is_model_stage(node: PipelineNode) -> bool:
    """Whether a node calls the model: a box, or a conditional with a prompt."""
    with_prompt = node.handler == Handler.CONDITIONAL and bool(node.prompt.strip())
    return node.handler == Handler.CODERGEN or with_prompt


def run_stage(visit: Visit, options: RunOptions) -> Attempt:
    """Make one attempt of a stage.

    Raises ModelError if the model fails, StoppedError if a person stopped it, WaitingError if
    nobody answers its question.
    """
    handler = _codergen if is_model_stage(visit.node) else _HANDLERS[visit.node.handler]
    return handler(visit, options)


def _nothing(visit: Visit, _: RunOptions) -> Attempt:
    """Do nothing, for a start or an exit: the runner handles them."""
    return Attempt(Stage(visit.node.name))


def _conditional(visit: Visit, _: RunOptions) -> Attempt:
    """Do nothing: the edges of a conditional test the result of the previous stage."""
    if not visit.history.completed:
        return Attempt(Stage(visit.node.name))
    last = visit.history.completed[-1]
    return Attempt(
        Stage(visit.node.name, last.outcome, word=last.word, preferred_label=last.preferred_label)
    )


def _codergen(visit: Visit, options: RunOptions) -> Attempt:
    """Call the model, in the thread's session or in a fresh one with the preamble."""
    asked, session = clean_text(visit.filled()), visit.session
    longest = min(options.context_tokens // ANSWER_PART, LONGEST_ANSWER)
    limit = options.context_tokens - longest
    preamble = ""
    if not session.turns:
        room = room_beside(asked, limit) - _JOINT_TOKENS
        preamble = _preamble(visit, room, options)
    prompt = f"{preamble}\n\n{asked}" if preamble else asked
    sent = session.fitting(prompt, limit)
    try:
        completion = options.answering(session.model).complete(
            sent.messages,
            max_tokens=longest,
            cancelled=options.cancelled,
        )
    except CancelledError as stopped:
        raise StoppedError from stopped
    answer = clean_text(completion.text)
    read = read_answer(visit.node.name, answer)
    return Attempt(
        structs.replace(
            read.stage,
            notes=shortened(read.stage.notes, NOTES),
            model=completion.model,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            finish=completion.finish,
            left_out_turns=sent.left_out_turns,
            left_out_tokens=sent.left_out_tokens,
        ),
        {"last_response": shortened(answer, LAST_RESPONSE), **read.context_updates},
        read.suggested_next,
        prompt,
        answer,
    )


def _preamble(visit: Visit, room: int, options: RunOptions) -> str:
    """The preamble of a fresh session, within the model's room besides prompt and answer.

    The first stage of a thread has no conversation yet and gets the same preamble as after a
    resume, limited to half of the model's context: the thread needs the other half.
    """
    mode = DEGRADED_MODE if visit.fidelity == "full" else visit.fidelity
    if visit.thread:
        room = min(room, options.context_tokens // 2)
    room = room if room >= _MIN_PREAMBLE else 0
    return build_preamble(mode, visit.pipeline, visit.history, visit.node.name, room=room).text


def _human(visit: Visit, options: RunOptions) -> Attempt:
    """Ask a person, after using up the answers given in advance; repeat the question until an
    answer names a choice.

    Raises WaitingError if nobody answers.
    """
    name = visit.node.name
    question = question_of(visit.node, visit.pipeline.edges_from(name), visit.filled(), visit.step)
    question = structs.replace(question, about=visit.about)
    options.watch(question)
    in_advance = options.answers.get(name)
    while True:
        if in_advance:
            typed: str | None = in_advance.pop(0)
        else:
            typed = options.ask(question)
        if typed is None:
            raise WaitingError(question)
        answer = clean_text(typed.strip() or question.default)
        choice = matching_choice(question, answer)
        if choice is not None or not question.choices:
            break
    stage, updates = Stage(name, notes=f"Answered: {answer}"), {"human.answer": answer}
    if choice is not None:
        stage = Stage(
            name, notes=f"Answered: {choice.label}", preferred_label=choice.label, edge=choice.edge
        )
        updates |= {"human.gate.selected": choice.key, "human.gate.label": choice.label}
        answer = choice.label
    return Attempt(stage, updates, (), question.text, answer)


def _tool(visit: Visit, options: RunOptions) -> Attempt:
    """Run the node's shell command; its exit code is the outcome."""
    command = clean_text(command_of(visit.node))
    try:
        code, output = run_command(visit.node, visit.folder, visit.goal, options.cancelled)
    except CommandError as problem:
        stage = Stage(visit.node.name, StageOutcome.FAIL, str(problem), word="fail")
        return Attempt(stage, prompt=command)
    printed = clean_text(output)
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    outcome = StageOutcome.FAIL if code else StageOutcome.SUCCESS
    call = ToolCall(
        "shell", {"command": shortened(command, NOTES)}, shortened(printed, LAST_RESPONSE)
    )
    return Attempt(
        Stage(
            visit.node.name,
            outcome,
            shortened(f"Exit code {code}. {printed.strip()}".strip(), NOTES),
            (call,),
            word=str(outcome),
        ),
        {
            "tool.output": shortened(printed, NOTES),
            "tool_stdout": shortened(printed.strip(), NOTES),
            "tool.last_line": shortened(lines[-1], LAST_RESPONSE) if lines else "",
            "tool.exit_code": code,
        },
        (),
        command,
        printed,
    )


_HANDLERS: Mapping[str, Callable[[Visit, RunOptions], Attempt]] = {
    Handler.START: _nothing,
    Handler.EXIT: _nothing,
    Handler.CONDITIONAL: _conditional,
    Handler.HUMAN: _human,
    Handler.TOOL: _tool,
}


_PLACEHOLDER = re.compile(r"\$(?:\{([\w.]+)\}|(\w+(?:\.\w+)*))")


def fill_template(prompt: str, goal: str, context: Mapping[str, Any]) -> str:
    """The prompt with `$key` and `${key}` replaced if `key` is `goal` or in the context. Other
    variables, such as the shell's, are kept. Replaced values are not expanded again.
    """
    known = {**context, "goal": goal}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return as_text(known[name]) if name in known else found[0]

    return _PLACEHOLDER.sub(value, prompt)


# Questions to a person


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
