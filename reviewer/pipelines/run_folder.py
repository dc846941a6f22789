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
CHECKPOINT = "checkpoint.json"
PIPELINE = "pipeline.dot"
"""The copy of the original pipeline, with secrets masked."""


class RunFolder:
    """The prompts, answers and checkpoint of a run, and its copy of the pipeline."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write_stage(self, stage: Stage, prompt: str, response: str) -> None:
        """Save the texts of a stage. Raises RunError."""
        for name, text in ((PROMPT, prompt), (RESPONSE, response)):
            if text:
                self.write(f"{stage.folder}/{name}", text.encode("utf-8", "replace"))

    def text(self, stage: Stage, name: str) -> str:
        """A text of a stage (PROMPT, RESPONSE); empty if it has none. Raises RunError."""
        name = f"{stage.folder}/{name}"
        return self.read(name).decode("utf-8", "replace") if (self.path / name).exists() else ""

    def write(self, name: str, data: bytes) -> None:
        """Replace a file atomically and flush it to disk. Raises RunError."""
        path = self.path / name
        try:
            make_private_folder(path.parent)
            write_atomic(path, data)
        except OSError as problem:
            raise RunError(
                f"{path} cannot be written: {problem.strerror}. Earlier stages are kept."
            ) from problem

    def read(self, name: str) -> bytes:
        """The content of a file. Raises RunError."""
        path = self.path / name
        try:
            return read_own(path, LARGEST)
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
