"""Applies a preview as one act: a new chain with summaries in place of segments.

The originals stay in the store, outside the chain. Commits after the range are repeated after the
summaries, so that hashes cover the new chain (`docs/design.md`, "Priorities and retention").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from reviewer.commits import retention as criteria_store
from reviewer.commits.chain import next_commit_id
from reviewer.commits.contents import PreparedText, commit_hash, count_tokens, prepare, store_texts
from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.context_snapshot import (
    PINNED_SPAN,
    ChainCommit,
    ContextSnapshot,
    move_anchor,
    take_snapshot,
)
from reviewer.compression.plan import Applied, Preview
from reviewer.compression.preview import require_retained
from reviewer.compression.retention import criteria_of
from reviewer.compression.values import CompressedSegment, FidelityValidation, Level, Segment
from reviewer.errors import ConflictError, ReviewerError
from reviewer.store.acts import Act
from reviewer.store.changes import Image
from reviewer.store.ledger import Ledger

ROLE, TYPE = "assistant", "summary"


class Replacement(Struct, frozen=True):
    """A segment to be replaced by one summary commit."""

    segment: Segment
    compressed: CompressedSegment
    fidelity: FidelityValidation
    text: PreparedText


class WrittenChain(Struct, frozen=True):
    """The new head and the summaries, by id."""

    head: int
    summaries: tuple[int, ...]


def require_head(act: Act, context: int, expected: str | None) -> int:
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


def write_chain(
    act: Act,
    context: int,
    chain: Sequence[ChainCommit],
    replacements: Sequence[Replacement],
    tokens: Mapping[str, int],
    *,
    now: str,
    actor: str,
) -> WrittenChain:
    """Write the new chain and move the head; annotations and anchors are carried over."""
    contents = store_texts(act, [each.text for each in replacements], dict(tokens))
    begins = {each.segment.turns[0].commit: each for each in replacements}
    inside = {turn.commit for each in replacements for turn in each.segment.turns}
    first = next(at for at, commit in enumerate(chain) if commit.id in inside)
    act.update_many("commit_", [commit.id for commit in chain[first:]], live=0)
    parent, parent_hash = (chain[first - 1].id, chain[first - 1].hash) if first else (None, None)
    rows: list[Image] = []
    number = next_commit_id(act)
    summaries: list[int] = []
    for commit in chain[first:]:
        replacement = begins.get(commit.id)
        if commit.id in inside and replacement is None:
            continue
        row = _summary(replacement, contents, now) if replacement else _repeated(commit)
        hashed = _hash(row, replacement, commit, parent_hash)
        rows.append(
            {
                "context_id": context,
                "parent_id": parent,
                "hash": hashed,
                "position": first + len(rows),
                **row,
            }
        )
        if replacement is not None:
            summaries.append(number)
        parent, parent_hash = number, hashed
        number += 1
    ids = act.insert_many("commit_", rows)
    act.update("context", context, head_id=ids[-1], changed_at=now)
    for summary, replacement in zip(summaries, replacements, strict=True):
        _carry(act, summary, replacement, now=now, actor=actor)
    return WrittenChain(ids[-1], tuple(summaries))


def record_compression(
    act: Act,
    context: int,
    written: WrittenChain,
    replacements: Sequence[Replacement],
    *,
    head_before: int,
    tokens: tuple[int, int],
    engine: str,
    options: str,
    now: str,
) -> int:
    """Write the rows of the compression and of each summary's source; returns its id."""
    number = act.insert(
        "compression",
        context_id=context,
        head_before=head_before,
        head_after=written.head,
        tokens_before=tokens[0],
        tokens_after=tokens[1],
        engine=engine,
        options=options,
        at=now,
    )
    act.insert_many(
        "segment",
        [
            {
                "compression_id": number,
                "commit_id": summary,
                "key": each.segment.id,
                "level": int(each.compressed.level),
                "topic": each.segment.topic,
                "sources": msgspec.json.encode(
                    [turn.commit for turn in each.segment.turns]
                ).decode(),
                "anchors": msgspec.json.encode(
                    [
                        found
                        for anchor in each.compressed.anchors
                        if (found := move_anchor(anchor, each.text.text)) is not None
                    ]
                ).decode(),
                "fidelity": msgspec.json.encode(
                    {
                        **each.fidelity.scores,
                        "engine": each.compressed.engine,
                        "orders": list(each.fidelity.orders),
                        "loses": list(each.fidelity.loses),
                    }
                ).decode(),
                "tokens_before": each.compressed.original_token_count,
                "tokens_after": each.compressed.token_count,
            }
            for summary, each in zip(written.summaries, replacements, strict=True)
        ],
    )
    return number


