"""Retry with steering after failed validation (`docs/design.md`, "Priorities and retention").

A result that fails its check is requested again, with the diagnosis of the failure in the prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from reviewer.errors import ReviewerError
from reviewer.text.numerals import times

T = TypeVar("T")

DEFAULT_RETRIES = 3
"""Attempts after the first."""


@dataclass(frozen=True)
class RetryResult(Generic[T]):
    """A result that passed its check."""

    value: T
    attempts: int


class RetryExhaustedError(ReviewerError, Generic[T]):
    """No attempt passed its check. `last`: the last result, for a person to edit."""

    def __init__(self, diagnosis: str, attempts: int, last: T) -> None:
        super().__init__(f"Tried {times(attempts)} without success. {diagnosis}")
        self.diagnosis = diagnosis
        self.attempts = attempts
        self.last = last


def retry_with_steering(
    attempt: Callable[[], T],
    validate: Callable[[T], tuple[bool, str | None]],
    steer: Callable[[str], None],
    max_retries: int = DEFAULT_RETRIES,
) -> RetryResult[T]:
    """The first result of `attempt` that passes `validate`, in at most 1 + `max_retries` attempts.

    `validate` returns (True, None) or (False, diagnosis); `steer` gets each diagnosis before a
    retry. Raises RetryExhaustedError after the last attempt, the exceptions of `attempt`, and
    ValueError for a negative number of retries.
    """
    if max_retries < 0:
        raise ValueError("max_retries cannot be negative")
    attempts = 0
    while True:
        attempts += 1
        result = attempt()
        passed, diagnosis = validate(result)
        if passed:
            return RetryResult(result, attempts)
        diagnosis = diagnosis or "The result did not pass its check."
        if attempts > max_retries:
            raise RetryExhaustedError(diagnosis, attempts, result)
        steer(diagnosis)
