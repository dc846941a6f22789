"""Values of a job over many files: its files, its parts, its settings."""

from __future__ import annotations

import importlib
from types import ModuleType

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.extraction.rules import EXTRACTOR_VERSION
from reviewer.installation import extra_command
from reviewer.promotion.rows.statement_rows import STATEMENTS_VERSION

LAYOUT = 4
"""The version of a part's columns."""


class FleetError(ReviewerError):
    """A job over many files cannot go on."""


class SourceFile(Struct, frozen=True):
    """A file to read: an absolute path or a URL, with its size and time when it was listed.

    `etag`: its version in a bucket. `problem`: a sentence if it is known to be unreadable.
    """

    name: str
    bytes: int
    modified_ns: int
    etag: str = ""
    problem: str = ""


class JobSettings(Struct, frozen=True):
    """The settings of a job, in the metadata of every part."""

    now: str
    """The time from which the age of records is counted, in all parts."""
    layout: int = LAYOUT
    extractors: str = f"{EXTRACTOR_VERSION} {STATEMENTS_VERSION}"

    def require_this_version(self, whose: str) -> None:
        """Raise FleetError for the settings of another version of reviewer."""
        ours = JobSettings(now=self.now)
        if self != ours:
            raise FleetError(
                f"{whose} has another version of reviewer (layout {self.layout}, extractors "
                f"{self.extractors}) than this one ({ours.layout}, {ours.extractors}). Install the "
                "same version on every machine, or use another folder."
            )


class Part(Struct, frozen=True):
    """Files that are read together. `out`: the folder of the job."""

    name: str
    files: tuple[SourceFile, ...]
    out: str
    settings: JobSettings


def extra(module: str) -> ModuleType:
    """A module of the extra `fleet`. Raises FleetError if it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise FleetError(
            f"This needs the package {missing.name}, which is not installed. Install it: "
            f"{extra_command('fleet')}"
        ) from missing


def line(problem: BaseException) -> str:
    """The message of an error, on one line."""
    return " ".join(str(problem).split())[:300].rstrip(".") or type(problem).__name__
