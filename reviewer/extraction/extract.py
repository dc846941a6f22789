"""Records in, candidates out: the whole extractor, without a store and without looking back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from reviewer.clock import from_iso
from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.confidence import confidence, freshness_of
from reviewer.extraction.flags import flags_of
from reviewer.extraction.hints import structural_signal
from reviewer.extraction.labels import unlabelled
from reviewer.extraction.passages import Passage, passages, wording
from reviewer.extraction.rules import EXTRACTOR_VERSION, first_match
from reviewer.extraction.rules.rule import Statement
from reviewer.extraction.screens import RESTATES_BOOT
from reviewer.extraction.weights import weight
from reviewer.sources.records import Record, Role, Use
from reviewer.text.units import UnitKind, units_of

NO_RULE = "no rule matched"
NOT_IN_FORCE = "entry superseded or rejected"
_NO_LONGER = ("superseded", "deprecated", "rejected", "obsolete", "withdrawn")
_KNOWN_TEXT = frozenset((Use.BOOT, Use.INJECTED, Use.SUMMARY))
_MOST_KNOWN = 50_000
"""Sentences of boot text remembered; the oldest give way, so that memory stays flat."""


class Dropped(Struct, frozen=True):
    """What was looked at and not proposed (a line of `dropped.ndjson`). Lines are 0-based."""

    reason: str
    content: str
    rule: str | None
    record: str
    line_start: int
    line_end: int


class KnownText:
    """Sentences of boot text, injected memories and summaries, which say nothing new."""

    def __init__(self) -> None:
        self._sentences: dict[int, None] = {}

    def remember(self, text: str) -> None:
        """Take in every sentence and list item of a text."""
        for unit in units_of(text):
            if unit.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
                self._sentences[_print(wording(text[unit.start : unit.end]))] = None
                if len(self._sentences) > _MOST_KNOWN:
                    del self._sentences[next(iter(self._sentences))]

    def holds(self, content: str) -> bool:
        """Whether a wording restates one of them."""
        return bool(self._sentences) and _print(content) in self._sentences


def _print(content: str) -> int:
    return hash(content.lower())  # cleaned already, so this is as good as the duplicate key


def extract(
    records: Iterable[Record],
    setting: Setting,
    dropped: Callable[[Dropped], None] | None = None,
    *,
    known: KnownText | None = None,
) -> Iterator[Candidate]:
    """Propose candidates from a stream of records, in their order; `dropped` hears of the rest.

    `known` carries boot text from one file of a pass to the next.

    Only records with use SAID are looked at. One reply is held back until the next record shows
    whether it closes a turn; otherwise nothing is kept, so memory is flat in the file's size.
    """
    known = KnownText() if known is None else known
    signal = structural_signal(setting.path)
    held: Record | None = None
    for record in records:
        if record.use in _KNOWN_TEXT:
            known.remember(record.text)
        elif record.use is Use.SAID:
            if held is not None:
                final = record.role is Role.USER
                yield from _from_record(held, final, setting, signal, known, dropped)
            held = record
    if held is not None:
        yield from _from_record(held, True, setting, signal, known, dropped)


def cited_lines(candidate: Candidate) -> tuple[int, int]:
    """The lines, 0-based and half-open, that a candidate's evidence points at."""
    return lines_of_span(candidate.record, candidate.span_start, candidate.span_end)


def lines_of_span(record: Record, start: int, end: int) -> tuple[int, int]:
    """The lines of `record.text[start:end]`: exact where the text is the record's own lines, else
    all of the record's.
    """
    if record.text.count("\n") + 1 != record.line_end - record.line_start:
        return record.line_start, record.line_end
    first = record.line_start + record.text.count("\n", 0, start)
    return first, first + record.text.count("\n", start, end) + 1


def _from_record(
    record: Record,
    final: bool,
    setting: Setting,
    signal: float,
    known: KnownText,
    dropped: Callable[[Dropped], None] | None,
) -> Iterator[Candidate]:
    def drop(reason: str, content: str, start: int, end: int) -> None:
        if dropped is not None:
            lines = lines_of_span(record, start, end)
            dropped(Dropped(reason, content, None, record.key, *lines))

    settled_otherwise = record.meta.get("status", "").lower().startswith(_NO_LONGER)
    fresh = freshness_of(from_iso(record.at) if record.at else setting.updated, setting.now)
    for passage in passages(record, drop):
        if known.holds(passage.content):
            drop(RESTATES_BOOT, passage.content, passage.start, passage.end)
            continue
        if settled_otherwise:
            drop(NOT_IN_FORCE, passage.content, passage.start, passage.end)
            continue
        statement = _statement(record, passage, final)
        rule = first_match(statement)
        if rule is None:
            drop(NO_RULE, passage.content, passage.start, passage.end)
            continue
        start, content = unlabelled(record.text, passage.start, passage.end, passage.content)
        yield Candidate(
            type=rule.type,
            content=content,
            rule=rule.id,
            prior=rule.prior,
            signal=signal,
            freshness=fresh,
            confidence=confidence(rule.prior, signal, fresh),
            weight=weight(statement, rule),
            record=record,
            span_start=start,
            span_end=passage.end,
            extractor_version=EXTRACTOR_VERSION,
            flags=flags_of(content, record.role),
        )


def _statement(record: Record, passage: Passage, final: bool) -> Statement:
    unit = passage.unit
    return Statement(
        text=passage.content,
        lower=passage.content.lower(),
        kind=unit.kind,
        role=record.role,
        shape=record.shape,
        heading=unit.heading or (record.headings[-1] if record.headings else ""),
        title=record.headings[-1] if record.headings else "",
        marker=unit.marker,
        final=final,
    )
