"""Unsaved wordings, kept as files beside the store until they are promoted or discarded."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from reviewer.errors import StoreError
from reviewer.files import make_private_folder, read_own, write_atomic
from reviewer.sharing import personal


class Drafts:
    """One small file a candidate or commit, readable by the owner only."""

    def __init__(self, store: Path, of: str = "drafts") -> None:
        """`of` ends the folder's name: drafts of different things have a folder each."""
        self._folder = personal(store, f"-{of}")

    def save(self, number: int, content: str) -> None:
        """Keep a wording, its secrets masked; after a crash it is the old or the new one, whole.

        Raises StoreError when it cannot be written.
        """
        from reviewer.text.secrets import mask  # late: only a wording needs its patterns

        data = mask(content).text.encode("utf-8", "surrogatepass")
        try:
            make_private_folder(self._folder)
            write_atomic(self._path(number), data, durable=False)
        except OSError as problem:
            raise StoreError(
                f"The draft of #{number} could not be kept in {self._folder}: {problem.strerror}."
            ) from problem

    def load(self, number: int) -> str | None:
        """The wording kept for a candidate, or None. Raises StoreError when it is unreadable."""
        try:
            return read_own(self._path(number)).decode("utf-8", "surrogatepass")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as problem:
            raise StoreError(f"The draft of #{number} cannot be read: {problem}.") from problem

    def discard(self, number: int) -> None:
        """Forget the wording kept for a candidate."""
        with contextlib.suppress(FileNotFoundError):
            self._path(number).unlink()

    def ids(self) -> set[int]:
        """The candidates whose wording is kept."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return set()
        return {int(name[:-4]) for name in names if name.endswith(".txt") and name[:-4].isdigit()}

    def _path(self, number: int) -> Path:
        return self._folder / f"{int(number)}.txt"
