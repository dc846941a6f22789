"""Entities: named, typed things with the facts stated about them."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from reviewer.extraction.candidates import Candidate


class EntityType(StrEnum):
    """The fifteen types of entity."""

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


class Attribute(Struct, frozen=True):
    """A named value as written; `unit` may be empty."""

    name: str
    value: str
    unit: str = ""


class Structure(Struct, frozen=True):
    """An entity's fields besides its wording.

    `slot` is the key (`parameter:max batch`) for which a second value is a contradiction; empty if
    the entity cannot be contradicted.
    """

    name: str
    slot: str = ""
    attributes: tuple[Attribute, ...] = ()


class EntityCandidate(Candidate, frozen=True, kw_only=True):
    """A proposed entity; its `type` is an EntityType."""

    structure: Structure
