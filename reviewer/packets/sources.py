"""From a context folder to what can be assembled, without a store."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from reviewer.packets.cache import CountCache
from reviewer.packets.folder import find_folder
from reviewer.packets.measuring import ESTIMATE, Measurer
from reviewer.packets.prepared import Prepared
from reviewer.packets.reading import read_folder

DEFAULT_COUNTING = "cl100k_base"


def prepare_folder(
    folder: Path,
    *,
    now: datetime,
    task: str = "",
    counting: str = DEFAULT_COUNTING,
    marks: bool = False,
) -> Prepared:
    """A context folder, scored for a task and a date.

    `counting`: the name of an encoding, or `estimate`. Raises SourceError for what is no context
    folder.
    """
    found = find_folder(folder)
    material = read_folder(found)
    measurer = counted(str(found.absolute()), counting)
    return Prepared(material, measurer, now=now, task=task, marks=marks)


def counted(source: str, counting: str) -> Measurer:
    """A measurer that remembers what was counted for a source in earlier calls."""
    if counting == ESTIMATE:
        return Measurer(counting)
    return Measurer(counting, CountCache(source, counting))
