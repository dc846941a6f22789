"""Errors caused by users; their messages have advice."""

from collections.abc import Callable
from contextlib import AbstractContextManager


class ReviewerError(Exception):
    """The base of all errors with a message that a user can act on (exit code 1)."""


class StoreError(ReviewerError):
    """The store cannot be opened, read or written."""


class ReadStoppedError(StoreError):
    """A read was stopped because its result is no longer needed."""


class ActStoppedError(ReviewerError):
    """The user stopped an act while it was being written; it was rolled back."""


class ConflictError(ReviewerError):
    """Rows have changed in the meantime; nothing was written."""


class UnknownIdError(ReviewerError):
    """An id does not exist in the store."""


class OtherProjectError(UnknownIdError):
    """An id belongs to another project than the current one."""

    def __init__(self, what: str, project: str) -> None:
        super().__init__(f"{what} belongs to project {project}. Use it with --project {project}.")
        self.project = project


class SourceError(ReviewerError):
    """A file or folder cannot be read."""


class OtherKindError(SourceError):
    """A file is intact, but of an unsupported kind."""


class FilterError(ReviewerError):
    """A filter cannot be parsed."""


class BrokenOff(BaseException):
    """Raised when the user no longer waits for a read; see `Breakable`.

    Not an Exception: it is not a failure, and only the code that opened the block may catch it.
    """


Breakable = Callable[[], AbstractContextManager[object]]
"""Creates a context manager for code that only reads and may be interrupted by BrokenOff.

Entering it after the user has asked to stop raises BrokenOff at once.
"""
