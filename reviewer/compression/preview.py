"""Dry run of a plan: every summary written, counted and checked; nothing is stored."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from msgspec import Struct, structs

from reviewer.commits.contents import prepare
from reviewer.commits.values import RetentionCriteria
from reviewer.compression.context_snapshot import ContextSnapshot
from reviewer.compression.plan import BY_HAND, Choice, Plan, Preview, SegmentPreview
from reviewer.compression.retention import (
    RetentionFailure,
    anchor_points,
    append_points,
    collect_criteria,
    diagnosis,
    missing_spans,
    validate_retention,
)
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    Level,
    Segment,
    SummarizationOptions,
)
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError, ModelError
from reviewer.llm.steering import RetryExhaustedError


class RetentionError(ReviewerError):
    """A summary does not meet its retention criteria; nothing was written."""


class PreviewProgress(Struct, frozen=True):
    """Segments that are finished, out of all."""

    done: int
    total: int
    segment: str
    """The segment that was finished last."""


class Watch(Struct, frozen=True):
    """Callbacks while summaries are written."""

    cancelled: Callable[[], bool] | None = None
    on_text: Callable[[str, str], None] | None = None
    """Gets the segment's id and each piece of its summary as it is written."""
    on_progress: Callable[[PreviewProgress], None] | None = None
    on_attempt: Callable[[str, int], None] | None = None
    """Gets the segment's id and the number of each attempt of a model, from 1. Text that was
    streamed before belongs to the previous attempt."""


def preview_plan(
    snapshot: ContextSnapshot,
    plan: Plan,
    summarizer: Summarizer,
    *,
    concurrency: int = 1,
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
) -> Preview:
    """The context after the plan, with the summaries filled into the plan's choices.

    Up to `concurrency` segments are written in parallel. Once a model has answered, a segment for
    which it fails is written by the offline engine. A failure before that stops the others and is
    raised: CancelledError, and the exceptions of the engine.
    """
    failed = threading.Event()
    is_cancelled = watch.cancelled
    watch = structs.replace(
        watch, cancelled=lambda: failed.is_set() or (is_cancelled is not None and is_cancelled())
    )
    previews: dict[int, SegmentPreview] = {}

    def preview(number: int) -> None:
        if watch.cancelled is not None and watch.cancelled():
            raise CancelledError("Stopped while summaries were written; nothing was stored.")
        previews[number] = preview_choice(
            snapshot, plan, plan.choices[number], summarizer, watch, answered=bool(previews)
        )

    def report(number: int) -> None:
        if watch.on_progress is not None:
            segment = previews[number].segment.id
            watch.on_progress(PreviewProgress(len(done), len(plan.choices), segment))

    done: list[int] = []
    if concurrency <= 1 or len(plan.choices) <= 1:
        for number in range(len(plan.choices)):
            preview(number)
            done.append(number)
            report(number)
    else:
        with ThreadPoolExecutor(min(concurrency, len(plan.choices))) as pool:
            running = {pool.submit(preview, number): number for number in range(len(plan.choices))}
            try:
                for future in as_completed(running):
                    future.result()
                    done.append(running[future])
                    report(running[future])
            except BaseException:
                failed.set()
                for future in running:
                    future.cancel()
                raise
    segments = tuple(previews[number] for number in range(len(plan.choices)))
    filled = tuple(
        structs.replace(
            choice,
            content=None if each.kept or each.level is Level.FULL else each.compressed.content,
            engine=each.compressed.engine,
        )
        for choice, each in zip(plan.choices, segments, strict=True)
    )
    return Preview(
        structs.replace(plan, choices=filled),
        segments,
        snapshot.tokens,
        snapshot.tokens - sum(each.segment.tokens - each.tokens for each in segments),
    )


def preview_choice(
    snapshot: ContextSnapshot,
    plan: Plan,
    choice: Choice,
    summarizer: Summarizer,
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
    *,
    answered: bool = False,
) -> SegmentPreview:
    """One segment at its level. `answered`: the model wrote another one before.

    Raises the exceptions of the engine.
    """
    number = snapshot.index_of(choice.segment)
    segment, anchors = snapshot.segments[number], snapshot.anchors[number]
    failures: tuple[RetentionFailure, ...] = ()
    engine = summarizer.engine
    # A deterministic engine is asked again, for notes and markers.
    write_again = engine.deterministic and choice.engine == engine.name
    unmet = ""
    if choice.content is None or choice.level is Level.FULL or write_again:
        try:
            compressed = _written(
                segment,
                anchors,
                choice.level,
                plan.options,
                summarizer,
                watch,
                alone=len(plan.choices) == 1,
                answered=answered,
            )
        except RetryExhaustedError as refused:
            if len(plan.choices) == 1 or not engine.deterministic:
                raise
            # The others can be looked at; nothing is applied before the criterion is mended.
            unmet = refused.diagnosis.removeprefix(f"{segment.id}: ").rstrip(".")
            compressed = summarizer.from_text(
                segment, anchors, choice.level, refused.last or segment.topic, engine=engine.name
            )
    else:
        content, failures = _checked(segment, plan, choice, choice.content)
        compressed = summarizer.from_text(
            segment, anchors, choice.level, content, engine=choice.engine or BY_HAND
        )
    fidelity = summarizer.validate_fidelity(segment, compressed)
    kept = unmet or _why_kept(segment, plan, choice, compressed)
    return SegmentPreview(segment, choice.level, compressed, fidelity, failures, kept, unmet)


