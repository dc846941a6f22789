"""Folders and files that may be local or in a bucket: listing, fetching, atomic writing."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from reviewer.errors import SourceError
from reviewer.files import make_private_folder, open_file, private_opener, reason_of
from reviewer.fleet.values import FleetError, SourceFile
from reviewer.sources.elsewhere import file_system, is_url, trouble
from reviewer.sources.unpacked import plain_suffix
from reviewer.sources.walk import PASSED_SUFFIXES
from reviewer.text.secrets import mask

PLAN, LOCK, RUNNING = "plan.ndjson", ".lock", "running.json"
TEMPORARY = ".tmp"
_OF_JOB = re.compile(
    r"plan\.ndjson|\.lock|running\.json|candidates\.parquet|part-\d{7,}\.\w+\.parquet|\..*\.tmp"
)
_SIGNATURE = re.compile(r"(?i)([?&](?:[\w-]*signature|sig|[\w-]*token)=)[^&#\s]+")
"""In an address that lets everybody who has it read the file."""
_PART_NAME = re.compile(r"part-\d{7,}\.\w+\.parquet")


class Listed(Struct, frozen=True):
    """A file as it was listed. `path` may have secrets in it."""

    path: str
    bytes: int
    modified_ns: int
    etag: str = ""
    is_of_job: bool = False
    """A job has written it."""


def is_of_job(name: str) -> bool:
    """Whether a file is named like one that a job writes into its folder."""
    return _OF_JOB.fullmatch(name) is not None


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


def _trouble(url: str, problem: BaseException, name: str = "") -> str:
    """Why a URL, cited as `name`, cannot be used: a sentence without secrets."""
    said = trouble(url, problem)
    return without_secrets(said.replace(url, name) if name else said)


def without_secrets(text: str) -> str:
    """A path, a URL or a sentence with one, its secrets masked."""
    return _SIGNATURE.sub(r"\1[masked url-signature]", mask(text).text)


def listed_url(url: str, out: Folder | None = None) -> list[Listed]:
    """The files below a URL, or those that its pattern matches, in the order of their names. Those
    that a job has written, the one in the folder `out` or another, are marked.

    Raises SourceError when it cannot be listed.
    """
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
    infos = {str(fs.unstrip_protocol(path)): info for path, info in found.items()}
    jobs = _folders_of_jobs(infos)
    if out and not out.is_local:
        jobs.add(out.place.rstrip("/"))
    files = []
    for path, info in infos.items():
        folder, _, name = path.rpartition("/")
        if info.get("type") != "directory" and not _is_passed_over(path):
            size = int(info.get("size") or 0)
            ours = folder in jobs and is_of_job(name)
            files.append(Listed(path, size, _modified(info), _etag(info), ours))
    return sorted(files, key=lambda file: file.path)


def _folders_of_jobs(paths: Iterable[str]) -> set[str]:
    """The folders that have a plan and parts."""
    plans, parts = set(), set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name == PLAN:
            plans.add(folder)
        elif _PART_NAME.fullmatch(name):
            parts.add(folder)
    return plans & parts


def _why_empty(fs: Any, url: str) -> str:
    """Why nothing was found at a URL: a file system may keep the reason to itself."""
    reason: BaseException | None = None
    try:
        fs.info(url)
    except FileNotFoundError as problem:
        reason = problem.__cause__
    except Exception as problem:  # each file system raises errors of its own
        reason = problem
    status = getattr(reason, "status", None)  # of aiohttp
    if status in (401, 403):
        return _trouble(url, PermissionError())
    if reason is None or status == 404 or isinstance(reason, FileNotFoundError):
        return without_secrets(f"{url} does not exist or is empty: check the address.")
    return _trouble(url, reason)


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
    place = file.place
    if not is_url(place):
        yield Path(place)
        return
    folder = tempfile.mkdtemp(prefix="reviewer-")
    try:
        parts = [each for each in urlsplit(place).path.split("/") if each not in ("", "..")]
        target = Path(folder, *(each[-200:] for each in parts[-5:] or ["file"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            files = file_system(place)
            files.get_file(place, str(target))
        except SourceError:
            raise
        except Exception as problem:  # each file system raises errors of its own
            raise SourceError(_trouble(place, problem, file.name)) from problem
        yield target
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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

    def remove_unfinished(self) -> None:
        """Remove what was being written when its process was killed. Nobody may be writing now."""
        if self.is_local:
            for beginning in (".part-", f".{PLAN}-"):
                for path in Path(self.place).glob(f"{beginning}*{TEMPORARY}"):
                    path.unlink(missing_ok=True)

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

    @contextmanager
    def opened(self, name: str) -> Iterator[Any]:
        """A file for reading some of it. Raises FleetError, and whatever the block raises."""
        path = self.path(name)
        with _explained(path):
            file = open_file(Path(path)) if self.is_local else file_system(path).open(path, "rb")
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
