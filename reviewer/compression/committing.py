"""A preview written to the store: checked once more, then one act."""

from __future__ import annotations

import msgspec

from reviewer.commits.contents import count_tokens, prepare
from reviewer.compression.apply import Replacement, record, require_head, write_chain
from reviewer.compression.plan import Applied, Preview
from reviewer.compression.previewing import require_retained
from reviewer.compression.reading import ContextReading, read_context
from reviewer.compression.values import Level
from reviewer.errors import ConflictError, ReviewerError
from reviewer.store.ledger import Ledger


def write_preview(
    ledger: Ledger, found: Preview, head: str | None, *, name: str, now: str
) -> Applied:
    """Write what was previewed, unless the context is not what it was.

    Raises ConflictError when the head is not `head` or something else about the commits changed,
    RetentionError when a summary misses what must survive, ReviewerError where nothing changes.
    """
    require_retained(found)
    plan = found.plan
    replacements = [
        Replacement(each.segment, each.compressed, each.fidelity, prepare(each.compressed.content))
        for each in found.segments
        if each.level is not Level.FULL and not each.kept
    ]
    if not replacements:
        raise ReviewerError(
            "Nothing to compress: every segment is Full, skipped, or as small as its summary."
        )
    tokens = count_tokens([each.text for each in replacements])
    with ledger.act("compress") as act:
        head_before = require_head(act, plan.context, head)
        again = read_context(
            act.query,
            plan.context,
            name=name,
            range_=(plan.start, plan.end),
            retention=plan.options.retention,
        )
        _require_same(again, found)
        written = write_chain(
            act, plan.context, again.chain, replacements, tokens, now=now, actor=ledger.actor
        )
        record(
            act,
            plan.context,
            written,
            replacements,
            head_before=head_before,
            tokens=(found.tokens_before, found.tokens_after),
            engine=plan.engine,
            options=msgspec.json.encode(plan.options).decode(),
            now=now,
        )
        many = "s" if len(replacements) > 1 else ""
        act.title = (
            f"Compressed {len(replacements):,} segment{many} of {name}: "
            f"{found.tokens_before:,} to {found.tokens_after:,} tokens"
        )
    return Applied(act.id, act.title, found.tokens_before, found.tokens_after, len(replacements))


def _require_same(read: ContextReading, found: Preview) -> None:
    """Raise ConflictError unless the segments still are as they were previewed."""
    now = {segment.id: segment for segment in read.segments}
    for each in found.segments:
        if now.get(each.segment.id) != each.segment:
            raise ConflictError(
                "What was said about the commits changed meanwhile. Nothing was written; preview "
                "again."
            )
