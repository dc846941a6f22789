"""Handlers of the node types: one function each, which makes one attempt of a stage."""

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
"""Maximum length of a stage's notes, in characters; its folder has the whole answer."""
LAST_RESPONSE = 500
ANSWER_PART = 4
"""An answer gets at most this fraction (1/n) of the model's context."""
LONGEST_ANSWER = 4_096
_MIN_PREAMBLE = 32
"""Minimum tokens for a useful preamble."""
_JOINT_TOKENS = 8
"""Maximum tokens added by joining a preamble and a prompt."""


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
    """Whether a node calls the model: a box, or a conditional or fan-in with a prompt."""
    with_prompt = node.handler in (Handler.CONDITIONAL, Handler.FAN_IN) and bool(
        node.prompt.strip()
    )
    return node.handler == Handler.CODERGEN or with_prompt


def run_stage(visit: Visit, options: RunOptions) -> Attempt:
    """Make one attempt of a stage.

    Raises ModelError if the model fails, StoppedError if a person stopped it, WaitingError if
    nobody answers its question.
    """
    handler = _codergen if is_model_stage(visit.node) else _HANDLERS[visit.node.handler]
    return handler(visit, options)


def _nothing(visit: Visit, _: RunOptions) -> Attempt:
    """Do nothing, for a start, an exit or a parallel node: the runner handles them."""
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
    asked, session = visit.filled(), visit.session
    longest = min(options.context_tokens // ANSWER_PART, LONGEST_ANSWER)
    limit = options.context_tokens - longest
    if visit.node.handler == Handler.FAN_IN:
        room = room_beside(asked, limit) - _JOINT_TOKENS
        asked = f"{joined_text(visit.context, room)}\n\n{asked}".strip()
    asked = clean_text(asked)
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
    """The preamble of a fresh session, within the model's room besides prompt and answer.

    The first stage of a thread has no conversation yet and gets the same preamble as after a
    resume, limited to half of the model's context: the thread needs the other half.
    """
    mode = DEGRADED_MODE if visit.fidelity == "full" else visit.fidelity
    if visit.thread:
        room = min(room, options.context_tokens // 2)
    room = room if room >= _MIN_PREAMBLE else 0
    return build_preamble(mode, visit.pipeline, visit.history, visit.node.name, room=room).text


def _fan_in(visit: Visit, _: RunOptions) -> Attempt:
    """Join the results of the branches, in order, and put their outcome into the context."""
    text = shortened(joined_text(visit.context), NOTES)
    word = str(visit.context.get("outcome", "")) or "success"
    stage = Stage(visit.node.name, outcome_of(word), text, word=word)
    return Attempt(stage, {"last_response": text})


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
    Handler.PARALLEL: _nothing,
    Handler.CONDITIONAL: _conditional,
    Handler.FAN_IN: _fan_in,
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
