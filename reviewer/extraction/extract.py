"""The memory extractor: records in, candidates out, without a store."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from msgspec import structs

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.confidence import confidence, freshness, structural_signal
from reviewer.extraction.flags import flags_of
from reviewer.extraction.passages import Passage, passages, unlabelled
from reviewer.extraction.rejections import RESTATES_BOOT, SHORTEST_STATEMENT, TOO_SHORT
from reviewer.extraction.rules import EXTRACTOR_VERSION, first_match
from reviewer.extraction.rules.rule import Statement
from reviewer.extraction.verdicts import Dropped, KnownText, Verdict, settled
from reviewer.extraction.weights import weight
from reviewer.sources.records import Record, Role, Use

__all__ = ["Dropped", "KnownText", "Statements", "cited_lines", "extract", "lines_of_span"]

NO_RULE = "no rule matched"
NOT_IN_FORCE = "entry superseded or rejected"
_NO_LONGER = ("superseded", "deprecated", "rejected", "obsolete", "withdrawn")
_SHORT_TEXT = 2_000
"""Up to this many characters, counting line ends is faster than caching their offsets."""
_LINE_END = re.compile("\n")
KNOWN_TEXT = frozenset((Use.BOOT, Use.INJECTED, Use.SUMMARY))
"""Uses of records whose sentences are known already."""


def extract(
    records: Iterable[Record],
    setting: Setting,
    dropped: Callable[[Dropped], None] | None = None,
    *,
    known: KnownText | None = None,
) -> Iterator[Candidate]:
    """Propose candidates from a stream of records, in their order; the rest goes to `dropped`.

    `known` carries boot text from one file of a pass to the next. Only records with use MESSAGE are
    judged. Each record is kept until the next one shows whether it closes a turn, so memory use
    does not depend on the size of the file.
    """
    known = KnownText() if known is None else known
    statements = Statements(setting)
    for record in records:
        if record.use in KNOWN_TEXT:
            known.remember(record.text)
        elif record.use is Use.MESSAGE:
            yield from settled(statements.feed(record), known, dropped)
    yield from settled(statements.finish(), known, dropped)


class Statements:
    """Judges the statements of a source's messages, each record when the next one arrives."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._signal = structural_signal(setting.path)
        self._pending: Record | None = None

    def feed(self, record: Record) -> Iterator[Verdict]:
        """Verdicts on the record before `record`."""
        previous, self._pending = self._pending, record
        if previous is not None:
            yield from judge_record(previous, record.role is Role.USER, self._setting, self._signal)

    def finish(self) -> Iterator[Verdict]:
        if self._pending is not None:
            yield from judge_record(self._pending, True, self._setting, self._signal)
            self._pending = None


def cited_lines(candidate: Candidate) -> tuple[int, int]:
    """The lines of a candidate's evidence, 0-based and half-open."""
    return lines_of_span(candidate.record, candidate.span_start, candidate.span_end)


def lines_of_span(record: Record, start: int, end: int) -> tuple[int, int]:
    """The lines of `record.text[start:end]`, 0-based and half-open: exact if the text is the
    record's own lines, else all of the record's.
    """
    if not has_own_lines(record):
        return record.line_start, record.line_end
    first = record.line_start + lines_before(record.text, start)
    return first, record.line_start + lines_before(record.text, end) + 1


def has_own_lines(record: Record) -> bool:
    """Whether a record's text is its lines in the file (if not, it is a string inside JSON)."""
    ends = lines_before(record.text, len(record.text))
    return ends + 1 == record.line_end - record.line_start


def lines_before(text: str, offset: int) -> int:
    """The number of line ends in `text[:offset]`."""
    if len(text) <= _SHORT_TEXT:
        return text.count("\n", 0, offset)
    return bisect_left(_line_ends(text), offset)


@lru_cache(maxsize=2)
def _line_ends(text: str) -> list[int]:
    return [match.start() for match in _LINE_END.finditer(text)]


def judge_record(record: Record, final: bool, setting: Setting, signal: float) -> Iterator[Verdict]:
    """Verdicts on the passages of a record, in order. `final`: the record closes the turn."""
    screened: list[Verdict] = []

    text, first = record.text, record.line_start
    own_lines = has_own_lines(record)

    def dropping(reason: str, content: str, start: int, end: int) -> Dropped:
        if not own_lines:
            return Dropped(reason, content, None, record.key, first, record.line_end)
        begin = first + lines_before(text, start)
        after = first + lines_before(text, end) + 1
        return Dropped(reason, content, None, record.key, begin, after)

    def drop(reason: str, content: str, start: int, end: int) -> None:
        screened.append(Verdict(dropping(reason, content, start, end)))

    settled_otherwise = record.meta.get("status", "").lower().startswith(_NO_LONGER)
    fresh = 0.0  # computed with the first candidate
    for passage in passages(record, drop):
        yield from screened
        screened.clear()
        content, start, end = passage.content, passage.start, passage.end
        restates = dropping(RESTATES_BOOT, content, start, end)
        if settled_otherwise:
            yield Verdict(structs.replace(restates, reason=NOT_IN_FORCE), content, restates)
            continue
        statement = _statement(record, passage, final)
        rule = first_match(statement)
        if rule is None:
            yield Verdict(structs.replace(restates, reason=NO_RULE), content, restates)
            continue
        fresh = fresh or freshness(record, setting)
        begin, unlabelled_content = unlabelled(record.text, start, end, content)
        if len(unlabelled_content) < SHORTEST_STATEMENT:
            yield Verdict(dropping(TOO_SHORT, unlabelled_content, start, end))
            continue
        candidate = Candidate(
            type=rule.type,
            content=unlabelled_content,
            rule=rule.id,
            prior=rule.prior,
            signal=signal,
            freshness=fresh,
            confidence=confidence(rule.prior, signal, fresh),
            weight=weight(statement, rule),
            record=record,
            span_start=begin,
            span_end=end,
            extractor_version=EXTRACTOR_VERSION,
            flags=flags_of(unlabelled_content, record.role),
        )
        yield Verdict(candidate, content, restates)
    yield from screened


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
