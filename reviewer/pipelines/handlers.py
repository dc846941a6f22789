"""What each kind of node does: one function a handler, which makes one attempt of a stage."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.llm.model import CancelledError
from reviewer.pipelines.commands import CommandError, command_of, run_command
from reviewer.pipelines.conditions import as_text
from reviewer.pipelines.events import (
    StoppedError,
    Text,
    WaitingError,
)
from reviewer.pipelines.forks import joined_text
from reviewer.pipelines.options import RunOptions
from reviewer.pipelines.outcomes import Attempt, outcome_of, read_answer
from reviewer.pipelines.preamble import build_preamble, goal_of, shortened
from reviewer.pipelines.questions import matching_choice, question_of
from reviewer.pipelines.resolve import DEGRADED_MODE
from reviewer.pipelines.sessions import Session, room_beside
from reviewer.pipelines.values import (
    Handler,
    Pipeline,
    PipelineNode,
    RunHistory,
    Stage,
    StageOutcome,
    ToolCall,
)

NOTES = 2_000
"""Characters of an answer that are the notes of a stage; its folder has all of it."""
LAST_RESPONSE = 500
ANSWER_PART = 4
"""An answer gets at most a quarter of the model's context."""
LONGEST_ANSWER = 4_096
_MIN_PREAMBLE = 32
"""Tokens in which a preamble can say anything."""
_JOINT_TOKENS = 8
"""At most what joining a preamble and a prompt adds to their tokens."""


class Visit(Struct, frozen=True):
    """A stage that is about to run. `session`: the thread's own, or a fresh one. `folder`: where
    commands run. `about`: the answer before it.
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
        """The context of the run."""
        return self.history.context

    @property
    def goal(self) -> str:
        """The goal of the graph or of the run."""
        return goal_of(self.pipeline, self.context)

    def filled(self) -> str:
        """The node's prompt, else its label, with the values of the context."""
        return fill_template(self.node.prompt or self.node.label, self.goal, self.context)


def clean_text(text: str) -> str:
    """Text from outside as a run keeps it: valid UTF-8, secrets masked."""
    from reviewer.text.secrets import mask  # late: checking a pipeline needs none of its patterns

    return mask(text.encode("utf-8", "replace").decode()).text


def _count(text: str) -> int:
    from reviewer.text.tokens import counter  # late: most runs fit without counting

    return counter().count(text)


def is_model_stage(node: PipelineNode) -> bool:
    """Whether a node asks the model: a box, or a conditional or fan-in with a prompt."""
    with_prompt = node.handler in (Handler.CONDITIONAL, Handler.FAN_IN) and bool(
        node.prompt.strip()
    )
    return node.handler == Handler.CODERGEN or with_prompt


def run_stage(visit: Visit, options: RunOptions) -> Attempt:
    """Make one attempt of a stage.

    Raises ModelError when the model fails, StoppedError when a person stopped it, WaitingError when
    nobody answers its question.
    """
    handler = _codergen if is_model_stage(visit.node) else _HANDLERS[visit.node.handler]
    return handler(visit, options)


def _nothing(visit: Visit, options: RunOptions) -> Attempt:
    """A start, an exit, a parallel node: the run itself does the rest."""
    del options
    return Attempt(Stage(visit.node.name))


def _conditional(visit: Visit, options: RunOptions) -> Attempt:
    """A conditional does nothing: its edges ask about the result of the stage before it."""
    del options
    if not visit.history.completed:
        return Attempt(Stage(visit.node.name))
    last = visit.history.completed[-1]
    return Attempt(
        Stage(visit.node.name, last.outcome, word=last.word, preferred_label=last.preferred_label)
    )


def _codergen(visit: Visit, options: RunOptions) -> Attempt:
    """Ask the model, in the session of the thread or in a fresh one after the preamble."""
    asked, session = visit.filled(), visit.session
    longest = min(options.context_tokens // ANSWER_PART, LONGEST_ANSWER)
    limit = options.context_tokens - longest
    if visit.node.handler == Handler.FAN_IN:
        room = room_beside(asked, limit, _count) - _JOINT_TOKENS
        asked = f"{joined_text(visit.context, room, _count)}\n\n{asked}".strip()
    asked = clean_text(asked)
    preamble = ""
    if not session.turns:
        room = room_beside(asked, limit, _count) - _JOINT_TOKENS
        preamble = _preamble(visit, room, options)
    prompt = f"{preamble}\n\n{asked}" if preamble else asked
    sent = session.fitting(prompt, limit, _count)
    try:
        completion = options.answering(session.model).complete(
            sent.messages,
            max_tokens=longest,
            cancelled=options.cancelled,
            on_text=lambda piece: options.watch(Text(visit.node.name, piece)),
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
    """The preamble of a fresh session, within the room that the model has beside prompt and answer.

    The first stage of a thread has no conversation to go on from, and gets what it would after a
    resume; the thread needs the other half of the model's context.
    """
    mode = DEGRADED_MODE if visit.fidelity == "full" else visit.fidelity
    if visit.thread:
        room = min(room, options.context_tokens // 2)
    room = room if room >= _MIN_PREAMBLE else 0
    return build_preamble(mode, visit.pipeline, visit.history, visit.node.name, room=room).text


def _fan_in(visit: Visit, options: RunOptions) -> Attempt:
    """What the branches came to, in their order; the context has their outcome."""
    del options
    text = shortened(joined_text(visit.context), NOTES)
    word = str(visit.context.get("outcome", "")) or "success"
    stage = Stage(visit.node.name, outcome_of(word), text, word=word)
    return Attempt(stage, {"last_response": text})


def _human(visit: Visit, options: RunOptions) -> Attempt:
    """Ask a person: answers given in advance are used up in order, each once; then it asks, again
    while an answer names no choice.

    Raises WaitingError when nobody answers.
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
    Handler.PARALLEL: _nothing,
    Handler.CONDITIONAL: _conditional,
    Handler.FAN_IN: _fan_in,
    Handler.HUMAN: _human,
    Handler.TOOL: _tool,
}


_PLACEHOLDER = re.compile(r"\$(?:\{([\w.]+)\}|(\w+(?:\.\w+)*))")


def fill_template(prompt: str, goal: str, context: Mapping[str, Any]) -> str:
    """The prompt with `$key` and `${key}` replaced where `key` is `goal` or a key of the context.
    Shell variables stay as they are. Values that are filled in are not searched again.
    """
    known = {**context, "goal": goal}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return as_text(known[name]) if name in known else found[0]

    return _PLACEHOLDER.sub(value, prompt)
