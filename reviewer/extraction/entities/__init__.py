"""The typed entity extractor: records in, entity candidates out; pure, beside the memory rules."""

from __future__ import annotations

from reviewer.extraction.entities.conflicts import Contradiction, contradicts
from reviewer.extraction.entities.entity import (
    Attribute,
    EntityCandidate,
    EntityType,
    Relation,
    RelationKind,
)
from reviewer.extraction.entities.extract import extract_entities
from reviewer.extraction.entities.rules import ENTITY_EXTRACTOR_VERSION, RULES

__all__ = [
    "ENTITY_EXTRACTOR_VERSION",
    "RULES",
    "Attribute",
    "Contradiction",
    "EntityCandidate",
    "EntityType",
    "Relation",
    "RelationKind",
    "contradicts",
    "extract_entities",
]
