"""Answers of a model that passed their checks, kept beside the store for the next run.

A run that was stopped, or that broke off, goes on from them. They are found by the hash of the
whole question, so that another text, template, model or limit asks again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from msgspec import MsgspecError

from reviewer.files import reason_of
from reviewer.llm.answer_cache import AnswerCache, question_key
from reviewer.llm.model import ChatMessage, Completion

KIND = "summary-1"
"""Part of every key: another number where answers are checked or used in another way."""


class KeptAnswers:
    """Answers of one model in a folder; safe to use from several threads."""

    def __init__(self, folder: Path, *asked: str) -> None:
        """`asked`: what identifies the model beside its name, such as its address."""
        self._cache = AnswerCache(folder)
        self._asked = asked
        self._lock = threading.Lock()
        self._named: set[str] = set()

    def key(self, prompt: Sequence[ChatMessage], *parameters: object) -> str:
        """The key of a question. `parameters`: model, limits and temperature."""
        return question_key(prompt, KIND, *self._asked, *parameters)

    def find(self, key: str) -> tuple[Completion | None, str]:
        """The kept answer, or None; and why one that is there cannot be used, once a reason."""
        try:
            return self._cache.read(key), ""
        except OSError as problem:
            return None, self._once(f"a kept answer was not used: {reason_of(problem)}")
        except MsgspecError:
            return None, self._once("a kept answer was not used: its file is damaged")

    def keep(self, key: str, answer: Completion) -> str:
        """Keep an answer; returns why it could not be kept, once a reason."""
        try:
            self._cache.keep(key, answer)
        except OSError as problem:
            return self._once(f"the answer could not be kept: {reason_of(problem)}")
        return ""

    def _once(self, reason: str) -> str:
        with self._lock:
            known = reason in self._named
            self._named.add(reason)
        return "" if known else reason
