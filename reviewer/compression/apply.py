"""Applies a preview as one act: a new chain with summaries in place of segments.

The originals stay in the store, outside the chain. Commits after the range are repeated after the
summaries, so that hashes cover the new chain (`docs/design.md`, "Priorities and retention").
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain as chain_

import msgspec
from msgspec import Struct

from reviewer.commits.chain import next_commit_id
from reviewer.commits.contents import PreparedText, commit_hash, count_tokens, prepare, store_texts
from reviewer.commits.criteria import encode_criteria
from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.context_snapshot import (
    PINNED_SPAN,
    ChainCommit,
    ContextSnapshot,
    moved,
)
from reviewer.compression.plan import Applied, Preview, SegmentPreview, segment_sources
from reviewer.compression.preview import require_retained
from reviewer.compression.retention import criteria_of
from reviewer.compression.values import AnchorPoint
from reviewer.errors import ConflictError, ReviewerError
from reviewer.store.acts import Act
from reviewer.store.changes import Image
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import count

ROLE, TYPE = "assistant", "summary"


class Replacement(Struct, frozen=True):
    """A segment to be replaced by one summary commit, with its text as stored."""

    preview: SegmentPreview
    text: PreparedText

    @property
    def anchors(self) -> list[AnchorPoint]:
        """The anchors that the summary has verbatim, at their places in it."""
        found = (moved(each, self.text.text) for each in self.preview.compressed.anchors)
        return [anchor for anchor in found if anchor is not None]

    @property
    def criteria(self) -> RetentionCriteria | None:
        """The criteria of IMPORTANT turns, for later summaries; None without such turns."""
        segment = self.preview.segment
        if all(turn.priority is not Priority.IMPORTANT for turn in segment.turns):
            return None
        return criteria_of(segment)


def apply_preview(
    ledger: Ledger, preview: Preview, head: str | None, *, name: str, now: str
) -> Applied:
    """Write a preview, unless the context has changed.

    Raises ConflictError if the head is not `head` or the commits have changed otherwise,
    RetentionError if a summary does not meet its criteria, ReviewerError if the context would not
    change.
    """
    require_retained(preview)
    plan, before, after = preview.plan, preview.tokens_before, preview.tokens_after
    changed = [each for each in preview.segments if each.changes]
    replacements = [
        Replacement(each, prepare(each.compressed.content)) for each in changed if not each.is_full
    ]
    if not changed:
        raise ReviewerError(
            "Nothing to compress: every segment is Full, skipped, or as small as its summary."
        )
    tokens = count_tokens([each.text for each in replacements])
    with ledger.act("compress") as act:
        head_before = _require_head(act, plan.context, head)
        snapshot = ContextSnapshot(
            act.query,
            plan.context,
            range_=(plan.start, plan.end),
            retention=plan.options.retention,
            whole=plan.options.whole,
        )
        _require_same(snapshot, preview)
        contents = store_texts(act, [each.text for each in replacements], dict(tokens))
        restored = {each.segment.id for each in changed if each.is_full}
        head_after, summaries = _write_chain(act, snapshot, replacements, restored, contents, now)
        compression = act.insert(
            "compression",
            context_id=plan.context,
            head_before=head_before,
            head_after=head_after,
            tokens_before=before,
            tokens_after=after,
            engine=plan.engine,
            options=_json(plan.options),
            at=now,
        )
        pairs = list(zip(summaries, replacements, strict=True))
        act.insert_many("segment", [_source(each, compression, number) for number, each in pairs])
        for number, each in pairs:
            _carry(act, number, each, now=now, actor=ledger.actor)
        done = "Compressed" if replacements else "Restored"
        act.title = (
            f"{done} {count(len(replacements) or len(restored), 'segment')} of {name}: "
            f"{before:,} to {after:,} tokens"
        )
    return Applied(act.id, act.title, before, after, len(replacements))


def _require_head(act: Act, context: int, expected: str | None) -> int:
    """The head's id. Raises ConflictError unless it has the expected hash."""
    rows = act.query(
        "SELECT h.id, h.hash FROM context x LEFT JOIN commit_ h ON h.id = x.head_id WHERE x.id = ?",
        (context,),
    )
    number, hashed = rows[0] if rows else (None, None)
    if number is None or hashed != expected:
        raise ConflictError(
            f"The context changed meanwhile: its head is {(hashed or 'none')[:8]}, the preview was "
            f"made of {(expected or 'none')[:8]}. Nothing was written; preview again."
        )
    return int(number)


def _require_same(snapshot: ContextSnapshot, preview: Preview) -> None:
    """Raise ConflictError unless the segments are still those of the preview."""
    now = {segment.id: segment for segment in snapshot.segments}
    for each in preview.segments:
        if now.get(each.segment.id) != each.segment:
            raise ConflictError(
                "The annotations of the commits changed meanwhile. Nothing was written; preview "
                "again."
            )


