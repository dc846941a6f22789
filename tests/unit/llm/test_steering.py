"""Retry with steering: attempt, validate, steer."""

from __future__ import annotations

import pytest

from reviewer.errors import ReviewerError
from reviewer.llm.steering import RetryExhaustedError, RetryResult, retry_with_steering


class Play:
    """Answers prepared in advance, and a note of everything that was called."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.calls: list[str] = []

    def attempt(self) -> str:
        self.calls.append("attempt")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def validate(self, answer: str) -> tuple[bool, str | None]:
        self.calls.append(f"validate {answer}")
        return (True, None) if "$50k" in answer else (False, f"{answer} lacks $50k")

    def steer(self, diagnosis: str) -> None:
        self.calls.append(f"steer {diagnosis}")

    def run(self, max_retries: int = 3) -> RetryResult[str]:
        return retry_with_steering(self.attempt, self.validate, self.steer, max_retries)


def test_every_failure_steers_the_next_attempt() -> None:
    play = Play("a", "b", "c $50k")
    assert play.run() == RetryResult("c $50k", 3)
    assert play.calls == [
        "attempt", "validate a", "steer a lacks $50k",
        "attempt", "validate b", "steer b lacks $50k",
        "attempt", "validate c $50k",
    ]  # fmt: skip


def test_retries_count_the_attempts_after_the_first_and_the_last_failure_is_not_steered() -> None:
    play = Play("a", "b", "c", "d", "never asked $50k")
    with pytest.raises(RetryExhaustedError) as exhausted:
        play.run()
    assert play.calls.count("attempt") == 4
    assert [call for call in play.calls if call.startswith("steer")] == [
        "steer a lacks $50k", "steer b lacks $50k", "steer c lacks $50k",
    ]  # fmt: skip
    assert exhausted.value.diagnosis == "d lacks $50k"
    assert exhausted.value.attempts == 4
    assert exhausted.value.last == "d"
    assert isinstance(exhausted.value, ReviewerError)
    assert str(exhausted.value) == "Tried 4 times without success. d lacks $50k"
