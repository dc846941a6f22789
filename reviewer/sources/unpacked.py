"""Compressed files (`.gz`, `.zst`) and UTF-16 files, read as the text inside, in UTF-8.

Readers need random access, so a compressed file is unpacked once, into an unnamed temporary file,
and every reader gets its own position in it. Lines and offsets refer to the unpacked text. The last
file stays unpacked, because a file is opened several times in a row.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from reviewer.files import open_file

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SUFFIXES = (".gz", ".zst")
GZIP, ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UNPACKED_LIMIT = 4_000_000_000
"""Maximum unpacked bytes; a larger file is rejected."""
ANY_RATIO = 256_000_000
LARGEST_RATIO = 200
"""Maximum compression ratio of a file over ANY_RATIO bytes; beyond that, it was made to fill a
disk. Sessions have a ratio of about ten."""
BLOCK = 1 << 20


def plain_name(name: str) -> str:
    """A file name without its compression suffix: `notes.md` for `notes.md.gz`."""
    return name[: name.rindex(".")] if name.lower().endswith(SUFFIXES) else name


def plain_suffix(path: Path) -> str:
    """The file suffix before the compression suffix: `.md` for `notes.md.gz`."""
    return PurePath(plain_name(path.name)).suffix


def is_compressed(path: Path) -> bool:
    """Whether a file starts like a compressed one. Raises OSError."""
    with open_file(path) as packed:
        return packed.read(4).startswith((GZIP, ZSTD))


def open_unpacked(path: Path, *, buffering: int = io.DEFAULT_BUFFER_SIZE) -> BinaryIO:
    """A regular file for reading, unpacked if compressed.

    Raises OSError like `open_file`, and for a compressed file that is damaged, truncated or larger
    than UNPACKED_LIMIT bytes inside.
    """
    packed = open_file(path, buffering=buffering)
    if not _is_packed(packed):
        return packed
    with packed:
        status = os.fstat(packed.fileno())
    # Device, number, size and time show whether it is the file unpacked last.
    copy = _copy_of(path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return cast(BinaryIO, io.BufferedReader(_View(copy), buffering))


def first_bytes(path: Path, count: int) -> bytes:
    """The first bytes of a file, unpacked if compressed. Raises OSError."""
    with open_file(path) as packed:
        if not _is_packed(packed):
            return packed.read(count)
        with _inflating(packed, path) as stream:
            return stream.read(count)


def _is_packed(packed: BinaryIO) -> bool:
    return _head(packed).startswith((GZIP, ZSTD, *UTF16))


def _head(packed: BinaryIO) -> bytes:
    head = packed.read(4)
    packed.seek(0)
    return head


@contextmanager
def _inflating(packed: BinaryIO, path: Path) -> Iterator[IO[bytes]]:
    """The unpacked content; a damaged file raises OSError."""
    head = _head(packed)
    if head.startswith(UTF16):
        yield cast(IO[bytes], codecs.EncodedFile(packed, "utf-8", "utf-16", "replace"))
        return
    import gzip  # late, like zstd: most files are not compressed
    import zlib

    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    opened = gzip.GzipFile(fileobj=packed) if head.startswith(GZIP) else zstd.ZstdFile(packed)
    try:
        with opened as stream:
            yield cast(IO[bytes], stream)
    except EOFError:
        raise OSError(errno.EINVAL, "the compressed file ends too early", str(path)) from None
    except (zlib.error, zstd.ZstdError, gzip.BadGzipFile):
        raise OSError(errno.EINVAL, "the compressed file is damaged", str(path)) from None


@lru_cache(maxsize=1)
def _copy_of(path: Path, *identity: int) -> IO[bytes]:
    """The last file unpacked, in an unnamed file that is deleted after its last reader.

    Raises OSError.
    """
    from tempfile import TemporaryFile  # late: as above

    copy = TemporaryFile(prefix="reviewer-")  # noqa: SIM115
    with open_file(path) as packed, _inflating(packed, path) as stream:
        most = max(ANY_RATIO, LARGEST_RATIO * os.fstat(packed.fileno()).st_size)
        most = min(UNPACKED_LIMIT, most)
        while block := stream.read(BLOCK):
            copy.write(block)
            if copy.tell() > most:
                more = f"it has more than {most:,} bytes inside: unpack it and check its contents"
                raise OSError(errno.EFBIG, more, str(path))
    copy.flush()
    return copy


class _View(io.RawIOBase):
    """An independent position in a copy."""

    def __init__(self, copy: IO[bytes]) -> None:
        self._copy = copy
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._copy.fileno()

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        size = os.fstat(self.fileno()).st_size
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        data = os.pread(self.fileno(), len(memoryview(buffer)), self._at)
        memoryview(buffer)[: len(data)] = data
        self._at += len(data)
        return len(data)
