"""What goes wrong with one file of several, in words."""

from __future__ import annotations

from pathlib import Path

from reviewer.errors import ReviewerError, SourceError
from reviewer.text.secrets import mask

LONGEST = 200
"""Characters of an error that is quoted; it may quote the file."""


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


def is_of_a_file(problem: Exception) -> bool:
    """Whether an error may come from a file; a store that cannot be written is no file's fault."""
    return isinstance(problem, SourceError) or not isinstance(problem, ReviewerError)
