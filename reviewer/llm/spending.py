"""The cost of questions to models: a line each, in a file of this person.

The lines have numbers and names only, no text. Prices come from the settings at the time of the
question; without them, the price stays empty.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.clock import iso, utc_now
from reviewer.files import append_own, make_folders, read_own
from reviewer.llm.model import ChatMessage, ChatModel, Completion, ModelError
from reviewer.settings import ModelSettings
from reviewer.text.numerals import count

log = logging.getLogger(__name__)
_about: ContextVar[str] = ContextVar("session", default="")


class SpentQuestion(Struct, frozen=True, omit_defaults=True):
    """A question. `price`: in the currency of the settings; None if they have no prices."""

    at: str
    model: str
    tokens_in: int
    tokens_out: int
    requests: int = 1
    session: str = ""
    price: float | None = None


class SpendingTotal(Struct, frozen=True):
    """A total of questions, `by` day, by session or of all. `unpriced`: lines without a price."""

    by: str
    label: str
    asked: int
    tokens_in: int
    tokens_out: int
    price: float
    unpriced: int

    @property
    def words(self) -> str:
        """`12 questions, 126,000 tokens in, 12,500 out, 1.20`."""
        asked = count(self.asked, "question")
        price = f", {self.price:,.2f}" if self.price else ""
        return f"{asked}, {self.tokens_in:,} tokens in, {self.tokens_out:,} out{price}"


def spending_path() -> Path:
    from platformdirs import user_data_path

    return user_data_path("reviewer", appauthor=False) / "questions.jsonl"


def asked() -> list[SpentQuestion]:
    """Every question, oldest first, without incomplete lines. Raises OSError."""
    found: list[SpentQuestion] = []
    with suppress(FileNotFoundError):
        for line in read_own(spending_path()).splitlines():
            with suppress(msgspec.DecodeError):
                found.append(msgspec.json.decode(line, type=SpentQuestion))
    return found


def summed(
    questions: Sequence[SpentQuestion], by: str, label: Callable[[SpentQuestion], str]
) -> list[SpendingTotal]:
    """Totals of the questions with the same `label`, in the order of the labels."""
    groups: dict[str, list[SpentQuestion]] = {}
    for question in questions:
        groups.setdefault(label(question), []).append(question)
    return [
        SpendingTotal(
            by,
            name,
            sum(each.requests for each in some),
            sum(each.tokens_in for each in some),
            sum(each.tokens_out for each in some),
            sum(each.price or 0.0 for each in some),
            sum(each.price is None for each in some),
        )
        for name, some in sorted(groups.items())
    ]


def report(
    questions: Sequence[SpentQuestion],
) -> tuple[list[SpendingTotal], list[SpendingTotal], list[SpendingTotal]]:
    """Totals by day, by session with the costliest first, and of all."""
    days = summed(questions, "day", lambda question: question.at[:10])
    of_sessions = [question for question in questions if question.session]
    sessions = summed(of_sessions, "session", lambda question: question.session)
    costliest = sorted(sessions, key=lambda total: -total.tokens_in)
    return days, costliest, summed(questions, "all", lambda _: "")


@contextmanager
def about(session: str) -> Iterator[None]:
    """Attribute the questions of this thread inside the block to a session."""
    token = _about.set(session)
    try:
        yield
    finally:
        _about.reset(token)


class RecordingModel:
    """A model that records its questions."""

    def __init__(self, model: ChatModel, settings: ModelSettings) -> None:
        self._model = model
        self._settings = settings
        self.name = model.name

    def complete(self, messages: Sequence[ChatMessage], **how: Any) -> Completion:
        try:
            answer = self._model.complete(messages, **how)
        except ModelError as problem:
            if problem.sent:
                self._note(self.name, problem.sent, 0, problem.tokens_out)
            raise
        self._note(answer.model, answer.requests, answer.prompt_tokens, answer.completion_tokens)
        return answer

    def _note(self, model: str, requests: int, tokens_in: int, tokens_out: int) -> None:
        settings = self._settings
        price: float | None = None
        if settings.price_in or settings.price_out:
            price = (tokens_in * settings.price_in + tokens_out * settings.price_out) / 1e6
        line = SpentQuestion(
            iso(utc_now()), model, tokens_in, tokens_out, requests, _about.get(), price
        )
        path = spending_path()
        try:
            make_folders(path.parent)
            append_own(path, msgspec.json.encode(line) + b"\n")
        except OSError as problem:  # a paid answer is worth more than its record
            log.warning("%s cannot be written, so this question is not counted: %s", path, problem)
