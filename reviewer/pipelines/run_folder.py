"""The folder of a run beside the store, with a folder per stage; files are written atomically."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reviewer.files import make_private_folder, open_own, read_own, write_atomic
from reviewer.pipelines.events import RunError
from reviewer.pipelines.values import Stage
from reviewer.system import lock as take_lock

LARGEST = 256_000_000
"""Maximum bytes of a file of a run."""
PROMPT, RESPONSE = "prompt.md", "response.md"


class RunFolder:
    """The prompts, answers and checkpoint of a run, and its copy of the pipeline."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def checkpoint(self) -> Path:
        """The file of the checkpoint."""
        return self.path / "checkpoint.json"

    @property
    def dot(self) -> Path:
        """The copy of the original pipeline, with secrets masked."""
        return self.path / "pipeline.dot"

    def write_dot(self, text: str) -> None:
        """Save a copy of the pipeline, which must be masked. Raises RunError."""
        self._write(self.dot, text)

    def dot_text(self) -> str:
        """The text of the pipeline copy. Raises RunError."""
        return self._read(self.dot)

    def write_stage(self, stage: Stage, prompt: str, response: str) -> None:
        """Save the texts of a stage. Raises RunError."""
        place = self.path / stage.folder
        if prompt:
            self._write(place / PROMPT, prompt)
        if response:
            self._write(place / RESPONSE, response)

    def text(self, stage: Stage, name: str) -> str:
        """A text of a stage (PROMPT, RESPONSE); empty if it has none. Raises RunError."""
        path = self.path / stage.folder / name
        return self._read(path) if path.exists() else ""

    def _write(self, path: Path, text: str) -> None:
        try:
            make_private_folder(path.parent)
            write_atomic(path, text.encode("utf-8", "replace"))
        except OSError as problem:
            raise RunError(
                f"{path} cannot be written: {problem.strerror}. Earlier stages are kept."
            ) from problem

    def _read(self, path: Path) -> str:
        try:
            return read_own(path, LARGEST).decode("utf-8", "replace")
        except OSError as problem:
            raise RunError(f"{path} cannot be read: {problem.strerror}.") from problem

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the run against other programs; the lock is released even if the program is killed.

        Raises RunError if another program has it.
        """
        try:
            handle = open_own(self.path / "lock", os.O_CREAT | os.O_RDWR)
        except OSError as problem:
            raise RunError(
                f"The folder {self.path} cannot be used: {problem.strerror}."
            ) from problem
        try:
            try:
                take_lock(handle)
            except OSError as problem:
                raise RunError(
                    f"The run in {self.path} is in progress in another program."
                ) from problem
            yield
        finally:
            os.close(handle)

    def is_locked(self) -> bool:
        """Whether a program is running it now."""
        try:
            handle = open_own(self.path / "lock", os.O_RDWR)
        except OSError:
            return False  # no program of this user can have locked it
        try:
            take_lock(handle)
        except OSError:
            return True
        else:
            return False
        finally:
            os.close(handle)
