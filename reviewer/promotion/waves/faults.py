"""What goes wrong with one file of several, in words, and how the others are done without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from reviewer.errors import ReviewerError, SourceError
from reviewer.text.secrets import mask

LONGEST = 200
"""Characters of an error that is quoted; it may quote the file."""

_Result = TypeVar("_Result")


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
    paths: Sequence[Path],
    attempt: Callable[[], _Result],
    give_up: Callable[[Path, Exception], None],
    rehearse: Callable[[Path], None],
) -> _Result:
    """The result of an attempt, without the paths with which it fails; these are given up.

    `rehearse`: raises what the attempt raises for one path, and leaves nothing behind. What no path
    alone is the reason of, and errors of the store, are raised here as well.
    """
    try:
        return attempt()
    except Exception as problem:
        if not is_of_a_file(problem):
            raise
        faults = {path: fault for path in paths if (fault := _fault(rehearse, path))}
        if not faults:
            raise
        for path, fault in faults.items():
            give_up(path, fault)
        return attempt()


def is_of_a_file(problem: Exception) -> bool:
    """Whether an error may come from a file; a store that cannot be written is no file's fault."""
    return isinstance(problem, SourceError) or not isinstance(problem, ReviewerError)


def _fault(rehearse: Callable[[Path], None], path: Path) -> Exception | None:
    try:
        rehearse(path)
    except Exception as problem:
        if not is_of_a_file(problem):
            raise
        return problem
    return None
