"""The extractor: records in, candidates out, without a store."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from enum import StrEnum
from functools import lru_cache
from itertools import zip_longest
from typing import TypeAlias

from msgspec import Struct, structs

from reviewer.extraction.candidates import PRIORS, Candidate, RuleClass, Setting
from reviewer.extraction.confidence import confidence, freshness, path_signal
from reviewer.extraction.entities.entity import EntityCandidate, EntityType
from reviewer.extraction.entities.facts import structure_of
from reviewer.extraction.entities.naming import title_parts, wording
from reviewer.extraction.flags import flags_of
from reviewer.extraction.rules import (
    BOLD,
    BRACKET,
    DECISION_HEADINGS,
    DECISIONS_HEADING,
    EXTRACTOR_VERSION,
    HEADING,
    LABELS,
    LABELS_IN_BRACKETS,
    LONGEST_STATEMENT,
    PLAIN,
    SENTENCES,
    SHORTEST_STATEMENT,
    VALUE,
    label_type,
)
from reviewer.sources.records import Record, RecordUse, Role, Shape
from reviewer.text.normalise import duplicate_key
from reviewer.text.sentences import split_sentences
from reviewer.text.units import Unit, UnitKind, units
from reviewer.text.wording import content_words

TOO_SHORT = "below min content length"
TOO_LONG = "above max content length"
NOT_IN_FORCE = "entry superseded or rejected"
SAID_BEFORE = "said before in this session"
PASTED = "in a turn, below a heading or beside markup: a pasted document"
RESTATES_BOOT = "restates boot text"

KNOWN_TEXT = frozenset((RecordUse.BOOT, RecordUse.INJECTED, RecordUse.SUMMARY))
"""Uses of records whose statements are already known."""
_NO_LONGER = ("superseded", "superceded", "deprecated", "rejected", "obsolete", "withdrawn")
_PROSE = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
_LABELLED_LINE = re.compile(
    r"\n(?:\s*[a-z]\))?[^a-z\n]*(?:x\][^a-z\n]*)?"
    rf"(?:{'|'.join(sorted({label.split()[0] for label in LABELS_IN_BRACKETS}))})"
)
"""A line of a lower-case text that starts with a label, behind any marks."""
_CLOSING_TAG = re.compile(r"^</[a-z][\w.-]*>$", re.M)
_ASSIGNED = re.compile(r"=\s*[-+$€£\d]")


class Dropped(Struct, frozen=True):
    """A rejected statement (a line of `dropped.ndjson`); lines are 0-based."""

    reason: str
    content: str
    rule: str | None
    record: str
    line_start: int
    line_end: int


class Restated(Struct, frozen=True):
    """Statements in boot text, injected memories and summaries, known from here on."""

    keys: tuple[str, ...]


Event: TypeAlias = Candidate | Dropped | Restated


class Extractor:
    """Processes the records of one source, one at a time."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._from_person: set[tuple[str | None, str]] = set()
        """The person's statements in each session."""

    def feed(self, record: Record) -> Iterator[Event]:
        if record.use in KNOWN_TEXT:
            found = tuple(duplicate_key(find.content) for find in _finds(record))
            if found:
                yield Restated(found)
        elif record.use is RecordUse.MESSAGE:
            for find in _finds(record):
                yield self._judge(record, find)

    def _judge(self, record: Record, find: _Find) -> Candidate | Dropped:
        content, rule_class = find.statement, find.rule_class
        if len(content) < SHORTEST_STATEMENT:
            return _dropped(TOO_SHORT, record, find)
        if len(content) > LONGEST_STATEMENT:
            return _dropped(TOO_LONG, record, find)
        if record.meta.get("status", "").lower().startswith(_NO_LONGER):
            return _dropped(NOT_IN_FORCE, record, find)
        if rule_class is RuleClass.SENTENCE and record.shape is Shape.TURN:
            if find.unit.heading or _CLOSING_TAG.search(record.text):
                return _dropped(PASTED, record, find)
            statement = (record.session, duplicate_key(content))
            if statement in self._from_person:
                return _dropped(SAID_BEFORE, record, find)
            self._from_person.add(statement)
        prior = PRIORS[rule_class]
        signal, fresh = path_signal(record, self._setting), freshness(record, self._setting)
        candidate = Candidate(
            type=find.type,
            content=content,
            rule=find.rule,
            prior=prior,
            signal=signal,
            freshness=fresh,
            confidence=confidence(prior, signal, fresh),
            record=record,
            span_start=find.start,
            span_end=find.end,
            extractor_version=EXTRACTOR_VERSION,
            flags=flags_of(content, record.role),
        )
        if not isinstance(find.type, EntityType):
            return candidate
        above = _heading_above(record, find.unit)
        structure = structure_of(find.content, find.type, _title(record, find), above)
        return EntityCandidate(
            **{name: getattr(candidate, name) for name in Candidate.__struct_fields__},
            structure=structure,
        )


