"""Which files a job reads: those below its sources, each once."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from reviewer.errors import SourceError
from reviewer.files import reason_of
from reviewer.fleet.places import Folder, listed_url, source_file
from reviewer.fleet.values import SourceFile
from reviewer.promotion.waves.record_writer import Stamp
from reviewer.sources.elsewhere import is_url
from reviewer.sources.walk import FoundFile, is_unreadable, walk


def listed(
    sources: Sequence[str], out: Folder | None = None
) -> tuple[list[SourceFile], Counter[str]]:
    """The files to read, each once, in the order of their names, and how many others there are by
    reason. Files that cannot be read are among the first, with their problem; those in `out`, where
    the job itself writes, are neither.

    Raises SourceError for a source that cannot be listed.
    """
    found: dict[str, SourceFile] = {}
    passed_over: Counter[str] = Counter()
    for source in sources:
        for each in listed_url(source) if is_url(source) else _here(source, out):
            if isinstance(each, str):
                passed_over[each] += 1
            elif out is None or not each.name.startswith(out.path("")):
                found[each.name] = each
    return [found[name] for name in sorted(found)], passed_over


def _here(source: str, out: Folder | None) -> Iterator[SourceFile | str]:
    """The files of a source on this machine, and the reasons why others are not read."""
    paths, is_pattern = _paths(source)
    for item in walk(paths, named=not is_pattern):
        path = str(item.path)
        if out is not None and path.startswith(out.path("")):
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
        yield source_file(path, size, modified, why=reason.partition("cannot be read: ")[2])


def _paths(source: str) -> tuple[list[Path], bool]:
    """The paths that a source names, and whether it is a pattern."""
    path = os.path.abspath(os.path.expanduser(source))
    if not os.path.exists(path) and glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise SourceError(f"{source} matches no file: check the pattern.")
        return [Path(each) for each in matches], True
    return [Path(path)], False
