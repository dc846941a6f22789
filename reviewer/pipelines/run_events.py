"""What a run tells whoever watches it, in the order in which it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

RunState = Literal["running", "done", "failed", "waiting", "cancelled", "stopped", "interrupted"]
"""`stopped`: no edge leads on, or the limit of stages is reached. `interrupted`: the program that
ran it is gone. Every state but done can be resumed.
"""


class RunStarted(Struct, frozen=True, tag_field="event", tag="run_started"):
    """A run begins, or goes on after `stages` stages. `note`: what is odd about that."""

    run_id: str
    name: str
    folder: str
    engine: str
    stages: int = 0
    note: str = ""


class StageStarted(Struct, frozen=True, tag_field="event", tag="stage_started"):
    """A stage begins. `thread` is empty unless the session is shared; `degraded`: the stage would
    have had its thread's session, which a resume cannot bring back.
    """

    step: int
    node: str
    handler: str
    fidelity: str
    thread: str = ""
    degraded: bool = False


class Text(Struct, frozen=True, tag_field="event", tag="text"):
    """A piece of a model's answer, as it arrives."""

    node: str
    text: str


class Retrying(Struct, frozen=True, tag_field="event", tag="retrying"):
    """A stage is tried again after `seconds`; `attempt` counts from 1."""

    step: int
    node: str
    attempt: int
    seconds: float
    reason: str


class AnswerChoice(Struct, frozen=True):
    """What may be answered: `key` is a short way to say `label`; `edge` is where it leads."""

    key: str
    label: str
    target: str
    edge: int


class Question(Struct, frozen=True, tag_field="event", tag="question"):
    """A stage asks a person. `freeform`: any text will do."""

    step: int
    node: str
    text: str
    choices: tuple[AnswerChoice, ...] = ()
    freeform: bool = False
    default: str = ""


class StageDone(Struct, frozen=True, tag_field="event", tag="stage_done"):
    """A stage has ended and its checkpoint is written. `target` is the next node, by `rule`.
    `remark`: what a person should know about the answer.
    """

    step: int
    node: str
    outcome: str
    word: str
    notes: str
    duration_s: float
    attempts: int
    target: str
    rule: str
    left_out_turns: int = 0
    remark: str = ""


class RunDone(Struct, frozen=True, tag_field="event", tag="run_done"):
    """The run has ended or pauses, and why."""

    run_id: str
    state: RunState
    message: str
    stages: int
    node: str
    folder: str


Event: TypeAlias = RunStarted | StageStarted | Text | Retrying | Question | StageDone | RunDone
Watch = Callable[[Event], None]
Ask = Callable[[Question], str | None]
"""Gets a question to a person; None when nobody answers now."""