def _written(
    segment: Segment,
    anchors: tuple[AnchorPoint, ...],
    level: Level,
    options: SummarizationOptions,
    summarizer: Summarizer,
    watch: Watch,
    *,
    alone: bool,
    answered: bool,
) -> CompressedSegment:
    """A new summary. Where a model fails, the offline engine writes it, with a note.

    `alone`: no other segment is asked for, so that there is nothing to lose and a failure is told.
    """
    on_text, on_attempt = watch.on_text, watch.on_attempt
    try:
        return summarizer.compress(
            segment,
            anchors,
            level,
            options,
            cancelled=watch.cancelled,
            on_text=(lambda piece: on_text(segment.id, piece)) if on_text else None,
            on_attempt=(lambda attempt: on_attempt(segment.id, attempt)) if on_attempt else None,
        )
    except RetryExhaustedError as refused:
        if alone or summarizer.engine.deterministic:
            raise RetryExhaustedError(
                f"{segment.id}: {refused.diagnosis}", refused.attempts, refused.last
            ) from refused
        why = f"the model's summary was refused: {refused.diagnosis}"
    except CancelledError:
        raise
    except ModelError as failure:
        if alone or not answered:
            raise
        why = f"the model failed: {failure}"
    found = summarizer.offline.compress(segment, anchors, level, options)
    note = f"offline, because {why}"
    return structs.replace(found, note="; ".join(filter(None, (found.note, note))))


def _checked(
    segment: Segment, plan: Plan, choice: Choice, content: str
) -> tuple[str, tuple[RetentionFailure, ...]]:
    """A summary that was written before, and the retention criteria that it does not meet."""
    content = prepare(content).text
    if not content.strip():
        raise ReviewerError(
            f"The summary of {segment.id} is empty. Write one, or leave the segment Full."
        )
    failures = tuple(validate_retention(content, collect_criteria(segment, plan.options.retention)))
    if failures and choice.append_missing:
        spans, failures = missing_spans(segment, failures, choice.level)
        content = append_points(content, spans)
    return content, failures


def _why_kept(segment: Segment, plan: Plan, choice: Choice, compressed: CompressedSegment) -> str:
    """Why a segment stays Full at any level; empty if it does not."""
    if choice.level is Level.FULL or choice.engine == BY_HAND:
        return ""
    if compressed.content.strip():
        smaller = compressed.token_count < segment.tokens
        return "" if smaller else "a summary would not be smaller"
    if plan.options.ceiling is None or not compressed.original_token_count:
        return "nothing in it is sent"
    return f"a ceiling of {plan.options.ceiling:,} leaves no room for a summary"


def require_retained(preview: Preview) -> None:
    """Raise RetentionError for the first summary that does not meet its criteria, and
    RetryExhaustedError for criteria that none can meet.
    """
    for each in preview.segments:
        if each.unmet:
            raise RetryExhaustedError(
                f"{each.segment.id}: {each.unmet}, or leave the segment Full. Nothing was written.",
                1,
                each.compressed.content,
            )
        if each.failures and not each.kept and each.level is not Level.FULL:
            raise RetentionError(
                f"{each.segment.id}: {diagnosis(each.failures)} Nothing was written: add it to the "
                "summary, let the missing spans be appended, or change the criteria."
            )


def with_missing_appended(preview: SegmentPreview, content: str) -> str:
    """A summary by hand with its missing parts appended: criteria that can be met, then anchors.

    `preview` is the preview of `content`.
    """
    points = anchor_points(preview.compressed.anchors_missing)
    longer = append_points(content, points)
    failing = [
        each
        for each in preview.failures
        if validate_retention(longer, [RetentionCriteria(patterns=(each.pattern,))])
    ]
    spans, _ = missing_spans(preview.segment, failing, preview.level)
    return append_points(longer, spans)
