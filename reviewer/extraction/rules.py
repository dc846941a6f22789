"""All sentence rules, in four classes with the priors of the promotion document."""

from __future__ import annotations

import re
from enum import StrEnum

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType
from reviewer.extraction.entities.quantities import QUANTITY

EXTRACTOR_VERSION = "0.5.0"
"""Stored with every candidate; increase it whenever a rule's proposals change, and document the
change in `docs/design.md`."""

SHORTEST_STATEMENT, LONGEST_STATEMENT = 8, 280
"""Length limits of a candidate's content after cleaning and without its label, both inclusive."""

LABELS: dict[str, StrEnum] = {
    "decision": EntityType.DECISION,
    "requirement": EntityType.REQUIREMENT,
    "constraint": EntityType.CONSTRAINT,
    "preference": MemoryType.PREFERENCE,
    "convention": MemoryType.PROJECT,
    "principle": MemoryType.PROJECT,
    "lesson": MemoryType.KNOWLEDGE,
    "lesson learned": MemoryType.KNOWLEDGE,
    "gotcha": MemoryType.KNOWLEDGE,
}
"""Labels before a statement, in every form: `## Decision: ...`, `- [Decision] ...`, `-
**Decision:** ...`, `- Decision: ...`. Plurals count as well."""

LABELS_IN_BRACKETS: dict[str, StrEnum] = LABELS | {
    "project": EntityType.PROJECT,
    "system": EntityType.SYSTEM,
    "subsystem": EntityType.SUBSYSTEM,
    "component": EntityType.COMPONENT,
    "interface": EntityType.INTERFACE,
    "material": EntityType.MATERIAL,
    "parameter": EntityType.PARAMETER,
    "analysis model": EntityType.ANALYSIS_MODEL,
    "result": EntityType.RESULT,
    "validation claim": EntityType.VALIDATION_CLAIM,
    "vendor": EntityType.VENDOR,
    "process": EntityType.PROCESS,
    "identity": MemoryType.IDENTITY,
    "adaptation": MemoryType.ADAPTATION,
    "episodic": MemoryType.EPISODIC,
    "knowledge": MemoryType.KNOWLEDGE,
    "fact": MemoryType.KNOWLEDGE,
}
"""Labels in headings and brackets only: before a colon, these words usually mean something else
(`**Result:** all tests pass`)."""

_NUMBER = r"(?:[ ]+#?(?P<number>[A-Z]{0,5}-?\d[\w.]{0,12}))?"
_LABEL = rf"(?P<label>[A-Za-z][A-Za-z _]{{2,30}}?){_NUMBER}"
_REST = r"(?P<rest>\S.*)"
HEADING = re.compile(rf"{_LABEL}(?:[ ]*:|[ ][-–—])[ ]+{_REST}")
BRACKET = re.compile(rf"\[{_LABEL}\][ ]+(?!\(){_REST}", re.DOTALL)
BOLD = re.compile(
    rf"(?:\*\*|__){_LABEL}[ ]*(?::(?:\*\*|__)|(?:\*\*|__)[ ]*:)[ ]*{_REST}", re.DOTALL
)
PLAIN = re.compile(rf"{_LABEL}:[ ]+{_REST}", re.DOTALL)

DECISIONS_HEADING = "decisions"
"""A heading above a list of decisions."""

DECISION_HEADINGS = (DECISIONS_HEADING, "decision", "the decision", "decision outcome", "outcome")
"""Headings of a decision record above the decision itself."""

VALUE = re.compile(
    rf"^[ \t]*(?:[-*+][ \t]+)?(?P<said>(?P<name>[^\W\d_][^\n=:|`<>\"$]{{0,60}}?)"
    rf"[ \t]*=[ \t]*{QUANTITY}[ \t]*(?:\([^()\n]*\))?)[.;,]?[ \t]*$",
    re.MULTILINE,
)
"""A line that assigns a value: `wheel diameter = 82 mm (measured)`."""

_START = r"^(?:(?:and|also|but|so|please|ok(?:ay)?|yes|no)\b[,.!]? )*"
_OFTEN = r"(?:(?:really|strongly|always|usually|generally|much|also) )?"
SENTENCES: tuple[tuple[str, MemoryType, re.Pattern[str]], ...] = tuple(
    (id_, type_, re.compile(_START + pattern, re.IGNORECASE))
    for id_, type_, pattern in (
        ("i_prefer", MemoryType.PREFERENCE,
         rf"(?:i|we)(?:['’]d| would)? {_OFTEN}(?:prefer|dislike|hate)\b"),
        ("my_preference", MemoryType.PREFERENCE, r"my preferen(?:ce|ces) (?:is|are)\b"),
        ("i_am", MemoryType.IDENTITY,
         r"(?:i am|i['’]m) (?:an?|the|based|responsible|called)\b(?! (?:bit|little|lot)\b)"),
        ("my_role", MemoryType.IDENTITY, r"my (?:name|role|job|time ?zone|pronouns) (?:is|are)\b"),
        ("i_work", MemoryType.IDENTITY, r"i (?:work (?:at|for|as)|live in|maintain)\b"),
        ("i_always", MemoryType.PREFERENCE, r"i (?:always|never)\b"),
        ("we_always", MemoryType.PROJECT, r"we (?:always|never|must always|must never)\b"),
        ("we_decided", MemoryType.PROJECT,
         r"(?:we(?:['’]ve| have)?|i(?:['’]ve| have)?) (?:decided|agreed|chosen|settled on)\b"),
        ("from_now_on", MemoryType.ADAPTATION,
         r"(?:from now on|in (?:the )?future|going forward)\b"),
        ("always_or_never", MemoryType.PREFERENCE,
         r"(?:always|never|do not ever|don['’]t ever) \w+"),
        ("remember_that", MemoryType.KNOWLEDGE, r"(?:remember|keep in mind|note) that\b"),
    )
)  # fmt: skip
"""Openings of sentences, with the resulting type. In a dialogue only the person's sentences
count, and none below a heading, as in a pasted plan."""


def sentence_type(statement: str) -> MemoryType:
    """The type of a statement by its opening; knowledge by default."""
    found = (type_ for _, type_, pattern in SENTENCES if pattern.match(statement))
    return next(found, MemoryType.KNOWLEDGE)


def label_type(label: str, labels: dict[str, StrEnum]) -> StrEnum | None:
    """The type for a label, singular or plural."""
    word = " ".join(label.lower().replace("_", " ").split())
    return labels.get(word) or labels.get(word.removesuffix("s"))
