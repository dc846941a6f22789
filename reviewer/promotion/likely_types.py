"""Which type of entity a memory would most likely become: an order to choose from, no decision."""

from __future__ import annotations

import re

from reviewer.extraction.entities.entity import EntityType

_CUES: tuple[tuple[EntityType, str], ...] = (
    (EntityType.CONSTRAINT, r"must not|never|at most|no more than|cannot|limit|constraint"),
    (EntityType.DECISION, r"decided|decision|chose|instead of|we will|settled on|moves to|use "),
    (EntityType.REQUIREMENT, r"must|shall|has to|have to|needs? to|require|always|at least"),
    (EntityType.PARAMETER, r"\d+(?:[.,]\d+)? ?(?:%|[a-zµ°]{1,4}\b)|=|timeout|threshold|default"),
    (EntityType.RESULT, r"turned out|root cause|measured|was caused|found that|result|because of"),
    (EntityType.VALIDATION_CLAIM, r"verified|validated|proved|tested|confirms?\b"),
    (EntityType.PROCESS, r"before|after|every (?:night|day|week)|deploy|release|workflow|run "),
    (EntityType.INTERFACE, r"\bapi\b|endpoint|protocol|schema|webhook|contract"),
    (EntityType.VENDOR, r"vendor|supplier|supplied|licen[cs]e"),
    (EntityType.COMPONENT, r"module|component|service|library|queue|index|cache"),
    (EntityType.SUBSYSTEM, r"subsystem|pipeline|backend|frontend"),
    (EntityType.SYSTEM, r"system|platform|database|cluster"),
    (EntityType.ANALYSIS_MODEL, r"model|simulation|estimate"),
    (EntityType.MATERIAL, r"steel|alumin|material|alloy|polymer"),
    (EntityType.PROJECT, r"project|milestone|roadmap|charter"),
)
"""Words that speak for a type; what stands first wins where several speak."""

_PATTERNS = tuple((type_, re.compile(rf"\b(?:{cue})", re.IGNORECASE)) for type_, cue in _CUES)


def likely_types(content: str, rule: str = "") -> tuple[str, ...]:
    """All types, those whose words the text or the rule's name holds first."""
    text = f"{rule.replace('_', ' ').replace('.', ' ')}. {content}"
    spoken = [str(type_) for type_, pattern in _PATTERNS if pattern.search(text)]
    others = [str(type_) for type_, _ in _CUES]
    return tuple(dict.fromkeys([*spoken, *others]))
