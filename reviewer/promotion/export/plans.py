"""Plans for writing files, shown before anything is written."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class FilePlan(Struct, frozen=True, kw_only=True):
    """The bytes of a file before and after.

    `before` is None if there is no file. With a `problem` (a sentence for the user) nothing can be
    written, and `after` equals `before`.
    """

    before: bytes | None
    after: bytes
    problem: str = ""
    private: bool = False
    """Whether a new file is readable by its owner only; otherwise the umask applies."""

    @property
    def changed(self) -> bool:
        """Whether writing would change anything; an empty file is not created."""
        return not self.problem and self.after != (self.before or b"")


class PlannedFile(FilePlan, frozen=True, kw_only=True):
    """A plan for the file at `path`."""

    path: Path
    real: Path | None = None
    """Where the path led when planned, links followed: the only place that is written. None:
    wherever it leads then.
    """
