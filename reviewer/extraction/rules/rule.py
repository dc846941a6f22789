"""A rule is a named reason to propose a statement as a memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from reviewer.extraction.candidates import PRIORS, MemoryType, RuleClass
from reviewer.sources.records import Role, Shape
from reviewer.text.units import UnitKind, units


class Statement(Struct, frozen=True):
    """A stretch of a record that could become a memory, with its surroundings."""

    text: str
    """Cleaned: the candidate's content."""
    lower: str
    """`text` in lower case."""
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
    """Whether its record closes the turn, so that the user speaks next."""


class Rule(Struct, frozen=True):
    """One rule. Its examples are its tests: small Markdown texts, and whether the rule matches.

    `quality` (0 to 1): how often its proposals are worth keeping, compared with other rules of its
    class. It ranks rules and proposals and does not enter the confidence.
    """

    id: str
    rule_class: RuleClass
    type: MemoryType
    description: str
    matches: Callable[[Statement], bool]
    examples: tuple[tuple[str, bool], ...]
    quality: float = 0.5
    shortest: int = 8
    """Minimum characters of a statement; a loose pattern needs longer ones."""
    kinds: tuple[UnitKind, ...] = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
    """Kinds of unit that it reads."""
    turns: bool = True
    """Whether it reads conversations, or only notes."""
    narration: bool = False
    """Whether it reads only narration ("let me check ...")."""
    role: Role = Role.ASSISTANT
    """Role in the examples."""
    shape: Shape = Shape.TURN
    """Shape of the record in the examples."""

    @property
    def prior(self) -> float:
        return PRIORS[self.rule_class]


def example_statements(rule: Rule, text: str) -> Iterator[Statement]:
    """The statements of an example, as the rule gets them from a record.

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


def says(
    pattern: str, *, by: tuple[Role, ...] = (), unless: str = ""
) -> Callable[[Statement], bool]:
    """A test on prose: `pattern` occurs and `unless` does not, spoken by one of `by` (empty: all).

    Patterns are written in lower case and search the lower-case text, which is several times
    faster than ignoring case.
    """
    wanted = re.compile(pattern)
    unwanted = re.compile(unless) if unless else None

    def test(statement: Statement) -> bool:
        return (
            (not by or statement.role in by)
            and statement.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
            and wanted.search(statement.lower) is not None
            and (unwanted is None or unwanted.search(statement.lower) is None)
        )

    return test