def carried_criteria(segment: Segment) -> RetentionCriteria | None:
    """The retention criteria of IMPORTANT turns, for later summaries; None without such turns."""
    if all(turn.priority is not Priority.IMPORTANT for turn in segment.turns):
        return None
    found = criteria_of(segment)
    return RetentionCriteria("\n".join(found.instructions) or None, found.patterns)


def _carry(act: Act, summary: int, each: Replacement, *, now: str, actor: str) -> None:
    """Annotate the summary with the criteria and marked spans of its segment."""
    criteria = carried_criteria(each.segment)
    if criteria is not None:
        act.insert(
            "annotation",
            commit_id=summary,
            priority=str(Priority.IMPORTANT),
            reason="carried from the commits that it summarizes",
            at=now,
            actor=actor,
            retention_json=criteria_store.to_json(criteria),
        )
    taken: set[tuple[int, int]] = set()
    for anchor in each.compressed.anchors:
        if anchor.source not in ("confirmed", "pinned"):
            continue
        found = move_anchor(anchor, each.text.text)
        if found is None or (found.start, found.end) in taken:
            continue
        taken.add((found.start, found.end))
        act.insert(
            "anchor",
            commit_id=summary,
            type=str(found.type),
            content=found.content,
            span_start=found.start,
            span_end=found.end,
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


def apply_preview(
    ledger: Ledger, preview: Preview, head: str | None, *, name: str, now: str
) -> Applied:
    """Write a preview, unless the context has changed.

    Raises ConflictError if the head is not `head` or the commits have changed otherwise,
    RetentionError if a summary does not meet its criteria, ReviewerError if the context would not
    change.
    """
    require_retained(preview)
    plan = preview.plan
    replacements = [
        Replacement(each.segment, each.compressed, each.fidelity, prepare(each.compressed.content))
        for each in preview.segments
        if each.level is not Level.FULL and not each.kept
    ]
    if not replacements:
        raise ReviewerError(
            "Nothing to compress: every segment is Full, skipped, or as small as its summary."
        )
    tokens = count_tokens([each.text for each in replacements])
    with ledger.act("compress") as act:
        head_before = require_head(act, plan.context, head)
        snapshot = take_snapshot(
            act.query,
            plan.context,
            range_=(plan.start, plan.end),
            retention=plan.options.retention,
            whole=plan.options.whole,
        )
        _require_same(snapshot, preview)
        written = write_chain(
            act, plan.context, snapshot.chain, replacements, tokens, now=now, actor=ledger.actor
        )
        record_compression(
            act,
            plan.context,
            written,
            replacements,
            head_before=head_before,
            tokens=(preview.tokens_before, preview.tokens_after),
            engine=plan.engine,
            options=msgspec.json.encode(plan.options).decode(),
            now=now,
        )
        many = "s" if len(replacements) > 1 else ""
        act.title = (
            f"Compressed {len(replacements):,} segment{many} of {name}: "
            f"{preview.tokens_before:,} to {preview.tokens_after:,} tokens"
        )
    return Applied(
        act.id, act.title, preview.tokens_before, preview.tokens_after, len(replacements)
    )


def _require_same(snapshot: ContextSnapshot, preview: Preview) -> None:
    """Raise ConflictError unless the segments are still those of the preview."""
    now = {segment.id: segment for segment in snapshot.segments}
    for each in preview.segments:
        if now.get(each.segment.id) != each.segment:
            raise ConflictError(
                "The annotations of the commits changed meanwhile. Nothing was written; preview "
                "again."
            )
