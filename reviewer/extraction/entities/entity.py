"""What the entity extractor proposes: a named, typed thing with what the text says about it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from reviewer.extraction.candidates import Candidate

OBLIGATION = "obligation:"
"""How the slots of requirements and constraints begin: each may contradict the other."""


class EntityType(StrEnum):
    """The fifteen types of entity (settled.md, Promotion)."""

    PROJECT = "project"
    SYSTEM = "system"
    SUBSYSTEM = "subsystem"
    COMPONENT = "component"
    INTERFACE = "interface"
    REQUIREMENT = "requirement"
    CONSTRAINT = "constraint"
    DECISION = "decision"
    MATERIAL = "material"
    PARAMETER = "parameter"
    ANALYSIS_MODEL = "analysis_model"
    RESULT = "result"
    VALIDATION_CLAIM = "validation_claim"
    VENDOR = "vendor"
    PROCESS = "process"


class RelationKind(StrEnum):
    """How one entity stands to another; always read from the entity to its target."""

    PART_OF = "part_of"
    DEPENDS_ON = "depends_on"
    SATISFIES = "satisfies"
    SUPERSEDES = "supersedes"
    USES = "uses"
    SUPPLIED_BY = "supplied_by"
    VALIDATES = "validates"


class Attribute(Struct, frozen=True):
    """A named value, as the text writes it; `unit` is empty where there is none."""

    name: str
    value: str
    unit: str = ""


class Relation(Struct, frozen=True):
    """A relation that the text states; the target is named, not resolved."""

    kind: RelationKind
    target_name: str


class EntityCandidate(Candidate, frozen=True):
    """A proposed entity: a candidate with a name and what the text says about it.

    `type` is an EntityType. `content` may join the wordings of two stretches of the span with a
    colon (a heading and the sentence below it); `flags` may hold `not-in-force` for what was
    superseded or rejected. `slot` names what a second value would contradict
    (`parameter:max batch`); it is empty when nothing can.
    """

    name: str = ""
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[Relation, ...] = ()
    slot: str = ""
