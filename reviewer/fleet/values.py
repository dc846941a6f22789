"""What a job over many files consists of: its files, its parts, and how they are written down."""

from __future__ import annotations

import importlib
from types import ModuleType

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.extraction.rules import EXTRACTOR_VERSION
from reviewer.installation import extra_command
from reviewer.promotion.rows.statement_rows import STATEMENTS_VERSION

LAYOUT = 3
"""The version of the columns of a part."""

EVIDENCE, BOOT, FILES = "evidence", "boot", "files"
"""The tables of a part; the last one is written last, and says that the part is whole."""


class FleetError(ReviewerError):
    """A job over many files cannot go on."""


class SourceFile(Struct, frozen=True, array_like=True):
    """A file to read: an absolute path or a URL, and how it looked when it was listed.

    `etag`: the version that a bucket states. `problem`: why it cannot be read, a sentence, where
    that was seen when it was listed.
    """

    name: str
    bytes: int
    modified_ns: int
    etag: str = ""
    problem: str = ""


class JobSettings(Struct, frozen=True):
    """What a job depends on besides its files: the first line of its plan."""

    now: str
    """The moment from which the age of a record is counted, for all parts alike."""
    layout: int = LAYOUT
    extractors: str = f"{EXTRACTOR_VERSION} {STATEMENTS_VERSION}"


class FilePart(Struct, frozen=True):
    """Files that are read together."""

    number: int
    files: tuple[SourceFile, ...]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


class PartDone(Struct, frozen=True):
    """What became of a part. `failed`: files with a problem, without those of another kind."""

    files: int
    bytes: int
    found: int
    failed: int
    other_kind: int


def table_name(number: int, table: str) -> str:
    """The name of a part's table in the folder of the job."""
    return f"part-{number:07d}.{table}.parquet"


def extra(module: str) -> ModuleType:
    """A module of the extra `fleet`. Raises FleetError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise FleetError(
            f"This needs the package {missing.name}, which is not installed. Install it: "
            f"{extra_command('fleet')}"
        ) from missing
