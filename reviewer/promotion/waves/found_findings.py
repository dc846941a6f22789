"""The findings of the files of a wave, on disk until the wave ends: its memory stays flat."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from reviewer.errors import StoreError
from reviewer.sessions.findings import Finding

_line = msgspec.json.Decoder(tuple[str, list[Finding]])


class FoundFindings:
    """Iterating yields each file that was read to its end, with its findings."""

    def __init__(self, folder: Path) -> None:
        """`folder`: on the store's disk; nothing stays in it."""
        self._folder = folder
        with self._writing():
            self._file = TemporaryFile(dir=folder)  # noqa: SIM115
        self._given_up: set[str] = set()

    def add(self, path: Path, findings: list[Finding]) -> None:
        """Keep the findings of a file."""
        with self._writing():
            self._file.write(msgspec.json.encode((str(path), findings)) + b"\n")

    def give_up(self, path: Path) -> None:
        """Leave a file out."""
        self._given_up.add(str(path))

    def __iter__(self) -> Iterator[tuple[Path, list[Finding]]]:
        with self._writing():
            self._file.seek(0)
        for path, findings in map(_line.decode, self._file):
            if path not in self._given_up:
                yield Path(path), findings

    def __enter__(self) -> FoundFindings:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # of what is still in its buffer
            self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise StoreError(f"Cannot write to {self._folder}: {problem.strerror}.") from problem
