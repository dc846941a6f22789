"""A plan carried out in thought: every summary written, weighed and checked, nothing stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

from msgspec import Struct, structs

from reviewer.commits.contents import prepare
from reviewer.compression.levels import Summarizer
from reviewer.compression.plan import Choice, Plan, Preview, SegmentPreview
from reviewer.compression.reading import ContextReading
from reviewer.compression.retention import (
    RetentionFailure,
    append_points,
    diagnosis,
    gather,
    missing_spans,
    validate_retention,
)
from reviewer.compression.values import CompressedSegment, Level
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError

BY_HAND = "by hand"


class RetentionError(ReviewerError):
    """A summary does not hold what somebody asked to retain; nothing was written."""


class PreviewProgress(Struct, frozen=True):
    """How far a preview is."""

    done: int
    total: int
    segment: str
    """The segment that was finished last."""


class Watch(Struct, frozen=True):
    """Who looks on while summaries are written."""

    cancelled: Callable[[], bool] | None = None
    on_text: Callable[[str, str], None] | None = None
    """Gets the segment's id and each piece of its summary as it is written."""
    on_progress: Callable[[PreviewProgress], None] | None = None
    on_attempt: Callable[[str, int], None] | None = None
    """Gets the segment's id and the number of the attempt, from 1, when a model is asked: what was
    streamed of the attempt before stands no longer."""


def preview_plan(
    reading: ContextReading,
    plan: Plan,
    summarizer: Summarizer,
    *,
    concurrency: int = 1,
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
) -> Preview:
    """What the plan makes of the context, its choices filled with summaries.

    Several segments are written at once where the engine is waited for. Raises what the engine
    raises, for the first segment that fails; the others are stopped.
    """
    found: dict[int, SegmentPreview] = {}
    numbers = [reading.number_of(choice.segment) for choice in plan.choices]

    failed = threading.Event()
    asked = watch.cancelled
    stopping = structs.replace(
        watch, cancelled=lambda: failed.is_set() or (asked is not None and asked())
    )

    def one(place: int) -> SegmentPreview:
        if stopping.cancelled is not None and stopping.cancelled():
            raise CancelledError("Stopped while summaries were written; nothing was stored.")
        choice = plan.choices[place]
        return preview_choice(reading, numbers[place], plan, choice, summarizer, stopping)

    for done, (place, result) in enumerate(_each(one, len(numbers), concurrency, failed), 1):
        found[place] = result
        if watch.on_progress is not None:
            watch.on_progress(PreviewProgress(done, len(numbers), result.segment.id))
    previews = tuple(found[place] for place in range(len(numbers)))
    saved = sum(each.segment.tokens - each.tokens for each in previews)
    filled = tuple(
        structs.replace(
            choice,
            content=None if each.kept or each.level is Level.FULL else each.compressed.content,
            engine=each.compressed.engine,
        )
        for choice, each in zip(plan.choices, previews, strict=True)
    )
    return Preview(
        structs.replace(plan, choices=filled),
        previews,
        reading.tokens,
        reading.tokens - saved,
    )


def _each(
    one: Callable[[int], SegmentPreview], total: int, concurrency: int, failed: threading.Event
) -> Iterable[tuple[int, SegmentPreview]]:
    """The results as they come; the first failure stops what is under way, and is raised."""
    if concurrency <= 1 or total <= 1:
        for place in range(total):
            yield place, one(place)
        return
    with ThreadPoolExecutor(min(concurrency, total)) as pool:
        waiting = {pool.submit(one, place): place for place in range(total)}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:
            failed.set()
            for future in waiting:
                future.cancel()
            raise


def preview_choice(
    reading: ContextReading,
    number: int,
    plan: Plan,
    choice: Choice,
    summarizer: Summarizer,
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
) -> SegmentPreview:
    """One segment at its level. Raises what the engine raises."""
    segment, anchors = reading.segments[number], reading.anchors[number]
    failures: tuple[RetentionFailure, ...] = ()
    again = summarizer.writer.rewrites and choice.engine == summarizer.writer.name
    if choice.content is None or choice.level is Level.FULL or again:
        on_text, on_attempt = watch.on_text, watch.on_attempt
        compressed = summarizer.compress(
            segment,
            anchors,
            choice.level,
            plan.options,
            cancelled=watch.cancelled,
            on_text=(lambda piece: on_text(segment.id, piece)) if on_text else None,
            on_attempt=(lambda number: on_attempt(segment.id, number)) if on_attempt else None,
        )
    else:
        asked = gather(segment, plan.options.retention)
        content = prepare(choice.content).text
        if not content.strip():
            raise ReviewerError(
                f"The summary of {segment.id} is empty. Write one, or leave the segment Full."
            )
        failures = tuple(validate_retention(content, asked))
        if failures and choice.append_missing:
            spans, hopeless = missing_spans(segment, failures, choice.level)
            content, failures = append_points(content, spans), hopeless
        compressed = summarizer.judge(
            segment, anchors, choice.level, content, engine=choice.engine or BY_HAND
        )
    kept = ""
    if choice.level is not Level.FULL and choice.engine != BY_HAND:
        if not compressed.content.strip():
            kept = _why_empty(compressed, plan.options.ceiling)
        elif compressed.token_count >= segment.tokens:
            kept = "a summary would not be smaller"
    return SegmentPreview(
        segment,
        choice.level,
        compressed,
        summarizer.validate_fidelity(segment, compressed),
        failures,
        kept,
    )


def _why_empty(compressed: CompressedSegment, ceiling: int | None) -> str:
    """Why a summary has nothing in it: no room, or nothing that is sent at all."""
    if ceiling is None or not compressed.original_token_count:
        return "nothing in it is sent"
    return f"a ceiling of {ceiling:,} leaves no room for a summary"


def require_retained(preview: Preview) -> None:
    """Raise RetentionError when a summary misses what must survive, naming all of it."""
    for each in preview.segments:
        if each.failures and not each.kept and each.level is not Level.FULL:
            raise RetentionError(
                f"{each.segment.id}: {diagnosis(each.failures)} Nothing was written: add it to the "
                "summary, let the missing spans be appended, or change the criteria."
            )
