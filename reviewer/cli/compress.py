"""`reviewer compress CONTEXT`: preview a smaller context and its losses; apply it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from reviewer.cli.context import IMPORT
from reviewer.cli.inputs import PAIR, flag, option, read_text
from reviewer.cli.output import (
    count,
    emit,
    json_option,
    narrate,
    print_json,
    print_lines,
    print_table,
    print_text,
    report_act,
    safe_lines,
)
from reviewer.cli.progress import working
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.clock import TimeLeft
from reviewer.compression.plan import CompressionPlan, Preview, SegmentPreview
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.compression.segments import title_of
from reviewer.compression.values import UNCHECKED, FidelityValidation, Level
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError

LOST_SHOWN = 5
LEVELS = tuple(each.name.lower() for each in Level)


@click.command(cls=Verb, example="compress talk --fit 8000 --apply")
@click.argument("name", metavar="CONTEXT")
@option(
    "--level",
    "Detailed is at least about 3:1, brief 10:1, tags 50:1; all shows all four.  [default: brief]",
    choices=[*LEVELS, "all"],
)
@option("--fit N", "Choose levels so that the context fits N tokens; those of --set stay.", least=1)
@option("--from C", "First commit of the range.", into="start")
@option("--to C", "Last commit of the range, inclusive.", into="end")
@option(
    "--set SEGMENT=LEVEL",
    "A different level for one segment, such as s21=detailed.",
    into="levels",
    many=True,
    type=PAIR,
)
@option(
    "--text SEGMENT=FILE",
    "Your own summary of one segment, such as s21=FILE.",
    into="texts",
    many=True,
    type=PAIR,
)
@option(
    "--engine",
    "The writer of the summaries (default: as in the settings).",
    choices=["offline", "model"],
)
@option("--model NAME", "Use this model instead of the one in the settings.")
@option("--max-tokens N", "Target size of each summary, in tokens.", least=1)
@option("--retain TEXT", "For this call only: what must survive, in words.")
@option("--retain-match S", "For this call only: a text that must survive.", many=True)
@option("--retain-regex R", "For this call only: a pattern that must match.", many=True)
@option("--pin C TEXT", "Pin a text in a commit, then preview.", nargs=2)
@option("--expand C", "Show the full text behind the summary commit C.")
@flag("--apply", "Write the summaries; reviewer undo takes them back.", into="apply_")
@flag("--anyway", "With --fit and --apply: also summaries that fail their checks.")
@flag("--table", "One line per segment, without summaries.", into="only_table")
@json_option("One JSON object per summary, then the total.")
@pass_session
def compress(
    session: Session,
    /,
    name: str,
    level: str | None,
    fit: int | None,
    start: str | None,
    end: str | None,
    levels: Sequence[tuple[str, str]],
    texts: Sequence[tuple[str, str]],
    engine: str | None,
    model: str | None,
    pin: tuple[str, str] | None,
    expand: str | None,
    apply_: bool,
    anyway: bool,
    only_table: bool,
    as_json: bool,
    **aims: Any,
) -> None:
    """Each segment of the context becomes a summary. Pinned commits are unchanged, important ones
    keep what their criteria require, and the originals stay in the store. Answers of a model are
    cached, so an interrupted run asks only for the rest.
    """
    if level == "all" and (apply_ or fit or levels or texts):
        raise click.UsageError("--level all is for viewing only; choose a level, or --fit N")
    if fit is not None and (level or start or end):
        raise click.UsageError("--fit chooses the levels of the whole context by itself")
    opening = session.changing if apply_ or pin else session.reading
    with opening(filled_by=IMPORT) as opened:
        context = opened.contexts.find(name, opened.project).id
        if expand is not None:
            commit = opened.contexts.resolve(expand, context)
            text = opened.compression.expanded(commit)
            emit([{"commit": commit, "text": text}], as_json, lines=lambda _: safe_lines(text))
            return
        if model and opened.compression.engines.named(engine) != "model":
            raise click.UsageError("--model needs --engine model")
        if pin is not None:
            commit = opened.contexts.resolve(pin[0], context)
            act = opened.compression.pin_text(commit, pin[1])
            narrate(f"{'Pinned' if act else 'Already pinned'}: {pin[1]}")
        options = opened.compression.options(model_id=model, **aims)
        first, last = (
            None if each is None else opened.contexts.resolve(each, context)
            for each in (start, end)
        )
        plan_at = partial(
            opened.compression.plan, context, start=first, end=last, engine=engine, options=options
        )
        if level == "all":
            locked = {each.name.lower(): why for each, why in opened.compression.locked.items()}
            previews = {
                each: _previewed(opened, plan_at(each)) for each in LEVELS if each not in locked
            }
            for why in locked.values():
                if as_json:
                    print_json(why)
                else:
                    narrate(str(why))
            _show_levels(previews, as_json=as_json)
            return
        plan = plan_at(level or "brief")
        for segment, wanted in levels:
            plan = opened.compression.choose(plan, segment, wanted)
        for segment, file in texts:
            text = read_text(file, of="a summary", if_empty="Give the text of the summary.")
            plan = opened.compression.write(plan, segment, text)
        if fit is not None:
            chosen = {segment for segment, _ in (*levels, *texts)}
            own = [each for each in plan.choices if each.segment in chosen]
            tried = "Choosing levels: {:,} of at most {:,} summaries tried"
            with _watched(tried, estimates=False) as watch:
                plan = opened.compression.fit(
                    context,
                    fit,
                    engine=engine,
                    options=options,
                    watch=watch,
                    anyway=anyway,
                    own=own,
                )
        found = _previewed(opened, plan)
        _show_preview(found, as_json=as_json, only_table=only_table or apply_)
        if not apply_:
            return
        if not anyway:
            _require_faithful(found)
        for each in found.segments:
            if each.refused:
                narrate(f"{each.segment.id} stays Full: {each.kept}")
        applied = opened.compression.apply(found.plan)
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
        report_act(applied)


def _require_faithful(found: Preview) -> None:
    """Refuse summaries that fail their checks, whoever wrote them, with the reasons."""
    wrong = [
        f"{each.segment.id} ({'; '.join(each.faults)})"
        for each in found.segments
        if each.in_doubt and not each.failures  # those are refused with their criteria
    ]
    if wrong:
        raise ReviewerError(
            f"Nothing was written, because of {', '.join(wrong)}. Correct the text, or apply it "
            "with --anyway."
        )


def _previewed(engine: Engine, plan: CompressionPlan) -> Preview:
    """The preview; Ctrl-C stops it. When the model fails, the error suggests the offline engine."""
    try:
        with _watched("Previewed {:,} of {:,} segments", len(plan.choices)) as watch:
            found = engine.compression.preview(plan, watch)
    except ReviewerError as problem:
        if plan.engine != "model":
            raise
        if isinstance(problem, CancelledError):
            narrate("The answers so far are kept: run the same command to continue.")
            raise
        # Some errors end with a command; no full stop after that.
        reason = f"{problem}" if f"{problem}".endswith(".") else f"{problem} -"
        raise ReviewerError(
            f"{reason} Nothing was written. The offline engine needs no model: --engine offline"
        ) from problem
    if found.answered_before:
        narrate(
            f"{count(found.answered_before, 'answer')} of the model reused from an earlier run."
        )
    return found


@contextmanager
def _watched(words: str, total: int = 0, *, estimates: bool = True) -> Iterator[Watch]:
    """Progress on stderr while the block runs; Ctrl-C stops it in an orderly way.

    `total`: segments, if known before the first is done. `estimates`: say how much time is left.
    """
    time = TimeLeft()
    with working() as (line, asked):

        def progress(found: PreviewProgress) -> None:
            before = found.answered_before
            left = time.words(found.done - before, found.total - before) if estimates else ""
            taken = f"{before:,} answered before" if before else ""
            shown = ", ".join(filter(None, (words.format(found.done, found.total), taken, left)))
            line.show(f"{shown}  Ctrl-C stops  {found.segment}")

        if total:
            line.show(f"{words.format(0, total)}  Ctrl-C stops")
        yield Watch(asked, on_progress=progress)


def _show_preview(found: Preview, *, as_json: bool, only_table: bool) -> None:
    if as_json:
        for line in found.to_json():
            print_json(line)
        return
    if only_table:
        print_table(map(_row, found.segments), right=[1, 2, 3])
    else:
        for each in found.segments:
            _show_segment(each)
    before, after = found.tokens_before, found.tokens_after
    ratio = f" ({before / after:.1f}:1)" if after else ""
    target = f", target {found.plan.target:,}" if found.plan.target else ""
    narrate(f"The whole context: {before:,} to {after:,} tokens{ratio}{target}.")
    if found.plan.target and found.shortened:
        narrate(f"The person's words are shortened in {', '.join(found.shortened)}.")


def _show_levels(previews: Mapping[str, Preview], *, as_json: bool) -> None:
    """Each segment at every level, then the tokens of each level."""
    for levels in zip(*(each.segments for each in previews.values()), strict=True):
        for one in levels:
            if as_json:
                print_json(one)
            else:
                _show_segment(one)
    totals = {level: sum(one.tokens for one in found.segments) for level, found in previews.items()}
    if as_json:
        context = next(iter(previews.values())).plan.context
        print_json({"total": True, "context": context, "tokens": totals})
    else:
        narrate(", ".join(f"{level} {tokens:,}" for level, tokens in totals.items()) + " tokens.")


def _row(each: SegmentPreview) -> tuple[str, ...]:
    level = "full" if each.kept else each.level.name.lower()
    return (
        each.segment.id,
        f"{each.segment.tokens:,}",
        f"{each.tokens:,}",
        f"{each.segment.tokens / each.tokens:.1f}:1" if each.tokens else "",
        level,
        _verdict(each.fidelity) if level != "full" else "",
        "; ".join(filter(None, (title_of(each.segment), each.compressed.note, each.kept))),
    )


def _show_segment(each: SegmentPreview) -> None:
    """The summary on stdout, its figures and losses on stderr."""
    name = f"{each.segment.id} {title_of(each.segment)}"
    if each.kept or not each.level:
        narrate(f"{name}: unchanged{f': {each.kept}' if each.kept else ''}")
        return
    done, fidelity = each.compressed, each.fidelity
    note = f" ({done.note})" if done.note else ""
    narrate(
        f"{name} · {done.level.name.capitalize()} {done.token_count:,} of "
        f"{done.original_token_count:,} tokens · {done.compression_ratio:.1f}:1{note} · "
        + (
            f"fidelity {_verdict(fidelity)} (anchors "
            f"{fidelity.anchor_preservation:.2f}, facts {fidelity.factual_accuracy:.2f}, context "
            f"{fidelity.context_retention:.2f})"
            if fidelity.checked
            else UNCHECKED
        )
    )
    print_lines(done.content)
    if fidelity.faults:
        narrate(f"  wrong: {'; '.join(fidelity.faults)}")
    lost = fidelity.loses
    more = [f"{len(lost) - LOST_SHOWN:,} more"] if len(lost) > LOST_SHOWN else []
    for place, line in enumerate((*lost[:LOST_SHOWN], *more)):
        narrate(f"  {'loses: ' if place == 0 else '       '}{line}")
    print_text("")
    for words in each.unchecked:
        narrate(
            f'  asked: "{words}": cannot be checked, so it may be lost; name texts or '
            "patterns that must survive"
        )
    for failure in each.failures:
        narrate(f"  missing: {failure.message}")


def _verdict(fidelity: FidelityValidation) -> str:
    if not fidelity.checked:
        return "unchecked"
    return f"{fidelity.overall_score:.2f} {'✓' if fidelity.passes_threshold else '✗'}"
