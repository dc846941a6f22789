"""`reviewer packet`: the context that an agent needs, within a token budget."""

from __future__ import annotations

import gc
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import Moment
from reviewer.cli.output import count, hand_out, json_line, narrate, print_text, safe, table
from reviewer.cli.session import NOTHING_STORED, Session, Verb, pass_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewer.packets.kept import KeptOutput, Output
    from reviewer.packets.prepared import Prepared
    from reviewer.packets.values import Packet

PLACE = click.Path(path_type=Path, readable=False)
STDOUT = Path("-")
PROBLEMS_SHOWN = 20


@click.command(
    cls=Verb, example='packet --budget 4000 --task "fix the receipt printer" --out packet.md'
)
@click.option(
    "--context-dir",
    type=PLACE,
    metavar="DIR",
    help="Read this .context folder (or the one in DIR) instead of the store.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    default=8000,
    show_default=True,
    metavar="TOKENS",
    help="The limit for the packet's text.",
)
@click.option(
    "--task", default="", metavar="TEXT", help="The task it is for (default: the open tasks)."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "json")),
    default="markdown",
    show_default=True,
    help="Text for an agent, or one object with every item and its reason.",
)
@click.option("--now", type=Moment(), metavar="ISO", help="Compute ages at this date.")
@click.option(
    "--explain",
    is_flag=True,
    help="List every item with its score and the reason why it is in or out.",
)
@click.option("--marks", is_flag=True, help="Mark each item with its source: [m:12].")
@click.option("--pin", "pins", multiple=True, metavar="ID", help="Put this item first.")
@click.option("--mute", "mutes", multiple=True, metavar="ID", help="Leave this item out.")
@click.option(
    "--count",
    "counting",
    default="cl100k_base",
    show_default=True,
    metavar="ENCODING",
    help="The token encoding; estimate: four bytes per token.",
)
@click.option("--out", type=PLACE, metavar="FILE", help="Write there; - is stdout.")
@click.option(
    "--force", is_flag=True, help="With --out: overwrite FILE even if it is not a packet."
)
@pass_session
def packet(
    session: Session,
    context_dir: Path | None,
    budget: int,
    task: str,
    form: str,
    now: datetime | None,
    explain: bool,
    marks: bool,
    pins: tuple[str, ...],
    mutes: tuple[str, ...],
    counting: str,
    out: Path | None,
    force: bool,
) -> None:
    """Print the context that an agent needs, within a token budget.

    The text stays within the budget, except that the constitution, the reading order and the
    instruction are always included. Without --context-dir it comes from the trusted state and the
    active memories and entities of the store. --explain lists the ids for --pin and --mute.
    """
    if out == STDOUT:
        out = None
    if force and out is None:
        raise click.UsageError("--force goes with --out FILE")
    both = [each for each in pins if each in mutes]
    if both:
        raise click.UsageError(f"--pin and --mute both name {both[0]}")
    if explain and (form == "json" or out is not None):
        raise click.UsageError("--explain is a table on stdout; the JSON always says why")
    today = now or datetime.now().astimezone()

    def prepared() -> Prepared:
        if context_dir is not None:
            from reviewer.packets.sources import prepare_folder

            return prepare_folder(context_dir, now=today, task=task, counting=counting, marks=marks)
        with session.reading(filled_by="reviewer ingest PATH, or name --context-dir DIR") as engine:
            unknown = session.unknown(engine, _filled_by())
            session.remark = unknown or session.remark
            return engine.packets.prepare_own(
                engine.project,
                task=task,
                now=today,
                counting=counting,
                marks=marks,
            )

    gc.disable()  # the process ends before a collection would pay off
    if explain:
        _explain(session, prepared(), budget, pins, mutes)
        return
    from reviewer.packets.kept import KeptOutput, folder_seen, store_seen
    from reviewer.projects import work_tree

    if context_dir is not None:
        source: tuple[object, ...] = (str(context_dir),)
        seen = folder_seen(context_dir)
    else:
        store = str(session.store_path())
        source = (store, session.project, session.all_projects, work_tree(), _filled_by())
        seen = store_seen(session.store_path())
    call = (
        source, budget, task, form, str(today.date()), marks, pins, mutes, counting,
        sys.stdout.encoding,
    )  # fmt: skip
    kept = KeptOutput(call, seen)
    output = kept.get()
    if output is None:
        output = _made(session, prepared(), kept, budget, form, pins, mutes)
    _hand_out(output, out, force, context_dir or session.store_path())