def _write_chain(
    act: Act,
    snapshot: ContextSnapshot,
    replacements: Sequence[Replacement],
    restored: Collection[str],
    contents: Mapping[str, int],
    now: str,
) -> tuple[int, list[int]]:
    """Write the new chain and move the head; returns the ids of the head and the summaries.

    `restored`: the segments with originals in place of their applied summary.
    """
    chain = snapshot.chain
    begins = {segment_sources(each.preview.segment)[0]: each for each in replacements}
    inside = {id_ for each in replacements for id_ in segment_sources(each.preview.segment)}
    whole = {segment_sources(each)[0] for each in snapshot.segments if each.id in restored}
    first = next(at for at, commit in enumerate(chain) if commit.id in inside | whole)
    act.update_many("commit_", [commit.id for commit in chain[first:]], live=0)
    parent, parent_hash = (chain[first - 1].id, chain[first - 1].hash) if first else (None, None)
    rows: list[Image] = []
    summaries: list[int] = []
    kept = (each for each in chain[first:] if each.id in begins or each.id not in inside)
    written = (snapshot.behind[each.id] if each.id in whole else (each,) for each in kept)
    for number, commit in enumerate(chain_.from_iterable(written), start=next_commit_id(act)):
        if replacement := begins.get(commit.id):
            row = _summary(replacement, contents, now)
            summaries.append(number)
        else:
            row = _repeated(commit)
        hashed = _hash(row, replacement, commit, parent_hash)
        position = first + len(rows)
        links: Image = {"context_id": snapshot.context, "parent_id": parent}
        rows.append({**links, "hash": hashed, "position": position, **row})
        parent, parent_hash = number, hashed
    ids = act.insert_many("commit_", rows)
    act.update("context", snapshot.context, head_id=ids[-1], changed_at=now)
    return ids[-1], summaries


def _source(each: Replacement, compression: int, summary: int) -> Image:
    """The row about the source of a summary."""
    segment, compressed = each.preview.segment, each.preview.compressed
    fidelity = each.preview.fidelity
    return {
        "compression_id": compression,
        "commit_id": summary,
        "key": segment.id,
        "level": int(compressed.level),
        "topic": segment.topic,
        "sources": _json([turn.commit for turn in segment.turns]),
        "anchors": _json(each.anchors),
        "fidelity": _json(
            {
                **fidelity.scores,
                "engine": compressed.engine,
                "orders": fidelity.orders,
                "passes": not each.preview.in_doubt,
                "loses": fidelity.loses,
            }
        ),
        "tokens_before": compressed.original_token_count,
        "tokens_after": compressed.token_count,
    }


def _carry(act: Act, summary: int, each: Replacement, *, now: str, actor: str) -> None:
    """Annotate the summary with the criteria and marked spans of its segment."""
    if (criteria := each.criteria) is not None:
        act.insert(
            "annotation",
            commit_id=summary,
            priority=str(Priority.IMPORTANT),
            reason="carried from the commits that it summarizes",
            at=now,
            actor=actor,
            retention_json=encode_criteria(criteria),
        )
    marked = [found for found in each.anchors if found.source in ("confirmed", "pinned")]
    for anchor in {(anchor.start, anchor.end): anchor for anchor in marked}.values():
        act.insert(
            "anchor",
            commit_id=summary,
            type=str(anchor.type),
            content=anchor.content,
            span_start=anchor.start,
            span_end=anchor.end,
            confirmed=PINNED_SPAN if anchor.source == "pinned" else 1,
            at=now,
        )


def _summary(each: Replacement, contents: Mapping[str, int], now: str) -> Image:
    return {
        "operation": "summary",
        "origin_id": None,
        "role": ROLE,
        "type": TYPE,
        "name": "",
        "content_id": contents[each.text.sha256],
        "at": now,
        "source_line": None,
        "meta": "{}",
    }


def _repeated(commit: ChainCommit) -> Image:
    return {
        "operation": "summary" if commit.operation == "summary" else "append",
        "origin_id": commit.origin,
        "role": commit.turn.role,
        "type": commit.type,
        "name": commit.turn.name,
        "content_id": commit.content_id,
        "at": commit.turn.at,
        "source_line": commit.source_line,
        "meta": commit.meta,
    }


def _hash(row: Image, each: Replacement | None, commit: ChainCommit, parent: str | None) -> str:
    """The hash of a new commit, including that of the repeated or first summarized commit."""
    content = each.text.sha256 if each is not None else commit.content_hash
    return commit_hash(
        parent=parent,
        role=str(row["role"]),
        type=str(row["type"]),
        name=str(row["name"]),
        content=content,
        operation="summary" if each is not None else "repeat",
        target=commit.hash,
        at=None if row["at"] is None else str(row["at"]),
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
