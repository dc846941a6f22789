"""Whether a database or an archive is one in which an agent keeps sessions."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from reviewer.errors import OtherKindError, SourceError
from reviewer.files import open_file
from reviewer.sources.archives import is_archive, members
from reviewer.sources.databases import is_database, tables
from reviewer.sources.registry import FORMATS

HEAD_BYTES = 16


def holds_sessions(path: Path) -> bool:
    """Whether a file is a database or an archive of a known format. Raises OSError.

    A damaged one with the name of a known one counts, so that reading it reports the damage.
    """
    with open_file(path) as stream:
        head = stream.read(HEAD_BYTES)
    try:
        if is_database(head):
            names = tables(path)
            return any(each.detect_tables and each.detect_tables(names) for each in FORMATS)
        if is_archive(head):
            found = members(path)
            return any(each.detect_members and each.detect_members(found) for each in FORMATS)
    except OtherKindError:
        return False
    except SourceError:
        return any(fnmatch(path.name, name) for name in _known_names())
    return False


def _known_names() -> set[str]:
    return {PurePosixPath(location.pattern).name for each in FORMATS for location in each.locations}
