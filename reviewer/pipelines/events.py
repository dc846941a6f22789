"""Events of a run, in order, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.pipelines.values import Stage

RunState = Literal["running", "done", "failed", "waiting", "cancelled", "stopped", "interrupted"]
"""`stopped`: no edge to follow, or the limit of stages was reached. `interrupted`: the program
running it has died. All states except `done` and `running` can be resumed.
"""


class RunStarted(Struct, frozen=True, tag_field="event", tag="run_started"):
    """A run starts, or resumes after `stages` stages. `note`: a warning about that."""

    run_id: str
    name: str
    folder: str
    engine: str
    stages: int = 0
    note: str = ""


class StageStarted(Struct, frozen=True, tag_field="event", tag="stage_started"):
    """A stage starts. `thread` is empty unless the session is shared; `degraded`: a resume lost
    that session, so the stage gets a summary.
    """

    step: int
    node: str
    handler: str
    fidelity: str
    thread: str = ""
    degraded: bool = False


class Retrying(Struct, frozen=True, tag_field="event", tag="retrying"):
    """A stage is retried after `seconds`; `attempt` counts from 1."""

    step: int
    node: str
    attempt: int
    seconds: float
    reason: str


class AnswerChoice(Struct, frozen=True):
    """A possible answer. `key` is short for `label`; `edge` is the index of the edge it takes."""

    key: str
    label: str
    target: str
    edge: int


class StageQuestion(Struct, frozen=True, tag_field="event", tag="question"):
    """A stage asks a person. `about`: the answer of the previous stage, to be approved."""

    step: int
    node: str
    text: str
    choices: tuple[AnswerChoice, ...] = ()
    default: str = ""
    about: str = ""


class StageDone(Struct, frozen=True, tag_field="event", tag="stage_done"):
    """A stage has finished and is in the checkpoint. `target` is the next node."""

    stage: Stage
    target: str


class RunDone(Struct, frozen=True, tag_field="event", tag="run_done"):
    """A run has ended or paused, with the reason."""

    run_id: str
    state: RunState
    message: str
    stages: int
    node: str
    folder: str


Event: TypeAlias = RunStarted | StageStarted | Retrying | StageQuestion | StageDone | RunDone
Watch = Callable[[Event], None]
Ask = Callable[[StageQuestion], str | None]
"""Asks a person; None without an answer for now."""


class RunError(ReviewerError):
    """A run cannot start or continue."""


class StoppedError(Exception):
    """A person stopped the run within a stage, which is discarded."""


class WaitingError(Exception):
    """A question to a person was not answered."""

    def __init__(self, question: StageQuestion) -> None:
        super().__init__(question.node)
        self.question = question
