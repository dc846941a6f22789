"""What a rule is: a named reason to propose a statement as a memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from reviewer.extraction.candidates import PRIORS, MemoryType, RuleClass
from reviewer.sources.records import Role, Shape
from reviewer.text.units import UnitKind, units


class Statement(Struct, frozen=True):
    """A stretch of a record that could become a memory, with what stands around it."""

    text: str
    """Cleaned: what the candidate's content would be."""
    lower: str
    """The same in lower case."""
    kind: UnitKind
    role: Role
    shape: Shape
    heading: str = ""
    """Nearest heading or bold line above, within the record."""
    title: str = ""
    """Innermost heading of the record itself (notes)."""
    marker: str = ""
    """List mark, with its checkbox."""
    final: bool = False
    """Whether its record closes the turn: the person speaks next."""


class Rule(Struct, frozen=True):
    """One rule. Its examples are its tests: small Markdown texts, and whether the rule matches.

    `quality` (0 to 1) says how often what it proposes is worth keeping, compared with other rules
    of its class; it ranks and chooses between rules, it is no part of the confidence.
    """

    id: str
    rule_class: RuleClass
    type: MemoryType
    description: str
    matches: Callable[[Statement], bool]
    examples: tuple[tuple[str, bool], ...]
    quality: float = 0.5
    shortest: int = 8
    """Characters below which the rule proposes nothing: a loose pattern needs more to go on."""
    kinds: tuple[UnitKind, ...] = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
    """Of what it may propose at all."""
    turns: bool = True
    """Whether it may propose what is said in a conversation."""
    narration: bool = False
    """Whether the rule is for what its speaker is about to do; no other rule takes that."""
    cue: str | None = None
    """A pattern in lower case of what must stand in a statement for `matches`
    (`extraction/cues.py`); None where nothing must, or where `matches` has a pattern itself."""
    role: Role = Role.ASSISTANT
    """Who speaks in the examples."""
    shape: Shape = Shape.TURN
    """Where the examples stand."""

    @property
    def prior(self) -> float:
        """Prior confidence of the rule's class."""
        return PRIORS[self.rule_class]

    def may_be_said_by(self, role: Role) -> bool:
        """Whether the rule is for what such a speaker says."""
        return not isinstance(self.matches, Says) or not self.matches.by or role in self.matches.by


def example_statements(rule: Rule, text: str) -> Iterator[Statement]:
    """The statements of an example, as the rule would meet them in a record's text.

    The first heading of an example is its record's title.
    """
    title = ""
    for unit in units(text):
        content = text[unit.start : unit.end]
        if unit.kind is UnitKind.HEADING and not title:
            title = content
        yield Statement(
            text=content,
            lower=content.lower(),
            kind=unit.kind,
            role=rule.role,
            shape=rule.shape,
            heading=unit.heading,
            title=title,
            marker=unit.marker,
            final=True,
        )


class Says:
    """A test on prose: a pattern occurs, spoken by the right person. Made by `says`."""

    __slots__ = ("_unwanted", "_wanted", "by", "pattern")

    def __init__(self, pattern: str, by: tuple[Role, ...], unless: str) -> None:
        self.pattern = pattern
        self._wanted = re.compile(pattern)
        self._unwanted = re.compile(unless) if unless else None
        self.by = by

    def __call__(self, statement: Statement) -> bool:
        """Whether the statement says it."""
        return bool(self._wanted.search(statement.lower)) and self.is_said(statement)

    def is_said(self, statement: Statement) -> bool:
        """Whether a statement says it, when the pattern is known to occur."""
        if self.by and statement.role not in self.by:
            return False
        if statement.kind not in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
            return False
        return self._unwanted is None or not self._unwanted.search(statement.lower)


def says(pattern: str, *, by: tuple[Role, ...] = (), unless: str = "") -> Says:
    """A test on prose: `pattern` occurs, spoken by one of `by` (empty: anybody).

    Patterns are written in lower case and read the lower-case text, which is several times
    faster than ignoring case.
    """
    return Says(pattern, by, unless)
