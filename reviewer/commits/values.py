"""What a context is made of: commits, priorities, retention criteria (important-priority.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

MatchMode = Literal["substring", "regex"]


class Priority(StrEnum):
    """How a commit is treated when its context is compressed, from least to most careful.

    SKIP is left out; NORMAL is freely compressible; IMPORTANT is compressed with its retention
    criteria; PINNED is never compressed.
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
"""Priority of a commit by its type where nobody annotated it; NORMAL for every other type."""

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
    """One deterministic criterion: a text or a regular expression that a summary must match."""

    text: str
    mode: MatchMode = "substring"


class RetentionCriteria(Struct, frozen=True, omit_defaults=True, gc=False):
    """What must survive of an IMPORTANT commit: guidance in words, patterns that are checked."""

    instructions: str | None = None
    patterns: tuple[Pattern, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.instructions or self.patterns)


class Annotation(Struct, frozen=True):
    """What somebody said about a commit; the latest of a commit holds."""

    priority: Priority
    retention: RetentionCriteria
    reason: str
    at: str
    actor: str


class CommitRow(Struct, frozen=True):
    """A commit as one line of a list; edits applied."""

    id: int
    position: int
    """0-based place in the chain as it stands."""
    hash: str
    role: str
    type: str
    priority: Priority
    """The latest annotation's, else the default of its type."""
    annotated: bool
    criteria: int
    """Retention patterns and instructions that it carries."""
    edited: bool
    tokens: int
    first_line: str
    """At most 200 characters."""
    name: str = ""
    """Speaker or tool, where the transcript names one."""


class CommitView(Struct, frozen=True):
    """A commit with everything about it."""

    row: CommitRow
    context: int
    parent: str | None
    text: str
    """As the latest edit has it."""
    original: str | None
    """The text as it was committed, where an edit changed it."""
    at: str | None
    name: str
    """Speaker or tool, where the transcript names one."""
    annotations: tuple[Annotation, ...]
    """Newest first; empty when only the default holds."""
    source_line: int | None
    """0-based line of the transcript it was imported from."""
    summary_of: tuple[str, ...] = ()
    """Hashes of the commits that this one is the summary of."""

    @property
    def retention(self) -> RetentionCriteria:
        """The criteria that hold now."""
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
    """How a pattern stands against a text. `matches` counts occurrences, at most 1,000."""

    pattern: Pattern
    state: Literal["matches", "missing", "bad", "slow"]
    matches: int = 0
    column: int | None = None
    """0-based position of the fault of a bad regular expression."""
    message: str = ""
    """One sentence for a person."""
    fault: str = ""
    """What is wrong with a bad regular expression, for where the expression stands beside it."""


class TokenTotals(Struct, frozen=True):
    """Tokens of a chain: in all, by priority and by role; `skip` counts what compile leaves out."""

    total: int
    by_priority: dict[Priority, int]
    by_role: dict[str, int]
    commits_by_priority: dict[Priority, int]


class Message(Struct, frozen=True):
    """One message of a compiled context."""

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


class Imported(Struct, frozen=True):
    """What importing a transcript did."""

    context: ContextView
    commits: int
    """Commits that were added; 0 where all of the file was there already."""
    skipped: dict[str, int]
    """Reason -> pieces of the file that became no commit."""
    existed: bool
    """The file was imported before; only what is new was added."""
    masked: dict[str, int] = {}
    """Kind -> secrets that were masked, in all of the file."""
    act: int = 0


class Annotated(Struct, frozen=True):
    """An annotation that was written. `act` is 0 where all of it held already."""

    act: int
    title: str
    ids: tuple[int, ...]
    """The commits that it was written for."""
    warnings: tuple[str, ...] = ()
    """Doubts about the criteria, a sentence each."""
