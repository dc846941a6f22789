"""A packet into a file: in one step, and never over something that is no packet."""

from __future__ import annotations

import os
from pathlib import Path

from reviewer.errors import ReviewerError
from reviewer.packets.assembling import TITLE
from reviewer.packets.folder import FOLDERS, ORDER, find_folder
from reviewer.private_files import private_opener

_HEAD_BYTES = 4000
_READ = {name.lower() for name in ORDER}


def write_packet(
    text: str, path: Path, *, replace: bool = False, made_from: Path | None = None
) -> None:
    """Write a packet's text. A file that is there is replaced when it is an earlier packet, or
    with `replace`; what the packet was made from (`made_from`: a context folder or a store) never
    is. Raises ReviewerError, and the file is as it was, when it cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))
    except ValueError as problem:  # a NUL in the name
        raise ReviewerError(f"{str(path)!r} is no file name: {problem}.") from problem
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if made_from is not None and _is_source(target, made_from):
            raise ReviewerError(f"{path} is what packets are made from: name another file.")
        if target.exists():
            if not target.is_file():
                raise ReviewerError(f"{path} is no regular file: name a file.")
            if not replace and not _is_packet(target):
                raise ReviewerError(
                    f"{path} is there already and is no packet: name another file "
                    "(reviewer packet --force replaces it)."
                )
        with open(
            beside, "x", encoding="utf-8", errors="backslashreplace", newline="",
            opener=private_opener,
        ) as stream:  # fmt: skip
            stream.write(text)
        if target.exists():
            os.chmod(beside, target.stat().st_mode & 0o7777)
        os.replace(beside, target)
    except OSError as problem:
        beside.unlink(missing_ok=True)
        raise ReviewerError(f"{path} cannot be written: {problem.strerror}.") from problem


def _is_source(target: Path, made_from: Path) -> bool:
    """Whether a packet of this folder or store reads the file, or would if it were there."""
    if not made_from.is_dir():
        return target == Path(os.path.realpath(made_from))
    folder = Path(os.path.realpath(find_folder(made_from)))
    if target.parent == folder:
        return target.name.lower() in _READ
    return target.parent.parent == folder and target.parent.name.lower() in FOLDERS


def _is_packet(path: Path) -> bool:
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    words = head.strip()
    return (
        not words
        or words.startswith(TITLE.encode())
        or (words.startswith(b"{") and b'"tokens_used"' in words and b'"over_budget"' in words)
    )
