"""Commands that are imported when they are called, so that `--help` pays for none of them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click


class Entry(NamedTuple):
    """Where a command lives, and its one-line help."""

    target: str
    """`module:attribute` of the click command."""
    help: str
    hidden: bool = False


class LazyGroup(click.Group):
    """A group whose commands are listed from a table and imported one by one."""

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the table's order."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None when there is none."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, written without importing any."""
        rows = [(name, entry.help) for name, entry in self.entries.items() if not entry.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
