"""`reviewer completions`: tab completion of commands and options."""

from __future__ import annotations

import os

import click

from reviewer.cli.output import hand_out
from reviewer.cli.session import Verb

VARIABLE = "_REVIEWER_COMPLETE"
"""Set by the shell's function when it asks for completions."""


@click.command(cls=Verb, example="completions bash")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completions(shell: str) -> None:
    """Print the tab completion for bash, zsh or fish.

    \b
    bash  reviewer completions bash >> ~/.bashrc
    zsh   reviewer completions zsh >> ~/.zshrc
    fish  reviewer completions fish > ~/.config/fish/completions/reviewer.fish

    It takes effect in the next shell.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    # The base class's text: bash's own adds a check that starts a bash.
    hand_out(ShellComplete.source(kind(click.Group(), {}, "reviewer", VARIABLE)) + "\n")


def answer_shell(root: click.Command) -> int:
    """Print the completions requested by the shell's function, in its variables."""
    from click.shell_completion import shell_complete

    return shell_complete(root, {}, "reviewer", VARIABLE, os.environ[VARIABLE])
