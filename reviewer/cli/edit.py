"""`reviewer edit`: new words for a candidate, with the earlier ones kept."""

from __future__ import annotations

import click

from reviewer.cli.content import read_content
from reviewer.cli.ids import MEMORY_ID
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell


@click.command(cls=Verb)
@click.argument("memory", type=MEMORY_ID, metavar="ID")
@click.option(
    "--content-file",
    required=True,
    metavar="FILE",
    help="Holds the new wording (- reads standard input).",
)
@click.option("--promote", is_flag=True, help="Accept it as a memory in the same act.")
@pass_session
def edit(session: Session, memory: int, content_file: str, promote: bool) -> None:
    """Reword a candidate, and promote it if asked.

    The earlier wording is kept and shown by `reviewer queue show`.
    """
    content = read_content(content_file)
    with session.changing() as engine:
        tell(engine.triage.edit(memory, content, promote=promote))
