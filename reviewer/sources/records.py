"""The readers' output for the store: records with their positions."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    NOTE = "note"


class RecordUse(StrEnum):
    """Whether a record is used for extraction, and if not, why.

    Only MESSAGE records are extracted; others are kept as evidence and counted by use.
    """

    MESSAGE = "said"
    BOOT = "boot text"  # CLAUDE.md, AGENTS.md, system prompts, system reminders
    WRAPPER = "wrapper"  # command wrappers, caveats, interruptions, notifications, IDE events
    INJECTED = "injected memory"  # memories injected into the conversation by a tool
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
    `sha256:<hex>`. `text` is the unmasked text as one string with `\n` line ends. For notes, the
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
    """Other facts in the format: front matter, branch, working folder, status, title."""
