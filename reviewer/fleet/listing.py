"""Which files a job reads: those below its sources, each once, and what they are cited as."""

from __future__ import annotations

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from reviewer.errors import SourceError
from reviewer.files import open_file, reason_of
from reviewer.fleet.places import PLAN, Folder, Listed, is_of_job, listed_url, without_secrets
from reviewer.fleet.values import JobSettings, SourceFile
from reviewer.promotion.waves.record_writer import Stamp
from reviewer.sources.elsewhere import is_url
from reviewer.sources.walk import FoundFile, is_unreadable, walk

OF_A_JOB = "written by a run of the fleet"
LONGEST_PLAN_LINE = 10_000


def listed(
    sources: Sequence[str], out: Folder | None = None
) -> tuple[list[SourceFile], Counter[str]]:
    """The files to read, each once, in the order of their names, and how many others there are by
    reason. Files that cannot be read are among the first, with their problem; what jobs have
    written, such as the one in the folder `out`, is among the others.

    Raises SourceError for a source that cannot be listed.
    """
    found: dict[str, SourceFile] = {}
    passed_over: Counter[str] = Counter()
    jobs = _Jobs(out)
    for source in sources:
        for each in _elsewhere(source, out) if is_url(source) else _here(source, jobs):
            if isinstance(each, str):
                passed_over[each] += 1
            else:
                found[each.name] = each
    return [found[name] for name in sorted(found)], passed_over


def _elsewhere(url: str, out: Folder | None) -> Iterator[SourceFile | str]:
    for each in listed_url(url, out):
        yield OF_A_JOB if each.is_of_job else _cited(each)


def _here(source: str, jobs: _Jobs) -> Iterator[SourceFile | str]:
    """The files of a source on this machine, and the reasons why others are not read."""
    paths, is_pattern = _paths(source)
    for item in walk(paths, named=not is_pattern):
        path = str(item.path)
        if jobs.wrote(path):
            yield OF_A_JOB
            continue
        reason = "" if isinstance(item, FoundFile) else item.reason
        if reason and not is_unreadable(reason):
            yield reason
            continue
        size = modified = 0
        try:
            stamp = Stamp.of(item.path)
            size, modified = stamp.bytes, stamp.modified_ns
        except FileNotFoundError:
            yield "a link to nothing, or removed just now"
            continue
        except OSError as problem:
            reason = reason or f"file cannot be read: {reason_of(problem)}"
        why = reason.partition("cannot be read: ")[2]
        yield _cited(Listed(path, size, modified), why)


def _paths(source: str) -> tuple[list[Path], bool]:
    """The paths that a source names, and whether it is a pattern."""
    path = os.path.abspath(os.path.expanduser(source))
    if not os.path.exists(path) and glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise SourceError(f"{source} matches no file: check the pattern.")
        return [Path(each) for each in matches], True
    return [Path(path)], False


def _cited(each: Listed, why: str = "") -> SourceFile:
    """The file under the name that is written down. `why`: the reason for which it is not read."""
    name = each.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if name != each.path:
        why = why or "its name is not text in UTF-8. Rename it"
    masked = without_secrets(name)
    if masked != name:
        # Two files whose names differ in the secret only must not become one.
        digest = hashlib.sha256(name.encode()).hexdigest()[:12]
        masked = f"{masked} ({digest})"
    return SourceFile(
        masked,
        each.bytes,
        each.modified_ns,
        each.etag,
        problem=f"{masked} cannot be read: {why.rstrip('.')}." if why else "",
        path="" if masked == each.path or why else each.path,
    )


class _Jobs:
    """Recognises the files that jobs write, so that no job reads them."""

    def __init__(self, out: Folder | None) -> None:
        self._known = {os.path.realpath(out.place): True} if out and out.is_local else {}

    def wrote(self, path: str) -> bool:
        """Whether a job has written a file."""
        folder, name = os.path.split(path)
        return is_of_job(name) and self._has_job(os.path.realpath(folder))

    def _has_job(self, folder: str) -> bool:
        if folder not in self._known:
            self._known[folder] = _is_plan(Path(folder, PLAN))
        return self._known[folder]


def _is_plan(path: Path) -> bool:
    """Whether a file is the plan of a job."""
    try:
        with open_file(path) as file:
            msgspec.json.decode(file.readline(LONGEST_PLAN_LINE), type=JobSettings)
    except (OSError, ValueError, msgspec.DecodeError):
        return False
    return True
