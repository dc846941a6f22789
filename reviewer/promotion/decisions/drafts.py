"""Unsaved wordings, kept as files beside the store until promoted or discarded."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from reviewer.errors import StoreError
from reviewer.files import make_private_folder, read_own, write_atomic
from reviewer.sharing import personal


class Drafts:
    """One small file per candidate or commit, readable by the owner only."""

    def __init__(self, store: Path, of: str = "drafts") -> None:
        """`of`: the suffix of the folder; each kind of draft has its own."""
        self._folder = personal(store, f"-{of}")

    def save(self, number: int, content: str) -> None:
        """Save a wording, secrets masked, in one step.

        Raises StoreError if it cannot be written.
        """
        from reviewer.text.secrets import mask  # late: only a wording needs its patterns

        data = mask(content).text.encode("utf-8", "surrogatepass")
        try:
            make_private_folder(self._folder)
            write_atomic(self._path(number), data, durable=False)
        except OSError as problem:
            raise StoreError(
                f"The draft of #{number} could not be saved in {self._folder}: {problem.strerror}."
            ) from problem

    def load(self, number: int) -> str | None:
        """A candidate's saved wording, or None. Raises StoreError if it is unreadable."""
        try:
            return read_own(self._path(number)).decode("utf-8", "surrogatepass")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as problem:
            raise StoreError(f"The draft of #{number} cannot be read: {problem}.") from problem

    def discard(self, number: int) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._path(number).unlink()

    def ids(self) -> set[int]:
        """The candidates with a saved wording. Raises StoreError if they cannot be listed."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return set()
        except OSError as problem:
            raise StoreError(
                f"The drafts in {self._folder} cannot be read: {problem.strerror}."
            ) from problem
        return {int(name[:-4]) for name in names if name.endswith(".txt") and name[:-4].isdecimal()}

    def _path(self, number: int) -> Path:
        return self._folder / f"{int(number)}.txt"
