"""The contents of exports: trusted state, active entities and active memories, as files.

`export/marked_block.py` inserts the bytes into a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewer.clock import Clock
from reviewer.promotion.decisions.entities import Entities
from reviewer.promotion.decisions.trusted_state import TrustedState
from reviewer.promotion.export.context_folder import plan_context_folder
from reviewer.promotion.export.file_writer import PlannedFile, read_file, write_plan
from reviewer.promotion.export.items import ExportItem, Layer, mask_items
from reviewer.promotion.export.markdown import render_markdown
from reviewer.promotion.export.marked_block import with_block, without_block
from reviewer.promotion.lists.queue import Queue
from reviewer.promotion.views import QueueQuery, RowKind
from reviewer.sharing import personal
from reviewer.text.for_agents import AgentText


class Exports:
    """Reads decided facts and plans files; writes only a plan that is handed back."""

    def __init__(
        self, store: Path, clock: Clock, queue: Queue, state: TrustedState, entities: Entities
    ) -> None:
        self._store = store
        self._clock = clock
        self._queue = queue
        self._state = state
        self._entities = entities

    def items(self, project: str | None) -> tuple[ExportItem, ...]:
        """Every active fact, most trusted first, secrets masked."""
        state = [
            ExportItem(
                layer=Layer.STATE,
                id=each.id,
                name=each.key,
                value=each.value,
                note=each.note,
                created_at=each.set_at,
                evidence=each.evidence,
            )
            for each in self._state.all(project)
        ]
        # A settled conflict is active too, but not a fact; one side of an open one is not true.
        facts = "-kind:conflict -is:disputed"
        ids = self._queue.ids(QueueQuery(project, "active", facts))
        return mask_items([*state, *(self._item(number) for number in sorted(ids))])

    def markdown(self, project: str | None) -> AgentText:
        return render_markdown(self.items(project), marks=False)

    def plan_folder(self, project: str | None, folder: Path) -> tuple[PlannedFile, ...]:
        """The plan for a `.context/` folder. Raises SourceError, BlockError."""
        return plan_context_folder(self.items(project), folder)

    def plan_into(self, project: str | None, path: Path) -> PlannedFile:
        """The plan for an agent's instruction file: only the marked block changes; without facts
        there is none.

        Raises SourceError if it cannot be read, BlockError.
        """
        before = read_file(path)
        text, data = self.markdown(project), before or b""
        after = with_block(path, data, text) if text else without_block(path, data)
        return PlannedFile(path=path, before=before, after=after)

    def write(self, plans: Sequence[PlannedFile]) -> list[Path]:
        """Write plans, each after a backup; returns the paths of the backups.

        Raises ConflictError if a file has changed since planning, StoreError or SourceError if it
        cannot be written.
        """
        folder = personal(self._store, "-backups")
        backups = [
            write_plan(plan, backup_folder=folder, clock=self._clock)
            for plan in plans
            if plan.changed
        ]
        return [backup for backup in backups if backup is not None]

    def _item(self, number: int) -> ExportItem:
        view = self._queue.candidate(number)
        entity = self._entities.get(number) if view.kind is RowKind.ENTITY else None
        return ExportItem(
            layer=Layer.ENTITY if entity else Layer.MEMORY,
            id=number,
            type=view.type,
            name=entity.name if entity else "",
            content=view.content,
            created_at=view.first_seen,
            decided_at=view.decided_at,
            sources=self._queue.places(number),
            attributes=tuple(
                (each.name, f"{each.value} {each.unit}".strip())
                for each in (entity.attributes if entity else ())
            ),
        )
