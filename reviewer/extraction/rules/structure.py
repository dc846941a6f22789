"""Rules on structure: typed headings, typed list items, entries of decision and learning logs."""

from __future__ import annotations

import re
from collections.abc import Callable

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.rules.rule import Rule, Statement
from reviewer.sources.records import Role, Shape
from reviewer.text.units import UnitKind

_PROSE = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)

_TYPED_HEADING = re.compile(
    r"(?:decision|requirement|constraint|lesson|learning|preference|convention|principle|gotcha"
    r"|assumption|risk|root cause|entscheidung)s?(?:[ ]#?\d+)?[ ]*(?::|[-–—])[ ]*\S.{6,}",
    re.IGNORECASE,
)
_PREFERENCE_KINDS = re.compile(r"preference|style|taste|like", re.IGNORECASE)
_KNOWLEDGE_KINDS = re.compile(
    r"fact|knowledge|insight|gotcha|lesson|learning|tip|technique|finding|cause|caveat|method|definition",
    re.IGNORECASE,
)
# `[Decision] ...` and basic-memory's `[category] fact #tag`; not a checkbox, link or footnote
_TYPED_ITEM = re.compile(r"\[(?P<kind>[A-Za-z][\w /-]{2,30})\][ ]+(?!\()\S.{7,}")
_TYPED_LEAD = re.compile(
    r"(?:\*\*|__)?(?P<kind>decision|decided|requirement|constraint|lesson(?: learned)?|learning"
    r"|preference|convention|gotcha|note|important|caveat|assumption|rationale|root cause|fix|cause"
    r"|problem|limitation|trade-?off|why|key (?:insight|finding|point))s?"
    r"(?:\*\*|__)?[ ]*+:[ ]*+(?:\*\*|__)?[ ]*+\S.{7,}",
    re.IGNORECASE,
)
_DECISION_HEADING = re.compile(r"decisions?(?: outcome)?|we decided|resolution", re.IGNORECASE)
_LESSON_HEADING = re.compile(
    r"(?:lessons?(?: learned)?|learnings?|insights?|key takeaways?|takeaways?|gotchas?"
    r"|pitfalls?|caveats?)",
    re.IGNORECASE,
)
_RULE_HEADING = re.compile(
    r"(?:.*\b(?:requirements?|constraints?|conventions?|principles?|guidelines?|preferences?"
    r"|invariants?|rules)\b.*)",
    re.IGNORECASE,
)
_CONSEQUENCE_HEADING = re.compile(
    r"(?:positive |negative )?(?:consequences?|rationale|justification|implications?"
    r"|known (?:issues|limitations)|limitations?|trade-?offs?|risks?|root cause)",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r"(?:good|bad|neutral|pros?|cons?)\b[,:]", re.IGNORECASE)
_DECISION_LINE = re.compile(r"decision[ ]*:[ ]*\S.{7,}", re.IGNORECASE)
_REASON_LINE = re.compile(r"(?:rationale|consequences?|impact)[ ]*:[ ]*\S.{7,}", re.IGNORECASE)
_LESSON_LINE = re.compile(r"(?:lesson|application|insight)s?[ ]*:[ ]*\S.{7,}", re.IGNORECASE)


def _typed_heading(statement: Statement) -> bool:
    return statement.kind is UnitKind.HEADING and bool(_TYPED_HEADING.match(statement.text))


def _typed_item(kinds: re.Pattern[str] | None) -> Callable[[Statement], bool]:
    def test(statement: Statement) -> bool:
        if statement.kind is not UnitKind.LIST_ITEM:
            return False
        match = _TYPED_ITEM.match(statement.text)
        if match is None:
            return False
        return kinds is None or bool(kinds.match(match["kind"]))

    return test


def _typed_lead(statement: Statement) -> bool:
    return statement.kind in _PROSE and bool(_TYPED_LEAD.match(statement.text))


def _entry_line(pattern: re.Pattern[str]) -> Callable[[Statement], bool]:
    def test(statement: Statement) -> bool:
        return (
            statement.shape is not Shape.TURN
            and statement.kind in _PROSE
            and bool(pattern.match(statement.text.replace("**", "")))
        )

    return test


