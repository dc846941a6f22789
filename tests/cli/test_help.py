"""Help: the lists of commands, the examples."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest

from reviewer.cli.pipeline import COMMANDS as PIPELINE_COMMANDS
from reviewer.cli.pipeline import pipeline
from reviewer.cli.root import COMMANDS, SECTIONS, root
from reviewer.cli.session import Entry, LazyGroup, Session
from tests.cli.conftest import Reviewer


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


EXAMPLES = [
    (path, example)
    for path, command in commands(root)
    if (example := getattr(command, "example", ""))
]


@pytest.mark.parametrize(("group", "table"), [(root, COMMANDS), (pipeline, PIPELINE_COMMANDS)])
def test_the_list_says_what_the_command_says(group: LazyGroup, table: dict[str, Entry]) -> None:
    for name, entry in table.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None
        first = " ".join((command.help or "").split("\n\n")[0].split())
        assert entry.help.rstrip(".") == first.rstrip("."), name


def test_an_example_is_valid_usage() -> None:
    for path, example in EXAMPLES:
        assert example.startswith(f"{path} ")
        words = shlex.split(example.partition(" > ")[0])
        command: click.Command = root
        context = click.Context(root, obj=Session(lambda *_, **__: 0, lambda _: None))
        for name in path.split():
            assert isinstance(command, click.Group)
            found = command.get_command(context, name)
            assert found is not None, path
            command = found
        command.make_context(path, words[len(path.split()) :], parent=context)


def test_help_ends_with_the_example(reviewer: Reviewer) -> None:
    done = reviewer("merge", "--help")
    assert done.stdout.endswith("Example:\n  reviewer merge 12 --into 7\n")


def test_the_help_has_six_sections_with_every_command_that_is_not_hidden(
    reviewer: Reviewer,
) -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert len(SECTIONS) == 6
    assert sorted(listed) == sorted(name for name, each in COMMANDS.items() if not each.hidden)
    shown = reviewer("--help").stdout
    places = [shown.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
