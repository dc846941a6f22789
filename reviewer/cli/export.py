"""`reviewer export`: print what is active, or update a `.context/` folder or a marked block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import hand_out, narrate, print_text, safe
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.export.plans import PlannedFile
    from reviewer.text.for_agents import AgentText

PLACE = click.Path(path_type=Path, readable=False)


@click.command(cls=Verb, example="export --into CLAUDE.md --write")
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "ndjson")),
    default="markdown",
    show_default=True,
    help="Text for people and agents, or every field for programs.",
)
@click.option("--marks", is_flag=True, help="Markdown: each fact with its id and its source.")
@click.option("-o", "output", type=PLACE, metavar="FILE", help="Write to FILE; - is stdout.")
@click.option("--context-dir", type=PLACE, metavar="DIR", help="Update a .context folder.")
@click.option("--into", type=PLACE, metavar="FILE", help="Update the marked block of FILE.")
@click.option("--write", is_flag=True, help="Write the changes shown, after a backup.")
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
    """Export trusted state, active entities and active memories.

    The most trusted come first; secrets are masked again. --context-dir and --into only show the
    difference unless you add --write. Nothing outside the marked block is changed, and every
    changed file is backed up first.
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
            _preview_or_write(engine, engine.exports.plan_folder(project, context_dir), write)
        elif into is not None:
            _preview_or_write(engine, [engine.exports.plan_into(project, into)], write)
        elif form == "ndjson":
            _print_or_write(engine, engine.exports.ndjson(project), output)
        else:
            _print_or_write(engine, engine.exports.markdown(project, marks=marks), output)


def _print_or_write(engine: Engine, text: AgentText, output: Path | None) -> None:
    if not text:
        narrate("Nothing is active yet. Promote candidates: reviewer promote ID")
    if output is None:
        hand_out(text)
        return
    backups = engine.exports.write([engine.exports.plan_file(text, output)])
    narrate(f"Wrote {safe(str(output))}")
    for backup in backups:
        narrate(f"Backup of the old file: {safe(str(backup))}")


def _with_target(path: Path) -> str:
    real = path.resolve()
    return safe(str(path)) if real == path.absolute() else f"{safe(str(path))} ({safe(str(real))})"


def _preview_or_write(engine: Engine, plans: Sequence[PlannedFile], write: bool) -> None:
    """Show what would change; write it if `write`."""
    broken = [plan for plan in plans if plan.problem]
    if broken:
        raise ReviewerError(" ".join(f"{plan.path}: {plan.problem}" for plan in broken))
    changed = [plan for plan in plans if plan.changed]
    for plan in changed:
        for line in engine.exports.diff(plan):
            print_text(line)
    if not changed:
        narrate("No changes.")
        return
    names = ", ".join(_with_target(plan.path) for plan in changed)
    if not write:
        narrate(f"Nothing was written. To write {names}, add --write")
        return
    backups = engine.exports.write(changed)
    narrate(f"Wrote {names}")
    for backup in backups:
        narrate(f"Backup of the old file: {safe(str(backup))}")
