"""The program's own files, which are never sources: stores, and the files next to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from reviewer.files import open_file
from reviewer.sharing import BESIDE, is_shared

MARK = b"SQLite format 3\0", b"RVWR"
"""The start of a store, and the application id in its header (`store/migrations.py`)."""
MARK_AT = 68
OWN_FILE = "a file of reviewer itself"
PACKET_TITLE = "# Context packet"
"""The first line of a packet, which marks a file as a replaceable packet."""


def own_names(folder: Path, names: Collection[str], store: Path | None = None) -> set[str]:
    """The names in a folder that are stores or belong to one.

    `store`: one in use, whose header may not be in its file yet.
    """
    there = set(names)
    found: set[str] = set()
    for name in there:
        for of_store in _stores_of(folder / name):
            if of_store.name in there and _is_store(of_store, store):
                found |= {name, of_store.name}
    return found


def is_own(path: Path, store: Path | None = None) -> bool:
    """Whether a path is a store or belongs to one."""
    if _is_store(path, store):
        return True
    return any(
        _is_store(of_store, store)
        for each in (path, *path.parents)
        for of_store in _stores_of(each)
    )


def is_packet(text: str) -> bool:
    return text.lstrip().partition("\n")[0].rstrip() == PACKET_TITLE


def _is_store(path: Path, store: Path | None) -> bool:
    """Whether a file is a store of reviewer; an unreadable one is not."""
    try:
        if store is not None and path.name == store.name and path.samefile(store):
            return True
        with open_file(path) as stream:
            head = stream.read(MARK_AT + len(MARK[1]))
    except (OSError, ValueError):
        return False
    return head.startswith(MARK[0]) and head[MARK_AT:] == MARK[1]


def _stores_of(path: Path) -> Iterator[Path]:
    """The stores to which a file may belong by name: `a.db` for `a.db-waves`."""
    for what in BESIDE:
        name, found, login = path.name.rpartition(what)
        if name and found:
            store = path.with_name(name)
            if not login or (login.startswith(".") and is_shared(store)):
                yield store
