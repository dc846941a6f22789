"""A wording that comes from a file or from standard input."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

from reviewer.errors import SourceError
from reviewer.plain_files import open_plain

LONGEST_CONTENT = 1 << 20
"""Bytes. More than this is a file named by mistake."""


def read_content(
    name: str, *, of: str = "a memory", if_empty: str = "To refuse a candidate: reviewer reject ID"
) -> str:
    """The text of a file (`-` is standard input), without blanks around it.

    `of` says what it is the wording of, `if_empty` what to do instead of giving none.

    Raises SourceError when it is too large, no UTF-8, empty or a closed standard input, OSError
    when it cannot be read.
    """
    if name == "-":
        raw = _standard_input()
    else:
        with open_plain(Path(name)) as file:
            raw = file.read(LONGEST_CONTENT + 1)
    if len(raw) > LONGEST_CONTENT:
        raise SourceError(f"{name} is larger than 1 MiB: that is no wording of {of}.")
    try:
        content = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as problem:
        raise SourceError(
            f"{name} is not UTF-8 text (byte {problem.start}). Save it as UTF-8 and try again."
        ) from problem
    if not content:
        raise SourceError(f"{name} is empty. {if_empty}")
    return content


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read(LONGEST_CONTENT + 1)
    except OSError as problem:
        if problem.errno != errno.EBADF:
            raise
        raise SourceError(
            "Standard input is closed. Pipe the words in, or name a file that holds them."
        ) from problem
