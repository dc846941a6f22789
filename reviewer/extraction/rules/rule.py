"""What a rule is: a named reason to propose a statement as a memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.sources.records import Role, Shape
from reviewer.text.units import UnitKind, units

PRIORS: dict[RuleClass, float] = {
    RuleClass.HEADING: 0.70,
    RuleClass.LIST_ITEM: 0.65,
    RuleClass.VALUE: 0.60,
    RuleClass.SENTENCE: 0.50,
}
"""Prior confidence of each rule class (`promotion-rules.md`, Confidence and ranking)."""


class Statement(Struct, frozen=True):
    """A stretch of a record that could become a memory, with what stands around it."""

    text: str
    """Cleaned: what the candidate's content would be."""
    kind: UnitKind
    role: Role
    shape: Shape
    heading: str = ""
    """Nearest heading or bold line above, within the record."""
    titles: tuple[str, ...] = ()
    """Headings of the note down to the record's own."""
    marker: str = ""
    """List mark, with its checkbox."""
    first: bool = False
    """Whether it opens its record."""
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
    role: Role = Role.ASSISTANT
    """Who speaks in the examples."""
    shape: Shape = Shape.TURN
    """Where the examples stand."""

    @property
    def prior(self) -> float:
        """Prior confidence of the rule's class."""
        return PRIORS[self.rule_class]


def example_statements(rule: Rule, text: str) -> Iterator[Statement]:
    """The statements of an example, as the rule would meet them in a record's text."""
    titles = ("Decisions", "An example entry") if rule.shape is not Shape.TURN else ()
    for number, unit in enumerate(units(text)):
        yield Statement(
            text=text[unit.start : unit.end],
            kind=unit.kind,
            role=rule.role,
            shape=rule.shape,
            heading=unit.heading,
            titles=titles,
            marker=unit.marker,
            first=number == 0,
            final=True,
        )


def says(
    pattern: str, *, by: tuple[Role, ...] = (), unless: str = ""
) -> Callable[[Statement], bool]:
    """A test on prose: `pattern` occurs (case ignored), spoken by one of `by` (empty: anybody)."""
    wanted = re.compile(pattern, re.IGNORECASE)
    unwanted = re.compile(unless, re.IGNORECASE) if unless else None

    def test(statement: Statement) -> bool:
        if by and statement.role not in by:
            return False
        if statement.kind not in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
            return False
        if not wanted.search(statement.text):
            return False
        return unwanted is None or not unwanted.search(statement.text)

    return test
