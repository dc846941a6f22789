"""Relations stated in a text, and the names of their targets."""

from __future__ import annotations

import re

from reviewer.extraction.entities.entity import Relation, RelationKind
from reviewer.extraction.entities.naming import leans, name_key, named

# A target is a link, code, something quoted, an identifier such as R-12, or a short noun phrase.
_TARGET = (
    r"(?P<target>\[\[[^\]\n]{1,100}\]\]|\[[^\]\n]{1,100}\]\([^)\n]{0,300}\)|`[^`\n]{1,80}`"
    r"|[\"“][^\"”\n]{2,80}[\"”]|(?:ADR|RFC|REQ|[A-Z]{1,6})[- #]{0,2}\d{1,5}\b"
    r"|(?:the |a |an |our )?[\w][\w./+-]{0,40}(?: [\w./+-]{1,40}){0,4}?)"
    r"(?=\s*(?:$|[,;:()\n]|\.(?:\s|$)|\s(?:and|or|but|for|to|in|on|at|by|with|because|since|so|when"
    r"|which|that|who|if|as|from|is|are|was|were|has|have|must|shall|may|can)\b))"
)
_VERBS: tuple[tuple[RelationKind, str], ...] = (
    (RelationKind.PART_OF, r"(?:part of|belongs? to|a (?:component|module|subsystem|part) of)"),
    (RelationKind.DEPENDS_ON, r"depends? (?:up)?on"),
    (RelationKind.SATISFIES, r"(?:satisf(?:y|ies)|fulfil(?:l?s)?|meets)(?: requirement)?"),
    (RelationKind.SUPERSEDES, r"(?:(?:in part |partly )?super[sc]edes)"),
    (RelationKind.USES, r"uses"),
    (RelationKind.SUPPLIED_BY, r"(?:supplied|provided|manufactured|delivered|sold) by|bought from"),
    (RelationKind.VALIDATES, r"(?:validates|verifies)(?: requirement)?"),
)  # fmt: skip
_STATED = tuple(
    (kind, re.compile(rf"\b(?i:{verb})\s+{_TARGET}", re.MULTILINE)) for kind, verb in _VERBS
)
_CUE = re.compile(
    r"part of|belongs? to|a (?:component|module|subsystem|part) of|depends? (?:up)?on|satisf|fulfil"
    r"|meets? |super[sc]edes|uses |(?:supplied|provided|manufactured|delivered|sold) by|bought from"
    r"|validates|verifies",
    re.IGNORECASE,
)
_LABELS = {
    "part of": RelationKind.PART_OF,
    "belongs to": RelationKind.PART_OF,
    "parent": RelationKind.PART_OF,
    "depends on": RelationKind.DEPENDS_ON,
    "dependencies": RelationKind.DEPENDS_ON,
    "satisfies": RelationKind.SATISFIES,
    "fulfils": RelationKind.SATISFIES,
    "supersedes": RelationKind.SUPERSEDES,
    "replaces": RelationKind.SUPERSEDES,
    "uses": RelationKind.USES,
    "supplied by": RelationKind.SUPPLIED_BY,
    "supplier": RelationKind.SUPPLIED_BY,
    "vendor": RelationKind.SUPPLIED_BY,
    "validates": RelationKind.VALIDATES,
    "verifies": RelationKind.VALIDATES,
}
_NOT_A_LIST = re.compile(r"[,;]|\band\b")


def relations_in(text: str, name: str = "") -> tuple[Relation, ...]:
    """The relations stated in prose; `name` is their entity, which is never its own target.

    A negated statement (`does not depend on`, `no longer uses`) does not count.
    """
    if not _CUE.search(text):
        return ()
    found: dict[Relation, None] = {}
    for kind, pattern in _STATED:
        for match in pattern.finditer(text):
            before = text[max(match.start() - 14, 0) : match.start()].lower()
            if re.search(r"\b(?:not|no longer|never|n't|nor)\s+(?:\w+\s+)?$", before):
                continue
            target = named(match["target"])
            if len(target) > 1 and not leans(target) and name_key(target) != name_key(name):
                found[Relation(kind, target)] = None
    return tuple(found)


def labelled_relations(label: str, value: str) -> tuple[Relation, ...]:
    """The relations of a line such as `Depends on: A, B`; empty if the label is not a kind."""
    kind = _LABELS.get(name_key(label))
    if kind is None:
        return ()
    targets = (named(part.strip()) for part in _NOT_A_LIST.split(value))
    return tuple(Relation(kind, target) for target in targets if len(target) > 1)
