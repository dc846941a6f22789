"""`reviewer export`: print active facts, or update a `.context/` folder or a marked block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from reviewer.cli.inputs import FILE, flag, option
from reviewer.cli.output import hand_out, narrate, print_text
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.engine import Engine
from reviewer.promotion.export.file_writer import PlannedFile, unified_diff


@click.command(cls=Verb, example="export --into CLAUDE.md --write")
@option("--context-dir DIR", "Update a .context folder.", type=FILE)
@option("--into FILE", "Update the marked block of FILE.", type=FILE)
@flag("--write", "Write the changes shown, after a backup.")
@pass_session
def export(
    session: Session,
    context_dir: Path | None,
    into: Path | None,
    write: bool,
) -> None:
    """As Markdown, the most trusted first; secrets are masked again. --context-dir and --into only
    show the difference unless you add --write. Nothing outside the marked block is changed, and
    every changed file is backed up first.
    """
    if context_dir is not None and into is not None:
        raise click.UsageError("--context-dir and --into cannot be combined")
    if write and context_dir is None and into is None:
        raise click.UsageError("--write needs --context-dir or --into")
    with session.listing() as engine:
        project = engine.project
        if context_dir is not None:
            _preview_or_write(engine, engine.exports.plan_folder(project, context_dir), write)
        elif into is not None:
            _preview_or_write(engine, [engine.exports.plan_into(project, into)], write)
        else:
            text = engine.exports.markdown(project)
            if not text:
                narrate("Nothing is active yet. Promote candidates: reviewer promote ID")
            hand_out(text)


def _with_target(path: Path) -> str:
    real = path.resolve()
    return str(path) if real == path.absolute() else f"{path} ({real})"


def _preview_or_write(engine: Engine, plans: Sequence[PlannedFile], write: bool) -> None:
    changed = [plan for plan in plans if plan.changed]
    for plan in changed:
        print_text(*unified_diff(plan, plan.path.name))
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
        narrate(f"Backup of the old file: {backup}")
