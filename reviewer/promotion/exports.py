"""What leaves the store: trusted state, active entities and active memories, as files.

Decides what an export contains; `export/marked_block.py` puts the bytes into a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from reviewer.clock import Clock
from reviewer.extraction.entities.entity import Attribute
from reviewer.promotion.export.context_folder import plan_context_folder
from reviewer.promotion.export.file_writer import read_file, unified_diff, write_plan
from reviewer.promotion.export.items import ExportItem, Layer, Relation, mask_items, render_ndjson
from reviewer.promotion.export.markdown import render_markdown
from reviewer.promotion.export.marked_block import plan_block
from reviewer.promotion.export.plans import PlannedFile
from reviewer.promotion.queue import Queue
from reviewer.promotion.trusted_state import TrustedState
from reviewer.promotion.views import Kind, QueueQuery, Sort
from reviewer.sharing import personal
from reviewer.store.database import Database, failures_as_sentences
from reviewer.text.for_agents import AgentText


class Exports:
    """Reads what a person decided and plans files; writes only a plan that is handed back."""

    def __init__(self, database: Database, clock: Clock, queue: Queue, state: TrustedState) -> None:
        self._database = database
        self._clock = clock
        self._queue = queue
        self._state = state

    def items(self, project: str | None) -> tuple[ExportItem, ...]:
        """Every active fact, the most trusted first, with secrets masked."""
        state = [
            ExportItem(
                layer=Layer.STATE,
                id=each.id,
                name=each.key,
                value=each.value,
                note=each.note,
                project=each.project,
                created_at=each.set_at,
                evidence=each.evidence,
            )
            for each in self._state.all(project)
        ]
        # A settled conflict is active too, but no fact.
        ids = self._queue.ids(QueueQuery(project, "active", "-kind:conflict", Sort.NEWEST))
        return mask_items([*state, *(self._item(number) for number in sorted(ids))]).items

    def markdown(self, project: str | None, *, marks: bool = False) -> AgentText:
        """The facts as a Markdown text; with `marks`, each with its id and its source."""
        return render_markdown(self.items(project), marks=marks)

    def ndjson(self, project: str | None) -> AgentText:
        """The facts as JSON Lines, one object a fact with all its provenance."""
        return render_ndjson(self.items(project))

    def plan_file(self, text: AgentText, path: Path) -> PlannedFile:
        """A plan for a private file with that text only. Raises SourceError."""
        return PlannedFile(path=path, before=read_file(path), after=text.encode(), private=True)

    def plan_folder(self, project: str | None, folder: Path) -> tuple[PlannedFile, ...]:
        """The plan for a `.context/` folder. Raises SourceError, BrokenBlockError."""
        return plan_context_folder(self.items(project), folder)

    def plan_into(self, project: str | None, path: Path) -> PlannedFile:
        """What an agent's instruction file would become: only the marked block changes.

        Raises SourceError when it cannot be read; a broken block is the plan's `problem`.
        """
        plan = plan_block(read_file(path), self.markdown(project))
        return PlannedFile(path=path, before=plan.before, after=plan.after, problem=plan.problem)

    def diff(self, plan: PlannedFile) -> list[str]:
        """The lines that writing a plan would change."""
        return unified_diff(plan, plan.path.name)

    def write(self, plans: Sequence[PlannedFile]) -> list[Path]:
        """Write plans, each after a backup; returns where the backups lie.

        Raises ConflictError when a file changed since it was planned, StoreError or SourceError
        when it cannot be written.
        """
        folder = personal(self._database.path, "-backups")
        backups = [
            write_plan(plan, plan.path, backup_folder=folder, clock=self._clock)
            for plan in plans
            if plan.changed
        ]
        return [backup for backup in backups if backup is not None]

    def _item(self, number: int) -> ExportItem:
        view = self._queue.candidate(number)
        name, relations, attributes = "", tuple[Relation, ...](), tuple[tuple[str, str], ...]()
        if view.kind is Kind.ENTITY:
            name, relations, attributes = self._structure(number)
        return ExportItem(
            layer=Layer.ENTITY if view.kind is Kind.ENTITY else Layer.MEMORY,
            id=number,
            type=view.type,
            name=name,
            content=view.content,
            status=str(view.status),
            project=view.project,
            created_at=view.first_seen,
            decided_at=view.decided_at,
            rule=view.rule,
            extractor_version=view.extractor_version,
            confidence=view.confidence,
            sources=self._queue.places(number),
            hand_authored=view.hand_authored,
            relations=relations,
            attributes=attributes,
        )

    def _structure(
        self, number: int
    ) -> tuple[str, tuple[Relation, ...], tuple[tuple[str, str], ...]]:
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            row = reader.execute(
                "SELECT name, attributes FROM entity WHERE memory_id = ?", (number,)
            ).fetchone()
            related = reader.execute(
                "SELECT kind, target, target_id FROM relation WHERE memory_id = ? ORDER BY id",
                (number,),
            ).fetchall()
        attributes = msgspec.json.decode(row["attributes"], type=tuple[Attribute, ...])
        return (
            row["name"],
            tuple(Relation(*each) for each in related if each["target_id"] is not None),
            tuple((each.name, f"{each.value} {each.unit}".strip()) for each in attributes),
        )
