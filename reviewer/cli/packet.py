"""`reviewer packet`: what an agent needs, within a token budget (`smart-retrieval.md`)."""

from __future__ import annotations

import gc
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import count, hand_out, json_line, narrate, print_text, safe, table
from reviewer.cli.session import NOTHING_STORED, Session, Verb, pass_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewer.storeless import Packet, Prepared

PLACE = click.Path(path_type=Path, readable=False)
STDOUT = Path("-")
PROBLEMS_TOLD = 20


class Moment(click.ParamType[datetime]):
    """A date or moment in ISO 8601; UTC where it names no zone."""

    name = "iso"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """The moment that was typed; a usage error for anything else."""
        from reviewer.clock import from_iso

        found = from_iso(str(value))
        if found is None:
            self.fail(f"{value!r} is no date; write 2026-02-14 or 2026-02-14T10:30:00", param, ctx)
        return found


@click.command(cls=Verb)
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
    help="The most that the packet's text may have.",
)
@click.option("--task", default="", metavar="TEXT", help="What it is for; else the open tasks say.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "json")),
    default="markdown",
    show_default=True,
    help="Text for an agent, or one object with every item and why.",
)
@click.option("--now", type=Moment(), metavar="ISO", help="The date that ages are counted to.")
@click.option("--explain", is_flag=True, help="Say of each item what became of it and why.")
@click.option("--marks", is_flag=True, help="Mark each item with where it comes from: [m:12].")
@click.option("--pin", "pins", multiple=True, metavar="ID", help="Put this item first.")
@click.option("--mute", "mutes", multiple=True, metavar="ID", help="Leave this item out.")
@click.option(
    "--count",
    "counting",
    default="cl100k_base",
    show_default=True,
    metavar="ENCODING",
    help="What counts tokens; estimate: four bytes for one.",
)
@click.option("--out", type=PLACE, metavar="FILE", help="Write there; - is stdout.")
@click.option("--force", is_flag=True, help="With --out: also over what is no earlier packet.")
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
    """What an agent needs, within a token budget.

    The text never has more tokens than the budget; only the constitution, the reading order and
    the instruction stand whatever it is. Without --context-dir: from trusted state and what is
    active in the store. --explain lists the items with their ids, which --pin and --mute take.
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
            from reviewer.storeless import prepare_folder

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

    gc.disable()  # a call ends before a collection pays
    from reviewer.storeless import assemble

    ready = prepared()
    made = assemble(ready, budget, pinned=pins, muted=mutes)
    narration = list(_narration(made, {*pins, *mutes}, why_empty=session.remark))
    trouble = ready.keep_counts()
    if trouble:
        narration.append(safe(trouble))
    if explain:
        _explain(made)
    else:
        _hand_out(made, form, out, force, context_dir or session.store_path())
    for line in narration:
        narrate(line)


def _filled_by() -> str:
    """What brings something into a packet of a project that the store does not know."""
    from reviewer.storeless import context_folder

    folder = ", or read the context folder here: --context-dir ." if context_folder(Path()) else ""
    return f"reviewer ingest PATH{folder}"


def _hand_out(made: Packet, form: str, out: Path | None, force: bool, made_from: Path) -> None:
    from reviewer.storeless import packet_json, write_packet

    text = json_line(packet_json(made)) if form == "json" else made.markdown
    if out is None:
        hand_out(text)
    else:
        write_packet(text, out, replace=force, made_from=made_from)
        narrate(f"Wrote {count(made.tokens_used, 'token')} to {safe(str(out))}")


def _explain(made: Packet) -> None:
    from reviewer.storeless import explained

    rows = [tuple(safe(cell) for cell in row) for row in explained(made)]
    for line in table(rows, right=frozenset({3, 4})):
        print_text(line)


def _narration(made: Packet, named: set[str], *, why_empty: str) -> Iterator[str]:
    """What the user should know and the agent need not read.

    `why_empty`: a remark that is printed anyway and may explain an empty packet.
    """
    told = [str(problem) for problem in made.problems]
    yield from map(safe, told[:PROBLEMS_TOLD])
    if len(told) > PROBLEMS_TOLD:
        yield f"... and {count(len(told) - PROBLEMS_TOLD, 'more problem')}"
    for name in sorted(named - {item.id for item in made.items}):
        yield f"There is no item {safe(name)} to pin or mute. See: reviewer packet --explain"
    for item in made.items:
        if item.id in named and item.rule == "tier 1":
            yield f"{safe(item.id)} is of the constitution, which stands whole: no pin, no mute."
    if not made.items and not why_empty.startswith(NOTHING_STORED):
        yield "There is nothing to put into the packet: no rule, task, convention or entry."
    if made.masked:
        yield f"Masked {count(made.masked, 'secret')}."
    if made.over_budget:
        yield (
            f"Over the budget of {made.budget:,} tokens by {made.tier_1 - made.budget:,}: what "
            f"always stands (instruction, reading order, constitution) needs {made.tier_1:,}."
        )
