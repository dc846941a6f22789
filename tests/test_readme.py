"""The README says what is: its keys, its commands, its two first lines."""

from __future__ import annotations

import re
from pathlib import Path

import click

from reviewer.cli.root import COMMANDS, root
from tests.readme_keys import BETWEEN_THE_MARKS, with_keys

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_keys_are_those_of_the_screen() -> None:
    assert BETWEEN_THE_MARKS.search(README)
    assert with_keys(README) == README, "bring it up to date: python tests/readme_keys.py"


def test_the_first_two_commands_stand_alone() -> None:
    blocks = re.findall(r"^```\n(.+)\n```$", README, re.MULTILINE)
    assert len(blocks) == 2
    demo, check = blocks
    assert all(block.startswith("python3 -m venv .venv && ") for block in blocks)
    assert demo.endswith(".venv/bin/reviewer demo")
    assert check.endswith(".venv/bin/python tests/check.py")


def test_every_command_is_described_and_exists() -> None:
    named = set(re.findall(r"`reviewer ([a-z]+)", README)) | set(
        re.findall(r"^\$ reviewer ([a-z]+)", README, re.MULTILINE)
    )
    shown = {name for name, entry in COMMANDS.items() if not entry.hidden}
    assert named <= shown
    assert {name for name in shown if f"`{name}" not in README} <= named


def test_the_table_of_commands_is_what_they_say_of_themselves() -> None:
    context = click.Context(root, info_name="reviewer")
    for name, entry in COMMANDS.items():
        command = root.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.hidden == entry.hidden
        assert command.get_short_help_str(100).rstrip(".") == entry.help.rstrip("."), name
