"""Packets of a context folder, or of what is active and trusted in the store."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from reviewer.clock import Clock
from reviewer.packets.own import read_store
from reviewer.packets.prepared import Prepared
from reviewer.packets.sources import DEFAULT_COUNTING, counted, prepare_folder
from reviewer.promotion.queue import Queue
from reviewer.promotion.trusted_state import TrustedState
from reviewer.store.database import Database


class Packets:
    """Prepares a source once; `assembling.assemble` then answers for any budget without reading."""

    def __init__(self, database: Database, clock: Clock, queue: Queue, state: TrustedState) -> None:
        self._database = database
        self._clock = clock
        self._queue = queue
        self._state = state

    def prepare_own(
        self,
        project: str | None,
        *,
        task: str = "",
        now: datetime | None = None,
        counting: str = DEFAULT_COUNTING,
        marks: bool = False,
    ) -> Prepared:
        """What is active and trusted in a project (None: in all), scored for a task and a date.

        `marks`: each item with its id, `[m:12]`. Raises StoreError.
        """
        material = read_store(self._database, self._state, project)
        source = f"{self._database.path.absolute()}\0{project or ''}"
        return Prepared(
            material,
            counted(source, counting),
            now=now or self._clock(),
            task=task,
            marks=marks,
        )

    def prepare_folder(
        self,
        folder: Path,
        *,
        task: str = "",
        now: datetime | None = None,
        counting: str = DEFAULT_COUNTING,
        marks: bool = False,
    ) -> Prepared:
        """The same of a `.context` folder. Raises SourceError for what is none."""
        return prepare_folder(
            folder, task=task, now=now or self._clock(), counting=counting, marks=marks
        )
