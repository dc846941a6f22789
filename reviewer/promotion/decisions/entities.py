"""Entities (L2): rows of `memory` with a structure beside them."""

from __future__ import annotations

import msgspec

from reviewer.clock import iso
from reviewer.errors import ConflictError, UnknownIdError
from reviewer.extraction.entities.entity import Attribute, EntityType
from reviewer.promotion.decisions.triage import promote_rows
from reviewer.promotion.rows.conflict_rows import follow_conflicts
from reviewer.promotion.rows.decided_rows import STATUS_WORDS
from reviewer.promotion.rows.entity_rows import (
    entity_type,
    kind_and_type,
    parse_structure,
    require_name,
)
from reviewer.promotion.rows.evidence_rows import copy_evidence
from reviewer.promotion.rows.known_rows import closest_memory
from reviewer.promotion.rows.memory_rows import insert_row, memory_row, row_without_rules
from reviewer.promotion.rows.wordings import require_wording
from reviewer.promotion.views import Done, EntityView, RowKind, Status, proposed_by
from reviewer.proposing.values import Proposer
from reviewer.store.changes import Value
from reviewer.store.project_rows import project_row
from reviewer.store.service import Service
from reviewer.text.secrets import mask

HAND_AUTHORED = "hand-authored"
"""Rule and extractor version of text written by a person without a source."""


class Entities(Service):
    """Reads entities; creates them from memories (graduation) or by hand."""

    def get(self, number: int) -> EntityView:
        """The structure of an entity. Raises UnknownIdError."""
        self._database.require_own("memory", [number])
        row = self._database.first("SELECT * FROM entity WHERE memory_id = ?", (number,))
        if row is None:
            raise UnknownIdError(f"#{number} is not an entity.")
        return EntityView(
            id=number,
            name=row["name"],
            slot=row["slot"],
            attributes=msgspec.json.decode(row["attributes"], type=tuple[Attribute, ...]),
            graduated_from=row["graduated_from"],
        )

    def graduated_to(self, memory: int) -> int | None:
        row = self._database.first(
            "SELECT memory_id FROM entity WHERE graduated_from = ?", (memory,)
        )
        return row[0] if row else None

    def graduate(self, number: int, type_: str, *, name: str | None = None) -> Done:
        """Propose an active memory as an entity (`docs/design.md`, Promotion).

        The memory stays as a frozen pointer, the entity candidate takes over the fact with all its
        evidence; undo deletes the candidate only. Raises UnknownIdError, ReviewerError for an
        unknown type or an overlong name, ConflictError if the memory is not active or an entity
        says the same.
        """
        kind = entity_type(type_)
        name = mask(name).text if name else name
        require_name(name or "")
        now = iso(self._clock())
        with self._ledger.act("graduate") as act:
            row = memory_row(act, number)
            _require_active(number, row)
            content = str(row["content"])
            values = {**row, "type": str(kind), **proposed_by(Proposer.PERSON)}
            structure = parse_structure(content, kind, name)
            entity = insert_row(act, values, now, structure, graduated_from=number)
            copy_evidence(act, number, entity)
            act.update("memory", number, status="graduated")
            follow_conflicts(act, [entity], now)
            act.title = f"Graduated #{number} to {kind} #{entity}"
        return Done(act.id, act.title, (entity, number))

    def author(
        self,
        project: str,
        type_: str,
        content: str,
        *,
        name: str | None = None,
        promote: bool = False,
    ) -> Done:
        """Queue a memory or entity written by a person without a source, and marked as such.

        Raises ReviewerError for an unknown type and for a text or name that is too short or too
        long, ConflictError if it is already known.
        """
        text = mask(content.strip()).text
        name = mask(name).text if name else name
        kind, type_name = kind_and_type(type_)
        is_entity = kind is RowKind.ENTITY
        require_wording(text, named=is_entity and bool(name))
        require_name(name or "")
        now = iso(self._clock())
        with self._ledger.act("author") as act:
            project_id = project_row(act, project)
            values = row_without_rules(
                project_id, type_name, text,
                rule=HAND_AUTHORED, version=HAND_AUTHORED,
            )  # fmt: skip
            values["flags"] = HAND_AUTHORED
            parsed = parse_structure(text, EntityType(type_name), name) if is_entity else None
            number = insert_row(act, values, now, parsed)
            follow_conflicts(act, [number], now)
            act.title = f"Wrote {type_name} #{number} by hand"
            if promote:
                promote_rows(act, [number], [number], now=now)
                act.title += ", and promoted it"
            if close := closest_memory(act, project_id, number, text):
                act.title += f"; compare #{close}, which says nearly the same"
        return Done(act.id, act.title, (number,))


def _require_active(number: int, row: dict[str, Value]) -> None:
    if (row["kind"], row["status"]) == ("memory", "active"):
        return
    is_memory = row["kind"] == "memory"
    what = STATUS_WORDS[Status(str(row["status"]))] if is_memory else f"of kind {row['kind']}"
    first = ": promote it first" if is_memory and row["status"] == "candidate" else ""
    raise ConflictError(f"Only an active memory can graduate, and #{number} is {what}{first}.")
