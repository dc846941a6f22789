"""`reviewer compress CONTEXT`: what a smaller context would say and lose, and making it so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.commits import IMPORT, find_context
from reviewer.cli.compress_shows import (
    show_all_levels,
    show_applied,
    show_compactions,
    show_expanded,
    show_preview,
)
from reviewer.cli.output import narrate, safe
from reviewer.cli.progress import ProgressLine, interruptible
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.compressing import Watch
    from reviewer.engine import Engine, Plan, Preview, SummarizationOptions

LEVELS = ("full", "detailed", "brief", "tags")


class SegmentValue(click.ParamType[tuple[str, str]]):
    """`s2=VALUE`: something for one segment."""

    name = "SEGMENT=VALUE"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The segment's id and the value."""
        segment, equals, rest = str(value).partition("=")
        if not (segment and equals and rest):
            self.fail(f"{value!r} is not SEGMENT=VALUE, such as s2=brief", param, ctx)
        return segment, rest


@click.command(cls=Verb)
@click.argument("names", nargs=-1, metavar="CONTEXT")
@click.option(
    "--level",
    type=click.Choice([*LEVELS, "all"]),
    help="Detailed is about 3:1, brief 10:1, tags 50:1; all shows the four.  [default: brief]",
)
@click.option("--fit", type=click.IntRange(1), metavar="N", help="Levels that fit N tokens.")
@click.option("--from", "start", metavar="C", help="First commit of the range.")
@click.option("--to", "end", metavar="C", help="Last commit of the range, included.")
@click.option(
    "--set",
    "levels",
    multiple=True,
    type=SegmentValue(),
    help="Another level for one segment, such as s2=detailed.",
)
@click.option(
    "--text",
    "texts",
    multiple=True,
    type=SegmentValue(),
    help="A summary by hand for one segment, such as s2=FILE.",
)
@click.option("--engine", type=click.Choice(["offline", "model"]), help="What writes summaries.")
@click.option("--model", metavar="NAME", help="Another model than the settings name.")
@click.option("--template", metavar="ID", help="Another prompt template for a model.")
@click.option("--temperature", type=click.FloatRange(0, 2), default=0.3, show_default=True)
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Aim of each summary.")
@click.option(
    "--ceiling", type=click.IntRange(1), metavar="N", help="What no summary may exceed at all."
)
@click.option("--no-markers", is_flag=True, help="No expansion markers.")
@click.option("--no-anchors", is_flag=True, help="Do not put missing anchors back.")
@click.option("--retain", metavar="TEXT", help="For this call: what must survive, in words.")
@click.option(
    "--retain-match", multiple=True, metavar="S", help="For this call: a text that must survive."
)
@click.option("--retain-regex", multiple=True, metavar="R", help="For this call: a pattern.")
@click.option("--append-missing", is_flag=True, help="Put back what a --text misses.")
@click.option("--pin", nargs=2, metavar="C TEXT", help="Pin a span of a commit, then preview.")
@click.option("--unpin", nargs=2, metavar="C TEXT", help="Take such a pin back.")
@click.option("--expand", metavar="C", help="Show what the summary commit C stands for.")
@click.option("--apply", "apply_", is_flag=True, help="Write it; reviewer undo takes it back.")
@click.option("--table", "only_table", is_flag=True, help="One line a segment, no summaries.")
@click.option(
    "--report",
    type=click.Choice(["compactions"]),
    help="Of transcripts, not of a context: what past compactions dropped that was needed later.",
)
@click.option("--json", "as_json", is_flag=True, help="A summary a line, then the total.")
@pass_session
def compress(
    session: Session,
    names: Sequence[str],
    level: str | None,
    fit: int | None,
    start: str | None,
    end: str | None,
    levels: Sequence[tuple[str, str]],
    texts: Sequence[tuple[str, str]],
    engine: str | None,
    model: str | None,
    template: str | None,
    temperature: float,
    max_tokens: int | None,
    ceiling: int | None,
    no_markers: bool,
    no_anchors: bool,
    retain: str | None,
    retain_match: Sequence[str],
    retain_regex: Sequence[str],
    append_missing: bool,
    pin: tuple[str, str] | None,
    unpin: tuple[str, str] | None,
    expand: str | None,
    apply_: bool,
    only_table: bool,
    report: str | None,
    as_json: bool,
) -> None:
    """Preview a smaller context, and apply it if asked.

    Each segment of the context becomes a summary; pins stay as they are, important commits keep
    what was asked to be retained, and the originals stay in the store. With --report the
    arguments are transcripts.
    """
    if report is not None:
        show_compactions([Path(name) for name in names], as_json=as_json)
        return
    if len(names) != 1:
        raise click.UsageError("name one context; see: reviewer context list")
    if level == "all" and (apply_ or fit or levels or texts):
        raise click.UsageError("--level all only shows; choose a level, or --fit N")
    if fit is not None and (level or start or end):
        raise click.UsageError("--fit chooses the levels of the whole context by itself")
    writes = apply_ or pin is not None or unpin is not None
    with (session.changing if writes else session.reading)(filled_by=IMPORT) as opened:
        context = find_context(opened, names[0]).id
        if expand is not None:
            show_expanded(opened, opened.contexts.resolve(expand, context), as_json=as_json)
            return
        if (model or template) and opened.compression.engines.named(engine) != "model":
            raise click.UsageError("--model and --template say how a model writes: --engine model")
        _mark(opened, context, pin, unpin)
        options = opened.compression.options(
            model_id=model,
            template=template,
            temperature=temperature,
            max_tokens=max_tokens,
            ceiling=ceiling,
            markers=not no_markers,
            anchors=not no_anchors,
            retain=retain,
            retain_match=retain_match,
            retain_regex=retain_regex,
        )
        if level == "all":
            bounds = _bounds(opened, context, start, end)
            show_all_levels(opened, context, bounds, options, engine, as_json=as_json)
            return
        if fit is not None:
            plan = _fitting(opened, context, fit, engine, options)
        else:
            first, last = _bounds(opened, context, start, end)
            plan = opened.compression.plan(
                context, level or "brief", start=first, end=last, engine=engine, options=options
            )
        for segment, wanted in levels:
            plan = opened.compression.choose(plan, segment, wanted)
        for segment, file in texts:
            plan = opened.compression.write(
                plan, segment, _read(Path(file)), append_missing=append_missing
            )
        found = _previewed(opened, plan)
        show_preview(found, as_json=as_json, only_table=only_table or apply_)
        if apply_:
            show_applied(opened.compression.apply(context, found.plan), as_json=as_json)


