"""Write the generated pages of the documentation: `.venv/bin/python tests/generate_docs.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from reviewer.cli.root import SECTIONS, root
from reviewer.sources.format import Location
from reviewer.sources.registry import FORMATS
from reviewer.text.signs import MEANINGS
from reviewer.tui.actions import ACTIONS, PANES
from reviewer.tui.kit.action import Action, shown_key
from reviewer.tui.theme import ASCII, GLYPHS
from tests.tour import tour_page

DOCS = Path(__file__).resolve().parent.parent / "docs"

COMMANDS_HEAD = """# Commands

Generated from the program's own help by `tests/generate_docs.py`.

Data goes to stdout, narration to stderr. `--json` prints one object per line. Exit codes: 0 done,
1 could not (one line says why and what to do), 2 wrong usage, 3 a pipeline
waits for an answer, 130 interrupted.

A filter takes words, `"a phrase"`, `-word`, `#12` for one row, and fields: `by:me`, `type:`,
`rule:`, `status:`, `path:`, `flag:`, `agent:`, `session:`, `branch:`, `model:`, `actor:`,
`since:2026-03-01`, `conf>0.5` and `seen>2`.

Every command that uses a store takes `--db FILE` (or `REVIEWER_DB`), `--project NAME`,
`--all-projects` for reading, and `--actor NAME`. `reviewer COMMAND --help` says more.
"""

KEYS_HEAD = """# Keys

Generated from the registry of actions by `tests/generate_docs.py`. To change a key, name its id in
the `[keys]` table of the [settings](settings.md).

"""


def commands_page() -> str:
    """Every command with its arguments and options."""
    parts = [COMMANDS_HEAD]
    program = click.Context(root, info_name="reviewer", terminal_width=100, **root.context_settings)
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in names:
            command = root.get_command(program, name)
            assert command is not None
            forms = "\n\n".join(_forms(command, name, program))
            parts.append(f"### reviewer {name}\n\n```text\n{forms}\n```\n")
    return "\n".join(parts)


def _forms(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    """Usage, first paragraph and options of a command, and of those in it."""
    # With its parent, as the program runs it: from there come the names of the help option.
    context = click.Context(command, parent, name)
    context.help_option_names = []
    lines = click.HelpFormatter(width=100)
    lines.write_text(f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}")
    with lines.indentation():
        lines.write_text((command.help or "").partition("\n\n")[0])
    options = (
        each.get_help_record(context)
        for each in command.get_params(context)
        if isinstance(each, click.Option)
    )
    if shown := [each for each in options if each is not None]:
        with lines.indentation():
            lines.write_dl(shown)
    yield lines.getvalue().rstrip()
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None and not found.hidden:
                yield from _forms(found, inner, context)


FORMATS_HEAD = """# Formats

Generated from the registry of formats by `tests/generate_docs.py`.

Files are recognised by content, never by name. Unknown lines are skipped and counted. A turn
recorded in several forms, or copied by a resumed session, counts once. Databases are opened
read-only; one in use is copied first. `reviewer sources` looks for sessions in the places below and
nowhere else, without following links there.

The person's words are what they typed. System prompts, instruction files, reminders, notices,
text around commands, attached files, results of tools, and tasks of sub-agents do not count as
theirs, whatever role the file gives them.

Some agents record less: Cursor, Goose's logs, Pi and the chat of VS Code no sub-agents, the
stream of Claude Code not its first prompt. A chat of Cursor with a transcript is read from the
transcript.
"""


def formats_page() -> str:
    """Every format, and the places where agents keep their sessions."""
    named = [f"| {each.name} | {each.agent} | {each.tested} |" for each in FORMATS]
    places = [
        f"- {each.agent}: {_place(location)}" for each in FORMATS for location in each.locations
    ]
    head = "| format | agent | tested on |\n| --- | --- | --- |"
    return "\n".join([FORMATS_HEAD, head, *named, "\n## Places\n", *places]) + "\n"


def _place(location: Location) -> str:
    base = "" if location.in_project else "~/"
    text = f"`{base}{location.folder}/{location.pattern}`"
    if location.in_project:
        text += " of the project"
    others = [("macOS", location.mac and f"~/{location.mac}"), ("Windows", location.windows)]
    named = [f"on {system} `{folder}`" for system, folder in others if folder]
    if location.variable:
        moved = f"`~/{location.moved}`" if location.moved else "the home folder"
        named.append(f"`{location.variable}` replaces {moved}")
    if location.kept_days:
        named.append(f"deleted by the agent after {location.kept_days} days")
    return text + (f" ({'; '.join(named)})" if named else "")


SHARED = 3
"""Actions on at least this many panes are listed once, under a common heading."""


def keys_page() -> str:
    """Every key of every pane, and every sign."""
    shared = [
        action
        for action in ACTIONS.values()
        if sum(action in pane.actions for pane in PANES) >= SHARED
    ]
    lines = _keys("Every list", shared)
    for pane in PANES:
        own = [action for action in pane.actions if action not in shared]
        if own:
            lines += _keys(pane.heading, own)
    return KEYS_HEAD + "\n".join([*lines, *_signs()]) + "\n"


def _keys(heading: str, actions: Iterable[Action]) -> list[str]:
    lines = [f"## {heading}", "", "| key | action | |", "| --- | --- | --- |"]
    for action in actions:
        names = " ".join(f"`{shown_key(key)}`" for key in action.keys.split(",") if key)
        lines.append(f"| {names or '`?`'} | {action.title} | {action.help} |")
    return [*lines, ""]


def _signs() -> Iterator[str]:
    yield "## Signs\n\nThe second form is that of `--ascii`.\n"
    yield "| sign | | |\n| --- | --- | --- |"
    for name, (title, sentence) in MEANINGS.items():
        sign, plain = getattr(GLYPHS, name), getattr(ASCII, name)
        shown = f"`{sign}`" if sign == plain else f"`{sign}` `{plain}`"
        yield f"| {shown} | {title} | {sentence} |"


PAGES = {
    "commands.md": commands_page,
    "formats.md": formats_page,
    "keys.md": keys_page,
    "tour.md": tour_page,
}


if __name__ == "__main__":
    for file, page in PAGES.items():
        (DOCS / file).write_text(page(), encoding="utf-8")
