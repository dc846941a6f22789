"""`reviewer compile CONTEXT`: a context as messages, ready to send."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reviewer.cli.commits import IMPORT, SHORT, find_context, totals_json, totals_line
from reviewer.cli.output import count, narrate, print_json, print_text, safe, safe_lines
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Message


@click.command("compile", cls=Verb)
@click.argument("name", metavar="CONTEXT")
@click.option(
    "--at",
    metavar="COMMIT",
    help="The chain and its edits as they were when this commit was written; priorities are "
    "today's.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "chat")),
    default="text",
    show_default=True,
    help="text: to read, what a terminal would obey made visible; json: one object a message; "
    "chat: one JSON list as chat completions take it. The last two hold the exact text.",
)
@click.option(
    "--totals",
    is_flag=True,
    help="Only the totals, as one JSON object: tokens without what is skipped, total with it.",
)
@pass_session
def compile_(session: Session, name: str, at: str | None, form: str, totals: bool) -> None:
    """A context as messages, ready to send.

    In order, without what is skipped, edits applied. How many tokens that are, and the chain's by
    priority and by role, is told on standard error.
    """
    with session.reading(filled_by=IMPORT) as engine:
        context = find_context(engine, name)
        commit = None if at is None else engine.contexts.resolve(at, context.id)
        messages = engine.contexts.compile(context.id, at=commit)
        sums = engine.contexts.totals(context.id, at=commit)
        tokens = sum(message.tokens for message in messages)
        if totals:
            print_json({"messages": len(messages), "tokens": tokens, **totals_json(sums)})
            return
        if form == "chat":
            print_json(engine.contexts.chat(messages))
        for message in messages if form != "chat" else ():
            if form == "json":
                _print_json(message)
            else:
                _print_text(message)
    handed_out = f"{count(len(messages), 'message')}, {count(tokens, 'token')}"
    narrate(f"{handed_out}, out of {totals_line(sums)}")


def _print_json(message: Message) -> None:
    import msgspec

    print_json(msgspec.to_builtins(message))


def _print_text(message: Message) -> None:
    speaker = f" {safe(message.name)}" if message.name else ""
    print_text(f"--- {safe(message.role)}{speaker} ({safe(message.type)}) {message.hash[:SHORT]}")
    for line in safe_lines(message.text):
        print_text(line)
    print_text("")
