"""The files of a job: those below its sources, each once."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reviewer.errors import SourceError
from reviewer.files import reason_of
from reviewer.fleet.places import masked_place, require_no_password, source_file, url_problem
from reviewer.fleet.values import SourceFile
from reviewer.promotion.waves.record_writer import Stamp
from reviewer.sources.elsewhere import file_system, is_url
from reviewer.sources.unpacked import plain_suffix
from reviewer.sources.walk import PASSED_SUFFIXES, is_unreadable, walk


def find_files(sources: Sequence[str], out: str) -> tuple[list[SourceFile], Counter[str]]:
    """The files to read, sorted by name, and the number of skipped ones by reason. Unreadable files
    are listed with their problem; files in `out`, where the job writes, are neither.

    Raises SourceError for a source that cannot be listed.
    """
    own = f"{out.rstrip('/')}/"
    found: dict[str, SourceFile] = {}
    passed_over: Counter[str] = Counter()
    for source in sources:
        for each in _elsewhere(source) if is_url(source) else _here(source, own):
            if isinstance(each, str):
                passed_over[each] += 1
            elif not each.name.startswith(own):
                found[each.name] = each
    return [found[name] for name in sorted(found)], passed_over


def _here(source: str, own: str) -> Iterator[SourceFile | str]:
    """The files of a source on this machine, and the reason for each skipped one."""
    paths, is_pattern = _paths(source)
    for item in walk(paths, named=not is_pattern):
        path = str(item.path)
        if path.startswith(own):
            continue
        if item.reason and not is_unreadable(item.reason):
            yield item.reason
            continue
        reason, size, modified = item.reason, 0, 0
        try:
            stamp = Stamp.of(item.path)
            size, modified = stamp.bytes, stamp.modified_ns
        except FileNotFoundError:
            yield "a link to nothing, or removed just now"
            continue
        except OSError as problem:
            reason = reason or f"file cannot be read: {reason_of(problem)}"
        yield source_file(path, size, modified, why=reason.partition("cannot be read: ")[2])


def _paths(source: str) -> tuple[list[Path], bool]:
    """The paths of a source, and whether it is a pattern."""
    path = os.path.abspath(os.path.expanduser(source))
    if not os.path.exists(path) and glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise SourceError(f"{source} matches no file: check the pattern.")
        return [Path(each) for each in matches], True
    return [Path(path)], False


def _elsewhere(url: str) -> Iterator[SourceFile]:
    """The files below a URL, or matching its pattern. Raises SourceError."""
    require_no_password(url)
    fs = file_system(url)
    try:
        if any(sign in url for sign in "*[") and not fs.exists(url):
            found = fs.glob(url, detail=True)
        else:
            # Asked first: a file system that finds nothing does not say why.
            info = _info(fs, url)
            is_folder = info.get("type") == "directory"
            found = fs.find(url, detail=True) if is_folder else {url: info}
    except Exception as problem:  # each file system raises errors of its own
        raise SourceError(url_problem(url, problem)) from problem
    if not found:
        raise SourceError(masked_place(f"{url} is empty: check the address."))
    for path, info in found.items():
        passed_over = plain_suffix(Path(path.lower())) in PASSED_SUFFIXES
        if info.get("type") != "directory" and not passed_over:
            etag = str(info.get("ETag") or info.get("etag") or "").strip('"')
            size = int(info.get("size") or 0)
            yield source_file(str(fs.unstrip_protocol(path)), size, _modified(info), etag)


def _info(fs: Any, url: str) -> dict[str, Any]:
    """A file system's information about a URL. Raises what the file system raises."""
    try:
        found: dict[str, Any] = fs.info(url)
        return found
    except FileNotFoundError as problem:
        hidden = problem.__cause__ or problem
        raise PermissionError if getattr(hidden, "status", 0) in (401, 403) else hidden from problem


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
