"""Folders and files that may be local or in a bucket: listing, fetching, atomic writing."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reviewer.errors import SourceError
from reviewer.files import make_private_folder, open_file, private_opener, reason_of
from reviewer.fleet.values import FleetError, SourceFile
from reviewer.sources.elsewhere import file_system, is_url, trouble
from reviewer.sources.unpacked import plain_suffix
from reviewer.sources.walk import PASSED_SUFFIXES
from reviewer.text.secrets import mask

_SIGNATURE = re.compile(r"(?i)([?&](?:[\w-]*signature|sig|[\w-]*token)=)[^&#\s]+")
"""In an address that lets everybody who has it read the file."""


def require_no_password(url: str) -> None:
    """Raise SourceError for a URL with a password, which would be written where it is cited."""
    try:
        parts = urlsplit(url)
        scheme, hidden = parts.scheme, parts.password or ("http" in parts.scheme and parts.username)
    except ValueError as problem:
        raise SourceError(f"{without_secrets(url)} is not a URL: {problem}.") from None
    if hidden:
        raise SourceError(
            f"An address of {scheme}:// has a password in it, which would be written down wherever "
            "the file is cited. Leave it out, and give it in REVIEWER_FSSPEC: see docs/fleet.md."
        )


def _trouble(url: str, problem: BaseException) -> str:
    """Why a URL cannot be used: a sentence without secrets."""
    return without_secrets(trouble(url, problem))


def without_secrets(text: str) -> str:
    """A path, a URL or a sentence with one, its secrets masked."""
    return _SIGNATURE.sub(r"\1[masked url-signature]", mask(text).text)


def source_file(
    path: str, size: int, modified_ns: int, etag: str = "", why: str = ""
) -> SourceFile:
    """A file that was listed. `why`: the reason for which it cannot be read."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    name = without_secrets(text)
    if text != path:
        why = why or "its name is not text in UTF-8. Rename it"
    if name != text:
        why = "its name has a secret in it, and every row cites it. Rename it"
    problem = f"{name} cannot be read: {why.rstrip('.')}." if why else ""
    return SourceFile(name, size, modified_ns, etag, problem)


def listed_url(url: str) -> Iterator[SourceFile]:
    """The files below a URL, or those that its pattern matches. Raises SourceError."""
    require_no_password(url)
    fs = file_system(url)
    try:
        if any(sign in url for sign in "*?[") and not fs.exists(url):
            found = fs.glob(url, detail=True)
        elif fs.isfile(url):
            found = {url: fs.info(url)}
        else:
            found = fs.find(url, detail=True)
    except Exception as problem:  # each file system raises errors of its own
        raise SourceError(_trouble(url, problem)) from problem
    if not found:
        raise SourceError(_why_empty(fs, url))
    for path, info in found.items():
        passed_over = plain_suffix(Path(path.lower())) in PASSED_SUFFIXES
        if info.get("type") != "directory" and not passed_over:
            etag = str(info.get("ETag") or info.get("etag") or "").strip('"')
            size = int(info.get("size") or 0)
            yield source_file(str(fs.unstrip_protocol(path)), size, _modified(info), etag)


def _why_empty(fs: Any, url: str) -> str:
    """Why nothing was found at a URL: a file system may keep the reason to itself."""
    try:
        fs.info(url)
    except Exception as problem:  # each file system raises errors of its own
        hidden = problem.__cause__ if isinstance(problem, FileNotFoundError) else None
        refused = getattr(hidden, "status", None) in (401, 403)  # of aiohttp
        return _trouble(url, PermissionError() if refused else hidden or problem)
    return without_secrets(f"{url} is empty: check the address.")


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


@contextmanager
def local_copy(name: str) -> Iterator[Path]:
    """The file on this machine: itself, or a copy until the end of the block.

    The copy keeps the names of the last folders, by which some kinds of files are told apart.
    Raises SourceError.
    """
    if not is_url(name):
        yield Path(name)
        return
    with tempfile.TemporaryDirectory(prefix="reviewer-", ignore_cleanup_errors=True) as folder:
        parts = [each for each in urlsplit(name).path.split("/") if each not in ("", "..")]
        target = Path(folder, *(each[-200:] for each in parts[-5:] or ["file"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            file_system(name).get_file(name, str(target))
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise SourceError(_trouble(name, problem)) from problem
        yield target


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """Raise FleetError for whatever a file system raises: each has errors of its own."""
    try:
        yield
    except SourceError:
        raise
    except Exception as problem:
        raise FleetError(_trouble(place, problem)) from problem


class Folder:
    """The folder of a job, here or in a bucket. A file is there whole or not at all."""

    def __init__(self, place: str) -> None:
        if is_url(place):
            require_no_password(place)
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

    def names(self) -> set[str]:
        """The names of the files in it. Raises FleetError."""
        with _explained(self.place):
            if self.is_local:
                return set(os.listdir(self.place)) if os.path.isdir(self.place) else set()
            fs = file_system(self.place)
            fs.invalidate_cache()
            return {str(path).rpartition("/")[2] for path in fs.find(self.place, maxdepth=1)}

    def read(self, name: str) -> bytes | None:
        """A whole file; None if there is none. Raises FleetError."""
        with _explained(self.path(name)), suppress(FileNotFoundError):
            if self.is_local:
                with open_file(Path(self.path(name))) as file:
                    return file.read()
            return bytes(file_system(self.place).cat_file(self.path(name)))
        return None

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
        fresh = os.path.join(folder, f".{name}-{os.urandom(6).hex()}.tmp")
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
