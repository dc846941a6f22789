"""The folder of a run: a folder for each stage, private to its owner, each file whole or absent."""

from __future__ import annotations

import hmac
import os
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
from reviewer.pipelines.values import Stage
from reviewer.system import lock as take_lock

LARGEST = 256_000_000
"""Bytes of any file of a run, at most."""


class RunCard(Struct, frozen=True):
    """`run.json`: the settings that a run was started with."""

    run_id: str
    path: str
    name: str
    project: str
    engine: str
    started_at: str
    max_steps: int
    seal: str = ""
    """Of the rest and of the shell commands that a person has allowed."""


class RunFolder:
    """The prompts, answers and checkpoint of a run.

    The folder may have come with a repository or an archive: no link in it is followed, it has to
    belong to the user, and with the `key` that the store keeps of a run its files are sealed: an
    edited one could skip a question. Every method raises RunError when it does not belong to the
    user.
    """

    def __init__(self, path: Path, key: str = "") -> None:
        self.path = path
        self._key = key

    def seal(self, data: bytes) -> str:
        """The hash that shows that this run has written the data; empty without a key."""
        return hmac.new(self._key.encode(), data, "sha256").hexdigest() if self._key else ""

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

    def write_stage_text(self, stage: Stage, name: str, text: str, *, synced: bool = False) -> None:
        """Write one of a stage's texts (`prompt.md`, `response.md`). Raises RunError."""
        if text:
            self._write(stage, name, text.encode("utf-8", "replace"), synced=synced)

    def write_status(self, stage: Stage, *, synced: bool) -> None:
        """Record that a stage has ended. Raises RunError."""
        sealed = msgspec.structs.replace(stage, seal=self.seal(msgspec.json.encode(stage)))
        data = msgspec.json.format(msgspec.json.encode(sealed))
        self._write(stage, "status.json", data, synced=synced)

    def _write(self, stage: Stage, name: str, data: bytes, *, synced: bool) -> None:
        path = self.path / stage.folder
        try:
            with _opened(self.path) as folder:
                with suppress(FileExistsError):
                    make_folder_within(path, folder)
                with own_folder(path, within=folder) as inside:
                    write_atomic(path / name, data, durable=synced, synced=synced, within=inside)
                if synced and folder != NO_HANDLE:
                    os.fsync(folder)
        except OSError as problem:
            raise RunError(
                f"{path / name} could not be written: {_reason(problem, path / name)}. "
                "Nothing before it is lost."
            ) from problem

    def ended(self, begun: Stage) -> Stage | None:
        """How a stage ended, which may be newer than the checkpoint; None while it has not ended.

        Raises RunError when its status cannot be read.
        """
        data = self._read(begun, "status.json")
        try:
            stage = msgspec.json.decode(data, type=Stage)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None  # damaged: the stage is repeated
        seal, stage = stage.seal, msgspec.structs.replace(stage, seal="")
        if seal != self.seal(msgspec.json.encode(stage)):
            return None  # not of this run
        # one without a word is of an earlier version, whose keys were others
        same = (stage.node, stage.step) == (begun.node, begun.step)
        return stage if same and stage.word else None

    def text(self, stage: Stage, name: str) -> str:
        """A text of a stage; empty if it has none. Raises RunError when it cannot be read."""
        return self._read(stage, name).decode("utf-8", "replace")

    def _read(self, stage: Stage, name: str) -> bytes:
        """A file of a stage, empty if it does not exist. Raises RunError."""
        path = self.path / stage.folder
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


def read_run_file(path: Path) -> bytes:
    """A file of a run. Raises OSError, and RunError when the folder belongs to another user."""
    with _opened(path.parent) as folder:
        return read_regular(path, LARGEST, within=folder)


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
