"""Excerpts: what the rules find in dialogue, as places to look, one for each spot, best first.

A rule finds the right spot about half the time and the right words almost never, so finds are not
shown one by one. Finds that are a few messages apart or share their rare names are one spot, shown
by its best find with as much of its surroundings as fits. The order was set by hand on half of the
labelled sessions, with signs that say nothing about their subjects.

For each source: a `Dialogue` watches the records, turns each candidate into a find while the
candidate has its text, and folds the finds into spots when the source was read to its end.
`best_first` merges the spots of all sources.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct, structs

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.flags import flags_of
from reviewer.extraction.rejections import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.sources.records import Record, Role, Shape, Use
from reviewer.text.normalise import clean

NEAR = 3
"""Messages between finds of one spot."""
RARE = 15
"""Messages that may have a name which is still rare."""
SHARED = 0.5
"""Share of the fewer rare names that finds of one spot have in common."""
DECAY = 0.5
"""What each further spot of the same source loses, so that every session comes to be looked at."""
SPOTS = 200
"""Spots of one source that finds are folded into; what comes after them is a spot by itself."""

WINDOW = 300
"""Characters around a find in which its surroundings are looked for."""

_SPAN = re.compile(r"`([^`\n]{2,60})`")
_TOKEN = re.compile(r"[A-Za-z_-][\w./-]*(?:\(\))?")
_CUT = re.compile(r"(?<=[.!?])(?<![\s(]\d\.)[\"')*_`]{0,3}\s+|\n+")
_HALF = re.compile(r"(?::\**|\d{1,2}[.)]|\.\.\.)\s*$")
"""The end of a piece that announces the next one."""
_BORDER = re.compile(r"^[ \t]*(?:#{1,6} |```|~~~|\||[-*_]{3,}[ \t]*$|[├└│┌])", re.MULTILINE)
_WORD = re.compile(r"[a-z][a-z0-9_']*(?:[./-][a-z0-9_]+)*")
_FIRST_PERSON = re.compile(r"\bI\b|\b[Ll]et(?: me|'s)\b")
_CAUSE = frozenset(
    {"because", "since", "therefore", "cause", "caused", "causes", "due", "why", "reason", "means"}
    | {"otherwise", "leads", "lead", "result"}
)
_CONTRAST = frozenset(
    {"but", "however", "instead", "rather", "while", "whereas", "although", "though", "unlike"}
    | {"even", "still", "actually", "except", "unless"}
)
_NEGATION = frozenset({"not", "no", "never", "cannot", "without", "nothing", "none", "neither"})
_RULE = frozenset({"always", "never", "only", "must", "every", "all", "each", "any"})
_STATUS = frozenset(
    {"test", "tests", "lint", "fmt", "pass", "passes", "passed", "passing", "committed", "pushed"}
    | {"build"}
)
_COMMON_WORDS = """
the and that this for with from are not you but can will has have had does did now just then there
here its they them what when which who how all any into out about more only also would should could
your our let one two file files code use used using add added test tests
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Find(Struct, frozen=True):
    """A candidate in its place, and what its wording is worth."""

    candidate: Candidate
    span: tuple[int, int]
    """Of the record's text: the candidate with as much around it as fits into an excerpt."""
    shown: str
    """That text."""
    message: int
    names: frozenset[str]
    value: float


class Spot(Struct, frozen=True):
    """A place to look: its best find, the other finds there, and its score in its source."""

    source: str
    candidate: Candidate
    """Widened: its content and span take in what is around the find."""
    others: tuple[Candidate, ...]
    score: float
    found: Candidate
    """As the rule found it."""


class Dialogue:
    """The messages of one source as far as its spots depend on them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._messages: dict[str, int] = {}
        self._asked: set[int] = set()
        self._names: Counter[str] = Counter()
        self._question = False

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """The same records; each is taken into account before it is passed on."""
        for record in records:
            self.add(record)
            yield record

    def add(self, record: Record) -> None:
        if record.use is not Use.MESSAGE:
            return
        number = len(self._messages)
        self._messages[record.key] = number
        if record.role is Role.USER:
            self._question = "?" in record.text and len(record.text) < 600
        elif self._question:
            self._asked.add(number)
        self._names.update(_names(record.text))

    def find(self, candidate: Candidate, kept: Candidate | None = None) -> Find:
        """A candidate, whose record still has its text, as a find.

        The find keeps `kept`, such as the same candidate without its record's text.
        """
        first, last = span = surroundings(candidate)
        shown = candidate.record.text[first:last]
        names = _names(shown)
        return Find(
            kept or candidate,
            span,
            shown,
            self._messages.get(candidate.record.key, 0),
            names,
            text_value(candidate, shown, names),
        )

    def spots(self, finds: Iterable[Find]) -> list[Spot]:
        """The spots of the source, best first."""
        scored = sorted(((self._score(find), find) for find in finds), key=lambda row: -row[0])
        leads: list[tuple[float, Find, frozenset[str], list[Candidate]]] = []
        for score, find in scored:
            rare = frozenset(name for name in find.names if self._names[name] <= RARE)
            for _, lead, names, others in islice(leads, SPOTS):
                if abs(lead.message - find.message) <= NEAR or _same_names(rare, names):
                    others.append(find.candidate)
                    break
            else:
                leads.append((score, find, rare, []))
        return [
            Spot(self.source, _widened(find), tuple(others), score, find.candidate)
            for score, find, _, others in leads
        ]

    def _score(self, find: Find) -> float:
        """The value of a find's text, plus that of its place: late findings are the true ones."""
        score = find.value + 0.8 * find.message / max(1, len(self._messages))
        if find.message in self._asked:
            score += 0.3
        if any(4 <= self._names[name] <= RARE for name in find.names):
            score += 0.3
        return score


