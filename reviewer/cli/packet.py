"""`reviewer packet`: the context for an agent, within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import click

from reviewer.cli.inputs import FILE, flag, option, read_text
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
from reviewer.clock import from_iso
from reviewer.packets.assembly import assemble
from reviewer.packets.lookup import find_item
from reviewer.packets.output import explained, item_json, to_json
from reviewer.packets.prepared import Prepared
from reviewer.packets.token_counts import Measurer
from reviewer.packets.values import DEFAULT_BUDGET, Item, Material, Packet
from reviewer.packets.wording import full_form
from reviewer.system import working_folder
from reviewer.text.for_agents import as_markdown
from reviewer.text.token_numbers import read_tokens

PROBLEMS_SHOWN = 20
TASK_BYTES = 4 << 20
"""Bytes of the largest task."""


def _tokens(_: click.Context, __: click.Parameter, value: str) -> int:
    found = read_tokens(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not a number such as 8000, 8,000 or 8k.")
    return found


def _moment(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    found = from_iso(value or "")
    if value is not None and found is None:
        raise click.BadParameter(f"{value!r} is not a date such as 2026-02-14T10:30:00.")
    return found


_folder_option = option(
    "--context-dir DIR",
    "Read this .context folder, or the one in DIR (default: the store, and if it has nothing for "
    "this project the folder here).",
    type=FILE,
)


@click.group(
    cls=VerbGroup,
    invoke_without_command=True,
    example='packet --budget 4k --task "fix the receipt printer"',
)
@_folder_option
@option("--from", "The store, never a folder here.", into="store", choices=("store",), hidden=True)
@option(
    "--budget TOKENS",
    "The limit of the text: 4000, 4,000 or 4k.",
    callback=_tokens,
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
@option("--now ISO", "Compute ages at this date.", callback=_moment)
@flag("--explain", "List every item with its score and the reason why it is in or out.")
@click.pass_context
@pass_session
def packet(
    session: Session,
    ctx: click.Context,
    context_dir: Path | None,
    store: str | None,
    budget: int,
    task: str,
    form: str,
    now: datetime | None,
    explain: bool,
) -> None:
    """The text stays within the budget, except that the constitution, the reading order and the
    instruction are always included. It comes from the trusted state and the active memories and
    entities of the store, or from a .context folder. A task raises the entries that fit it: in a
    folder all of them, of the store's memories one in four, as a request says little about later
    needs.
    """
    if ctx.invoked_subcommand is not None:
        return
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
    with _source(session, context_dir, with_local=store is None) as source:
        ready = Prepared(source.material, Measurer(), now=today, task=task)
    made = assemble(ready, budget)
    if explain:
        print_table(explained(made), right=[3, 4])
    elif form == "json":
        print_json(to_json(made))
    else:
        hand_out(made.markdown)
    if source.words:
        narrate(source.words)
    narrate(*_narration(made, why_empty=session.remark))
    if task.strip() and not ready.for_task:
        narrate(
            "No word of the task tells the items apart, so they are in the order without a task."
        )


@packet.command("read", example="packet read DECISIONS.md:41")
@_folder_option
@click.argument("names", nargs=-1, required=True, metavar="ID|PLACE...")
@json_option("One JSON object per item.")
@pass_session
def read(
    session: Session,
    context_dir: Path | None,
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print items in full, by their id or by their place in a packet: DECISIONS.md:41, m:12."""
    with _source(session, context_dir) as source:
        found = [source.find(source.material, name) for name in names]
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
    find: Callable[[Material, str], Item]
    """An item by its id or place. Raises UnknownIdError."""
    words: str = ""
    """The source, as a sentence for the person; empty if it was named."""


def _of_folder(folder: Path, words: str = "") -> _Source:
    from reviewer.packets.context_folder import read_folder

    return _Source(read_folder(folder), find_item, words)


@contextmanager
def _source(
    session: Session, context_dir: Path | None, *, with_local: bool = True
) -> Iterator[_Source]:
    """The named folder; by default the store, and if it has nothing for the project, the context
    folder here, as on the screen. Without `with_local` (`--from store`, for programs) the store.
    """
    from reviewer.packets.context_folder import context_folder_near

    if context_dir is not None:
        yield _of_folder(context_dir)
        return
    local = context_folder_near(working_folder()) if with_local else None
    if local is not None and not session.store_path().exists():
        yield _of_folder(local, f"From {local}: there is no store yet.")
        return
    with session.reading(filled_by="reviewer ingest PATH, or name --context-dir DIR") as engine:
        near = engine.packets.source_near(engine.project, local)
        if near.folder is not None:
            yield _of_folder(near.folder, near.words)
            return
        session.remark = session.unknown(engine) or session.remark
        packets = engine.packets
        yield _Source(packets.material(engine.project), packets.find, near.words)


def _narration(made: Packet, *, why_empty: str) -> Iterator[str]:
    """Lines for the person, not for the agent. `why_empty`: the remark that may already explain an
    empty packet.
    """
    problems = [str(problem) for problem in made.problems]
    yield from problems[:PROBLEMS_SHOWN]
    if len(problems) > PROBLEMS_SHOWN:
        yield f"... and {count(len(problems) - PROBLEMS_SHOWN, 'more problem')}"
    if not made.items and not why_empty.startswith(NOTHING_STORED):
        yield "The packet is empty: there are no rules, tasks, conventions or entries."
    if made.masked:
        yield f"Masked {count(made.masked, 'secret')}."
    if made.over_budget:
        yield (
            f"Over the budget of {made.budget:,} tokens by {made.tier_1 - made.budget:,}: the "
            f"instruction, reading order and constitution need {made.tier_1:,}."
        )
