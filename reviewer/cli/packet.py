"""`reviewer packet`: the context for an agent, within a token budget."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from reviewer.cli.inputs import FILE, DateTimeParam, flag, option, read_text, together
from reviewer.cli.output import (
    count,
    emit,
    hand_out,
    json_option,
    narrate,
    print_json,
    print_table,
    safe_lines,
)
from reviewer.cli.session import NOTHING_STORED, Session, VerbGroup, pass_session
from reviewer.errors import ReviewerError
from reviewer.packets.presets import PRESETS, Limits, read_limits
from reviewer.packets.values import DEFAULT_BUDGET
from reviewer.system import working_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewer.packets.values import Item, Material, Packet

PROBLEMS_SHOWN = 20
TASK_BYTES = 4 << 20
"""Bytes of the largest task."""


class Budget(click.ParamType[Limits]):
    """The limits of a packet's text, parsed as on the screen."""

    name = "budget"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Limits:
        found = value if isinstance(value, Limits) else read_limits(str(value))
        if found is None:
            self.fail(f"{value!r} is not a number such as 8000, 8,000 or 8k", param, ctx)
        return found


_source_options = together(
    option("--context-dir DIR", "Read this .context folder, or the one in DIR.", type=FILE),
    option(
        "--from",
        "The store, the .context folder here, or both (default: the store, and if it has nothing "
        "for this project the folder).",
        into="place",
        choices=("store", "folder", "both"),
    ),
)
"""The source of a packet."""


@click.group(
    cls=VerbGroup,
    invoke_without_command=True,
    example='packet --budget 4k --task "fix the receipt printer"',
)
@_source_options
@option(
    "--budget TOKENS",
    "The limit of the text: 4000, 4,000 or 4k; also '4k 9500 chars', or an agent with its own "
    f"limits: {', '.join(PRESETS)}.",
    type=Budget(),
    default=f"{DEFAULT_BUDGET:,}",
)
@option("--task TEXT", "The task it is for (default: the open tasks); - is stdin.", default="")
@option(
    "--format",
    "Text for an agent, or one object with every item and its reason.",
    into="form",
    choices=("markdown", "json"),
    default="markdown",
)
@option("--now ISO", "Compute ages at this date.", type=DateTimeParam())
@flag("--explain", "List every item with its score and the reason why it is in or out.")
@flag("--marks", "Mark each item with its source: [m:12].")
@option("--pin ID", "Put this item first.", into="pins", many=True)
@option("--mute ID", "Leave this item out.", into="mutes", many=True)
@click.pass_context
@pass_session
def packet(
    session: Session,
    ctx: click.Context,
    context_dir: Path | None,
    place: str | None,
    budget: Limits,
    task: str,
    form: str,
    now: datetime | None,
    explain: bool,
    marks: bool,
    pins: tuple[str, ...],
    mutes: tuple[str, ...],
) -> None:
    """The text stays within the budget, except that the constitution, the reading order and the
    instruction are always included. It comes from the trusted state and the active memories and
    entities of the store, or from a .context folder. With a task, its words decide the order in
    every section. --explain lists the ids for --pin and --mute.
    """
    if ctx.invoked_subcommand is not None:
        return
    both = [each for each in pins if each in mutes]
    if both:
        raise click.UsageError(f"--pin and --mute both name {both[0]}")
    if explain and form == "json":
        raise click.UsageError("--explain is a table; the JSON always has the reasons")
    if task == "-":
        task = read_text(
            "-",
            of="a task",
            if_empty="Without a task the open tasks decide: leave the option out.",
            most=TASK_BYTES,
        )
    today = now or datetime.now().astimezone()
    from reviewer.packets.assembly import assemble_within
    from reviewer.packets.prepared import Prepared
    from reviewer.packets.token_counts import Measurer

    with _source(session, context_dir, place) as source:
        ready = Prepared(source.material, Measurer(), now=today, task=task, marks=marks)
    unknown = sorted({*pins, *mutes} - ready.ids())
    if unknown:
        raise click.UsageError(
            f"There is no item {unknown[0]} to pin or mute. See: reviewer packet --explain"
        )
    tokens = DEFAULT_BUDGET if budget.tokens is None else budget.tokens
    made = assemble_within(ready, tokens, budget.chars, pinned=pins, muted=mutes)
    if explain:
        from reviewer.packets.output import explained

        print_table(explained(made), right=[3, 4])
    else:
        _hand_out(made, form)
    if source.words:
        narrate(source.words)
    for line in _narration(made, {*pins, *mutes}, why_empty=session.remark):
        narrate(line)
    if task.strip() and not ready.for_task:
        narrate(
            "No word of the task tells the items apart, so they are in the order without a task."
        )
    if budget.chars is not None and len(made.markdown) > budget.chars:
        over = len(made.markdown) - budget.chars
        narrate(
            f"Over the limit of {budget.chars:,} characters by {over:,}: "
            "the instruction, reading order and constitution need that."
        )
    if explain and ready.for_task:
        narrate(
            "With a task all sections compete for the room by how well they fit it; tasks may "
            "take up to 40 % of the budget, conventions 20 %."
        )


