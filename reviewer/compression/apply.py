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
from reviewer.commits.contents import PreparedText, count_tokens, hashed_row, prepare, store_texts
from reviewer.compression.context_snapshot import (
    ChainCommit,
    ContextSnapshot,
)
from reviewer.compression.plan import Applied, Preview, SegmentPreview, segment_sources
from reviewer.compression.preview import require_retained
from reviewer.errors import ReviewerError
from reviewer.store.acts import Act
from reviewer.store.changes import Image
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import count


class Replacement(Struct, frozen=True):
    """A segment to be replaced by one summary commit, with its text as stored."""

    preview: SegmentPreview
    text: PreparedText


def apply_preview(ledger: Ledger, preview: Preview, *, name: str, now: str) -> Applied:
    """Write a preview. Raises ConflictError if the context has changed, RetentionError if a summary
    does not meet its criteria, ReviewerError if the context would not change.
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
        range_, options = (plan.start, plan.end), plan.options
        snapshot = ContextSnapshot(act.query, plan.context, range_, options.retention)
        snapshot.require_unchanged(plan, [each.segment for each in preview.segments])
        contents = store_texts(act, [each.text for each in replacements], dict(tokens))
        restored = {each.segment.id for each in changed if each.is_full}
        head_after, summaries = _write_chain(act, snapshot, replacements, restored, contents, now)
        compression = act.insert(
            "compression",
            context_id=plan.context,
            head_before=snapshot.head_id,
            head_after=head_after,
            tokens_before=before,
            tokens_after=after,
            engine=plan.engine,
            options=_json(plan.options),
            at=now,
        )
        pairs = zip(summaries, replacements, strict=True)
        act.insert_many("segment", [_source(each, compression, number) for number, each in pairs])
        done = "Compressed" if replacements else "Restored"
        act.title = (
            f"{done} {count(len(replacements) or len(restored), 'segment')} of {name}: "
            f"{before:,} to {after:,} tokens"
        )
    return Applied(act.id, act.title, before, after, len(replacements))


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
            sha = replacement.text.sha256
            told = {"role": "assistant", "type": "summary", "name": "", "at": now, "meta": "{}"}
            more: Image = {"operation": "summary", "origin_id": None, "source_line": None}
            more["content_id"] = contents[sha]
            row = hashed_row(parent_hash, sha, "summary", commit.hash, **told, **more)
            summaries.append(number)
        else:
            row = _repeated(commit, parent_hash)
        links: Image = {"context_id": snapshot.context, "parent_id": parent}
        rows.append({**links, "position": first + len(rows), **row})
        parent, parent_hash = number, str(row["hash"])
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


def _repeated(commit: ChainCommit, parent: str | None) -> Image:
    return hashed_row(
        parent,
        commit.content_hash,
        "repeat",
        commit.hash,
        role=commit.turn.role,
        type=commit.type,
        name=commit.turn.name,
        at=commit.turn.at,
        operation="summary" if commit.operation == "summary" else "append",
        origin_id=commit.origin,
        content_id=commit.content_id,
        source_line=commit.source_line,
        meta=commit.meta,
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
