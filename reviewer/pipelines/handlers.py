"""What each kind of node does, and how often a stage is tried."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import random as any_number
from typing import IO, Any

from msgspec import Struct, structs

from reviewer.llm.model import (
    CancelledError,
    ChatMessage,
    ChatModel,
    Completion,
    JsonSchema,
    ModelError,
)
from reviewer.pipelines.attribute_meanings import DEFAULT_CHOICE, first_of
from reviewer.pipelines.conditions import as_text
from reviewer.pipelines.events import (
    AnswerChoice,
    Ask,
    Retrying,
    RunError,
    StageError,
    StageFailedError,
    StageQuestion,
    StoppedError,
    Text,
    WaitingError,
    Watch,
)
from reviewer.pipelines.outcomes import StageResult, outcome_of, plain_label, read_answer
from reviewer.pipelines.parallel import RESULTS, joined_text
from reviewer.pipelines.preamble import shortened
from reviewer.pipelines.sessions import ModelThread, room_beside
from reviewer.pipelines.values import (
    CODERGEN,
    CONDITIONAL,
    FAN_IN,
    PipelineEdge,
    PipelineNode,
    StageOutcome,
    ToolCall,
)
from reviewer.system import KILL, end_group

NOTES = 2_000
"""Characters of an answer that are the notes of a stage; its folder has all of it."""
LAST_RESPONSE = 500
ANSWER_PART = 4
"""An answer gets at most a quarter of the model's context."""
LONGEST_ANSWER = 4_096
_JOINT_TOKENS = 8
"""At most what joining a preamble and a prompt adds to their tokens."""


class StageInput(Struct, frozen=True):
    """The input of a stage. `previous`: the result of the stage before it."""

    step: int
    node: PipelineNode
    edges: tuple[PipelineEdge, ...]
    goal: str
    context: Mapping[str, Any]
    session: ModelThread
    """The thread's own, or a fresh one."""
    asked: str
    """The question of a model stage, see `asked_of`."""
    preamble: str
    """For a fresh session; else empty."""
    previous: StageResult | None
    about: str = ""
    """For a question: the answer of the stage before it."""


class StageOutput(Struct, frozen=True):
    """The result of an attempt, with prompt and answer. `edge`: the one that a person chose."""

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


class StageServices(Struct, frozen=True):
    """What stages work with. `folder`: where commands run. `count` counts tokens. `answers`: given
    in advance, by node, and used up in order.
    """

    model: ChatModel
    """Answers for nodes that name no model, or one that is not among the `models`."""
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
        """The model of that name, else `model`."""
        return self.models.get(named, self.model) if named else self.model


def run_stage(stage: StageInput, services: StageServices) -> StageOutput:
    """Make one attempt of a stage.

    Raises ModelError or StageError when the attempt failed, StoppedError when a person stopped it,
    WaitingError when nobody answers its question.
    """
    if is_model_stage(stage.node):
        return _codergen(stage, services)
    match stage.node.handler:
        case "conditional":
            return StageOutput(_passed_through(stage.previous))
        case "wait.human":
            return _human(stage, services)
        case "tool":
            return _tool(stage, services)
        case "parallel.fan_in":
            return StageOutput(_joined(stage.context))
        case "start" | "exit":
            return StageOutput(StageResult())
    raise RunError(
        f"{stage.node.name} needs the handler {stage.node.handler}, which is not supported."
    )


def is_model_stage(node: PipelineNode) -> bool:
    """Whether a node asks the model: a box, or a conditional or fan-in with a prompt."""
    with_prompt = node.handler in (CONDITIONAL, FAN_IN) and bool(node.prompt.strip())
    return node.handler == CODERGEN or with_prompt


def clean_text(text: str) -> str:
    """Text from outside as a run keeps it: valid UTF-8, secrets masked."""
    from reviewer.text.secrets import mask  # late: checking a pipeline needs none of its patterns

    return mask(text.encode("utf-8", "replace").decode()).text


def asked_of(
    node: PipelineNode, goal: str, context: Mapping[str, Any], services: StageServices
) -> str:
    """The prompt of a model stage without its preamble. That of a fan-in begins with the results of
    the branches, shortened evenly to the room that the model has.
    """
    asked = fill_template(node.prompt or node.label, goal, context)
    if node.handler == FAN_IN:
        room = room_for_preamble(asked, services)
        results = joined_text(context.get(RESULTS), room, services.count)
        asked = f"{results}\n\n{asked}".strip()
    return clean_text(asked)


