"""Models' answers, cached on disk by a hash of the question, so that none is paid for twice."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from reviewer.files import is_own, make_private_folder, read_own, write_atomic
from reviewer.llm.model import ChatMessage, Completion

LARGEST = 16 << 20
"""Bytes of a cached answer."""
LARGEST_FOLDER = 200_000_000
"""Bytes of all answers in a folder; beyond that, the oldest are removed."""


def answers_folder() -> Path:
    """The cache folder, private to the user."""
    from platformdirs import user_cache_path

    return user_cache_path("reviewer", appauthor=False) / "answers"


def question_key(messages: Sequence[ChatMessage], *parameters: object) -> str:
    """The hash of a question: its messages, and everything else that the answer depends on."""
    asked = [[one.role, one.content] for one in messages]
    return hashlib.sha256(
        msgspec.json.encode([asked, [str(parameter) for parameter in parameters]])
    ).hexdigest()


class AnswerCache:
    """A folder of answers, created with the first one."""

    def __init__(self, folder: Path, *, largest: int = LARGEST_FOLDER) -> None:
        """`largest`: bytes of all answers together."""
        self.folder = folder
        self._largest = largest

    def find(self, key: str) -> Completion | None:
        """The cached answer; None if there is none, the file is damaged, or it or the folder is a
        link or another user's.
        """
        try:
            if self.folder.is_symlink() or not is_own(self.folder):
                return None
            return msgspec.json.decode(read_own(self._path(key), LARGEST), type=Completion)
        except (OSError, msgspec.MsgspecError):
            return None

    def keep(self, key: str, answer: Completion) -> None:
        """Keep an answer. Raises OSError."""
        make_private_folder(self.folder)
        write_atomic(self._path(key), msgspec.json.encode(answer), durable=False)
        self._shrink()

    def _shrink(self) -> None:
        """Remove the oldest answers if all together are too large, and leftovers of killed
        processes.
        """
        found = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another thread has renamed it
                    about = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(about.st_mode):
                        found.append((about.st_mtime, about.st_size, entry.path))
        size = sum(each[1] for each in found)
        for _, bytes_, path in sorted(found):
            if size <= self._largest:
                break
            with suppress(FileNotFoundError):  # another process has removed it
                os.unlink(path)
            size -= bytes_

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"