def _filled_by() -> str:
    """How to fill the packet of a project without anything stored."""
    from reviewer.storeless import context_folder

    folder = ", or read the context folder here: --context-dir ." if context_folder(Path()) else ""
    return f"reviewer ingest PATH{folder}"


def _made(
    session: Session,
    ready: Prepared,
    kept: KeptOutput,
    budget: int,
    form: str,
    pins: tuple[str, ...],
    mutes: tuple[str, ...],
) -> Output:
    """The text and its narration, cached for the next call."""
    from reviewer.packets.assembling import assemble
    from reviewer.packets.kept import Output
    from reviewer.packets.rendering import to_json as packet_json

    made = assemble(ready, budget, pinned=pins, muted=mutes)
    text = json_line(packet_json(made)) if form == "json" else made.markdown
    lines = [*_narration(made, {*pins, *mutes}, why_empty=session.remark), session.remark]
    session.remark = ""  # printed with the rest, also when the output comes from the cache
    output = Output(text, made.tokens_used, tuple(filter(None, lines)))
    trouble = ready.keep_counts()
    if trouble:
        return output._replace(told=(*output.told, safe(trouble)))
    kept.put(output)
    return output


def _hand_out(output: Output, out: Path | None, force: bool, made_from: Path) -> None:
    if out is None:
        hand_out(output.text)
    else:
        from reviewer.packets.writing import write_packet

        write_packet(output.text, out, replace=force, made_from=made_from)
        narrate(f"Wrote {count(output.tokens_used, 'token')} to {safe(str(out))}")
    for line in output.told:
        narrate(line)


def _explain(
    session: Session,
    ready: Prepared,
    budget: int,
    pins: tuple[str, ...],
    mutes: tuple[str, ...],
) -> None:
    from reviewer.packets.assembling import assemble
    from reviewer.packets.rendering import explained

    made = assemble(ready, budget, pinned=pins, muted=mutes)
    rows = [tuple(safe(cell) for cell in row) for row in explained(made)]
    for line in table(rows, right=frozenset({3, 4})):
        print_text(line)
    for line in _narration(made, {*pins, *mutes}, why_empty=session.remark):
        narrate(line)
    trouble = ready.keep_counts()
    if trouble:
        narrate(safe(trouble))


def _narration(made: Packet, named: set[str], *, why_empty: str) -> Iterator[str]:
    """Lines for the person, not for the agent. `why_empty`: the remark that may already explain an
    empty packet.
    """
    problems = [str(problem) for problem in made.problems]
    yield from map(safe, problems[:PROBLEMS_SHOWN])
    if len(problems) > PROBLEMS_SHOWN:
        yield f"... and {count(len(problems) - PROBLEMS_SHOWN, 'more problem')}"
    for name in sorted(named - {item.id for item in made.items}):
        yield f"There is no item {safe(name)} to pin or mute. See: reviewer packet --explain"
    for item in made.items:
        if item.id in named and item.rule == "tier 1":
            yield f"{safe(item.id)} belongs to the constitution: it cannot be pinned or muted."
    if not made.items and not why_empty.startswith(NOTHING_STORED):
        yield "The packet is empty: there are no rules, tasks, conventions or entries."
    if made.masked:
        yield f"Masked {count(made.masked, 'secret')}."
    if made.over_budget:
        yield (
            f"Over the budget of {made.budget:,} tokens by {made.tier_1 - made.budget:,}: the "
            f"instruction, reading order and constitution need {made.tier_1:,}."
        )