def room_for_preamble(asked: str, services: StageServices) -> int:
    """Tokens that a stage's prompt and answer leave of the model's context."""
    limit = services.context_tokens - _longest_answer(services)
    return room_beside(asked, limit, services.count) - _JOINT_TOKENS


def _longest_answer(services: StageServices) -> int:
    return min(services.context_tokens // ANSWER_PART, LONGEST_ANSWER)


def _codergen(stage: StageInput, services: StageServices) -> StageOutput:
    prompt = f"{stage.preamble}\n\n{stage.asked}" if stage.preamble else stage.asked
    longest = _longest_answer(services)
    sent = stage.session.fitting(prompt, services.context_tokens - longest, services.count)
    try:
        completion = services.answering(stage.session.model).complete(
            sent.messages,
            max_tokens=longest,
            cancelled=services.cancelled,
            on_text=lambda piece: services.watch(Text(stage.node.name, piece)),
        )
    except CancelledError as stopped:
        raise StoppedError from stopped
    answer = clean_text(completion.text)
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


def _joined(context: Mapping[str, Any]) -> StageResult:
    """What the branches came to, in their order."""
    text = joined_text(context.get(RESULTS))
    word = str(context.get("outcome", "")) or str(StageOutcome.SUCCESS)
    return StageResult(
        outcome_of(word),
        word,
        context_updates={"last_response": shortened(text, NOTES)},
        notes=shortened(text, NOTES),
    )


def _passed_through(previous: StageResult | None) -> StageResult:
    """A conditional does nothing: its edges ask about the result of the stage before it."""
    if previous is None:
        return StageResult()
    return StageResult(
        previous.outcome, previous.word, previous.preferred_label, previous.suggested_next
    )


def _human(stage: StageInput, services: StageServices) -> StageOutput:
    question, given, choice = ask_person(stage, services)
    answer = clean_text(given)
    updates: dict[str, Any] = {"human.answer": answer}
    if choice is None:
        updates["human.feedback"] = answer
        result = StageResult(context_updates=updates, notes=shortened(answer, NOTES))
        return StageOutput(result, question.text, answer)
    updates |= {"human.gate.selected": choice.key, "human.gate.label": choice.label}
    result = StageResult(
        preferred_label=choice.label, context_updates=updates, notes=f"Answered: {choice.label}"
    )
    return StageOutput(result, question.text, choice.label, edge=choice.edge)


def _tool(stage: StageInput, services: StageServices) -> StageOutput:
    command = command_of(stage.node)
    code, output = run_command(
        command,
        folder=services.folder,
        goal=stage.goal,
        seconds=stage.node.attributes.get("timeout", ""),
        cancelled=services.cancelled,
    )
    printed = clean_text(output)
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    word = "success" if code == 0 else "fail"
    updates = {
        "tool.output": shortened(printed, NOTES),
        "tool_stdout": shortened(printed.strip(), NOTES),
        "tool.last_line": shortened(lines[-1], LAST_RESPONSE) if lines else "",
        "tool.exit_code": code,
    }
    notes = shortened(f"Exit code {code}. {printed.strip()}".strip(), NOTES)
    call = ToolCall(
        "shell",
        {"command": shortened(clean_text(command), NOTES)},
        shortened(printed, LAST_RESPONSE),
    )
    return StageOutput(
        StageResult(outcome_of(word), word, context_updates=updates, notes=notes),
        clean_text(command),
        printed,
        tools=(call,),
    )


def command_of(node: PipelineNode) -> str:
    """The shell command of a tool node; empty if it has none."""
    names: Sequence[str] = ("tool_command", "command", "script")
    return next((node.attributes[name] for name in names if node.attributes.get(name)), "")


# Attempts


FIRST_SECONDS = 0.2
FACTOR = 2.0
LONGEST_SECONDS = 60.0

Random = Callable[[], float]
"""Returns a number in [0, 1)."""


def retry_delays(max_retries: int, random: Random) -> Iterator[float]:
    """Seconds before each of the `max_retries` further attempts: 0.2 s, doubled each time, at most
    60 s; at random between half of that and all of it, so that many runs do not retry together.
    """
    longest = FIRST_SECONDS
    for _ in range(max_retries):
        yield min(longest, LONGEST_SECONDS) * (0.5 + random() / 2)
        longest = min(longest * FACTOR, LONGEST_SECONDS)


_CHECK_SECONDS = 0.1
"""Between two checks whether the run is cancelled."""


class Timing(Struct, frozen=True):
    """The timing of a run; passed in, so that tests are exact."""

    sleep: Callable[[float], None] = time.sleep
    seconds: Callable[[], float] = time.monotonic
    random: Random = any_number


class Attempts(Struct, frozen=True):
    """The output of a stage, and the errors of earlier attempts."""

    output: StageOutput
    errors: tuple[str, ...]


def run_with_retries(stage: StageInput, services: StageServices, timing: Timing) -> Attempts:
    """Try a stage until its outcome is not `retry`, or no attempt is left.

    Raises StageFailedError when the model failed each time; a command that could not be run each
    time makes the stage end with `fail`. StoppedError and WaitingError end it at once.
    """
    errors: list[str] = []
    pauses = retry_delays(stage.node.max_retries, timing.random)
    while True:
        output: StageOutput | None = None
        try:
            output = run_stage(stage, services)
            if output.result.outcome is not StageOutcome.RETRY:
                return Attempts(output, tuple(errors))
            reason = "The stage asked for another attempt."
        except StageError as problem:
            reason = str(problem)
            output = StageOutput(StageResult(StageOutcome.FAIL, "fail", notes=reason))
        except ModelError as problem:
            reason = str(problem)
        pause = next(pauses, None)
        if pause is None:
            if output is None:
                raise StageFailedError(reason)
            return Attempts(output, tuple(errors))
        errors.append(reason)
        services.watch(Retrying(stage.step, stage.node.name, len(errors), pause, reason))
        _wait(pause, services.cancelled, timing.sleep)


def _wait(seconds: float, cancelled: Callable[[], bool], sleep: Callable[[float], None]) -> None:
    """Wait, and raise StoppedError as soon as the run is cancelled."""
    while seconds > 0:
        if cancelled():
            raise StoppedError
        step = min(seconds, _CHECK_SECONDS)
        sleep(step)
        seconds -= step


# Models


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


LABEL = "[offline stand-in]"
_SHOWN = 80


class StandIn:
    """Stands in for a model where none is configured, so that a pipeline can be tried.

    Answers every prompt with a short text that says so; the same for the same prompt.
    """

    name = "offline stand-in"

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        schema: JsonSchema | None = None,
        cancelled: Callable[[], bool] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """An echo of the last line of the last message. Raises CancelledError."""
        del max_tokens, temperature
        if cancelled is not None and cancelled():
            raise CancelledError("The run was stopped.")
        lines = [line.strip() for line in messages[-1].content.splitlines() if line.strip()]
        asked = lines[-1] if lines else "nothing"
        if len(asked) > _SHOWN:
            asked = asked[: _SHOWN - 1] + "…"
        turns = f"turn {(len(messages) + 1) // 2}" if len(messages) > 1 else "fresh session"
        text = f"{LABEL} {turns}; asked for: {asked}"
        if on_text is not None:
            on_text(text)
        return Completion(text, self.name, 0, 0)


# Questions


_KEY = re.compile(r"^\s*(?:\[(?P<a>\w{1,3})\]|(?P<b>\w)\)\s|(?P<c>\w)\s+-\s)")
_AMPERSAND = re.compile(r"&(\w)")


def question_of(
    step: int, node: PipelineNode, edges: Sequence[PipelineEdge], text: str
) -> StageQuestion:
    """The question of a node. A choice is an edge: its label, or else its target; its key is its
    accelerator (`[Y] Yes`), or else its number. Any text is accepted if the node has
    `mode=freeform` or no edges. A default that is not a choice is dropped.
    """
    choices: list[AnswerChoice] = []
    for number, edge in enumerate(edges, 1):
        key = _accelerator(edge.label) or str(number)
        if any(choice.key == key for choice in choices):
            key = str(number)
        choices.append(AnswerChoice(key, edge.label or edge.target, edge.target, edge.index))
    freeform = not choices or node.attributes.get("mode", "").lower() == "freeform"
    default = first_of(node.attributes, DEFAULT_CHOICE) or ""
    question = StageQuestion(step, node.name, text, tuple(choices), freeform, default)
    if freeform or matching_choice(question, default) is not None:
        return question
    return structs.replace(question, default="")


def matching_choice(question: StageQuestion, answer: str) -> AnswerChoice | None:
    """The choice that an answer names by label, target, key or number, or by the first words of
    one label (`yes` for `[Y] Yes, go`); or None.
    """
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
    if 0 < number <= len(question.choices):
        return question.choices[number - 1]
    begin = re.compile(rf"{re.escape(wanted)}\b") if wanted else None
    near = [each for each in question.choices if begin and begin.match(plain_label(each.label))]
    return near[0] if len(near) == 1 else None


def ask_person(
    stage: StageInput, services: StageServices
) -> tuple[StageQuestion, str, AnswerChoice | None]:
    """The question, the answer, and the choice that it names (None for free text).

    Answers given in advance are used up in order, each once. Asks again while an answer names no
    choice. Raises WaitingError when nobody answers, RunError when an answer given in advance names
    no choice.
    """
    text = fill_template(stage.node.prompt or stage.node.label, stage.goal, stage.context)
    question = question_of(stage.step, stage.node, stage.edges, text)
    question = structs.replace(question, about=stage.about)
    services.watch(question)
    if answers := services.answers.get(stage.node.name):
        given = answers.pop(0)
        choice = matching_choice(question, given)
        if choice is None and not question.freeform:
            raise RunError(unknown_answer(question, given))
        return question, given, choice
    while True:
        typed = services.ask(question) if services.ask is not None else None
        if typed is None:
            raise WaitingError(question)
        given = typed.strip() or question.default
        choice = matching_choice(question, given)
        if choice is not None or (question.freeform and given):
            return question, given, choice


def unknown_answer(question: StageQuestion, answer: str) -> str:
    """The message for an answer that names no choice."""
    labels = ", ".join(choice.label for choice in question.choices)
    return f'"{answer}" is not an answer to {question.node}. It takes: {labels}.'


def _accelerator(label: str) -> str:
    found = _KEY.match(label)
    if found is not None:
        return str(found["a"] or found["b"] or found["c"])
    ampersand = _AMPERSAND.search(label)
    return ampersand[1] if ampersand else ""


# Shell commands


COMMAND_SECONDS = 600.0
"""How long a command may take without a `timeout`."""
LONGEST_OUTPUT = 1_000_000
"""Bytes of a command's output that are kept, the last ones."""
_DURATION = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*+(?P<unit>ms|s|m|h)?\s*+")
_SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


def seconds_of(duration: str) -> float | None:
    """Seconds of a duration such as `900`, `900s`, `10m`; else None."""
    found = _DURATION.fullmatch(duration)
    return None if found is None else float(found["number"]) * _SECONDS_OF[found["unit"]]


def run_command(
    command: str,
    *,
    folder: Path,
    goal: str,
    seconds: str,
    cancelled: Callable[[], bool],
) -> tuple[int, str]:
    """Exit code and output (both streams) of a command, run by /bin/sh in `folder`.

    Nothing of the run is put into the text of the command: the goal is in the variable `goal`, so
    that an answer of a model can never become a command. Raises StageError when it cannot be
    started or takes too long, StoppedError when a person stopped it; its process group is ended.
    """
    allowed = seconds_of(seconds) or COMMAND_SECONDS
    try:
        process = subprocess.Popen(  # noqa: S603  # the person has allowed it
            ["/bin/sh", "-c", command],
            cwd=folder,
            env={**os.environ, "goal": goal.replace("\0", "")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise StageError(f"The command cannot be started: {problem}.") from problem
    assert process.stdout is not None
    ends = time.monotonic() + allowed
    with process:
        try:
            output = _read(process.stdout, ends, cancelled)
            code = process.wait(max(ends - time.monotonic(), 0.01))
        except (TimeoutError, subprocess.TimeoutExpired):
            raise StageError(f"The command took longer than {allowed:g} s and was ended.") from None
        finally:
            _end_group(process.pid)
    return code, output.decode("utf-8", "replace")


def _read(pipe: IO[bytes], ends: float, cancelled: Callable[[], bool]) -> bytes:
    kept = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if cancelled():
                raise StoppedError
            if time.monotonic() > ends:
                raise TimeoutError
            if not selector.select(_CHECK_SECONDS):
                continue
            piece = os.read(pipe.fileno(), 65_536)
            if not piece:
                return bytes(kept)
            kept += piece
            if len(kept) > LONGEST_OUTPUT:
                del kept[: len(kept) - LONGEST_OUTPUT]


def _end_group(group: int) -> None:
    try:
        end_group(group, KILL)
    except (ProcessLookupError, PermissionError):
        return  # it has ended
