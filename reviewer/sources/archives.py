"""Zipped and multi-part exports."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from msgspec import structs

from reviewer.errors import SourceError
from reviewer.sources.document import Document, Located
from reviewer.sources.lines import bom_of, opened_file
from reviewer.sources.reading import Reading, Spot, row_spot

MAGIC = b"PK\x03\x04"
MEMBER_LIMIT = 256_000_000
"""Maximum unpacked bytes of a member; a larger one is skipped and reported."""
ARCHIVE_LIMIT = 4_000_000_000
"""Maximum unpacked bytes read from one archive."""
MAX_MEMBERS = 200_000
_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")


def is_archive(head: bytes) -> bool:
    return head.startswith(MAGIC)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive. Raises SourceError if it cannot be read."""
    try:
        with opened_file(path) as stream, zipfile.ZipFile(stream) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError) as problem:
        raise SourceError(f"{path} cannot be read: the archive is damaged ({problem}).") from None


def members(path: Path) -> list[str]:
    """The names of an archive's members. Raises SourceError if it cannot be read."""
    with _opened(path) as archive:
        return archive.namelist()[:MAX_MEMBERS]


class _Member(Document):
    """A document in an archive, where values are numbered instead of lines."""

    def __init__(self, reading: Reading, numbers: Iterator[int]) -> None:
        super().__init__(reading)
        self._numbers = numbers

    def spot(self, value: Located) -> Spot:
        return row_spot(next(self._numbers), bytes(value.raw))


def exported_documents(reading: Reading) -> Iterator[Document]:
    """The file itself if it is a document, or the conversation documents in an archive, one at a
    time.

    Members that are too large, encrypted or damaged are reported and skipped. Raises SourceError if
    the archive itself cannot be read.
    """
    if reading.document is not None:
        yield Document(reading)
        return
    numbers, unpacked = count(), 0
    with _opened(reading.path) as archive:
        found = [
            info
            for info in archive.infolist()[:MAX_MEMBERS]
            if _CONVERSATIONS.fullmatch(info.filename.rpartition("/")[2])
        ]
        found.sort(key=lambda info: info.filename)
        for info in found:
            data = _member(reading, archive, info, ARCHIVE_LIMIT - unpacked)
            if data is None:
                continue
            unpacked += len(data)
            text = data[bom_of(data) :]
            yield _Member(structs.replace(reading, document=text), numbers)


def _member(
    reading: Reading, archive: zipfile.ZipFile, info: zipfile.ZipInfo, room: int
) -> bytes | None:
    """A member's bytes; its declared size is not trusted."""
    limit = min(MEMBER_LIMIT, max(room, 0))
    data: bytes | None = None
    try:
        with archive.open(info) as stream:
            data = stream.read(limit + 1)
    except RuntimeError:  # raised by zipfile for an encrypted member
        _leave_out(reading, info, "encrypted: unpack it and read the file")
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError) as problem:
        _leave_out(reading, info, f"damaged ({problem})")
    if data is not None and len(data) > limit:
        data = None
        _leave_out(reading, info, f"more than {limit // 1_000_000} MB after unpacking")
    return data


def _leave_out(reading: Reading, info: zipfile.ZipInfo, why: str) -> None:
    reading.tally["member of the archive left out"] += 1
    reading.errors.append(f"{info.filename}: {why}")
