"""`reviewer export`: what was decided, as text, as a `.context/` folder, as a marked block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import hand_out, narrate, print_text, safe
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.engine import Engine, PlannedFile

PLACE = click.Path(path_type=Path, readable=False)


@click.command(cls=Verb)
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "ndjson")),
    default="markdown",
    show_default=True,
    help="Text for people and agents, or every field for programs.",
)
@click.option("--marks", is_flag=True, help="Markdown: each fact with its id and its source.")
@click.option("-o", "output", type=PLACE, metavar="FILE", help="Write there; - is stdout.")
@click.option(
    "--context-dir", type=PLACE, metavar="DIR", help="Bring a .context folder up to date."
)
@click.option(
    "--into", type=PLACE, metavar="FILE", help="Bring the marked block of FILE up to date."
)
@click.option("--write", is_flag=True, help="Write what the difference shows, after a backup.")
@pass_session
def export(
    session: Session,
    form: str,
    marks: bool,
    output: Path | None,
    context_dir: Path | None,
    into: Path | None,
    write: bool,
) -> None:
    """Hand out what was decided: text, folder, marked block.

    Trusted state, active entities and active memories, the most trusted first; secrets are masked
    again. --context-dir and --into show the difference; nothing is written without --write, nothing
    outside the marked block is touched, and every file that changes is backed up before.
    """
    if sum(each is not None for each in (output, context_dir, into)) > 1:
        raise click.UsageError("-o, --context-dir and --into exclude each other")
    if output == Path("-"):
        output = None
    planning = context_dir is not None or into is not None
    if write and not planning:
        raise click.UsageError("--write goes with --context-dir or --into")
    if planning and (marks or form != "markdown"):
        raise click.UsageError("--format and --marks are for stdout and -o")
    with session.listing() as engine:
        project = engine.project
        if context_dir is not None:
            _offer(engine, engine.exports.plan_folder(project, context_dir), write)
        elif into is not None:
            _offer(engine, [engine.exports.plan_into(project, into)], write)
        elif form == "ndjson":
            _hand_out(engine, engine.exports.ndjson(project), output)
        else:
            _hand_out(engine, engine.exports.markdown(project, marks=marks), output)


def _hand_out(engine: Engine, text: str, output: Path | None) -> None:
    if not text:
        narrate("Nothing is active yet. Promote candidates: reviewer promote ID")
    if output is None:
        hand_out(text)
        return
    backups = engine.exports.write([engine.exports.plan_file(text, output)])
    narrate(f"Wrote {safe(str(output))}")
    for backup in backups:
        narrate(f"What was there before: {safe(str(backup))}")


def _with_what_it_leads_to(path: Path) -> str:
    real = path.resolve()
    return safe(str(path)) if real == path.absolute() else f"{safe(str(path))} ({safe(str(real))})"


def _offer(engine: Engine, plans: Sequence[PlannedFile], write: bool) -> None:
    """Show what would change; write it when that was asked for."""
    broken = [plan for plan in plans if plan.problem]
    if broken:
        raise ReviewerError(" ".join(f"{plan.path}: {plan.problem}" for plan in broken))
    changed = [plan for plan in plans if plan.changed]
    for plan in changed:
        for line in engine.exports.diff(plan):
            print_text(line)
    if not changed:
        narrate("Nothing changes.")
        return
    names = ", ".join(_with_what_it_leads_to(plan.path) for plan in changed)
    if not write:
        narrate(f"Nothing was written. To write {names}: the same command with --write")
        return
    backups = engine.exports.write(changed)
    narrate(f"Wrote {names}")
    for backup in backups:
        narrate(f"What was there before: {safe(str(backup))}")
