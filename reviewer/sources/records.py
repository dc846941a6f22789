"""What a reader yields: records and blocks with positions, and a tally of what it skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

BlockKind = Literal["text", "thinking", "tool_use", "tool_result"]


class Role(StrEnum):
    """Who wrote a record."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    NOTE = "note"


class Use(StrEnum):
    """Whether extraction looks at a record, and if not, why.

    Only SAID records are extracted; all others are kept as evidence and counted under this name.
    """

    SAID = "said"
    BOOT = "boot text"  # CLAUDE.md, AGENTS.md, system prompts, system reminders
    WRAPPER = "wrapper"  # command wrappers, caveats, interruptions, notifications, IDE events
    INJECTED = "injected memory"  # memories that a tool put into the conversation
    SUMMARY = "compaction summary"
    TOOL = "tool output"
    REWOUND = "rewound"  # on a branch that the person left
    TEMPLATE = "template"  # format guides, empty templates


class Shape(StrEnum):
    """What a record is, structurally."""

    TURN = "turn"  # one message of a conversation
    SECTION = "section"  # the text under one heading of a note
    ENTRY = "entry"  # one dated or titled entry: a decision record, a learning, a task list


class Record(Struct, frozen=True):
    """One unit of raw source (L0).

    Lines and bytes are 0-based and half-open, in the file as it is on disk; a format without lines
    gives the rows or items of its own order as lines. `sha256` (hex) is that of the raw bytes
    `byte_start:byte_end`. `key` identifies the record within a project:
    the format's own id where there is one, else `sha256:<hex>`. `text` is what was written, as
    one string with `\\n` line ends, unmasked. For notes, character offsets of `text` fall on the
    file's own lines: line of an offset = `line_start` + newlines of `text` before it.
    """

    key: str
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    sha256: str
    role: Role
    text: str
    use: Use = Use.SAID
    shape: Shape = Shape.TURN
    at: str | None = None
    session: str | None = None
    parent: str | None = None
    sidechain: bool = False
    headings: tuple[str, ...] = ()
    """Titles from the outermost heading down to the record's own (notes only)."""
    meta: dict[str, str] = {}
    """Other facts of the format: front matter, branch, working folder, status, title."""


class Scan(Protocol):
    """One file being read. Iterate to get its records; `tally` and `errors` fill meanwhile."""

    path: Path
    format: str
    """Name of the reader: `claude-code`, `markdown`, `chat`, ..."""
    tally: Counter[str]
    """Reason -> lines (or messages) passed over: `tool result`, `unknown type: foo`, `bad JSON`."""
    errors: list[str]
    """Damage worth a line in `errors.log`, with its position. Never raised for a single record."""

    def __iter__(self) -> Iterator[Record]: ...


class Block(Struct, frozen=True):
    """One block of one message, in the order of the file; lines are 0-based and half-open.

    `text` of a `tool_use` is a command as it was typed, or else the call's input as compact JSON.
    Pictures and other data are named (`[image]`), never embedded.
    """

    role: Role
    said: BlockKind
    text: str
    line_start: int
    line_end: int
    name: str = ""
    """The speaker of a text where the format names one; the tool of a call and of its result."""
    at: str | None = None
    use: Use = Use.SAID
    sidechain: bool = False
    call: str = ""
    """Joins a call and its result; empty where the format has no such id."""


class BlockScan(Protocol):
    """One file being read. Iterate to get its blocks; `tally` and `errors` fill meanwhile."""

    path: Path
    format: str
    tally: Counter[str]
    """Reason -> lines (or messages) passed over."""
    errors: list[str]

    def __iter__(self) -> Iterator[Block]: ...
