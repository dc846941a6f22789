"""The documentation is current: generated pages, links, and the commands that it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from reviewer.cli.root import root
from tests.generate_docs import DOCS, PAGES

ROOT = DOCS.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES_WITH_LINKS = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_generated_pages_are_current(page: str) -> None:
    written = (DOCS / page).read_text(encoding="utf-8")
    assert written == made_afresh(page), "run: python tests/generate_docs.py"


def made_afresh(page: str) -> str:
    """A page as a process of its own makes it: commands keep the first help option they were asked
    for, whoever asked.
    """
    code = f"import sys; from tests.generate_docs import PAGES; sys.stdout.write(PAGES[{page!r}]())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=DOCS.parent, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    return done.stdout


def test_the_two_commands_of_the_readme_stand_alone() -> None:
    blocks = re.findall(r"^```\n(.+)\n```$", README, re.MULTILINE)
    assert len(blocks) == 2
    demo, check = blocks
    assert all(block.startswith("python3 -m venv .venv && ") for block in blocks)
    assert demo.endswith(".venv/bin/reviewer demo")
    assert check.endswith(".venv/bin/python tests/check.py")


@pytest.mark.parametrize("page", PAGES_WITH_LINKS, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        file, _, heading = target.partition("#")
        linked = (page.parent / file) if file else page
        assert linked.exists(), f"{page.name} links to {target}"
        if heading:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {_anchor(each) for each in headings}, f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES_WITH_LINKS, ids=lambda page: page.name)
def test_commands_and_options_that_are_shown_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"^\$ (reviewer .+)$", text, re.MULTILINE)
    shown += re.findall(r"`(reviewer [a-z][^`\n]*)`", text)
    for line in shown:
        command: click.Command = root
        known = _options(command)
        words = re.sub(r"'[^']*'|\"[^\"]*\"", "TEXT", line).split()[1:]
        for place, word in enumerate(words):
            context = click.Context(command)
            found = command.get_command(context, word) if isinstance(command, click.Group) else None
            if found is not None:
                command = found
                known |= _options(command)
            elif word.startswith("--"):
                assert word.split("=")[0].rstrip(",;:.") in known, f"{page.name}: {line}"
            elif place == 0:
                assert not re.fullmatch("[a-z][a-z-]*", word), f"{page.name}: {line}"


def _options(command: click.Command) -> set[str]:
    """The long options of a command."""
    return {
        name
        for each in command.get_params(click.Context(command))
        for name in (*each.opts, *each.secondary_opts)
    }


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
