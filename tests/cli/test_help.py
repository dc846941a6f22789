"""Help: the lists of commands, the examples."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from reviewer.cli.root import HIDDEN, SECTIONS, root
from reviewer.cli.session import Session
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
    assert (
        "\n\n  Merge a candidate into another or a memory.\n\n  The first one becomes"
        in done.stdout
    )
    assert done.stdout.endswith("Example:\n  reviewer merge 12 --into 7\n")


def test_a_paragraph_of_help_is_one_text(reviewer: Reviewer) -> None:
    for path in ("connect", "edit", "fleet"):
        assert not any("   " in line.strip() for line in _prose(reviewer(path, "--help").stdout))


def _prose(page: str) -> list[str]:
    return page.partition("\n\n")[2].partition("\nOptions:")[0].splitlines()


def test_the_help_has_six_sections_with_every_command_that_is_not_hidden(
    reviewer: Reviewer,
) -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert len(SECTIONS) == 6
    assert {*listed, *HIDDEN} == set(root.entries)
    shown = reviewer("--help").stdout
    places = [shown.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
