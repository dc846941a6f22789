"""Plans for writing files, shown before anything is written."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class PlannedFile(Struct, frozen=True, kw_only=True):
    """The bytes of the file at `path` before and after. `before` is None if there is no file."""

    path: Path
    before: bytes | None
    after: bytes
    private: bool = False
    """Whether a new file is readable by its owner only; otherwise the umask applies."""
    real: Path | None = None
    """Where the path led when planned, links followed: the only place that is written. None:
    wherever it leads then.
    """

    @property
    def changed(self) -> bool:
        """Whether writing would change anything; an empty file is not created."""
        return self.after != (self.before or b"")
