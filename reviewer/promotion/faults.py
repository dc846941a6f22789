"""What goes wrong with one file of several, in words, and how the others are done without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from reviewer.errors import ReviewerError, SourceError
from reviewer.text.secrets import mask

LONGEST = 200
"""Characters of an error that is quoted; it may quote the file."""

_Result = TypeVar("_Result")
Attempt = Callable[[list[Path]], _Result]


def reason_of_fault(problem: Exception) -> str:
    """Why a file cannot be read, for an error that no reader foresaw, as a part of a sentence."""
    if isinstance(problem, MemoryError):
        return "it needs more memory than there is"
    if isinstance(problem, RecursionError):
        return "it is nested too deep"
    if isinstance(problem, OSError):
        return (problem.strerror or str(problem)).lower()
    said = " ".join(mask(str(problem)).text.split())[:LONGEST]
    at = problem.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" in {Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else ""
    return f"{type(problem).__name__}{place}{f' ({said})' if said else ''}"


def sparing_faulty(
    paths: list[Path],
    attempt: Attempt[_Result],
    give_up: Callable[[Path, Exception], None],
    *,
    rehearse: Attempt[object] | None = None,
) -> _Result:
    """The result of an attempt with all paths except those with which it fails; these are given up.

    `rehearse`: raises what the attempt raises, and leaves nothing behind. What the attempt raises
    without any path, and errors of the store, are raised here as well.
    """
    rehearse = rehearse or attempt
    left = list(paths)
    while True:
        try:
            return attempt(left)
        except Exception as problem:
            if not is_of_a_file(problem) or _fault(rehearse, []):
                raise
            passes, fails = 0, len(left)
            if (found := _fault(rehearse, left)) is None:
                raise  # it is no file's fault
            while fails - passes > 1:
                middle = (passes + fails) // 2
                if fault := _fault(rehearse, left[:middle]):
                    fails, found = middle, fault
                else:
                    passes = middle
            give_up(left.pop(fails - 1), found)


def is_of_a_file(problem: Exception) -> bool:
    """Whether an error may come from a file; a store that cannot be written is no file's fault."""
    return isinstance(problem, SourceError) or not isinstance(problem, ReviewerError)


def _fault(rehearse: Attempt[object], paths: list[Path]) -> Exception | None:
    try:
        rehearse(paths)
    except Exception as problem:
        if not is_of_a_file(problem):
            raise
        return problem
    return None
