"""`reviewer recall`: what belongs to a call, a failure or a prompt."""

from __future__ import annotations

import click

from reviewer.cli.output import json_option, narrate, print_json, print_text, safe
from reviewer.cli.session import Session, Verb, pass_session

LONGEST = 200_000
"""Characters of a text that are read."""


@click.command(cls=Verb, example='recall --error "error is not nil but it returns nil (nilerr)"')
@click.option("--command", metavar="LINE", help="A shell line that is about to run.")
@click.option("--error", metavar="TEXT", help="What a failed call said.")
@click.option("--file", "path", metavar="PATH", help="A file that is about to be changed.")
@click.option("--prompt", metavar="TEXT", help="What the person asked for.")
@click.option("--limit", type=click.IntRange(1, 50), default=3, show_default=True, metavar="N")
@click.option("--session", "of", default="", metavar="ID", help="Note them as given to it.")
@json_option("One JSON object per memory.")
@pass_session
def recall(
    session: Session,
    command: str | None,
    error: str | None,
    path: str | None,
    prompt: str | None,
    limit: int,
    of: str,
    as_json: bool,
) -> None:
    """Show the memories that belong to a call, failure or prompt.

    First those that stand for this very failure, then those for this command or file, then those
    that share words with it that few memories have. It says nothing rather than something that does
    not belong there. `reviewer edit ID --when` changes the moments of a memory.
    """
    from reviewer.recall.service import cue_of
    from reviewer.text.for_agents import without_tags

    given = {"command": command, "error": error, "path": path, "prompt": prompt}
    named = [(kind, text) for kind, text in given.items() if text is not None]
    if len(named) != 1:
        raise click.UsageError("name one of --command, --error, --file and --prompt")
    ((kind, text),) = named
    with session.reading() as engine:
        project = engine.project
        if project is None:
            raise click.UsageError("name the project with --project")
        found = engine.recall.at(project, cue_of(kind, text[:LONGEST]), limit=limit, session=of)
    for each in found:
        content = without_tags(each.content)  # an agent may read it
        if as_json:
            print_json(
                {
                    "id": each.id,
                    "content": content,
                    "why": each.why,
                    "score": round(each.score, 2),
                }
            )
        else:
            print_text(f"#{each.id} {safe(content)}")
            print_text(f"   {safe(each.why)}")
    if not found:
        narrate("Nothing belongs to this moment.")
