"""The folder of a run beside the store, with a folder per stage; files are written atomically.

Its checkpoint is the state of the run, written after every stage and read by a resume.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.files import make_private_folder, open_own, read_own, write_atomic
from reviewer.pipelines.events import RunError
from reviewer.pipelines.values import Pipeline, RunHistory, Stage
from reviewer.system import lock as take_lock

LARGEST = 256_000_000
"""Maximum bytes of a file of a run."""
PROMPT, RESPONSE = "prompt.md", "response.md"
CHECKPOINT = "checkpoint.json"
PIPELINE = "pipeline.dot"
"""The copy of the original pipeline, with secrets masked."""


class Checkpoint(Struct, frozen=True):
    """Everything needed to continue a run. `current_node` is the last finished node; `next_node`,
    empty at the end of the run, is reached by the edge `next_edge`. `pipeline` is the SHA-256 of
    the original file; `engine` is who answered.
    """

    run_id: str
    pipeline: str
    timestamp: str
    current_node: str
    completed_nodes: list[str]
    node_retries: dict[str, int]
    context: dict[str, Any]
    logs: list[Stage]
    next_node: str
    next_edge: int | None = None
    engine: str = ""
    max_steps: int | None = None


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

    def write_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint. Raises RunError."""
        self.write(CHECKPOINT, msgspec.json.encode(checkpoint))

    def checkpoint(self) -> Checkpoint:
        """The checkpoint of the run. Raises RunError if it is missing or damaged."""
        try:
            return msgspec.json.decode(self.read(CHECKPOINT), type=Checkpoint)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            raise RunError(
                f"The checkpoint {self.path / CHECKPOINT} is damaged ({problem}): the run cannot "
                "continue. Start again: reviewer pipeline run FILE"
            ) from problem

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


def require_fit(checkpoint: Checkpoint, folder: RunFolder, pipeline: Pipeline) -> None:
    """Raise RunError if the checkpoint does not belong to this pipeline."""
    nodes = {checkpoint.next_node, *(stage.node for stage in checkpoint.logs)} - {""}
    known = {None, *range(len(pipeline.edges))}
    if not nodes or not nodes <= pipeline.nodes.keys() or checkpoint.next_edge not in known:
        raise RunError(
            f"The checkpoint {folder.path / CHECKPOINT} does not belong to the pipeline "
            f"{pipeline.name}. "
            "Start again: reviewer pipeline run FILE"
        )


def history_of(checkpoint: Checkpoint, pipeline: Pipeline) -> RunHistory:
    """The history for the preamble of the next stage. Retries: node -> (done, allowed)."""
    retries = {
        name: (done, pipeline.nodes[name].max_retries if name in pipeline.nodes else done)
        for name, done in checkpoint.node_retries.items()
    }
    return RunHistory(checkpoint.run_id, tuple(checkpoint.logs), checkpoint.context, retries)
