"""`reviewer help`: the pages of the documentation, which are part of the program."""

from __future__ import annotations

import sys

import click

from reviewer.cli.output import hand_out, print_table
from reviewer.cli.root import root
from reviewer.cli.session import Verb
from reviewer.errors import ReviewerError
from reviewer.resources import docs_folder


@click.command(name="help", cls=Verb, example="help keys")
@click.argument("topic", required=False, metavar="[TOPIC]")
def help_(topic: str | None) -> None:
    """Without a topic, list the pages. `reviewer COMMAND --help` describes one command."""
    pages = {path.stem: path.read_text("utf-8") for path in sorted(docs_folder().glob("*.md"))}
    if topic is None:
        print_table((page, text.partition("\n")[0].lstrip("# ")) for page, text in pages.items())
    elif topic.lower() not in pages:
        raise ReviewerError(_unknown(topic, list(pages)))
    elif sys.stdout.isatty():
        click.echo_via_pager(pages[topic.lower()])
    else:
        hand_out(pages[topic.lower()])


def _unknown(name: str, pages: list[str]) -> str:
    from difflib import get_close_matches

    if name in root.entries:
        return f"{name} is a command: reviewer {name} --help"
    near = get_close_matches(name, pages, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"There is no page {name}.{meant} Pages: {', '.join(pages)}."
