"""What a job over many files consists of: its files, its parts, and how they are written down."""

from __future__ import annotations

import importlib
from types import ModuleType

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.extraction.rules import EXTRACTOR_VERSION
from reviewer.installation import extra_command
from reviewer.promotion.rows.statement_rows import STATEMENTS_VERSION

LAYOUT = 4
"""The version of the columns of a part."""


class FleetError(ReviewerError):
    """A job over many files cannot go on."""


class SourceFile(Struct, frozen=True):
    """A file to read: an absolute path or a URL, and how it looked when it was listed.

    `etag`: the version that a bucket states. `problem`: why it cannot be read, a sentence, where
    that is known before it is opened.
    """

    name: str
    bytes: int
    modified_ns: int
    etag: str = ""
    problem: str = ""


class JobSettings(Struct, frozen=True):
    """What a job depends on besides its files; every part has it in its metadata."""

    now: str
    """The moment from which the age of a record is counted, for all parts alike."""
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
    """Files that are read together, and where what they say is written.

    `name`: later runs have later names.
    """

    name: str
    files: tuple[SourceFile, ...]
    out: str
    settings: JobSettings


def extra(module: str) -> ModuleType:
    """A module of the extra `fleet`. Raises FleetError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise FleetError(
            f"This needs the package {missing.name}, which is not installed. Install it: "
            f"{extra_command('fleet')}"
        ) from missing


def line(problem: BaseException) -> str:
    """What an error says, in one line."""
    return " ".join(str(problem).split())[:300].rstrip(".") or type(problem).__name__
