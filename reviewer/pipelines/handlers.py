"""What each kind of node does. `run_stage` is called once for every attempt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.llm.model import CancelledError, ChatModel
from reviewer.pipelines.handlers_human import ask_person
from reviewer.pipelines.handlers_template import fill_template
from reviewer.pipelines.handlers_tool import run_command
from reviewer.pipelines.outcomes import StageResult, outcome_of, read_answer
from reviewer.pipelines.run_errors import RunError, StoppedError
from reviewer.pipelines.run_events import Ask, Text, Watch
from reviewer.pipelines.sessions import Session
from reviewer.pipelines.values import PipelineEdge, PipelineNode, ToolCall

START, EXIT, CODERGEN, CONDITIONAL, HUMAN, TOOL = (
    "start", "exit", "codergen", "conditional", "wait.human", "tool",
)  # fmt: skip
SUPPORTED = (START, EXIT, CODERGEN, CONDITIONAL, HUMAN, TOOL)
NOTES = 2_000
"""Characters of an answer that are kept as a stage's notes; its folder has all of them."""
LAST_RESPONSE = 500
ANSWER_PART = 4
"""An answer gets at most this part of the model's context."""
LONGEST_ANSWER = 4_096


class StageInput(Struct, frozen=True):
    """What a stage knows. `previous` is how the stage before it ended."""

    step: int
    node: PipelineNode
    edges: tuple[PipelineEdge, ...]
    goal: str
    context: Mapping[str, Any]
    session: Session
    """The thread's own, or a fresh one."""
    preamble: str
    """What a fresh session begins with."""
    previous: StageResult | None


class StageOutput(Struct, frozen=True):
    """How an attempt ended, and what was sent and answered."""

    result: StageResult
    prompt: str = ""
    response: str = ""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish: str = ""
    left_out_turns: int = 0
    left_out_tokens: int = 0
    tools: tuple[ToolCall, ...] = ()
    edge: int | None = None


class Hands(Struct, frozen=True):
    """What stages work with. `folder` is where commands run; `count` counts tokens; `answers` are
    those given in advance, by node, used up one after the other.
    """

    model: ChatModel
    """Answers where a node names no model, or one that is not among the `models`."""
    count: Callable[[str], int]
    context_tokens: int
    folder: Path
    watch: Watch
    cancelled: Callable[[], bool]
    ask: Ask | None = None
    answers: dict[str, list[str]] = {}
    models: Mapping[str, ChatModel] = {}
    """Other models by name."""

    def answering(self, named: str | None) -> ChatModel:
        """The model of that name, else the run's own."""
        return self.models.get(named, self.model) if named else self.model


def run_stage(stage: StageInput, hands: Hands) -> StageOutput:
    """Carry out one attempt of a stage.

    Raises ModelError or StageError when it could not be done, StoppedError when a person stopped
    it, WaitingError when it asks and nobody is there.
    """
    if is_model_stage(stage.node):
        return _codergen(stage, hands)
    match stage.node.handler:
        case "conditional":
            return StageOutput(_passed_through(stage.previous))
        case "wait.human":
            return _human(stage, hands)
        case "tool":
            return _tool(stage, hands)
        case "start" | "exit":
            return StageOutput(StageResult())
    raise RunError(f"{stage.node.name} needs the handler {stage.node.handler}, which is not there.")


def is_model_stage(node: PipelineNode) -> bool:
    """Whether a node asks the model: a box, and a conditional that has a prompt of its own."""
    return node.handler == CODERGEN or (node.handler == CONDITIONAL and bool(node.prompt.strip()))


def taken_in(text: str) -> str:
    """Text from outside as a run keeps it: its secrets masked, and nothing that is no text."""
    from reviewer.text.secrets import mask  # late: checking a pipeline needs none of its patterns

    return mask(text.encode("utf-8", "replace").decode()).text


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and a mark that says how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} [... {len(text) - limit:,} more characters]"


def _codergen(stage: StageInput, hands: Hands) -> StageOutput:
    asked = fill_template(stage.node.prompt or stage.node.label, stage.goal, stage.context)
    prompt = taken_in(f"{stage.preamble}\n\n{asked}" if stage.preamble else asked)
    longest = min(hands.context_tokens // ANSWER_PART, LONGEST_ANSWER)
    sent = stage.session.fitting(prompt, hands.context_tokens - longest, hands.count)
    try:
        completion = hands.answering(stage.session.model).complete(
            sent.messages,
            max_tokens=longest,
            cancelled=hands.cancelled,
            on_text=lambda piece: hands.watch(Text(stage.node.name, piece)),
        )
    except CancelledError as stopped:
        raise StoppedError from stopped
    answer = taken_in(completion.text)
    result = read_answer(answer)
    return StageOutput(
        StageResult(
            result.outcome,
            result.word,
            result.preferred_label,
            result.suggested_next,
            {"last_response": shortened(answer, LAST_RESPONSE), **result.context_updates},
            shortened(result.notes, NOTES),
            result.remark,
        ),
        prompt,
        answer,
        completion.model,
        completion.prompt_tokens,
        completion.completion_tokens,
        completion.finish,
        sent.left_out_turns,
        sent.left_out_tokens,
    )


def _passed_through(previous: StageResult | None) -> StageResult:
    """A conditional only looks: how the stage before it ended is what its edges ask about."""
    if previous is None:
        return StageResult()
    return StageResult(
        previous.outcome, previous.word, previous.preferred_label, previous.suggested_next
    )


def _human(stage: StageInput, hands: Hands) -> StageOutput:
    question, given, choice = ask_person(
        stage.step,
        stage.node,
        stage.edges,
        fill_template(stage.node.prompt or stage.node.label, stage.goal, stage.context),
        hands.answers.get(stage.node.name, []),
        hands.ask,
        hands.watch,
    )
    said = taken_in(given)
    updates: dict[str, Any] = {"human.answer": said}
    if choice is None:
        updates["human.feedback"] = said
        result = StageResult(context_updates=updates, notes=shortened(said, NOTES))
        return StageOutput(result, question.text, said)
    updates |= {"human.gate.selected": choice.key, "human.gate.label": choice.label}
    result = StageResult(
        preferred_label=choice.label, context_updates=updates, notes=f"Answered: {choice.label}"
    )
    return StageOutput(result, question.text, choice.label, edge=choice.edge)


def _tool(stage: StageInput, hands: Hands) -> StageOutput:
    command = command_of(stage.node)
    code, output = run_command(
        command,
        folder=hands.folder,
        goal=stage.goal,
        seconds=stage.node.attributes.get("timeout", ""),
        cancelled=hands.cancelled,
    )
    said = taken_in(output)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    word = "success" if code == 0 else "fail"
    updates = {
        "tool.output": shortened(said, NOTES),
        "tool_stdout": shortened(said.strip(), NOTES),
        "tool.last_line": shortened(lines[-1], LAST_RESPONSE) if lines else "",
        "tool.exit_code": code,
    }
    notes = shortened(f"Exit code {code}. {said.strip()}".strip(), NOTES)
    call = ToolCall(
        "shell", {"command": shortened(taken_in(command), NOTES)}, shortened(said, LAST_RESPONSE)
    )
    return StageOutput(
        StageResult(outcome_of(word), word, context_updates=updates, notes=notes),
        taken_in(command),
        said,
        tools=(call,),
    )


def command_of(node: PipelineNode) -> str:
    """The shell command of a tool node, under any of its names."""
    names: Sequence[str] = ("tool_command", "command", "script")
    return next((node.attributes[name] for name in names if node.attributes.get(name)), "")
