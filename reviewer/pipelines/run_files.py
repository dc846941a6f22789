"""The files of a run: one folder a stage, readable by the owner only, each file whole or absent."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.pipelines.outcomes import StageResult
from reviewer.pipelines.run_errors import RunError
from reviewer.pipelines.values import ToolCall
from reviewer.private_files import make_folders

_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 60


class StageStatus(Struct, frozen=True):
    """`status.json` of a stage; it is written last, so that a stage with one has ended.

    `edge` is the edge that a person chose, None where the rules choose. `errors` are those of
    attempts that failed. Turns that the model's context had no room for are counted.
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


class RunCard(Struct, frozen=True):
    """`run.json`: what a run was started with."""

    run_id: str
    path: str
    name: str
    project: str
    engine: str
    started_at: str
    max_steps: int


class RunFolder:
    """Where a run keeps its prompts, answers and checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def checkpoint(self) -> Path:
        """The file of the checkpoint."""
        return self.path / "checkpoint.json"

    def create(self, card: RunCard, dot: str) -> None:
        """Make the folder with the card and the pipeline's text, without its secrets.

        Raises RunError when the folder has something in it, or cannot be made.
        """
        try:
            make_folders(self.path)
            if any(self.path.iterdir()):
                raise RunError(f"The folder {self.path} is not empty: name another for the run.")
            self.path.chmod(0o700)
        except OSError as problem:
            raise RunError(
                f"The folder {self.path} cannot be made: {problem.strerror}."
            ) from problem
        write_whole(self.path / "pipeline.dot", dot.encode("utf-8", "replace"))
        write_whole(self.path / "run.json", msgspec.json.encode(card))

    def card(self) -> RunCard:
        """What the run was started with. Raises RunError when the folder is none of a run."""
        try:
            return msgspec.json.decode((self.path / "run.json").read_bytes(), type=RunCard)
        except OSError as problem:
            raise RunError(
                f"{self.path} is not the folder of a run: {problem.strerror}."
            ) from problem
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            raise RunError(f"{self.path / 'run.json'} is damaged: {problem}.") from problem

    def dot(self) -> Path:
        """The copy of the pipeline that the run began with."""
        return self.path / "pipeline.dot"

    def stage(self, node: str, step: int) -> Path:
        """The folder of a stage; whatever a node is called, it is inside of the run's."""
        return self.path / stage_folder_name(node, step)

    def keep_text(self, node: str, step: int, name: str, text: str) -> None:
        """Write one of a stage's texts (`prompt.md`, `response.md`). Raises RunError."""
        if text:
            data = text.encode("utf-8", "replace")
            write_whole(self._made(node, step) / name, data, lasting=False)

    def keep_status(self, status: StageStatus) -> None:
        """Say that a stage has ended. Raises RunError."""
        folder = self._made(status.node, status.step)
        write_whole(folder / "status.json", msgspec.json.format(msgspec.json.encode(status)))

    def _made(self, node: str, step: int) -> Path:
        folder = self.stage(node, step)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as problem:
            raise RunError(f"The folder {folder} cannot be made: {problem.strerror}.") from problem
        return folder

    def finished(self, node: str, step: int) -> StageStatus | None:
        """How a stage ended that no checkpoint tells of yet; None when it has not."""
        try:
            data = (self.stage(node, step) / "status.json").read_bytes()
            status = msgspec.json.decode(data, type=StageStatus)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None  # what is not whole has to be done again
        return status if (status.node, status.step) == (node, step) else None

    def text(self, folder: str, name: str) -> str:
        """A text of a stage; empty when it has none. Raises RunError when it cannot be read."""
        try:
            return (self.path / folder / name).read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except OSError as problem:
            raise RunError(
                f"{self.path / folder / name} cannot be read: {problem.strerror}."
            ) from problem

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other programs from running the same run; a killed one lets go by itself.

        Raises RunError when another one has it.
        """
        try:
            handle = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise RunError(
                f"The folder {self.path} cannot be used: {problem.strerror}."
            ) from problem
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                raise RunError(
                    f"The run in {self.path} is under way in another program."
                ) from problem
            yield
        finally:
            os.close(handle)

    def is_held(self) -> bool:
        """Whether a program is running this run now."""
        try:
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
    """A name with nothing in it that a file system could take for more than a name."""
    plain = _ODD.sub("_", name)[:_LONGEST_NAME]
    if plain != name:
        plain += "." + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return plain


def write_whole(path: Path, data: bytes, *, lasting: bool = True) -> None:
    """Put a file in place, readable by the owner only; a crash leaves the old one or the new one.

    `lasting`: it is on the disk when this returns. Raises RunError.
    """
    fresh = path.with_name(f".{path.name}.new")
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
        if lasting:
            _sync_folder(path.parent)
    except OSError as problem:
        raise RunError(
            f"{path} could not be written: {problem.strerror}. Nothing before it is lost."
        ) from problem


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
