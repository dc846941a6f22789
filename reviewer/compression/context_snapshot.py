"""A snapshot of a context: its chain, segments and anchors."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import msgspec
from msgspec import Struct, structs

from reviewer.commits.commit_sql import JOINED, ORIGIN, PRIORITY
from reviewer.commits.contexts import Contexts
from reviewer.commits.criteria import decode_criteria, matches_everything
from reviewer.commits.summaries import Query, stored_summaries
from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.anchors import find_anchors, is_speech
from reviewer.compression.plan import CompressionPlan, segment_sources
from reviewer.compression.retention import together
from reviewer.compression.segments import cut_segments, readable, with_call
from reviewer.compression.values import (
    OFFLINE,
    PASSES,
    TURN_KINDS,
    AnchorPoint,
    AppliedSummary,
    Level,
    Segment,
    SegmentTurn,
)
from reviewer.compression.verbatim import find_verbatim, first_place
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.store.acts import AMONG, listed
from reviewer.store.database import Database

PINNED_SPAN = 2
"""`anchor.confirmed` of a pinned span; earlier versions also wrote 1."""

_CHAIN = (
    f"SELECT c.id, {ORIGIN} AS origin, c.hash, c.operation, c.role, c.type, c.name, c.at,"
    f" {PRIORITY} AS priority, n.retention_json, t.text, t.tokens, c.content_id,"
    " (SELECT sha256 FROM content WHERE id = c.content_id), c.source_line, c.meta"
    f" FROM {JOINED} WHERE"
)


class ChainCommit(Struct, frozen=True, gc=False):
    """A commit of a chain: its turn, and the values for repeating it after a summary."""

    id: int
    origin: int
    hash: str
    operation: str
    type: str
    turn: SegmentTurn
    content_id: int
    content_hash: str
    """sha256 of the text before edits."""
    source_line: int | None
    meta: str


def read_chain(query: Query, context: int) -> tuple[ChainCommit, ...]:
    """The live commits of a context in order, SKIP included."""
    rows = query(f"{_CHAIN} c.context_id = ? AND c.live = 1 ORDER BY c.position", (context,))
    commits = [_commit(row) for row in rows]
    behind: dict[int, list[int]] = {
        number: msgspec.json.decode(sources, type=list[int])
        for number, sources in query(
            "SELECT c.id, s.sources FROM commit_ c JOIN segment s"
            " ON s.commit_id = coalesce(c.origin_id, c.id)"
            " WHERE c.context_id = ? AND c.operation = 'summary'",
            (context,),
        )
    }

    def turns(commit: int) -> int:
        return sum(map(turns, behind[commit])) if commit in behind else 1

    places = accumulate((turns(each.id) for each in commits), initial=1)
    return tuple(
        structs.replace(each, turn=structs.replace(each.turn, number=place))
        for each, place in zip(commits, places, strict=False)
    )


def originals(query: Query, commits: Sequence[ChainCommit]) -> Iterator[ChainCommit]:
    """These commits with the turns behind summaries in place of them."""
    stored = stored_summaries(query, [each.origin for each in commits])
    for each in commits:
        if each.origin in stored:
            yield from originals(query, read_commits(query, stored[each.origin].sources))
        else:
            yield each


def read_commits(query: Query, ids: Sequence[int]) -> tuple[ChainCommit, ...]:
    """Commits by id, in that order, with their current text; unknown ids are left out."""
    rows = query(f"{_CHAIN} c.id {AMONG}", (listed(ids),))
    found = {row[0]: _commit(row) for row in rows}
    return tuple(found[each] for each in ids if each in found)


def _commit(row: Sequence[Any]) -> ChainCommit:
    number, origin, hashed, operation, role, type_, name, at, priority, criteria, *rest = row
    text, tokens, content, content_hash, line, meta = rest
    turn = SegmentTurn(
        role=role,
        text=text,
        tokens=tokens,
        kind=TURN_KINDS.get(type_, "text"),
        name=name,
        at=at,
        commit=number,
        priority=Priority(priority),
        retention=decode_criteria(criteria),
        summary=operation == "summary",
        **_facts_of(meta),
    )
    return ChainCommit(
        number, origin, hashed, operation, type_, turn, content, content_hash, line, meta
    )


_FACTS = ("call", "folder", "branch", "outcome", "exit_code", "words", "aside")


def _facts_of(meta: str) -> dict[str, Any]:
    """The stored facts about a commit's turn."""
    if not meta or meta == "{}":
        return {}
    found = msgspec.json.decode(meta)
    return {name: found[name] for name in _FACTS if name in found}