def _entry_title(statement: Statement) -> bool:
    return (
        statement.shape is Shape.ENTRY
        and statement.kind is UnitKind.HEADING
        and statement.text in statement.title
    )


def _in_note_under(heading: re.Pattern[str], statement: Statement) -> bool:
    if statement.shape is Shape.TURN or statement.kind not in _PROSE:
        return False
    if _TYPED_ITEM.match(statement.text):  # another rule covers it by its own label
        return False
    return bool(heading.fullmatch(statement.heading.strip(" *_:#")))


def _argument(statement: Statement) -> bool:
    return statement.kind in _PROSE and bool(_ARGUMENT.match(statement.text))


def _decision_section(statement: Statement) -> bool:
    return _in_note_under(_DECISION_HEADING, statement)


def _lesson_section(statement: Statement) -> bool:
    return _in_note_under(_LESSON_HEADING, statement)


def _rule_section(statement: Statement) -> bool:
    return _in_note_under(_RULE_HEADING, statement)


def _consequence_section(statement: Statement) -> bool:
    return _in_note_under(_CONSEQUENCE_HEADING, statement)


RULES = (
    Rule(
        id="typed_heading",
        rule_class=RuleClass.HEADING,
        type=MemoryType.PROJECT,
        description="A heading that names its kind and states the fact: `## Decision: use X`.",
        matches=_typed_heading,
        kinds=(UnitKind.HEADING,),
        quality=0.8,
        examples=(
            ("## Decision: keep one SQLite file per project\n\nBecause.", True),
            ("### Constraint - no network at start-up", True),
            ("## Decisions\n\nNone yet.", False),
            ("Decision: keep one file", False),
        ),
    ),
    Rule(
        id="decision_entry_line",
        rule_class=RuleClass.HEADING,
        type=MemoryType.PROJECT,
        description="The Decision line of an entry in a decision log.",
        matches=_entry_line(_DECISION_LINE),
        turns=False,
        quality=0.9,
        role=Role.NOTE,
        shape=Shape.ENTRY,
        examples=(
            ("**Decision**: Store timestamps as UTC text", True),
            ("**Status**: Accepted", False),
            ("**Decision**:", False),
        ),
    ),
    Rule(
        id="reason_entry_line",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="The Rationale or Consequence line of an entry in a decision log.",
        matches=_entry_line(_REASON_LINE),
        turns=False,
        quality=0.6,
        role=Role.NOTE,
        shape=Shape.ENTRY,
        examples=(
            ("**Rationale**: Local times repeat an hour each autumn", True),
            ("**Consequence**: Readers must convert to local time", True),
            ("**Decision**: Store timestamps as UTC text", False),
        ),
    ),
    Rule(
        id="lesson_entry_line",
        rule_class=RuleClass.HEADING,
        type=MemoryType.KNOWLEDGE,
        description="The Lesson or Application line of an entry in a log of learnings.",
        matches=_entry_line(_LESSON_LINE),
        turns=False,
        quality=0.9,
        role=Role.NOTE,
        shape=Shape.ENTRY,
        examples=(
            ("**Lesson**: The cache must be flushed before the rename", True),
            ("**Context**: The cache was not flushed", False),
        ),
    ),
    Rule(
        id="entry_title",
        rule_class=RuleClass.HEADING,
        type=MemoryType.PROJECT,
        description="The title of a decision record or log entry, which states it in one line.",
        matches=_entry_title,
        kinds=(UnitKind.HEADING,),
        turns=False,
        quality=0.6,
        shortest=20,
        role=Role.NOTE,
        shape=Shape.ENTRY,
        examples=(
            ("# Keep one worker for each queue\n\n## Considered alternatives", True),
            ("# Queues\n\nKeep one worker for each queue.", False),
        ),
    ),
    Rule(
        id="decision_section",
        rule_class=RuleClass.HEADING,
        type=MemoryType.PROJECT,
        description="A sentence or item under the Decision heading of a decision record.",
        matches=_decision_section,
        turns=False,
        quality=0.85,
        role=Role.NOTE,
        shape=Shape.SECTION,
        examples=(
            ("## Decision\n\nWe will run one worker per queue.", True),
            ("## Decision Outcome\n\n- Chosen option: the embedded database", True),
            ("## Context\n\nWe run one worker per queue.", False),
        ),
    ),
    Rule(
        id="lesson_section",
        rule_class=RuleClass.HEADING,
        type=MemoryType.KNOWLEDGE,
        description="A statement of a note under a heading of lessons, learnings or gotchas.",
        matches=_lesson_section,
        turns=False,
        quality=0.7,
        role=Role.NOTE,
        shape=Shape.SECTION,
        examples=(
            ("## Lessons learned\n\n- Retries hide a full disk", True),
            ("## Gotchas\n\nThe port is taken on macOS.", True),
            ("## Agenda\n\n- Retries", False),
        ),
    ),
    Rule(
        id="typed_preference_item",
        rule_class=RuleClass.LIST_ITEM,
        type=MemoryType.PREFERENCE,
        description="A list item marked as a preference: `- [Preference] ...`.",
        matches=_typed_item(_PREFERENCE_KINDS),
        kinds=(UnitKind.LIST_ITEM,),
        quality=0.75,
        examples=(
            ("- [Preference] Short commit messages with a reason", True),
            ("- [Decision] Short commit messages", False),
        ),
    ),
    Rule(
        id="typed_knowledge_item",
        rule_class=RuleClass.LIST_ITEM,
        type=MemoryType.KNOWLEDGE,
        description="A list item marked as something learned: `- [gotcha] ...`, `- [fact] ...`.",
        matches=_typed_item(_KNOWLEDGE_KINDS),
        kinds=(UnitKind.LIST_ITEM,),
        quality=0.72,
        examples=(
            ("- [technique] Rinse the filter before use #brewing", True),
            ("- [Gotcha] The port is taken on some machines", True),
            ("- [Decision] Another port", False),
        ),
    ),
    Rule(
        id="typed_list_item",
        rule_class=RuleClass.LIST_ITEM,
        type=MemoryType.PROJECT,
        description="A list item that begins with its kind in brackets: `- [Decision] ...`.",
        matches=_typed_item(None),
        kinds=(UnitKind.LIST_ITEM,),
        quality=0.7,
        examples=(
            ("- [Decision] Ship the wheel without fonts", True),
            ("- [Requirement] Every export carries a checksum", True),
            ("- [ ] Ship the wheel", False),
            ("- [docs](https://example.org/a) are here", False),
        ),
    ),
    Rule(
        id="labelled_statement",
        rule_class=RuleClass.LIST_ITEM,
        type=MemoryType.KNOWLEDGE,
        description="A statement that begins with what it is: `**Root cause**: ...`, `Note: ...`.",
        matches=_typed_lead,
        quality=0.6,
        examples=(
            ("**Root cause**: the lock file survives a crash.", True),
            ("- **Constraint:** at most 50 rows a batch", True),
            ("**Files**: a.py and b.py", False),
            ("The note: nothing to say about it", False),
        ),
    ),
    Rule(
        id="rule_section",
        rule_class=RuleClass.LIST_ITEM,
        type=MemoryType.PROJECT,
        description="A statement of a note under requirements, constraints or conventions.",
        matches=_rule_section,
        turns=False,
        quality=0.5,
        role=Role.NOTE,
        shape=Shape.SECTION,
        examples=(
            ("## Coding conventions\n\n- Errors are sentences", True),
            ("## Hard constraints\n\nNothing leaves the machine.", True),
            ("## Introduction\n\n- Errors are sentences", False),
        ),
    ),
    Rule(
        id="consequence_section",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="A consequence, rationale, limitation or risk that a note states as such.",
        matches=_consequence_section,
        turns=False,
        quality=0.6,
        role=Role.NOTE,
        shape=Shape.SECTION,
        examples=(
            ("## Consequences\n\nTwo machines must be kept in step.", True),
            ("## Known limitations\n\n- No support for symlinks", True),
            ("## Usage\n\nTwo machines must be kept in step.", False),
        ),
    ),
    Rule(
        id="option_argument",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="An argument for or against one option of a decision: `Good, because ...`.",
        matches=_argument,
        quality=0.75,
        examples=(
            ("* Good, because the tables stay readable", True),
            ("* Bad, because the file grows for ever", True),
            ("A good file stays readable because it is short.", False),
        ),
    ),
)