def _fitting(
    opened: Engine, context: int, target: int, engine: str | None, options: SummarizationOptions
) -> Plan:
    """The levels that fit, which Ctrl-C stops."""
    with _watched("Choosing levels: {:,} of at most {:,} summaries tried") as watch:
        return opened.compression.fit(context, target, engine=engine, options=options, watch=watch)


def _previewed(engine: Engine, plan: Plan) -> Preview:
    """The preview, which Ctrl-C stops. A failing model says that the offline engine can do it."""
    with _watched("Previewed {:,} of {:,} segments") as watch:
        try:
            return engine.compression.preview(plan, watch)
        except ReviewerError as problem:
            if plan.engine != "model" or (watch.cancelled and watch.cancelled()):
                raise
            # A problem may end with a command, which a full stop would spoil.
            said = f"{problem}" if f"{problem}".endswith(".") else f"{problem} -"
            raise ReviewerError(
                f"{said} Nothing was written. The offline engine needs no model: --engine offline"
            ) from problem


@contextmanager
def _watched(words: str) -> Iterator[Watch]:
    """Progress on stderr while the block runs; Ctrl-C brings it to an orderly end."""
    from reviewer.compressing import PreviewProgress, Watch

    line = ProgressLine()

    def progress(found: PreviewProgress) -> None:
        line.show(words.format(found.done, found.total))

    with interruptible() as asked:
        try:
            yield Watch(asked, on_progress=progress)
        except ReviewerError as problem:
            if asked():
                raise KeyboardInterrupt from problem
            raise
        finally:
            line.clear()


def _mark(
    engine: Engine, context: int, pin: tuple[str, str] | None, unpin: tuple[str, str] | None
) -> None:
    """Pin or unpin the span that is quoted."""
    for quoted, take_back in ((pin, False), (unpin, True)):
        if quoted is None:
            continue
        commit = engine.contexts.resolve(quoted[0], context)
        act = engine.compression.marks.mark_text(commit, quoted[1], take_back=take_back)
        done = "Unpinned" if take_back else "Pinned"
        narrate(f"{done}: {safe(quoted[1])}" if act else "That was so already.")


def _bounds(
    engine: Engine, context: int, start: str | None, end: str | None
) -> tuple[int | None, int | None]:
    first, last = (
        None if each is None else engine.contexts.resolve(each, context) for each in (start, end)
    )
    return first, last


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as problem:
        raise ReviewerError(f"Cannot read {path}: {problem.strerror}.") from problem
    except UnicodeDecodeError:
        raise ReviewerError(f"{path} is not UTF-8 text.") from None
