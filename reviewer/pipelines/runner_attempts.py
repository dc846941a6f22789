"""Carries out a stage with its further attempts (settled.md: `max_retries`, back-off)."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import random as any_number

from msgspec import Struct

from reviewer.llm.model import ModelError
from reviewer.pipelines.handlers import Hands, StageInput, StageOutput, run_stage
from reviewer.pipelines.outcomes import StageResult
from reviewer.pipelines.retries import Random, waits
from reviewer.pipelines.run_errors import StageError, StageFailedError, StoppedError
from reviewer.pipelines.run_events import Retrying
from reviewer.pipelines.values import Outcome

_LOOK_EVERY = 0.1
"""Seconds of waiting between two looks whether the run is cancelled."""


class Pace(Struct, frozen=True):
    """What times a run; passed in, so that tests are exact."""

    sleep: Callable[[float], None] = time.sleep
    seconds: Callable[[], float] = time.monotonic
    random: Random = any_number


class Attempts(Struct, frozen=True):
    """A stage that has ended, and why earlier attempts did not count."""

    output: StageOutput
    errors: tuple[str, ...]


def carry_out(stage: StageInput, hands: Hands, pace: Pace) -> Attempts:
    """Try a stage until it ends with another outcome than `retry`, or no attempt is left.

    Raises StageFailedError when the model failed each time; a command that failed each time is a
    stage that ends with `fail`. StoppedError and WaitingError end it at once.
    """
    errors: list[str] = []
    pauses = waits(stage.node.max_retries, pace.random)
    while True:
        output: StageOutput | None = None
        try:
            output = run_stage(stage, hands)
            if output.result.outcome is not Outcome.RETRY:
                return Attempts(output, tuple(errors))
            reason = "The stage asked for another attempt."
        except StageError as problem:
            reason = str(problem)
            output = StageOutput(StageResult(Outcome.FAIL, "fail", notes=reason))
        except ModelError as problem:
            reason = str(problem)
        pause = next(pauses, None)
        if pause is None:
            if output is None:
                raise StageFailedError(reason)
            return Attempts(output, tuple(errors))
        errors.append(reason)
        hands.watch(Retrying(stage.step, stage.node.name, len(errors), pause, reason))
        _wait(pause, hands.cancelled, pace.sleep)


def _wait(seconds: float, cancelled: Callable[[], bool], sleep: Callable[[float], None]) -> None:
    """Wait, and raise StoppedError as soon as the run is cancelled."""
    while seconds > 0:
        if cancelled():
            raise StoppedError
        step = min(seconds, _LOOK_EVERY)
        sleep(step)
        seconds -= step
