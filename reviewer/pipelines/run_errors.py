"""Why a run cannot start, go on, or be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.pipelines.run_events import Question


class RunError(ReviewerError):
    """A run cannot start, or cannot go on."""


class CheckpointError(RunError):
    """A checkpoint cannot be read, or belongs to another pipeline."""


class StageError(RunError):
    """A stage could not be carried out this time; another attempt may succeed."""


class StageFailedError(RunError):
    """The model failed at every attempt; a resume tries the stage again."""


class StoppedError(Exception):
    """A person stopped the run inside of a stage; nothing of the stage counts."""


class WaitingError(Exception):
    """A stage asks a person, and nobody is there to answer."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.node)
        self.question = question
