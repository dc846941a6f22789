"""What a face can do without a store, and without the time that opening one takes.

Beside `engine.py`: agents call `reviewer packet --context-dir` in hooks, where start-up counts.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reviewer.packets.kept import KeptOutput, Output, folder_seen, store_seen
from reviewer.projects import default_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewer.packets.prepared import Prepared as Prepared
    from reviewer.packets.values import Packet as Packet
    from reviewer.packets.values import PacketItem as PacketItem

__all__ = [
    "KeptOutput",
    "Output",
    "assemble",
    "context_folder",
    "default_project",
    "explained",
    "folder_seen",
    "packet_json",
    "prepare_folder",
    "store_seen",
    "write_packet",
]


def prepare_folder(
    folder: Path, *, now: datetime, task: str = "", counting: str, marks: bool = False
) -> Prepared:
    """A context folder, scored for a task and a date. Raises SourceError for what is none."""
    from reviewer.packets import sources

    return sources.prepare_folder(folder, now=now, task=task, counting=counting, marks=marks)


def context_folder(path: Path) -> Path | None:
    """The context folder at a path, or None."""
    from reviewer.errors import SourceError
    from reviewer.packets.folder import find_folder

    try:
        return find_folder(path)
    except SourceError:
        return None


def assemble(
    prepared: Prepared, budget: int, *, pinned: Collection[str] = (), muted: Collection[str] = ()
) -> Packet:
    """The packet for a budget; see `packets/assembling.py`."""
    from reviewer.packets import assembling

    return assembling.assemble(prepared, budget, pinned=pinned, muted=muted)


def packet_json(packet: Packet) -> dict[str, Any]:
    """A packet as one object."""
    from reviewer.packets.rendering import to_json

    return to_json(packet)


def explained(packet: Packet) -> Iterator[tuple[str, ...]]:
    """A row for each item of a packet: id, section, state, tokens, score, title, why."""
    from reviewer.packets import rendering

    return rendering.explained(packet)


def write_packet(
    text: str, path: Path, *, replace: bool = False, made_from: Path | None = None
) -> None:
    """Write a packet into a file, never over something else, nor, also with `replace`, over what
    it was made from: a context folder or a store. Raises ReviewerError.
    """
    from reviewer.packets import writing

    writing.write_packet(text, path, replace=replace, made_from=made_from)
