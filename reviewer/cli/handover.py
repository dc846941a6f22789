"""`reviewer brief [SESSION]` and `reviewer keep [SESSION]`: texts for an agent about a session."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import count, narrate, print_json, print_text, safe, safe_lines
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import SourceError

if TYPE_CHECKING:
    from reviewer.compression.handover import Handover

LEAST = 100
NOTES = frozenset({"markdown", "text", "empty"})


@click.command(cls=Verb, example="brief --max-tokens 1500")
@click.argument("name", required=False, metavar="[SESSION]")
@click.option(
    "--max-tokens",
    type=click.IntRange(LEAST),
    default=2_000,
    show_default=True,
    metavar="N",
    help="At most N tokens.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@pass_session
def brief(session: Session, name: str | None, max_tokens: int, as_json: bool) -> None:
    """Write the hand-over for the next session of an agent, as plain Markdown.

    SESSION is a file or the id of a session that was ingested or that Claude Code has of this
    folder; without it the newest of these. Requests, instructions, decisions, what is done, what
    is true now and what comes next are read from what was said and from tool calls, without a
    model.
    """
    from reviewer.compression.handover import write_brief

    _print(session, name, lambda path: write_brief(path, max_tokens=max_tokens), as_json)


@click.command(cls=Verb, example="keep --max-tokens 500")
@click.argument("name", required=False, metavar="[SESSION]")
@click.option(
    "--max-tokens",
    type=click.IntRange(LEAST),
    default=700,
    show_default=True,
    metavar="N",
    help="At most N tokens.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@pass_session
def keep(session: Session, name: str | None, max_tokens: int, as_json: bool) -> None:
    """Write what a compaction must keep, as instructions for /compact.

    Paste it after /compact, or have a hook that runs before a compaction print it. SESSION is as
    for reviewer brief.
    """
    from reviewer.compression.handover import write_keep

    _print(session, name, lambda path: write_keep(path, max_tokens=max_tokens), as_json)


def _print(
    session: Session, name: str | None, write: Callable[[Path], Handover], as_json: bool
) -> None:
    path = find_session(session, name)
    found = write(path)
    if as_json:
        print_json(found.to_json())
        return
    if not found.text:
        narrate(f"There is nothing to hand over in {safe(str(path))}.")
        return
    for line in safe_lines(found.text):
        print_text(line)
    tokens = count(found.tokens, "token")
    narrate(f"{safe(str(path))}: {tokens} of {found.original_tokens:,} ({found.encoding}).")


def find_session(session: Session, name: str | None) -> Path:
    """The file of a session: a path, an id, or without a name the newest of this project.

    Raises SourceError.
    """
    if name is not None and (Path(name).exists() or len(Path(name).parts) > 1):
        return Path(name)
    known = [path for path in (*_ingested(session), *_of_claude(Path.cwd())) if path.is_file()]
    if name is None:
        if not known:
            raise SourceError(
                "No session of this project is known. Name the file of one: reviewer brief FILE"
            )
        return max(known, key=lambda path: path.stat().st_mtime)
    matches = [path for path in known if path.stem == name or path.name == name]
    if not matches:
        raise SourceError(f"{name} is neither a file nor a session that is known here.")
    return matches[0]


def _ingested(session: Session) -> list[Path]:
    """The sessions of the project that were ingested and are still there."""
    from reviewer.sources.open import open_source

    if not session.store_path().exists():
        return []
    with session.reading() as engine:
        paths = [Path(each) for each in engine.sources.paths(engine.project)]
    found = []
    for path in paths:
        if path.is_file() and "subagents" not in path.parts:
            try:
                if open_source(path).format not in NOTES:
                    found.append(path)
            except SourceError:
                continue  # it can be named, and then says what is wrong with it
    return found


def _of_claude(folder: Path) -> list[Path]:
    """The sessions that Claude Code keeps of a folder."""
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    kept = home / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    return sorted(kept.glob("*.jsonl")) if kept.is_dir() else []
