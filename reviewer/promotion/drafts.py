"""Unsaved wordings, kept as files beside the store until they are promoted or discarded."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from reviewer.errors import StoreError
from reviewer.private_files import make_private_folder


class Drafts:
    """One small file a candidate or commit, readable by the owner only."""

    def __init__(self, store: Path, of: str = "drafts") -> None:
        """`of` ends the folder's name: drafts of different things have a folder each."""
        self._folder = store.with_name(f"{store.name}-{of}")

    def save(self, number: int, content: str) -> None:
        """Keep a wording, its secrets masked; a crash leaves the old or the new one, never half.

        Raises StoreError when it cannot be written.
        """
        from reviewer.text.secrets import mask  # late: only a wording needs its patterns

        target = self._path(number)
        fresh = target.with_suffix(".new")
        try:
            make_private_folder(self._folder)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(handle, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.write(mask(content).text)
            os.replace(fresh, target)
        except OSError as problem:
            raise StoreError(
                f"The draft of #{number} could not be kept in {self._folder}: {problem.strerror}."
            ) from problem

    def load(self, number: int) -> str | None:
        """The wording kept for a candidate, or None. Raises StoreError when it is unreadable."""
        try:
            return self._path(number).read_bytes().decode("utf-8", "surrogatepass")
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
