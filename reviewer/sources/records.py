"""The output of readers: records and blocks with their positions."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from reviewer.sources.events import Origin

BlockKind = Literal["text", "thinking", "tool_use", "tool_result"]


class Role(StrEnum):
    """Who wrote a record."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    NOTE = "note"


class RecordUse(StrEnum):
    """Whether extraction reads a record, and if not, why.

    Only MESSAGE records are extracted; others are kept as evidence and counted under their use.
    """

    MESSAGE = "said"
    BOOT = "boot text"  # CLAUDE.md, AGENTS.md, system prompts, system reminders
    WRAPPER = "wrapper"  # command wrappers, caveats, interruptions, notifications, IDE events
    INJECTED = "injected memory"  # memories that a tool put into the conversation
    SUMMARY = "compaction summary"
    TOOL = "tool output"
    REWOUND = "rewound"  # on a branch that the user abandoned
    OVERLONG = "message over 2 MB"  # a pasted log or file
    TEMPLATE = "template"  # format guides, empty templates


class Shape(StrEnum):
    """The structural kind of a record."""

    TURN = "turn"  # one message of a conversation
    SECTION = "section"  # the text under one heading of a note
    ENTRY = "entry"  # one dated or titled entry: a decision record, a learning, a task list


class Record(Struct, frozen=True):
    """One unit of raw source (L0).

    Lines and bytes are 0-based and half-open, in the file on disk; a format without lines numbers
    its rows or items as lines. `sha256` (hex) is the hash of the raw bytes `byte_start:byte_end`.
    `key` identifies the record within a project: the format's own id if it has one, else
    `sha256:<hex>`. `text` is the unmasked text as one string with `\\n` line ends. For notes, the
    lines of `text` are lines of the file: line of an offset = `line_start` + newlines before it.
    """

    key: str
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    sha256: str
    role: Role
    text: str
    use: RecordUse = RecordUse.MESSAGE
    shape: Shape = Shape.TURN
    at: str | None = None
    session: str | None = None
    sidechain: bool = False
    headings: tuple[str, ...] = ()
    """Titles from the outermost heading down to the record's own (notes only)."""
    meta: dict[str, str] = {}
    """Other facts of the format: front matter, branch, working folder, status, title."""


class Block(Struct, frozen=True):
    """One block of one message, in the order of the file.

    `text` of a `tool_use` is the command if the call has one, else its input as compact JSON.
    Pictures and other data appear by name only (`[image]`).
    """

    origin: Origin
    role: Role
    kind: BlockKind
    text: str
    name: str = ""
    """The speaker of a text if the format names one (`agent` for the task of a sub-agent); the
    tool of a call and of its result."""
    use: RecordUse = RecordUse.MESSAGE
    call: str = ""
    """Joins a call and its result; empty if the format lacks such an id."""
    error: bool = False
    """The result of a call reports a failure or a refusal."""
    code: int | None = None
    """The exit code of a command, where the format keeps it apart."""
    feedback: str = ""
    """What the person wrote when refusing the call, where the format keeps it apart."""

    @property
    def line_start(self) -> int:
        return self.origin.line_start
