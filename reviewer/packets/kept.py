"""Packets of earlier calls: the same folder, options and day give the same text at once.

For agents that call `reviewer packet` in hooks. A folder is known by the bytes of its files, so
that a packet that is given again is the one that would be made. Safe to delete.
"""

from __future__ import annotations

import json
import os
import stat
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from reviewer.errors import StoreError
from reviewer.packets.cache_files import cache_folder, code_stamp, write_privately
from reviewer.packets.folder import FOLDERS, ORDER, find_folder, moved_entries, names_in

LARGEST = 4_000_000
"""Characters of a text that is kept."""


class Output(NamedTuple):
    """What a call gave: the text for stdout or a file, its tokens, and the lines for a person."""

    text: str
    tokens_used: int
    told: tuple[str, ...]


class KeptOutput:
    """The output of one way to call, kept for the next time."""

    def __init__(self, call: tuple[object, ...], seen: str, folder: Path | None = None) -> None:
        """`call`: everything that names the source and changes the output. `seen`: the hash of
        what is in the source; nothing is kept where it is empty.
        """
        name = blake2b(repr((os.getcwd(), call)).encode(), digest_size=16).hexdigest()
        self._path = (folder or cache_folder()) / f"{name}.packet.json"
        self._seen = seen

    def get(self) -> Output | None:
        """The output of an earlier call, when nothing has changed since."""
        if not self._seen:
            return None
        try:
            held = json.loads(self._path.read_bytes())
            if held["seen"] != self._seen:
                return None
            output = Output(held["text"], held["tokens_used"], tuple(held["told"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None  # missing or damaged: it is made again, and then replaced
        known = isinstance(output.text, str) and isinstance(output.tokens_used, int)
        return output if known and all(isinstance(line, str) for line in output.told) else None

    def put(self, output: Output) -> None:
        """Keep an output; without a place to keep it, the next call makes it again."""
        if self._seen and len(output.text) <= LARGEST:
            held = {"seen": self._seen, **output._asdict()}
            write_privately(self._path, json.dumps(held))


def folder_seen(path: Path) -> str:
    """A hash of all that a packet is made from; empty when something cannot be read.

    Raises SourceError for what is no context folder.
    """
    folder = find_folder(path)
    found = blake2b(code_stamp().encode(), digest_size=16)
    try:
        names = names_in(folder)
        paths = [folder / names[name.lower()] for name in ORDER if name.lower() in names]
        paths += [path for section in FOLDERS for _, path in moved_entries(folder, section)]
        for path in paths:
            if not stat.S_ISREG(path.stat().st_mode):
                return ""
            raw = path.read_bytes()
            found.update(f"{path}\0{len(raw)}\0".encode("utf-8", "surrogateescape"))
            found.update(raw)
    except OSError:
        return ""
    return found.hexdigest()


def store_seen(path: Path) -> str:
    """The last entry of a store's ledger, which is part of every change; empty when the store
    cannot be read so.
    """
    import sqlite3

    from reviewer.store.read_only import looking_address

    try:
        reader = sqlite3.connect(looking_address(path), uri=True)
        try:
            last = reader.execute("SELECT id, hash FROM ledger ORDER BY id DESC LIMIT 1").fetchone()
        finally:
            reader.close()
    except (sqlite3.Error, StoreError, ValueError):
        return ""
    return f"{code_stamp()} {tuple(last)}" if last else ""
