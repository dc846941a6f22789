"""Answers of models, kept on disk under a hash of the question, so that none is paid for twice."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from reviewer.files import make_private_folder, open_own, read_own, write_atomic
from reviewer.llm.model import CancelledError, ChatMessage, Completion
from reviewer.system import lock

POLL = 0.1
"""Seconds between two looks whether another process has finished with a question."""
LARGEST = 16 << 20


def answers_folder() -> Path:
    """Where answers are kept, private to the user."""
    from platformdirs import user_cache_path

    return user_cache_path("reviewer", appauthor=False) / "answers"


def question_key(messages: Sequence[ChatMessage], *parameters: object) -> str:
    """The hash of a question: its messages, and what else decides the answer, such as the model."""
    asked = [[one.role, one.content] for one in messages]
    return hashlib.sha256(
        msgspec.json.encode([asked, [str(each) for each in parameters]])
    ).hexdigest()


class AnswerCache:
    """Answers below a folder, which is made when the first one is kept.

    Two processes or threads that have the same question ask it once: see `turn`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> Completion | None:
        """The kept answer; None without one, also where the file is damaged."""
        try:
            return msgspec.json.decode(read_own(self._path(key), LARGEST), type=Completion)
        except (OSError, msgspec.MsgspecError):
            return None

    def keep(self, key: str, answer: Completion) -> None:
        """Keep an answer. Raises OSError."""
        make_private_folder(self.folder)
        write_atomic(self._path(key), msgspec.json.encode(answer), durable=False)

    @contextmanager
    def turn(self, key: str, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Wait until nobody else asks this question. Raises CancelledError, OSError."""
        make_private_folder(self.folder)
        # A few files for all questions, because a lock's file cannot be removed safely.
        path = self.folder / f"turn-{key[:2]}.lock"
        handle = open_own(path, os.O_RDWR | os.O_CREAT)
        try:
            while True:
                try:
                    lock(handle)
                    break
                except BlockingIOError:
                    if cancelled():
                        raise CancelledError("Stopped before the model was asked.") from None
                    time.sleep(POLL)
            yield
        finally:
            os.close(handle)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"
