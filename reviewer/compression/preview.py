"""Dry run of a plan: every summary written, counted and checked; nothing is stored."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from msgspec import Struct, structs

from reviewer.commits.contents import prepare
from reviewer.compression.context_snapshot import ContextSnapshot
from reviewer.compression.plan import CompressionPlan, LevelChoice, Preview, SegmentPreview
from reviewer.compression.retention import (
    RetentionFailure,
    criteria_of,
    diagnosis,
    validate_retention,
)
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.summary_writer import SummaryWriter
from reviewer.compression.values import (
    BY_HAND,
    NOTHING_TOLD,
    SHORT,
    CompressedSegment,
    Level,
    Segment,
)
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError
from reviewer.llm.steering import RetryExhaustedError


class RetentionError(ReviewerError):
    """A summary does not meet its retention criteria; nothing was written."""


class PreviewProgress(Struct, frozen=True):
    """Finished segments, out of all."""

    done: int
    total: int
    segment: str
    """The segment finished last."""
    answered_before: int = 0
    """Finished segments written by a model in an earlier run."""


class Watch(Struct, frozen=True):
    """Callbacks while summaries are written."""

    cancelled: Callable[[], bool] | None = None
    on_progress: Callable[[PreviewProgress], None] | None = None


def preview_plan(
    snapshot: ContextSnapshot,
    plan: CompressionPlan,
    summarizer: Summarizer,
    *,
    concurrency: int = 1,
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
    strict: bool = False,
) -> Preview:
    """The context after the plan, up to `concurrency` segments at a time; see
    `Compression.preview`. If a model fails, the offline engine writes; its exceptions are raised if
    it does not work at all, or no segment can be written.
    """
    compressed = [choice for choice in plan.choices if choice.level is not Level.FULL]
    refused: list[RetryExhaustedError[Any]] = []
    previews: dict[int, SegmentPreview] = {}
    failed, lock = threading.Event(), threading.Lock()

    def stops() -> bool:
        return failed.is_set() or (watch.cancelled is not None and watch.cancelled())

    unwritten = sum(choice.content is None for choice in compressed)
    writer = SummaryWriter(summarizer, unwritten, cancelled=stops)

    def write(number: int) -> None:
        if stops():
            raise CancelledError("Stopped while summaries were written; nothing was stored.")
        choice = plan.choices[number]
        try:
            found = preview_choice(snapshot, plan, choice, writer)
        except RetryExhaustedError as problem:
            refused.append(problem)
            if strict or len(refused) >= len(compressed):
                raise
            found = _left_full(snapshot, plan, choice, SummaryWriter(summarizer.offline), problem)
        with lock:
            previews[number] = found
            if watch.on_progress is not None:
                before = sum(each.compressed.answered_before for each in previews.values())
                done, total = len(previews), len(plan.choices)
                watch.on_progress(PreviewProgress(done, total, found.segment.id, before))

    numbers = range(len(plan.choices))
    with ThreadPoolExecutor(concurrency) as pool:
        running = [pool.submit(write, number) for number in numbers]
        try:
            for future in as_completed(running):
                future.result()
        except BaseException:
            failed.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    segments = tuple(previews[number] for number in numbers)
    filled = tuple(
        structs.replace(
            choice,
            level=Level.FULL if each.refused else choice.level,
            content=None if each.kept or each.level is Level.FULL else each.compressed.content,
            engine=each.compressed.engine,
            written=each.compressed.written,
        )
        for choice, each in zip(plan.choices, segments, strict=True)
    )
    return Preview(
        structs.replace(plan, choices=filled),
        segments,
        snapshot.tokens,
        snapshot.tokens - sum(each.segment.sent - each.tokens for each in segments),
    )


def preview_choice(
    snapshot: ContextSnapshot, plan: CompressionPlan, choice: LevelChoice, writer: SummaryWriter
) -> SegmentPreview:
    """One segment at its level. Raises the exceptions of the writer."""
    number = snapshot.index_of(choice.segment)
    segment, anchors = snapshot.segments[number], snapshot.anchors_of(number)
    criteria = criteria_of(segment, plan.options.retention)
    summarizer = writer.summarizer
    failures: tuple[RetentionFailure, ...] = ()
    if segment.applied is not None and choice.content == segment.applied.text:
        compressed = summarizer.from_text(
            segment, anchors, choice.level, choice.content, engine=choice.engine
        )
        fidelity = summarizer.validate_level(segment, compressed)
        return SegmentPreview(segment, choice.level, compressed, fidelity)
    # A deterministic engine is called again, for notes and markers.
    write_again = summarizer.engine.deterministic and choice.engine == summarizer.engine.name
    if choice.content is None or choice.level is Level.FULL or write_again:
        compressed = writer.write(segment, anchors, choice.level, plan.options)
    else:
        content = prepare(choice.content).text
        if not content.strip():
            raise ReviewerError(
                f"The summary of {segment.id} is empty. Write one, or leave the segment Full."
            )
        failures = tuple(validate_retention(content, criteria.patterns))
        engine = choice.engine or BY_HAND
        compressed = summarizer.from_text(
            segment, anchors, choice.level, content, engine=engine, written=choice.written
        )
    fidelity = summarizer.validate_level(segment, compressed)
    kept = _why_kept(segment, choice, compressed)
    asked = tuple((criteria.instructions or "").splitlines())
    return SegmentPreview(
        segment, choice.level, compressed, fidelity, failures, kept, () if kept else asked
    )


def _left_full(
    snapshot: ContextSnapshot,
    plan: CompressionPlan,
    choice: LevelChoice,
    writer: SummaryWriter,
    refused: RetryExhaustedError[Any],
) -> SegmentPreview:
    """A segment that stays Full because no summary of it meets its criteria."""
    full = preview_choice(snapshot, plan, structs.replace(choice, level=Level.FULL), writer)
    why = refused.diagnosis.removeprefix(f"{choice.segment}: ")
    return structs.replace(full, level=choice.level, kept=why, unchecked=(), refused=True)


def _why_kept(segment: Segment, choice: LevelChoice, compressed: CompressedSegment) -> str:
    """Why a segment stays Full at any level; empty if it does not."""
    if choice.level is Level.FULL or choice.engine == BY_HAND:
        return ""
    if not segment.tokens:
        return "nothing in it is sent"
    if not compressed.content.strip():
        return NOTHING_TOLD
    if compressed.token_count >= segment.tokens:
        return "a summary would not be smaller"
    return "it is too short to be summarized" if segment.tokens <= SHORT else ""


def require_retained(preview: Preview) -> None:
    """Raise RetentionError for the first summary that does not meet its criteria."""
    for each in preview.segments:
        if each.failures and not each.kept and each.level is not Level.FULL:
            raise RetentionError(
                f"{each.segment.id}: {diagnosis(each.failures)} Nothing was written: add it to the "
                "summary, let the missing spans be appended, or change the criteria."
            )
