"""A real model: weak, on this machine, and exactly what the door has to survive."""

from __future__ import annotations

import json

import pytest

from reviewer.llm.model import CancelledError, ChatMessage, Completion
from reviewer.llm.openai_chat import OpenAIChat
from reviewer.llm.steering import RetryExhaustedError, retry_with_steering
from reviewer.settings import ModelSettings

STORY = [ChatMessage("user", "Tell a long story about a lighthouse keeper and a whale.")]


@pytest.fixture
def chat(local_model: ModelSettings) -> OpenAIChat:
    return OpenAIChat(local_model, environment={})


def test_it_answers_and_counts_its_own_tokens(chat: OpenAIChat) -> None:
    question = [ChatMessage("user", "What is the capital of France?")]
    answer = chat.complete(question, max_tokens=40, temperature=0.0)
    assert answer.text
    assert answer.counted_by == "endpoint"
    assert answer.model == chat.name
    assert answer.prompt_tokens > 5
    assert 0 < answer.completion_tokens <= 40


def test_it_stops_at_the_limit_and_says_so(chat: OpenAIChat) -> None:
    answer = chat.complete(STORY, max_tokens=12)
    assert (answer.finish, answer.completion_tokens) == ("length", 12)


def test_it_answers_in_the_shape_that_is_asked_for(chat: OpenAIChat) -> None:
    number = {"type": "integer", "minimum": 0, "maximum": 99}
    schema = {
        "type": "object", "properties": {"keepers": number}, "required": ["keepers"],
        "additionalProperties": False,
    }  # fmt: skip
    told = json.loads(chat.complete(STORY, schema=schema, max_tokens=60).text)
    assert told.keys() == {"keepers"}
    assert isinstance(told["keepers"], int)


def test_it_can_be_stopped_in_the_middle(chat: OpenAIChat) -> None:
    asked = iter([False] * 5)
    with pytest.raises(CancelledError):
        chat.complete(STORY, max_tokens=2000, cancelled=lambda: next(asked, True))
    assert chat.complete(STORY, max_tokens=3).text  # and is there for the next one


def test_an_answer_that_was_cut_off_is_asked_for_again_with_more_room(chat: OpenAIChat) -> None:
    question = [ChatMessage("user", "Reply with one short sentence: what is a changelog for?")]
    limits = [5]

    def attempt() -> Completion:
        return chat.complete(question, max_tokens=limits[-1], temperature=0.0)

    def validate(answer: Completion) -> tuple[bool, str | None]:
        return (answer.finish == "stop", f"cut off after {answer.completion_tokens} tokens")

    result = retry_with_steering(attempt, validate, lambda _: limits.append(limits[-1] * 8))
    assert result.attempts == len(limits) > 1
    assert result.value.finish == "stop"


def test_a_model_that_cannot_do_it_exhausts_the_retries(chat: OpenAIChat) -> None:
    def attempt() -> str:
        return chat.complete(STORY, max_tokens=8).text

    def validate(summary: str) -> tuple[bool, str | None]:
        return ("7f3a-91bc" in summary, "missing: 7f3a-91bc")

    steered: list[str] = []
    with pytest.raises(RetryExhaustedError) as exhausted:
        retry_with_steering(attempt, validate, steered.append, max_retries=1)
    assert (exhausted.value.attempts, steered) == (2, ["missing: 7f3a-91bc"])
    assert exhausted.value.last
