"""`reviewer help`: the pages of the documentation, which come with the program."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from reviewer.cli.output import hand_out, print_text, safe
from reviewer.cli.session import Verb
from reviewer.errors import ReviewerError

_HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1`*~*\s*$", re.MULTILINE | re.DOTALL)


@click.command(name="help", cls=Verb, example="help keys queue")
@click.argument("topic", nargs=-1, metavar="[TOPIC [SECTION]]")
def help_(topic: Sequence[str]) -> None:
    """Print a page of the documentation.

    Without a topic, list the pages. A second word prints the sections whose heading has it.
    `reviewer COMMAND --help` describes one command.
    """
    pages = _pages()
    if not topic:
        width = max(map(len, pages)) + 2
        for page, file in pages.items():
            print_text(f"{page:{width}}{_title(file)}")
        print_text("")
        print_text("reviewer help TOPIC prints one, reviewer COMMAND --help describes a command.")
        return
    name, *words = topic
    if name.lower() not in pages:
        raise ReviewerError(_unknown(name, pages))
    path = pages[name.lower()]
    text = path.read_text("utf-8")
    if words:
        text = _sections(text, " ".join(words))
        if not text:
            raise ReviewerError(
                f"The page {name} has no section called {safe(' '.join(words))}."
                f" Its sections: {', '.join(_headings(path))}."
            )
    if sys.stdout.isatty():
        click.echo_via_pager(text)
    else:
        hand_out(text)


def _pages() -> dict[str, Path]:
    from reviewer.resources import docs_folder

    return {path.stem: path for path in sorted(docs_folder().glob("*.md"))}


def _title(path: Path) -> str:
    found = _HEADING.search(path.read_text("utf-8"))
    return found[2] if found else path.stem


def _unknown(name: str, pages: dict[str, Path]) -> str:
    from reviewer.cli.root import COMMANDS

    if name in COMMANDS:
        return f"{name} is a command: reviewer {name} --help"
    near = difflib.get_close_matches(name, pages, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"There is no page {safe(name)}.{meant} Pages: {', '.join(pages)}."


def _outline(text: str) -> list[tuple[int, int, str]]:
    """The headings outside of code: place, level, title."""
    code = [match.span() for match in _FENCE.finditer(text)]
    return [
        (match.start(), len(match[1]), match[2])
        for match in _HEADING.finditer(text)
        if not any(start <= match.start() < end for start, end in code)
    ]


def _headings(path: Path) -> list[str]:
    return [title for _, level, title in _outline(path.read_text("utf-8")) if level == 2]


def _sections(text: str, words: str) -> str:
    """The sections whose heading has some words, whole, each once."""
    outline = _outline(text)
    found: list[str] = []
    done = 0
    for place, (start, level, title) in enumerate(outline):
        if start < done or level == 1 or words.casefold() not in title.casefold():
            continue
        ends = (at for at, deep, _ in outline[place + 1 :] if deep <= level)
        done = next(ends, len(text))
        found.append(text[start:done].rstrip())
    return "\n\n".join(found) + "\n" if found else ""
