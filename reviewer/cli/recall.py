"""`reviewer recall`: the memories of a call, a failure or a prompt."""

from __future__ import annotations

import click

from reviewer.cli.inputs import option
from reviewer.cli.output import emit, json_option, narrate
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.recall.service import event_of
from reviewer.text.for_agents import without_tags


@click.command(cls=Verb, example='recall --error "error is not nil but it returns nil (nilerr)"')
@option("--command LINE", "A shell line that is about to run, or failed with --error.")
@option("--error TEXT", "The output of a failed call.")
@option("--file PATH", "A file that is about to be changed.", into="path")
@option("--prompt TEXT", "The person's request.")
@option("--limit N", "", type=click.IntRange(1, 50), default=3)
@option("--session ID", "Record them as given to this session.", into="of", default="")
@json_option("One JSON object per memory.")
@pass_session
def recall(session: Session, /, limit: int, of: str, as_json: bool, **moment: str | None) -> None:
    """Memories of this very failure come first, then those of this command or file, then those that
    share rare words with it. The first two are what an agent gets; a doubtful match is left out.
    `reviewer edit ID --when` changes the moments of a memory.
    """
    command = "" if moment["error"] is None else moment.pop("command") or ""
    named = [(kind, text) for kind, text in moment.items() if text is not None]
    if len(named) != 1:
        raise click.UsageError(
            "give one of --command, --error, --file and --prompt, or --command with --error"
        )
    ((kind, text),) = named
    with session.reading() as engine:
        project = engine.project
        if project is None:
            raise click.UsageError("name the project with --project")
        found = engine.recall.at(project, event_of(kind, text, of, command), limit)
    emit(
        found,
        as_json,
        lines=lambda each: [f"#{each.id} {without_tags(each.content)}", f"   {each.why}"],
        to_json=lambda each: {
            "id": each.id,
            "content": without_tags(each.content),
            "why": each.why,
            "score": round(each.score, 2),
        },
    )
    if not found:
        narrate(f"Nothing {'new to this session ' if of else ''}belongs to this moment.")
