"""What `reviewer compress` prints: previews, all four levels, what was applied, reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import count, narrate, print_json, print_text, safe, safe_lines, table

if TYPE_CHECKING:
    from reviewer.engine import (
        Applied,
        CompactionReport,
        CompressedSegment,
        Engine,
        FidelityValidation,
        Preview,
        SegmentPreview,
        SummarizationOptions,
    )

LOST_SHOWN = 5
DROPPED_SHOWN = 12


def show_preview(found: Preview, *, as_json: bool, only_table: bool) -> None:
    """Every segment as it would be, then the whole context."""
    if as_json:
        for line in found.to_json():
            print_json(line)
        return
    if only_table:
        rows = [_row(each) for each in found.segments]
        for text in table(rows, right=frozenset({1, 2, 3})):
            print_text(text)
    else:
        for each in found.segments:
            _show_segment(each)
    before, after = found.tokens_before, found.tokens_after
    ratio = f" ({before / after:.1f}:1)" if after else ""
    target = f", target {found.plan.target:,}" if found.plan.target else ""
    narrate(f"The whole context: {before:,} to {after:,} tokens{ratio}{target}.")


def show_applied(applied: Applied, *, as_json: bool) -> None:
    """What was written."""
    if as_json:
        print_json(
            {
                "applied": True,
                "act": applied.act,
                "segments": applied.segments,
                "original_tokens": applied.tokens_before,
                "tokens": applied.tokens_after,
            }
        )
    narrate(f"{safe(applied.title)} - reviewer undo takes it back")


def show_all_levels(
    engine: Engine,
    context: int,
    bounds: tuple[int | None, int | None],
    options: SummarizationOptions,
    engine_name: str | None,
    *,
    as_json: bool,
) -> None:
    """Each segment at all four levels; a level that the licence holds back says so."""
    totals: dict[str, int] = {}
    for each in engine.compression.all_levels(
        context, start=bounds[0], end=bounds[1], options=options, engine=engine_name
    ):
        level = each.level.name.lower()
        totals[level] = totals.get(level, 0) + each.tokens
        if as_json:
            print_json(each.to_json())
        elif each.locked:
            print_text(f"{each.segment.id} {level}: {each.locked.message}")
        else:
            assert each.compressed is not None
            assert each.fidelity is not None
            _show_summary(each.segment.id, each.segment.topic, each.compressed, each.fidelity)
    if as_json:
        print_json({"total": True, "context": context, "tokens": totals})
    else:
        narrate(", ".join(f"{level} {tokens:,}" for level, tokens in totals.items()) + " tokens.")


def show_expanded(engine: Engine, commit: int, *, as_json: bool) -> None:
    """A summary with all its markers opened, down to the originals."""
    opened = engine.compression.expanded(commit)
    if as_json:
        print_json({"commit": commit, "text": opened})
        return
    for line in safe_lines(opened):
        print_text(line)


def show_compactions(paths: Sequence[Path], *, as_json: bool) -> None:
    """What past compactions of transcripts dropped that was needed later."""
    if not paths:
        raise click.UsageError("name the transcripts")
    from reviewer.storeless import compaction_reports

    found = False
    for report in compaction_reports(paths):
        found = True
        if as_json:
            print_json(report.to_json())
        else:
            _show_compaction(report)
    if not found:
        narrate("No compaction in it.")


def _show_compaction(report: CompactionReport) -> None:
    print_text(
        f"{safe(report.path)}, line {report.line + 1}: {report.before_tokens:,} tokens became "
        f"{report.summary_tokens:,}"
    )
    shares = (
        ("identifiers", report.needed, report.kept),
        ("files", report.needed_files, report.kept_files),
        ("what you named", report.needed_by_person, report.kept_by_person),
    )
    for what, needed, kept in shares:
        if kept is not None:
            print_text(f"  {what}: the summary kept {kept:.0%} of {needed:,} needed later")
    for each in report.dropped[:DROPPED_SHOWN]:
        print_text(f"  - {safe(each.text)} (needed {count(each.needed, 'time')})")
    if len(report.dropped) > DROPPED_SHOWN:
        print_text(f"  +{len(report.dropped) - DROPPED_SHOWN:,} more (--json)")


def _row(each: SegmentPreview) -> tuple[str, ...]:
    done = each.compressed
    level = "full" if each.kept else each.level.name.lower()
    return (
        safe(each.segment.id),
        f"{each.segment.tokens:,}",
        f"{each.tokens:,}",
        f"{each.segment.tokens / each.tokens:.1f}:1" if each.tokens else "",
        level,
        f"{each.fidelity.overall_score:.2f} {_mark(each.fidelity)}" if level != "full" else "",
        safe("; ".join(filter(None, (each.segment.topic, done.note, each.kept)))),
    )


def _show_segment(each: SegmentPreview) -> None:
    if each.kept or not each.level:
        why = f": {each.kept}" if each.kept else ""
        narrate(f"{each.segment.id} {safe(each.segment.topic)}: stays{why}")
        return
    _show_summary(each.segment.id, each.segment.topic, each.compressed, each.fidelity)
    for failure in each.failures:
        narrate(f"  missing: {safe(failure.message)}")


def _show_summary(
    segment: str, topic: str, done: CompressedSegment, fidelity: FidelityValidation
) -> None:
    """The header and what is lost on stderr, the content on stdout."""
    note = f" ({done.note})" if done.note else ""
    narrate(
        f"{safe(segment)} {safe(topic)} · {done.level.name.capitalize()} {done.token_count:,} of "
        f"{done.original_token_count:,} tokens · {done.compression_ratio:.1f}:1{note} · fidelity "
        f"{fidelity.overall_score:.2f} {_mark(fidelity)} (anchors "
        f"{fidelity.anchor_preservation:.2f}, facts {fidelity.factual_accuracy:.2f}, context "
        f"{fidelity.context_retention:.2f})"
    )
    for line in safe_lines(done.content):
        print_text(line)
    lost = fidelity.lost_information[:LOST_SHOWN]
    if lost:
        narrate("  drops: " + ", ".join(_lost(each.text, each.times) for each in lost))
    print_text("")


def _lost(text: str, times: int) -> str:
    return safe(text) + (f" ({times} times)" if times > 1 else "")


def _mark(fidelity: FidelityValidation) -> str:
    return "✓" if fidelity.passes_threshold else "✗"
