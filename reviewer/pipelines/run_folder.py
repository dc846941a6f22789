"""The folder of a run: a folder for each stage, private to its owner, each file whole or absent."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.files import (
    FOLDER_MODE,
    NO_HANDLE,
    ForeignFolderError,
    make_folder_within,
    make_folders,
    open_regular,
    own_folder,
    read_regular,
    write_atomic,
)
from reviewer.pipelines.events import RunError
from reviewer.pipelines.outcomes import StageResult
from reviewer.pipelines.values import ToolCall
from reviewer.system import lock as take_lock

_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 60
LARGEST = 256_000_000
"""Bytes of any file of a run, at most."""


class StageStatus(Struct, frozen=True):
    """`status.json` of a stage, written last: a stage that has one has ended.

    `edge`: the index of the edge that a person chose, None where the rules choose. `errors`: those
    of failed attempts. `left_out_*`: older turns that the model's context had no room for.
    """

    step: int
    node: str
    handler: str
    result: StageResult
    at: str = ""
    fidelity: str = ""
    thread: str = ""
    degraded: bool = False
    attempts: int = 1
    errors: tuple[str, ...] = ()
    duration_s: float = 0.0
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish: str = ""
    left_out_turns: int = 0
    left_out_tokens: int = 0
    tools: tuple[ToolCall, ...] = ()
    edge: int | None = None


class _Answer(Struct, frozen=True):
    """A line of `answers.log`: a stage that cost something, with its answer."""

    status: StageStatus
    response: str


class RunCard(Struct, frozen=True):
    """`run.json`: the settings that a run was started with."""

    run_id: str
    path: str
    name: str
    project: str
    engine: str
    started_at: str
    max_steps: int


class RunFolder:
    """The prompts, answers and checkpoint of a run.

    The folder may have come with a repository or an archive: no link in it is followed, and it has
    to belong to the user. Every method raises RunError when it does not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._one_at_a_time = threading.Lock()

    @property
    def checkpoint(self) -> Path:
        """The file of the checkpoint."""
        return self.path / "checkpoint.json"

    @property
    def dot(self) -> Path:
        """The copy of the pipeline that the run began with; its secrets are masked."""
        return self.path / "pipeline.dot"

    def create(self, card: RunCard, dot: str) -> None:
        """Make the folder with the card and the text of the pipeline, which has to be masked.

        Raises RunError when the folder is not empty, or cannot be made.
        """
        try:
            make_folders(self.path)
            with _opened(self.path) as folder:
                if os.listdir(self.path if folder == NO_HANDLE else folder):
                    raise RunError(
                        f"The folder {self.path} is not empty: name another for the run."
                    )
                if folder != NO_HANDLE:
                    os.fchmod(folder, FOLDER_MODE)
        except OSError as problem:
            raise RunError(
                f"The folder {self.path} cannot be made: {problem.strerror}."
            ) from problem
        write_run_file(self.dot, dot.encode("utf-8", "replace"))
        write_run_file(self.path / "run.json", msgspec.json.encode(card))

    def card(self) -> RunCard:
        """How the run was started. Raises RunError when the folder is not that of a run."""
        path = self.path / "run.json"
        try:
            return msgspec.json.decode(read_run_file(path), type=RunCard)
        except OSError as problem:
            raise RunError(
                f"{self.path} is not the folder of a run: {_reason(problem, path)}."
            ) from problem
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            raise RunError(f"{path} is damaged: {problem}.") from problem

    def dot_text(self) -> str:
        """The text of the copy of the pipeline. Raises RunError when it cannot be read."""
        try:
            return read_run_file(self.dot).decode("utf-8-sig", "replace")
        except OSError as problem:
            raise RunError(f"{self.dot} cannot be read: {problem.strerror}.") from problem

    def write_stage_text(self, node: str, step: int, name: str, text: str) -> None:
        """Write one of a stage's texts (`prompt.md`, `response.md`). Raises RunError."""
        if text:
            self._write_in_stage(node, step, name, text.encode("utf-8", "replace"))

    def keep_answer(self, status: StageStatus, response: str) -> None:
        """Put a stage that has ended on the disk, with its answer: one line of a log that is synced
        once. The files of the stage are not synced. Raises RunError.
        """
        line = msgspec.json.encode(_Answer(status, response))
        with self._one_at_a_time:  # branches end side by side
            # A line that a power cut has left unfinished ends here.
            append_run_file(self._answers, b"\n" + line + b"\n", synced=True)

    def restore_answers(self) -> None:
        """Write again what a power cut has taken of the files of stages. Raises RunError."""
        try:
            lines = read_run_file(self._answers).split(b"\n")
        except FileNotFoundError:
            return
        except OSError as problem:
            raise RunError(
                f"{self._answers} cannot be read: {_reason(problem, self._answers)}."
            ) from problem
        for line in filter(None, lines):
            try:
                kept = msgspec.json.decode(line, type=_Answer)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # cut by a power cut: the stage is repeated
            status = kept.status
            folder = stage_folder_name(status.node, status.step)
            if kept.response and not self.text(folder, "response.md"):
                self.write_stage_text(status.node, status.step, "response.md", kept.response)
            if self.status_of(status.node, status.step) is None:
                self.write_status(status)

    @property
    def _answers(self) -> Path:
        return self.path / "answers.log"

    def write_status(self, status: StageStatus) -> None:
        """Record that a stage has ended. Raises RunError."""
        data = msgspec.json.format(msgspec.json.encode(status))
        self._write_in_stage(status.node, status.step, "status.json", data)

    def _write_in_stage(self, node: str, step: int, name: str, data: bytes) -> None:
        path = self.path / stage_folder_name(node, step)
        try:
            with _opened(self.path) as folder:
                with suppress(FileExistsError):
                    make_folder_within(path, folder)
                with own_folder(path, within=folder) as stage:
                    write_atomic(path / name, data, durable=False, synced=False, within=stage)
        except OSError as problem:
            raise RunError(
                f"{path / name} could not be written: {_reason(problem, path / name)}. "
                "Nothing before it is lost."
            ) from problem

    def status_of(self, node: str, step: int) -> StageStatus | None:
        """How a stage ended, which may be newer than the checkpoint; None while it has not ended.

        Raises RunError when its status cannot be read.
        """
        data = self._stage_file(stage_folder_name(node, step), "status.json")
        try:
            status = msgspec.json.decode(data, type=StageStatus)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None  # damaged: the stage is repeated
        return status if (status.node, status.step) == (node, step) else None

    def text(self, folder: str, name: str) -> str:
        """A text of a stage; empty if it has none. Raises RunError when it cannot be read."""
        if folder in (".", "..") or "/" in folder or "\0" in folder:
            raise RunError(
                f"{self.checkpoint} is damaged: it names a stage folder outside the run folder."
            )
        return self._stage_file(folder, name).decode("utf-8", "replace") if folder else ""

    def _stage_file(self, stage: str, name: str) -> bytes:
        """A file of a stage, empty if it does not exist. Raises RunError."""
        path = self.path / stage
        try:
            with _opened(self.path) as run, own_folder(path, within=run) as folder:
                return read_regular(path / name, LARGEST, within=folder)
        except FileNotFoundError:
            return b""
        except OSError as problem:
            raise RunError(
                f"{path / name} cannot be read: {_reason(problem, path / name)}."
            ) from problem

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the run against other programs; the lock of a killed program is released by itself.

        Raises RunError when another program has it.
        """
        lock = self.path / "lock"
        try:
            with _opened(self.path) as folder:
                handle = open_regular(lock, os.O_CREAT | os.O_RDWR, within=folder)
        except OSError as problem:
            raise RunError(
                f"The folder {self.path} cannot be used: {_reason(problem, self.path)}."
            ) from problem
        try:
            try:
                take_lock(handle)
            except OSError as problem:
                raise RunError(
                    f"The run in {self.path} is under way in another program."
                ) from problem
            yield
        finally:
            os.close(handle)

    def is_locked(self) -> bool:
        """Whether a program is running this run now."""
        try:
            with _opened(self.path) as folder:
                handle = open_regular(self.path / "lock", os.O_RDWR, within=folder)
        except (OSError, RunError):
            return False  # no program of this user can have locked it
        try:
            take_lock(handle)
        except OSError:
            return True
        else:
            return False
        finally:
            os.close(handle)


def stage_folder_name(node: str, step: int) -> str:
    """`NODE-STEP`: the step tells the visits of a node apart."""
    return f"{plain_name(node)}-{step}"


def plain_name(name: str) -> str:
    """A name that is safe as the name of a file."""
    plain = _ODD.sub("_", name)[:_LONGEST_NAME]
    if plain != name:
        plain += "." + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return plain


def write_run_file(path: Path, data: bytes) -> None:
    """Write a file of a run, readable by its owner only; a crash leaves the old one or the new one.
    It is on the disk when this returns. Raises RunError.
    """
    try:
        with _opened(path.parent) as folder:
            write_atomic(path, data, within=folder)
    except OSError as problem:
        raise RunError(
            f"{path} could not be written: {problem.strerror}. Nothing before it is lost."
        ) from problem


def append_run_file(path: Path, data: bytes, *, synced: bool = False) -> None:
    """Append to a file of a run, readable by its owner only; a crash may leave a part of `data`.
    With `synced` it is on the disk when this returns. Raises RunError.
    """
    try:
        with _opened(path.parent) as folder:
            flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND
            handle = open_regular(path, flags, within=folder)
            with open(handle, "ab", buffering=0) as file:
                if os.fstat(handle).st_nlink != 1:
                    raise OSError(errno.EMLINK, "it is also a file outside the run")
                is_new = not os.fstat(handle).st_size
                left = memoryview(data)
                while left:
                    left = left[file.write(left) :]
                if synced:
                    os.fsync(handle)
                    if is_new and folder != NO_HANDLE:
                        os.fsync(folder)
    except OSError as problem:
        raise RunError(
            f"{path} could not be written: {problem.strerror}. Nothing before it is lost."
        ) from problem


def remove_run_file(path: Path) -> None:
    """Remove a file of a run, if it is there. Raises RunError."""
    try:
        with _opened(path.parent) as folder, suppress(FileNotFoundError):
            os.unlink(path.name, dir_fd=folder)
    except OSError as problem:
        raise RunError(f"{path} could not be removed: {problem.strerror}.") from problem


def read_run_file(path: Path, largest: int = LARGEST) -> bytes:
    """A file of a run. Raises OSError, and RunError when the folder belongs to another user."""
    with _opened(path.parent) as folder:
        return read_regular(path, largest, within=folder)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A descriptor of a run's folder. Raises OSError, RunError when it is another user's."""
    try:
        with own_folder(path) as folder:
            yield folder
    except ForeignFolderError as problem:
        raise RunError(
            f"The folder {problem.filename} belongs to another user. A run is kept in a folder of "
            "your own; if you trust this one, copy it first."
        ) from problem


def _reason(problem: OSError, expected: Path) -> str:
    """The error, with the name of the file unless it is the expected one."""
    where = problem.filename
    if where is None or Path(where).name == expected.name:
        return str(problem.strerror)
    return f"{Path(where).name}: {problem.strerror}"
