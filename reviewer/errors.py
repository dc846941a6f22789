"""What can go wrong for a person at the keyboard, as sentences that say what to do."""

from collections.abc import Callable
from contextlib import AbstractContextManager


class ReviewerError(Exception):
    """Something could not be done. The message is one sentence a user can act on (exit code 1)."""


class StoreError(ReviewerError):
    """The store cannot be opened, read or written."""


class ReadStoppedError(StoreError):
    """A read was given up, because nobody waits for it any more."""


class ActStoppedError(ReviewerError):
    """A person stopped an act while it was written; nothing of it stays."""


class ConflictError(ReviewerError):
    """Rows changed since; nothing was written."""


class UnknownIdError(ReviewerError):
    """An id names nothing in the store."""


class OtherProjectError(UnknownIdError):
    """An id belongs to another project than the one that is worked in."""

    def __init__(self, what: str, project: str) -> None:
        super().__init__(f"{what} belongs to project {project}. Use it with --project {project}.")
        self.project = project


class SourceError(ReviewerError):
    """A file or folder cannot be read."""


class OtherKindError(SourceError):
    """A file is whole, and of a kind that reviewer does not read."""


class FilterError(ReviewerError):
    """A filter text cannot be understood."""


class BrokenOff(BaseException):
    """Raised where a person no longer waits for what is being read; see `Breakable`.

    Not an Exception: nothing has failed, and nobody but who opened the block is to catch it.
    """


Breakable = Callable[[], AbstractContextManager[object]]
"""Makes a block that only reads and may be given up at any moment, with BrokenOff.

Entering it after a person asked for the end raises BrokenOff at once.
"""
