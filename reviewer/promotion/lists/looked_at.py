"""Which candidates a person has had before them, kept beside the store: this is not a decision."""

from __future__ import annotations

from pathlib import Path

from reviewer.errors import StoreError
from reviewer.files import append_own, read_own
from reviewer.sharing import personal


class LookedAt:
    """The ids of those candidates, one a line of a file that only its owner reads."""

    def __init__(self, store: Path) -> None:
        self._path = personal(store, ".looked-at")
        self._read: tuple[int, frozenset[int]] = (0, frozenset())
        """Size of the file when it was read, and its ids."""

    def ids(self) -> frozenset[int]:
        """Raises StoreError when the file is there and cannot be read."""
        try:
            size = self._path.stat().st_size
            if size != self._read[0]:
                found = read_own(self._path).split()
                self._read = size, frozenset(int(each) for each in found if each.isdigit())
        except FileNotFoundError:
            self._read = 0, frozenset()
        except OSError as problem:
            raise StoreError(f"{self._path} cannot be read: {problem.strerror}.") from problem
        return self._read[1]

    def note(self, number: int) -> None:
        """Remember a candidate. Raises StoreError when the file cannot be written."""
        if number in self.ids():
            return
        try:
            append_own(self._path, f"{number}\n".encode())
        except OSError as problem:
            raise StoreError(f"{self._path} cannot be written: {problem.strerror}.") from problem
