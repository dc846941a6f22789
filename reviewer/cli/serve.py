"""`reviewer serve`: the screen in a browser on this machine."""

from __future__ import annotations

import sys

import click

from reviewer.cli.inputs import flag, port_option
from reviewer.cli.output import narrate, print_text
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError
from reviewer.installation import extra_command
from reviewer.system import own_command

MISSING = "The browser needs the package textual-serve, which is not installed. Install it: "


@click.command(cls=Verb)
@port_option
@flag("--demo", "Show the sample data, in a temporary store.")
@pass_session
def serve(session: Session, port: int, demo: bool) -> None:
    """Show the screen in a browser on this machine, until Ctrl-C.

    The printed address has a token and works on this machine only; each tab is a screen of its own
    on the same store. Closing a tab keeps decisions and typed text.
    """
    try:
        from reviewer.serving.server import Server
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("aiohttp", "textual_serve"):
            raise
        raise ReviewerError(MISSING + extra_command("serve")) from missing
    command = own_command("--db", str(session.store_path()))
    if session.project is not None:
        command += ["--project", session.project]
    if session.all_projects:
        command.append("--all-projects")
    if demo:
        command = own_command("demo")
    server = Server(command, port)
    print_text(server.address)
    sys.stdout.flush()
    narrate("Open this address in a browser on this machine. Ctrl-C ends it.")
    server.run()
