"""Faults of a single file among several, in words."""

from __future__ import annotations

from pathlib import Path

from reviewer.errors import ReviewerError, SourceError
from reviewer.text.secrets import mask

LONGEST = 200
"""Characters of a quoted error, which may quote the file."""


def reason_of_fault(problem: Exception) -> str:
    """Why a file cannot be read, as a part of a sentence, for an error that no reader expects."""
    if isinstance(problem, MemoryError):
        return "it needs more memory than is available"
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    if isinstance(problem, OSError):
        return (problem.strerror or str(problem)).lower()
    said = " ".join(mask(str(problem)).text.split())[:LONGEST]
    at = problem.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" in {Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else ""
    return f"{type(problem).__name__}{place}{f' ({said})' if said else ''}"


def is_of_a_file(problem: Exception) -> bool:
    """Whether an error may come from a file; a store that cannot be written is not its fault."""
    return isinstance(problem, SourceError) or not isinstance(problem, ReviewerError)
