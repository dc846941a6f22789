"""Databases and archives in which agents keep sessions."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from reviewer.errors import OtherKindError, SourceError
from reviewer.sources.open import recognise
from reviewer.sources.registry import FORMATS


def holds_sessions(path: Path) -> bool:
    """Whether a file is a database or archive of a known format.

    A damaged file with a known name counts, so that reading it reports the damage.
    """
    try:
        found = recognise(path)
        return bool(found.detect_tables or found.detect_members)
    except OtherKindError:
        return False
    except SourceError:
        return any(fnmatch(path.name, name) for name in _known_names())


def _known_names() -> set[str]:
    return {PurePosixPath(location.pattern).name for each in FORMATS for location in each.locations}