@packet.command("read", example="packet read DECISIONS.md:41")
@_source_options
@click.argument("names", nargs=-1, required=True, metavar="ID|PLACE...")
@json_option("One JSON object per item.")
@pass_session
def read(
    session: Session,
    context_dir: Path | None,
    place: str | None,
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print items in full, by their id or by their place in a packet: DECISIONS.md:41, m:12."""
    from reviewer.packets.output import item_json
    from reviewer.packets.wording import full_form
    from reviewer.text.for_agents import as_markdown

    with _source(session, context_dir, place) as source:
        found = [source.find(name) for name in names]
    emit(
        found,
        as_json,
        lines=lambda item: safe_lines(as_markdown(full_form(item, marks=True))),
        apart=True,
        to_json=item_json,
    )
    if source.words:
        narrate(source.words)


class _Source(NamedTuple):
    material: Material
    find: Callable[[str], Item]
    """An item by its id or place. Raises UnknownIdError."""
    words: str
    """The source, as a sentence for the person; empty if it was named."""


def _of_folder(folder: Path, words: str = "") -> _Source:
    from reviewer.packets.context_folder import find_folder, read_folder
    from reviewer.packets.lookup import find_item

    material = read_folder(find_folder(folder))
    return _Source(material, partial(find_item, material), words)


@contextmanager
def _source(session: Session, context_dir: Path | None, place: str | None) -> Iterator[_Source]:
    """The named source; by default the store, and if it has nothing for the project, the context
    folder here, as on the screen.
    """
    from reviewer.packets.context_folder import context_folder_at, context_folder_near

    if context_dir is not None and place == "store":
        raise click.UsageError("--context-dir and --from store cannot be combined")
    local = context_dir or context_folder_near(working_folder())
    if place in ("folder", "both") and local is None:
        raise ReviewerError(
            "There is no .context folder here or at the root of the work tree: name it with "
            "--context-dir DIR."
        )
    from_local = f"From {local}" if context_dir is None else ""
    if local is not None and (place == "folder" or (context_dir is not None and place is None)):
        yield _of_folder(local, from_local)
        return
    if local is not None and place is None and not session.store_path().exists():
        yield _of_folder(local, f"{from_local}: there is no store yet.")
        return
    with session.reading(filled_by="reviewer ingest PATH, or name --context-dir DIR") as engine:
        near = engine.packets.source_near(engine.project, local) if place is None else None
        if near is not None and near.folder is not None:
            yield _of_folder(near.folder, near.words)
            return
        here = (
            ", or read the context folder here: --context-dir ."
            if context_folder_at(Path())
            else ""
        )
        if unknown := session.unknown(engine, f"reviewer ingest PATH{here}"):
            session.remark = unknown
        words = f"From the store and {local}" if place == "both" else ""
        if near is not None and near.words:
            words = f"{near.words}: --from both includes it."
        packets, project = engine.packets, engine.project
        material = packets.material(project, local if place == "both" else None)
        yield _Source(material, lambda name: packets.find(material, name, project), words)


def _hand_out(made: Packet, form: str) -> None:
    if form == "json":
        from reviewer.packets.output import to_json

        print_json(to_json(made))
    else:
        hand_out(made.markdown)


def _narration(made: Packet, named: set[str], *, why_empty: str) -> Iterator[str]:
    """Lines for the person, not for the agent. `why_empty`: the remark that may already explain an
    empty packet.
    """
    problems = [str(problem) for problem in made.problems]
    yield from problems[:PROBLEMS_SHOWN]
    if len(problems) > PROBLEMS_SHOWN:
        yield f"... and {count(len(problems) - PROBLEMS_SHOWN, 'more problem')}"
    for item in made.items:
        if item.id in named and item.rule == "tier 1":
            yield f"{item.id} belongs to the constitution: it cannot be pinned or muted."
    if not made.items and not why_empty.startswith(NOTHING_STORED):
        yield "The packet is empty: there are no rules, tasks, conventions or entries."
    if made.masked:
        yield f"Masked {count(made.masked, 'secret')}."
    if made.over_budget:
        yield (
            f"Over the budget of {made.budget:,} tokens by {made.tier_1 - made.budget:,}: the "
            f"instruction, reading order and constitution need {made.tier_1:,}."
        )
