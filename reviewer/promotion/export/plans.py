"""A plan to write files, shown before anything is written."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class FilePlan(Struct, frozen=True, kw_only=True):
    """The bytes of a file as they were read, and as they are to be.

    `before` is None when there is no file. With a `problem` (a sentence for the user) nothing can
    be written, and `after` is what was there.
    """

    before: bytes | None
    after: bytes
    problem: str = ""
    private: bool = False
    """Whether a new file is its owner's only; else it is one of a project, as the umask says."""

    @property
    def changed(self) -> bool:
        """Whether writing would change anything; no empty file is made."""
        return not self.problem and self.after != (self.before or b"")


class PlannedFile(FilePlan, frozen=True, kw_only=True):
    """A plan for the file at `path`."""

    path: Path
    real: Path | None = None
    """Where the path led, links followed, when it was planned; it is written nowhere else. None:
    wherever it leads when it is written.
    """
