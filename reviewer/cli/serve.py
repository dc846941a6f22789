"""`reviewer serve`: the screen in a browser on this machine."""

from __future__ import annotations

import sys

import click

from reviewer.cli.inputs import flag, option
from reviewer.cli.output import narrate, print_text
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.system import own_command


@click.command(cls=Verb)
@option(
    "--port N",
    "The port on 127.0.0.1 (default: a free one).",
    type=click.IntRange(0, 65535),
    default=0,
)
@flag("--demo", "Show the sample data, in a temporary store.")
@pass_session
def serve(session: Session, port: int, demo: bool) -> None:
    """The printed address has a token and works on this machine only; each tab is a screen of its
    own on the same store. Closing a tab keeps decisions and typed text.
    """
    from reviewer.serving.server import Server

    command = own_command("demo")
    if not demo:
        command = own_command("--db", str(session.store_path()))
        command += ["--project", session.project] if session.project is not None else []
        command += ["--all-projects"] if session.all_projects else []
        command += ["--actor", session.actor] if session.actor is not None else []
    server = Server(command, port)
    print_text(server.address)
    sys.stdout.flush()
    narrate("Open this address in a browser on this machine. Ctrl-C ends it.")
    server.run()
