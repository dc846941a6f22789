"""What the commands about contexts share: finding what is named, criteria, JSON, lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import count, safe

if TYPE_CHECKING:
    from reviewer.engine import CommitView, ContextView, Engine, Pattern, TokenTotals

PRIORITIES = ("skip", "normal", "important", "pinned")
ROLES = ("user", "assistant", "system", "tool", "note")
GLYPHS = {"skip": "∅", "normal": "·", "important": "◆", "pinned": "●"}
"""How a priority looks in a list."""
IMPORT = "reviewer context import FILE"
"""What brings contexts into a store that is not there yet."""
SHORT = 8
"""Characters of a hash that people are shown."""


def with_criteria(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say a priority and what must survive."""
    for option in reversed(
        (
            click.option(
                "--priority",
                type=click.Choice(PRIORITIES),
                help="skip: left out; normal: compressed freely; important: compressed with care; "
                "pinned: never compressed.",
            ),
            click.option(
                "--retain", metavar="TEXT", help="What must survive, in words, for who summarises."
            ),
            click.option(
                "--retain-match",
                multiple=True,
                metavar="S",
                help="A text that every summary must contain; white space is folded, case counts.",
            ),
            click.option(
                "--retain-regex",
                multiple=True,
                metavar="R",
                help="A regular expression that every summary must match.",
            ),
            click.option("--reason", default="", metavar="T", help="Why; kept with it."),
        )
    ):
        command = option(command)
    return command


in_context = click.option(
    "--context",
    "context_name",
    metavar="CONTEXT",
    help="Look for the commit in this context only, by name or #number.",
)


def find_context(engine: Engine, name: str) -> ContextView:
    """The context that is named. Raises UnknownIdError."""
    return engine.contexts.find(name, engine.project)


def find_commits(engine: Engine, references: Sequence[str], context_name: str | None) -> list[int]:
    """The ids of the commits that are named. Raises UnknownIdError, or says which may be meant."""
    context = find_context(engine, context_name).id if context_name else None
    return [engine.contexts.resolve(each, context, engine.project) for each in references]


def commit_json(view: CommitView) -> dict[str, Any]:
    """A commit as one flat object: the row's fields, then the rest."""
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(view)
    row: dict[str, Any] = found.pop("row")
    return {**row, **found, "retention": msgspec.to_builtins(view.retention)}


def export_json(view: CommitView) -> dict[str, Any]:
    """A commit as a line of an exported context, which can be imported again."""
    found = commit_json(view)
    return {"role": found.pop("role"), "content": found.pop("text"), **found}


def totals_json(totals: TokenTotals) -> dict[str, Any]:
    """Token totals as one object."""
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(totals)
    return found


def totals_line(totals: TokenTotals) -> str:
    """`12 commits, 3,400 tokens: pinned 200 (1), normal 3,200 (11); user 300, assistant 3,100`."""
    by_priority = ", ".join(
        f"{priority} {tokens:,} ({totals.commits_by_priority[priority]:,})"
        for priority, tokens in reversed(totals.by_priority.items())
        if totals.commits_by_priority[priority]
    )
    by_role = ", ".join(f"{safe(role)} {tokens:,}" for role, tokens in totals.by_role.items())
    commits = count(sum(totals.commits_by_priority.values()), "commit")
    head = f"{commits}, {count(totals.total, 'token')}"
    return f"{head}: {by_priority}; {by_role}" if by_priority else head


def checks(engine: Engine, patterns: Sequence[Pattern], text: str) -> Iterator[str]:
    """How each pattern stands against a text, a line each."""
    for check in engine.contexts.check(patterns, text):
        mark = "✓" if check.state == "matches" else "✗"
        what = check.pattern.text
        shown = f'"{safe(what)}"' if check.pattern.mode == "substring" else f"/{safe(what)}/"
        yield f"{mark} {shown}  {safe(check.message)}"