class BootText:
    """Statements of boot text, which are not proposed when repeated."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        """The normalised statements."""

    def settle(self, event: Event) -> Candidate | Dropped | None:
        """The result for an event; None if it was only remembered."""
        if isinstance(event, Restated):
            self.keys.update(event.keys)
            return None
        if isinstance(event, Candidate) and duplicate_key(event.content) in self.keys:
            first, last = cited_lines(event)
            return Dropped(RESTATES_BOOT, event.content, event.rule, event.record.key, first, last)
        return event


class _Find(Struct, frozen=True):
    """A statement found by a rule: `record.text[start:end]` without its label. `subject`: the title
    of a decision record, which its decision does not repeat.
    """

    rule: str
    rule_class: RuleClass
    type: StrEnum
    content: str
    start: int
    end: int
    unit: Unit
    subject: str = ""

    @property
    def statement(self) -> str:
        return f"{self.subject}: {self.content}" if self.subject else self.content


def _finds(record: Record) -> Iterator[_Find]:
    """The rule matches in a record, in text order."""
    text = record.text
    if not _may_have_any(record):
        return
    stated: set[str] = set()  # headings whose first paragraph was read
    paragraphs = list(_paragraphs(units(text)))
    for paragraph, following in zip_longest(paragraphs, paragraphs[1:]):
        breaks_off = (
            following is not None
            and following[0].kind is UnitKind.LIST_ITEM
            and paragraph[0].kind is UnitKind.SENTENCE
            and text[paragraph[-1].end - 1].isalnum()
        )
        for find in _finds_in(record, paragraph, stated):
            if following and breaks_off and find.end == paragraph[-1].end:
                yield _with_first_item(text, find, following[0])
            else:
                yield find


def _finds_in(record: Record, paragraph: Sequence[Unit], stated: set[str]) -> Iterator[_Find]:
    text, first, end = record.text, paragraph[0], paragraph[-1].end
    if first.kind is UnitKind.HEADING:
        yield from _labelled(text, first, RuleClass.HEADING)
    elif values := list(_values(text, first, end)):
        yield from values
    elif typed := list(_labelled(text, first, RuleClass.LIST_ITEM)):
        yield from typed
    elif record.shape is not Shape.TURN and _may_decide(record, first, stated):
        if first.kind is UnitKind.SENTENCE:
            stated.add(_heading_above(record, first))
        if text[end - 1] != ":" and not text.startswith("![", first.start):
            yield _decision(record, first, end)
    elif record.role is Role.NOTE or (record.role is Role.USER and not record.sidechain):
        for unit in paragraph:
            yield from _sentence(text, unit)


def _with_first_item(text: str, find: _Find, item: Unit) -> _Find:
    """A statement that breaks off before a list, with the first sentence of the list: `we use
    SQLite, because: it is one file`.
    """
    if find.rule_class is RuleClass.VALUE:
        return find
    start, end = next(split_sentences(text, item.start, item.end))
    whole = structs.replace(find, content=f"{find.content}: {wording(text[start:end])}", end=end)
    fits = len(whole.statement) <= LONGEST_STATEMENT
    return whole if fits else structs.replace(whole, subject="")


def _may_have_any(record: Record) -> bool:
    """Whether a rule may match: in an agent's text only labels and values count."""
    if record.shape is not Shape.TURN or (record.role is Role.USER and not record.sidechain):
        return True
    lower = "\n" + record.text.lower()
    return bool(_LABELLED_LINE.search(lower) or ("=" in lower and _ASSIGNED.search(lower)))