def read_marks(query: Query, chain: Sequence[ChainCommit]) -> dict[int, list[AnchorPoint]]:
    """Spans marked by people in these commits, by origin."""
    found: dict[int, list[AnchorPoint]] = {}
    for origin, kind, content, start, end in query(
        "SELECT commit_id, type, content, span_start, span_end FROM anchor"
        f" WHERE commit_id {AMONG} AND confirmed > 0 ORDER BY id",
        (listed({commit.origin for commit in chain}),),
    ):
        mark = AnchorPoint(AnchorType(kind), content, 1.0, 0, start, end, "pinned")
        found.setdefault(origin, []).append(mark)
    return found


def moved(anchor: AnchorPoint, text: str, turn: int = 0) -> AnchorPoint | None:
    """An anchor at its place in another or an edited text; None if it is not in there verbatim."""
    if text[anchor.start : anchor.end] == anchor.content:
        return structs.replace(anchor, turn=turn)
    span = find_verbatim(text, anchor.content)
    if span is None:
        return None
    start, end = span
    return structs.replace(anchor, content=text[start:end], turn=turn, start=start, end=end)


class ContextSnapshot:
    """A chain and the segments of a range of it, at the time of the snapshot."""

    def __init__(
        self,
        query: Query,
        context: int,
        range_: tuple[int | None, int | None],
        retention: RetentionCriteria | None,
    ) -> None:
        """`range_`: ids of the first and the last commit. Raises UnknownIdError."""
        heads = query(
            "SELECT h.id, h.hash FROM context x LEFT JOIN commit_ h ON h.id = x.head_id"
            " WHERE x.id = ?",
            (context,),
        )
        if not heads:
            raise UnknownIdError(f"There is no context #{context}. See: reviewer context list")
        self.context = context
        self.head_id: int | None = heads[0][0]
        self.head: str | None = heads[0][1]
        self.chain = read_chain(query, context)
        first, last = bounds(self.chain, *range_)
        turns = [commit.turn for commit in self.chain[first:last]]
        cut = cut_segments(turns)
        self.behind: dict[int, tuple[ChainCommit, ...]] = {}
        """The original turns of each summary that is a segment."""
        segments = [self._whole(query, each) for each in cut]
        every = [*self.chain, *chain.from_iterable(self.behind.values())]
        calls = {each.turn.call: each.turn for each in every if each.turn.kind == "tool_use"}
        self.segments: tuple[Segment, ...] = tuple(with_call(each, calls) for each in segments)
        self._origins = {commit.id: commit.origin for commit in every}
        self._marks = read_marks(query, every)
        self._retention = retention
        self._anchors: dict[int, tuple[AnchorPoint, ...]] = {}
        sent = (c.turn for c in self.chain if c.turn.priority is not Priority.SKIP)
        self.tokens = sum(turn.tokens for turn in sent)
        """Tokens of the compiled chain."""
        self.fixed = self.tokens - sum(segment.sent for segment in self.segments)
        """Tokens outside all segments: pins, and commits outside the range."""
        self._indexes = {segment.id: index for index, segment in enumerate(self.segments)}

    def _whole(self, query: Query, segment: Segment) -> Segment:
        """The segment; for an applied summary, with the turns that it replaced."""
        first = segment.turns[0]
        if not first.summary or len(segment.turns) > 1 or first.priority is Priority.SKIP:
            return readable(segment)
        (commit,) = (each for each in self.chain if each.id == first.commit)
        stored = stored_summaries(query, [commit.origin])[commit.origin]
        graded = stored.grade
        self.behind[commit.id] = tuple(
            structs.replace(each, turn=structs.replace(each.turn, number=number))
            for number, each in enumerate(originals(query, [commit]), first.number)
        )
        turns = [each.turn for each in self.behind[commit.id]]
        tokens = sum(turn.tokens for turn in turns if turn.priority is not Priority.SKIP)
        if first.priority is Priority.IMPORTANT:
            turns[0] = _with_criteria(turns[0], first.retention)
        applied = AppliedSummary(
            commit.id,
            Level(stored.level),
            first.text,
            first.tokens,
            graded.get("engine", OFFLINE),
            # older stores have no `passes`
            graded.get("passes", graded["overall"] >= PASSES and not graded.get("orders")),
            tuple(graded.get("loses", ())),
        )
        whole = Segment(stored.key, tuple(turns), tokens, stored.topic, applied=applied)
        return readable(whole)

    def anchors_of(self, number: int) -> tuple[AnchorPoint, ...]:
        if number not in self._anchors:
            turns = self.segments[number].turns
            found = [
                moved(mark, turn.text, at)
                for at, turn in enumerate(turns)
                if turn.commit is not None
                for mark in self._marks.get(self._origins[turn.commit], ())
            ]
            marked = [mark for mark in found if mark is not None]
            later = (turn for segment in self.segments[number + 1 :] for turn in segment.turns)
            self._anchors[number] = find_anchors(
                turns, marked=marked, retention=self._retention, goes_on=any(map(is_speech, later))
            )
        return self._anchors[number]

    def require_unchanged(self, plan: CompressionPlan, previewed: Sequence[Segment] = ()) -> None:
        """Raise ConflictError if the context has changed since it was planned, or previewed."""
        sources = {each.id: segment_sources(each) for each in self.segments}
        same = all(sources.get(each.segment) == each.sources for each in plan.choices)
        same = same and all(each in self.segments for each in previewed)
        if not same or self.head != plan.head:
            raise ConflictError(
                "The context changed since it was previewed. Nothing was written; preview again."
            )

    def index_of(self, segment: str) -> int:
        """The index of a segment by its id. Raises UnknownIdError."""
        index = self._indexes.get(segment)
        if index is None:
            raise UnknownIdError(
                f'There is no segment "{segment}" in this context; it may have changed meanwhile.'
            )
        return index

    def require_segments(self) -> None:
        """Raise ReviewerError if there are no segments."""
        if not self.segments:
            raise ReviewerError(
                "There is nothing to compress: the range is empty or has only pinned commits."
                if self.chain
                else "There is nothing to compress: the context is empty."
            )

    def require_matches(self, retention: RetentionCriteria) -> None:
        """Raise ReviewerError for a pattern that matches no text of the range.

        One that matches without any text, such as `\\A(?!.*word)`, forbids words in a summary.
        """
        for pattern in retention.patterns:
            if matches_everything(pattern):
                continue
            turns = (turn for segment in self.segments for turn in segment.turns)
            if not any(first_place(pattern, turn.text) for turn in turns):
                raise ReviewerError(
                    f'The {pattern.mode} "{pattern.text}" matches nothing in the range, so no '
                    "summary can retain it. Correct it, or choose another range."
                )


