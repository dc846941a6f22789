"""Folders and files that may be local or in a bucket: listing, fetching, atomic writing."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reviewer.errors import SourceError
from reviewer.files import make_private_folder, open_file, private_opener, reason_of
from reviewer.fleet.values import FleetError, SourceFile, extra
from reviewer.sources.elsewhere import file_system, is_url, trouble
from reviewer.sources.unpacked import plain_suffix
from reviewer.sources.walk import PASSED_SUFFIXES

TEMPORARY = ".tmp"
GRACE_SECONDS = 60
SLOWEST = 10_000
"""Bytes a second, on average after GRACE_SECONDS: a file that comes more slowly is given up."""


def listed_url(url: str) -> list[SourceFile]:
    """The files below a URL, or those that its pattern matches, in the order of their names.

    Raises SourceError when it cannot be listed.
    """
    fs = file_system(url)
    try:
        if any(sign in url for sign in "*?[") and not fs.exists(url):
            found = fs.glob(url, detail=True)
        elif fs.isfile(url):
            found = {url: fs.info(url)}
        else:
            found = fs.find(url, detail=True)
    except Exception as problem:  # each file system raises errors of its own
        raise SourceError(trouble(url, problem)) from problem
    if not found:
        raise SourceError(f"{url} does not exist or is empty: check the address.")
    files = []
    for path, info in found.items():
        name = str(fs.unstrip_protocol(path))
        if info.get("type") != "directory" and not _is_passed_over(name):
            files.append(SourceFile(name, int(info.get("size") or 0), _modified(info), _etag(info)))
    return sorted(files, key=lambda file: file.name)


def _is_passed_over(name: str) -> bool:
    return plain_suffix(Path(name.lower())) in PASSED_SUFFIXES


def _modified(info: dict[str, Any]) -> int:
    found = info.get("LastModified") or info.get("mtime") or info.get("updated") or 0
    if isinstance(found, str):
        try:
            found = datetime.fromisoformat(found)
        except ValueError:
            return 0
    if isinstance(found, datetime):
        moment = found if found.tzinfo else found.replace(tzinfo=UTC)
        return int(moment.timestamp()) * 1_000_000_000
    return int(float(found) * 1e9)


def _etag(info: dict[str, Any]) -> str:
    return str(info.get("ETag") or info.get("etag") or "").strip('"')


@contextmanager
def local_copy(file: SourceFile) -> Iterator[Path]:
    """The file on this machine: itself, or a copy until the end of the block.

    The copy keeps the names of the last folders, by which some kinds of files are told apart.
    Raises SourceError.
    """
    if not is_url(file.name):
        yield Path(file.name)
        return
    folder = tempfile.mkdtemp(prefix="reviewer-")
    try:
        parts = [each for each in urlsplit(file.name).path.split("/") if each not in ("", "..")]
        target = Path(folder, *(each[-200:] for each in parts[-5:] or ["file"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            files = file_system(file.name)
            files.get_file(file.name, str(target), callback=_patience(file.name))
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise SourceError(trouble(file.name, problem)) from problem
        yield target
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _patience(name: str) -> Any:
    """A callback of fsspec that raises SourceError as soon as a file comes too slowly."""
    began = time.monotonic()

    class Patience(extra("fsspec").Callback):  # type: ignore[misc]
        def relative_update(self, inc: int = 1) -> None:
            super().relative_update(inc)
            seconds = time.monotonic() - began - GRACE_SECONDS
            if self.value < seconds * SLOWEST:
                raise SourceError(
                    f"{name} cannot be read: less than {SLOWEST // 1000:,} kB of it came a second."
                )

    return Patience()


class Folder:
    """The folder of a job, here or in a bucket. A file is there whole or not at all."""

    def __init__(self, place: str) -> None:
        self.place = place if is_url(place) else os.path.abspath(place)
        self.is_local = not is_url(place)

    def path(self, name: str) -> str:
        """The full name of a file in it."""
        return f"{self.place.rstrip('/')}/{name}"

    def make(self) -> None:
        """Make the folder, private to its owner. Raises FleetError."""
        if not self.is_local:
            return
        try:
            make_private_folder(Path(self.place))
        except OSError as problem:
            raise FleetError(f"{self.place} cannot be made: {reason_of(problem)}.") from problem

    def remove_unfinished(self) -> None:
        """Remove what was being written when its process was killed. Nobody may be writing now."""
        if self.is_local:
            for path in Path(self.place).glob(f".part-*{TEMPORARY}"):
                path.unlink(missing_ok=True)

    def names(self) -> set[str]:
        """The names of the files in it. Raises FleetError."""
        try:
            if self.is_local:
                return set(os.listdir(self.place)) if os.path.isdir(self.place) else set()
            fs = file_system(self.place)
            fs.invalidate_cache()
            return {str(path).rpartition("/")[2] for path in fs.find(self.place, maxdepth=1)}
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise FleetError(trouble(self.place, problem)) from problem

    def read(self, name: str) -> bytes | None:
        """A whole file; None if there is none. Raises FleetError."""
        try:
            if self.is_local:
                with open_file(Path(self.path(name))) as file:
                    return file.read()
            return bytes(file_system(self.place).cat_file(self.path(name)))
        except FileNotFoundError:
            return None
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise FleetError(trouble(self.path(name), problem)) from problem

    @contextmanager
    def opened(self, name: str) -> Iterator[Any]:
        """A file for reading some of it. Raises FleetError, and whatever the block raises."""
        path = self.path(name)
        try:
            file = open_file(Path(path)) if self.is_local else file_system(path).open(path, "rb")
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise FleetError(trouble(path, problem)) from problem
        with file:
            yield file

    def write(self, name: str, data: bytes) -> None:
        """Put a small file in place. Raises FleetError."""
        with self.writing(name) as path:
            Path(path).write_bytes(data)

    @contextmanager
    def writing(self, name: str) -> Iterator[str]:
        """A local path to write to; what it has is put in place at the end of the block, at once.

        Raises FleetError when that fails. Where the block raises, nothing is put in place.
        """
        folder = self.place if self.is_local else tempfile.mkdtemp(prefix="reviewer-")
        fresh = os.path.join(folder, f".{name}-{os.urandom(6).hex()}{TEMPORARY}")
        try:
            with open(fresh, "xb", opener=private_opener):
                pass
            yield fresh
            if self.is_local:
                os.replace(fresh, self.path(name))
            else:
                file_system(self.place).put_file(fresh, self.path(name))
        except (SourceError, FleetError):
            raise
        except OSError as problem:
            raise FleetError(
                f"{self.path(name)} cannot be written: {reason_of(problem)}."
            ) from problem
        finally:
            with suppress(OSError):  # it is in place, or was never made
                os.unlink(fresh)
            if not self.is_local:
                shutil.rmtree(folder, ignore_errors=True)