def _paragraphs(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """The sentences of each paragraph; headings and list items are separate."""
    together: list[Unit] = []
    for unit in units:
        if together and (unit.block != together[0].block or unit.kind is not UnitKind.SENTENCE):
            yield together
            together = []
        if unit.kind is UnitKind.HEADING or unit.kind in _PROSE:
            together.append(unit)
    if together:
        yield together


def _labelled(text: str, unit: Unit, rule_class: RuleClass) -> Iterator[_Find]:
    """A typed heading, list item or line."""
    forms: tuple[tuple[re.Pattern[str], dict[str, StrEnum]], ...]
    if rule_class is RuleClass.HEADING:
        rule, forms = "typed_heading", ((HEADING, LABELS_IN_BRACKETS),)
    else:
        rule, forms = "typed_list_item", ((BRACKET, LABELS_IN_BRACKETS), (BOLD, LABELS))
        if unit.kind is UnitKind.LIST_ITEM:
            forms = (*forms, (PLAIN, LABELS))
    for form, labels in forms:
        match = form.match(text, unit.start, unit.end)
        if match is None:
            continue
        type_ = label_type(match["label"], labels)
        if type_ is not None:
            yield _find(rule, rule_class, type_, text, match.start("rest"), unit.end, unit)
            return


def _values(text: str, unit: Unit, end: int) -> Iterator[_Find]:
    """The lines of a paragraph that assign a value with a unit."""
    start = text.rfind("\n", 0, unit.start) + 1
    if "=" not in text[start:end]:
        return
    for match in VALUE.finditer(text, start, end):
        if match["unit"] or match["currency"]:
            span = match.span("said")
            type_ = EntityType.PARAMETER
            yield _find("value_and_unit", RuleClass.VALUE, type_, text, *span, unit)


def _sentence(text: str, unit: Unit) -> Iterator[_Find]:
    if text[unit.end - 1 : unit.end] in "?:":
        return
    for rule, type_, pattern in SENTENCES:
        if pattern.match(text[unit.start : unit.end]):
            yield _find(rule, RuleClass.SENTENCE, type_, text, unit.start, unit.end, unit)
            return


def _find(
    rule: str, rule_class: RuleClass, type_: StrEnum, text: str, start: int, end: int, unit: Unit
) -> _Find:
    return _Find(rule, rule_class, type_, wording(text[start:end]), start, end, unit)


def _decision(record: Record, first: Unit, end: int) -> _Find:
    """The decision that begins with a unit: the paragraph, or its first sentence if that is too
    long; of a decision record, with its title where that says more.
    """
    whole, short = (
        _find(
            "decision_section", RuleClass.HEADING, EntityType.DECISION,
            record.text, first.start, each, first,
        )
        for each in (end, first.end)
    )  # fmt: skip
    title = title_parts(_title(record, whole))[1] if len(record.headings) == 1 else ""
    if not set(content_words(title)).issubset(content_words(whole.content)):
        for found in (whole, short):
            titled = structs.replace(found, subject=title)
            if len(titled.statement) <= LONGEST_STATEMENT:
                return titled
    return whole if len(whole.content) <= LONGEST_STATEMENT else short


def _may_decide(record: Record, unit: Unit, stated: Set[str]) -> bool:
    """Whether a paragraph or list item states a decision: below a heading for one, the first
    paragraph, without the reasoning and the lists after it; below a heading for several, each item.
    """
    heading = _heading_above(record, unit)
    word = heading.strip(" *_:#").lower()
    if word == DECISIONS_HEADING:
        return unit.kind is UnitKind.LIST_ITEM
    return word in DECISION_HEADINGS and heading not in stated


def _title(record: Record, find: _Find) -> str:
    """The title of a decision record, which states its decision."""
    if find.rule_class is not RuleClass.HEADING or find.rule == "typed_heading":
        return ""
    titles = [each for each in record.headings if each.lower() not in DECISION_HEADINGS]
    return titles[-1] if titles else ""


def _heading_above(record: Record, unit: Unit) -> str:
    return unit.heading or (record.headings[-1] if record.headings else "")


def _dropped(reason: str, record: Record, find: _Find) -> Dropped:
    lines = lines_of_span(record, find.start, find.end)
    return Dropped(reason, find.content[:LONGEST_STATEMENT], find.rule, record.key, *lines)


def cited_lines(candidate: Candidate) -> tuple[int, int]:
    """The lines of a candidate's evidence (0-based, half-open)."""
    return lines_of_span(candidate.record, candidate.span_start, candidate.span_end)


def lines_of_span(record: Record, start: int, end: int) -> tuple[int, int]:
    """The lines of `record.text[start:end]` (0-based, half-open): exact if the record's text is its
    lines in the file (not a string inside JSON), else all lines of the record.
    """
    ends = _line_ends(record.text)
    if len(ends) + 1 != record.line_end - record.line_start:
        return record.line_start, record.line_end
    first = record.line_start + bisect_left(ends, start)
    return first, record.line_start + bisect_left(ends, end) + 1


@lru_cache(maxsize=2)
def _line_ends(text: str) -> list[int]:
    return [found.start() for found in re.finditer("\n", text)]
