"""Plans for writing files: previewed, backed up, replaced atomically, never over a change."""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from msgspec import Struct

from reviewer.clock import Clock, utc_now
from reviewer.errors import ConflictError, ReviewerError, SourceError
from reviewer.files import (
    FILE_MODE,
    LARGEST_OWN,
    make_private_folder,
    open_new,
    read_file_within,
)
from reviewer.promotion.export.marked_block import line_ending, split_lines
from reviewer.text.display import display_line


class PlannedFile(Struct, frozen=True, kw_only=True):
    """The bytes of the file at `path` before and after. `before` is None if there is no file."""

    path: Path
    before: bytes | None
    after: bytes
    private: bool = False
    """Whether a new file is readable by its owner only; otherwise the umask applies."""
    real: Path | None = None
    """Where the path led when planned, links followed: the only place that is written. None:
    wherever it leads then.
    """

    @property
    def changed(self) -> bool:
        """Whether writing would change anything; an empty file is not created."""
        return self.after != (self.before or b"")


def read_file(path: Path) -> bytes | None:
    """The bytes of the file behind `path`, symbolic links followed; None if there is none.

    Raises SourceError if it is not a regular file or cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{path} is not a regular file: name a file.")
        return read_file_within(path, LARGEST_OWN)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error


def unified_diff(plan: PlannedFile, name: str = "file") -> list[str]:
    """The diff of a plan, safe to display; empty if nothing would change."""
    before, after = _shown(plan.before or b""), _shown(plan.after)
    source = "/dev/null" if plan.before is None else f"a/{name}"
    lines = difflib.unified_diff(before, after, source, f"b/{name}", lineterm="")
    return [display_line(line) for line in lines]


def write_plan(plan: PlannedFile, *, backup_folder: Path, clock: Clock = utc_now) -> Path | None:
    """Write a plan to the file behind its path, and return the path of the backup.

    None if nothing had to be changed, or there was no file. The backup is readable by its owner
    only, and is kept. The file is replaced atomically and keeps its owner and permissions; a
    symbolic link stays, and its target is written if it is of the same kind. A missing last folder
    of the path is created.

    Raises ConflictError if the file has changed since planning or its path now leads elsewhere,
    ReviewerError if something cannot be written; the file is then unchanged.
    """
    path = plan.path
    if not plan.changed:
        return None
    target = Path(os.path.realpath(path))
    _check_kind(path, target)
    _check_place(path, target, plan.real)
    _require_bytes(read_file(target), plan.before, target)
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise ReviewerError(f"{target} is read-only: make it writable first.")
        backup = None
        if plan.before is not None:
            backup = _back_up(plan.before, target, backup_folder, clock)
        _replace(plan, target)
    except OSError as error:
        at = error.filename or target
        where = "" if Path(at) == target else f"{at}: "
        raise ReviewerError(f"{target} was not written: {where}{error.strerror}.") from error
    return backup


def _check_kind(path: Path, target: Path) -> None:
    """Refuse a link in somebody's work tree that leads notes into a file obeyed by a shell, or
    creates one elsewhere.
    """
    if path.is_symlink() and not target.exists():
        raise ReviewerError(
            f"{path} is a link to {target}, which does not exist; nothing was written. Name the"
            " file itself if that is intended."
        )
    if path.suffix.lower() != target.suffix.lower():
        raise ReviewerError(
            f"{path} is a link to {target}, a file of another kind; nothing was written. Name the"
            " file itself if that is intended."
        )


def _check_place(path: Path, target: Path, planned: Path | None) -> None:
    if planned is not None and target != planned:
        raise ConflictError(
            f"{path} now leads to {target}, not to {planned}; nothing was written. Review the new"
            " difference and try again."
        )


def _require_bytes(now: bytes | None, planned: bytes | None, target: Path) -> None:
    if now != planned:
        raise ConflictError(
            f"{target} was changed meanwhile; nothing was written. Review the new difference and"
            " try again."
        )


def _require_unchanged(target: Path, planned: bytes | None) -> None:
    """Raise ConflictError if a file, or a folder on the way to it, was swapped since the checks."""
    _check_place(target, Path(os.path.realpath(target)), target)
    _require_bytes(read_file(target), planned, target)


def _back_up(data: bytes, target: Path, folder: Path, clock: Clock) -> Path:
    make_private_folder(folder)
    # The digest of the path separates the AGENTS.md of several projects.
    place = hashlib.sha256(os.fsencode(target)).hexdigest()[:8]
    stem = f"{target.name}.{place}.{clock():%Y%m%dT%H%M%S.%f}"
    number = 1
    while True:
        backup = folder / (f"{stem}.bak" if number == 1 else f"{stem}-{number}.bak")
        try:
            handle = open_new(backup)
        except FileExistsError:
            number += 1
            continue
        try:
            with open(handle, "wb") as file:
                _write(file, data)
        except BaseException:
            backup.unlink()  # a partial backup would look like a complete one
            raise
        return backup


def _replace(plan: PlannedFile, target: Path) -> None:
    if not target.parent.exists():
        target.parent.mkdir()
    _require_unchanged(target, plan.before)
    old = target.stat() if plan.before is not None else None
    mode = FILE_MODE if old or plan.private else 0o666
    fresh = target.with_name(f".{target.name[:100]}.{token_hex(4)}.new")
    handle = open_new(fresh, mode)
    try:
        with open(handle, "wb") as file:
            if old is not None:
                _take_over(file, fresh, old)
            _write(file, plan.after)
        _require_unchanged(target, plan.before)
        os.replace(fresh, target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _take_over(file: BinaryIO, fresh: Path, old: os.stat_result) -> None:
    """Give a new file the owner and permissions of the old one."""
    new = os.fstat(file.fileno())
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(file.fileno(), old.st_uid, old.st_gid)
    if os.chmod in os.supports_fd:
        os.chmod(file.fileno(), stat.S_IMODE(old.st_mode))
    else:
        fresh.chmod(stat.S_IMODE(old.st_mode))


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _shown(data: bytes) -> list[str]:
    """The lines as text; an ending other than `\\n` is visible, and so is a missing one."""
    lines: list[str] = []
    for line in split_lines(data):
        ending = line_ending(line)
        text = line[: len(line) - len(ending)].decode("utf-8", "backslashreplace")
        lines.append(text + (ending.decode().removesuffix("\n") if ending else " (no line ending)"))
    return lines


def remove_file(
    path: Path,
    data: bytes,
    *,
    backup_folder: Path,
    clock: Clock = utc_now,
    real: Path | None = None,
) -> Path:
    """Remove a regular file with these bytes, and return the path of the backup.

    Raises ConflictError if it has others or, with `real`, if its path leads elsewhere,
    ReviewerError if it cannot be removed; it is then unchanged.
    """
    target = Path(os.path.realpath(path.parent)) / path.name
    _check_place(path, target, real)
    try:
        if path.is_symlink():
            raise ReviewerError(f"{path} is now a link; nothing was removed.")
        _require_bytes(read_file(target), data, target)
        backup = _back_up(data, target, backup_folder, clock)
        _require_unchanged(target, data)
        target.unlink()
    except OSError as error:
        raise ReviewerError(f"{path} was not removed: {error.strerror}.") from error
    return backup