def best_first(spots: Iterable[Spot]) -> list[Spot]:
    """The spots of all sources in one order; a source's later spots come down with each taken."""
    queues: dict[str, list[Spot]] = {}
    for spot in spots:
        queues.setdefault(spot.source, []).append(spot)
    heap: list[tuple[float, str, int]] = []
    for source, waiting in queues.items():
        waiting.sort(key=lambda spot: -spot.score)
        heapq.heappush(heap, (-waiting[0].score, source, 0))
    ordered: list[Spot] = []
    while heap:
        _, source, number = heapq.heappop(heap)
        waiting = queues[source]
        ordered.append(waiting[number])
        number += 1
        if number < len(waiting):
            heapq.heappush(heap, (DECAY * number - waiting[number].score, source, number))
    return ordered


def text_value(candidate: Candidate, shown: str, names: frozenset[str]) -> float:
    """What the wording of an excerpt is worth, about -2 to 3, by the text shown and its names."""
    words = set(_WORD.findall(shown.lower()))
    carrying = sum(1 for word in words if len(word) > 2 and word not in _COMMON)
    carrying += len(names - words)
    negated = not words.isdisjoint(_NEGATION) or any(word.endswith("n't") for word in words)
    size = len(candidate.content)
    score = 0.05 * (carrying - 20)
    score += 0.5 if candidate.record.role is Role.USER else 0.0
    score += 0.4 if candidate.rule in ("person_explains", "root_cause") else 0.0
    score += 0.3 * (not words.isdisjoint(_CAUSE)) + 0.3 * (not words.isdisjoint(_CONTRAST))
    score += 0.15 * negated + 0.2 * (not words.isdisjoint(_RULE))
    score += 0.25 if len(names) >= 2 else 0.0 if names else -0.5
    score += 0.3 if size >= 150 else -0.6 if size < 60 else 0.0
    score -= 0.5 * (not words.isdisjoint(_STATUS)) + 0.3 * bool(_FIRST_PERSON.search(shown))
    score -= 0.6 * (len(candidate.record.text) >= 4_000)
    return score


def surroundings(candidate: Candidate) -> tuple[int, int]:
    """The span of a candidate of dialogue with the sentences and items around it that fit into an
    excerpt. Headings, tables and code are not crossed.
    """
    record, start, end = candidate.record, candidate.span_start, candidate.span_end
    if record.shape is not Shape.TURN:
        return start, end
    text = record.text
    low, high = max(0, start - WINDOW), min(len(text), end + WINDOW)
    above = [border.end() for border in _BORDER.finditer(text, low, start)]
    below = _BORDER.search(text, end, high)
    if above:
        low = text.find("\n", above[-1]) + 1 or len(text)
    if low > start:
        return start, end
    cuts = [low] if above or not low else []
    cuts += [cut.end() for cut in _CUT.finditer(text, low, below.start() if below else high)]
    if below or high == len(text):
        cuts.append(below.start() if below else high)
    at = bisect_right(cuts, start) - 1
    first, next_first = (cuts[at], at - 1) if at >= 0 else (start, -1)
    at = bisect_left(cuts, end)
    last, next_last = (cuts[at], at + 1) if at < len(cuts) else (end, at)
    if not _fits(text, first, last):
        return start, end
    grown = True
    while grown:
        grown = False
        if next_last < len(cuts):
            after = cuts[next_last]
            if _fits(text, first, after) and not _HALF.search(text, last, after):
                last, next_last, grown = after, next_last + 1, True
        if next_first >= 0 and _fits(text, cuts[next_first], last):
            first, next_first, grown = cuts[next_first], next_first - 1, True
    return first, last


def _widened(find: Find) -> Candidate:
    """The candidate of a find with its surroundings, flagged for what they say."""
    candidate, content = find.candidate, clean(find.shown)
    if not SHORTEST_STATEMENT <= len(content) <= LONGEST_STATEMENT:
        return candidate
    flags = {*candidate.flags, *flags_of(content, candidate.record.role)}
    return structs.replace(
        candidate,
        content=content,
        span_start=find.span[0],
        span_end=find.span[1],
        flags=tuple(sorted(flags)),
    )


def _fits(text: str, start: int, end: int) -> bool:
    return (
        end - start <= LONGEST_STATEMENT
        or len(" ".join(text[start:end].split())) <= LONGEST_STATEMENT
    )


def _names(text: str) -> frozenset[str]:
    """What a text names exactly: inline code, and words with a sign or a capital inside.

    Coarser than `identifiers()`, and many times faster: every message is searched.
    """
    names = {span.lower().removesuffix("()") for span in _SPAN.findall(text)}
    for token in set(_TOKEN.findall(text)):
        if token.isalpha() and (token.islower() or token.istitle() or token.isupper()):
            continue
        name = token.rstrip(".-/").lstrip("-")
        signed = "_" in name or "/" in name or "." in name[1:] or token[:2] == "--"
        if len(name) > 2 and (signed or not (name.islower() or name.istitle() or name.isupper())):
            names.add(name.removesuffix("()").lower())
    return frozenset(names)


def _same_names(some: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(some), len(other))
    return bool(fewer) and len(some & other) / fewer >= SHARED
