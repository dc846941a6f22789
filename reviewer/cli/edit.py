"""`reviewer edit`: new words for a candidate, with the earlier ones kept."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reviewer.cli.ids import MEMORY_ID
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.cli.triage import tell
from reviewer.errors import SourceError

LONGEST_CONTENT = 1 << 20
"""Bytes. More than this is a file named by mistake."""


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
    content = _content(content_file)
    with session.engine() as engine:
        tell(engine.triage.edit(memory, content, promote=promote))


def _content(name: str) -> str:
    if name == "-":
        raw = sys.stdin.buffer.read(LONGEST_CONTENT + 1)
    else:
        with Path(name).open("rb") as file:
            raw = file.read(LONGEST_CONTENT + 1)
    if len(raw) > LONGEST_CONTENT:
        raise SourceError(f"{name} is larger than 1 MiB: that is no wording of a memory.")
    try:
        content = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as problem:
        raise SourceError(
            f"{name} is not UTF-8 text (byte {problem.start}). Save it as UTF-8 and try again."
        ) from problem
    if not content:
        raise SourceError(f"{name} is empty. To refuse a candidate: reviewer reject ID")
    return content