def _with_criteria(turn: SegmentTurn, more: RetentionCriteria) -> SegmentTurn:
    """A turn with the criteria of the summary that replaced it added to its own."""
    own = turn.retention if turn.priority is Priority.IMPORTANT else RetentionCriteria()
    return structs.replace(turn, priority=Priority.IMPORTANT, retention=together(own, more))


def bounds(chain: Sequence[ChainCommit], start: int | None, end: int | None) -> tuple[int, int]:
    """The half-open range of positions from one commit to another, both included.

    Raises UnknownIdError for a commit that is not in the chain, and for a reversed range.
    """
    places = {commit.id: place for place, commit in enumerate(chain)}
    for wanted in (start, end):
        if wanted is not None and wanted not in places:
            raise UnknownIdError(
                f"Commit #{wanted} is not in the chain. See: reviewer commit list CONTEXT"
            )
    first = 0 if start is None else places[start]
    last = len(chain) if end is None else places[end] + 1
    if first >= last and chain:
        raise UnknownIdError("The range ends before it begins; give --from and --to in order.")
    return first, last


class LatestSnapshot:
    """Takes snapshots of contexts and caches the latest. Safe from several threads."""

    def __init__(self, database: Database, contexts: Contexts) -> None:
        self._database = database
        self._contexts = contexts
        self._kept: tuple[object, ContextSnapshot] | None = None
        self._lock = threading.Lock()

    def get(
        self,
        context: int,
        start: int | None = None,
        end: int | None = None,
        retention: RetentionCriteria | None = None,
    ) -> ContextSnapshot:
        """The current context, with the segments of the range between two commits.

        Raises UnknownIdError.
        """
        self._contexts.get(context)  # raises for another project's
        version = self._contexts.changed(context)
        key = (context, version, start, end, retention or None)
        with self._lock:
            if self._kept is None or self._kept[0] != key:
                query, range_ = self._database.query, (start, end)
                snapshot = ContextSnapshot(query, context, range_, retention)
                self._kept = key, snapshot
            return self._kept[1]
