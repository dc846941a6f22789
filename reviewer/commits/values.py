"""Values of contexts: commits, priorities, annotations, retention criteria."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal

from msgspec import Struct

MatchMode = Literal["substring", "regex"]
_CLIENTS_TAG = re.compile(r"</?[\w-]+>")
FEWEST_WORDS = 3


def first_line(text: str) -> str:
    """The first line of a turn; for a client's notice, the first words in its tags."""
    lines = [line.rstrip() for line in text.strip().splitlines() if line.strip()]
    if lines and lines[0].startswith("<"):
        bare = (" ".join(_CLIENTS_TAG.sub(" ", line).split()) for line in lines)
        return next((line for line in bare if len(line.split()) >= FEWEST_WORDS), lines[0])
    return lines[0] if lines else ""


class Priority(StrEnum):
    """How a commit is treated when its context is compressed, from least to most careful.

    SKIP is left out; NORMAL may be compressed in any way; IMPORTANT is compressed so that its
    retention criteria are met; PINNED is never compressed.
    """

    SKIP = "skip"
    NORMAL = "normal"
    IMPORTANT = "important"
    PINNED = "pinned"

    @property
    def weight(self) -> int:
        """0 for SKIP to 3 for PINNED."""
        return tuple(Priority).index(self)


DEFAULT_PRIORITIES = {
    "instruction": Priority.PINNED,
    "session": Priority.PINNED,
    "reasoning": Priority.SKIP,
}
"""Priority by type of a commit without annotations; NORMAL for every other type."""

COMMIT_TYPES = (
    "instruction",
    "session",
    "dialogue",
    "reasoning",
    "tool_call",
    "tool_result",
    "summary",
    "artifact",
)


class Pattern(Struct, frozen=True):
    """A string or regular expression that a summary must match."""

    text: str
    mode: MatchMode = "substring"


class RetentionCriteria(Struct, frozen=True, omit_defaults=True, gc=False):
    """Requirements for a summary of an IMPORTANT commit: instructions, and patterns to match."""

    instructions: str | None = None
    patterns: tuple[Pattern, ...] = ()

    def __len__(self) -> int:
        return len(self.patterns) + bool(self.instructions)


class Annotation(Struct, frozen=True):
    """An annotation of a commit; the latest one applies."""

    priority: Priority
    retention: RetentionCriteria
    reason: str
    """Only earlier versions wrote one."""
    at: str
    actor: str


class CommitRow(Struct, frozen=True):
    """A commit as one line of a list; edits applied."""

    id: int
    position: int
    """0-based position in the current chain."""
    hash: str
    role: str
    type: str
    priority: Priority
    """From the latest annotation, or the default of the type."""
    annotated: bool
    criteria: int
    """Number of retention patterns, plus one for instructions."""
    edited: bool
    tokens: int
    first_line: str
    """At most 200 characters."""
    name: str = ""
    """Speaker or tool, if the transcript names one."""
    aside: bool = False
    """Whether a text with the person's role is the client's, such as a skill's."""


class CommitView(Struct, frozen=True):
    row: CommitRow
    context: int
    parent: str | None
    text: str
    """With the latest edit."""
    original: str | None
    """The first text, if the commit was edited."""
    at: str | None
    name: str
    """Speaker or tool, if the transcript names one."""
    annotations: tuple[Annotation, ...]
    """Newest first; empty for a commit with the default priority."""
    source_line: int | None
    """0-based line in the imported transcript."""
    summary_of: tuple[str, ...] = ()
    """Hashes of the commits that this one summarizes."""
    written_by: str = ""
    """The engine of a summary, and its model, if any; empty if unknown."""
    orders: tuple[str, ...] = ()
    """Sentences of a model's summary that read like planted orders."""
    call: str = ""
    """Joins a call and its result, if the transcript has such an id."""

    @property
    def retention(self) -> RetentionCriteria:
        return self.annotations[0].retention if self.annotations else RetentionCriteria()


class ContextView(Struct, frozen=True):
    """A named chain of commits."""

    id: int
    project: str
    name: str
    head: str | None
    commits: int
    tokens: int
    source_path: str | None
    created_at: str
    changed_at: str


class CommitQuery(Struct, frozen=True):
    """Which commits of a context, in chain order. `text` is a filter line such as
    `priority:important role:user tokens>500 -word "two words"`.
    """

    context: int
    text: str = ""


class PatternCheck(Struct, frozen=True):
    """The result of checking a pattern. `matches` counts occurrences, at most 1,000."""

    pattern: Pattern
    state: Literal["matches", "missing", "bad", "slow"]
    matches: int = 0
    column: int | None = None
    """0-based position of the error in a bad regular expression."""
    message: str = ""
    """One sentence for the user."""
    fault: str = ""
    """The error in a regular expression, without the expression."""


class TokenTotals(Struct, frozen=True):
    """Tokens of a chain: total, by priority and by role; `skip` counts commits not compiled."""

    total: int
    by_priority: dict[Priority, int]
    by_role: dict[str, int]
    commits_by_priority: dict[Priority, int]


class SummaryRange(Struct, frozen=True):
    """The messages that a summary replaces: their number, tokens, first and last commit."""

    messages: int
    tokens: int
    first: str
    last: str


class CompiledMessage(Struct, frozen=True):
    """A message of a compiled context. `summary_of`: the range of a summary."""

    role: str
    text: str
    type: str
    name: str
    tokens: int
    commit: int
    hash: str
    priority: Priority
    at: str | None
    retention: RetentionCriteria = RetentionCriteria()
    summary_of: SummaryRange | None = None


class ImportResult(Struct, frozen=True):
    context: ContextView
    commits: int
    """Number of commits added; 0 if the whole file had been imported before."""
    skipped: dict[str, int]
    """Reason -> number of skipped blocks."""
    existed: bool
    """The file was imported before; only new commits were added."""
    masked: dict[str, int] = {}
    """Kind -> number of masked secrets in the file."""
    act: int = 0


class Annotated(Struct, frozen=True):
    """The result of annotating. `act` is 0 when nothing changed."""

    act: int
    title: str
    ids: tuple[int, ...]
    """Commits with a changed annotation."""
    warnings: tuple[str, ...] = ()
    """Warnings about the criteria, as sentences."""
