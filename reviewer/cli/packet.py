"""`reviewer packet`: the context that an agent needs, within a token budget."""

from __future__ import annotations

import gc
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import Moment
from reviewer.cli.output import count, hand_out, json_line, narrate, print_text, safe, table
from reviewer.cli.session import NOTHING_STORED, Session, Verb, pass_session
from reviewer.packets.values import DEFAULT_BUDGET

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    default=DEFAULT_BUDGET,
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
@click.option("--out", type=PLACE, metavar="FILE", help="Write to FILE; - is stdout.")
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
            from reviewer.packets.prepared import prepare_folder

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
    from reviewer.packets.assembly import assemble

    ready = prepared()
    made = assemble(ready, budget, pinned=pins, muted=mutes)
    narration = list(_narration(made, {*pins, *mutes}, why_empty=session.remark))
    warning = ready.save_counts()
    if warning:
        narration.append(safe(warning))
    if explain:
        _explain(made)
    else:
        _hand_out(made, form, out, force, context_dir or session.store_path())
    for line in narration:
        narrate(line)


def _filled_by() -> str:
    """How to fill the packet of a project without anything stored."""
    from reviewer.packets.context_folder import context_folder_at

    here = context_folder_at(Path())
    folder = ", or read the context folder here: --context-dir ." if here else ""
    return f"reviewer ingest PATH{folder}"


def _hand_out(made: Packet, form: str, out: Path | None, force: bool, made_from: Path) -> None:
    from reviewer.packets.output import to_json, write_packet

    text = json_line(to_json(made)) if form == "json" else made.markdown
    if out is None:
        hand_out(text)
    else:
        write_packet(text, out, replace=force, made_from=made_from)
        narrate(f"Wrote {count(made.tokens_used, 'token')} to {safe(str(out))}")


def _explain(made: Packet) -> None:
    from reviewer.packets.output import explained

    rows = [tuple(safe(cell) for cell in row) for row in explained(made)]
    for line in table(rows, right=frozenset({3, 4})):
        print_text(line)


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
