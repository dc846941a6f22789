"""A session's event stream: the output of every reader, and the input of everything else.

A reader passes through a file once and yields events in file order. Whatever a format lacks is
absent, never guessed. Views, findings, work state, notes, hand-overs, context imports and the fleet
consume these events; no session is opened twice.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from reviewer.sources.shell import Command


class Speaker(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    SUBAGENT = "subagent"
    HARNESS = "harness"


class Act(StrEnum):
    """The effect of a call, whatever the agent calls the tool."""

    RUN = "run"
    EDIT = "edit"
    WRITE = "write"
    READ = "read"
    SEARCH = "search"
    ASK = "ask"
    PLAN = "plan"
    DELEGATE = "delegate"
    OTHER = "other"


class Outcome(StrEnum):
    """The outcome of a call. UNKNOWN: the result is ambiguous."""

    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"


class NoticeKind(StrEnum):
    """Kinds of text that nobody wrote for this conversation. The values are the reasons in
    reports.
    """

    DATA = "picture or document"
    BOOT = "boot text"
    WRAPPER = "wrapper"
    INJECTED = "injected memory"
    TEMPLATE = "template"
    INTERRUPTED = "interrupted by the person"


class Origin(Struct, frozen=True, gc=False):
    """The record of an event: its position in the file, and its context.

    Lines and bytes are 0-based and half-open, in the file on disk; a format without lines counts
    rows or items as lines. `sha256` (hex) is the hash of the raw bytes. `key` identifies the record
    within a project: the format's own id if it has one, else `sha256:<hex>`. All events of one
    record share one Origin.
    """

    key: str
    line_start: int
    line_end: int
    byte_start: int = 0
    byte_end: int = 0
    sha256: str = ""
    at: str | None = None
    session: str | None = None
    sidechain: bool = False
    """The record belongs to a sub-agent."""
    cwd: str = ""
    branch: str = ""
    model: str = ""
    version: str = ""
    reply: str = ""
    """Id shared by the blocks of one reply, if the format writes each block as a record."""
    queued: bool = False
    """Typed while the agent was busy."""
    conversation: int = 0
    """Distinguishes conversations without session ids in one file."""


class Message(Struct, frozen=True, gc=False):
    """Text of the conversation. Harness text around the person's words is blanked at the same
    length, which keeps offsets correct.
    """

    origin: Origin
    speaker: Speaker
    text: str
    name: str = ""
    """The speaker's name, if several people talk."""


class Thought(Struct, frozen=True, gc=False):
    """An agent's thoughts, if readable."""

    origin: Origin
    text: str


class Change(Struct, frozen=True):
    """A call's change to one file. `pairs`: each replaced text with its replacement; a newly
    written file has one pair with an empty first text.
    """

    path: str
    created: bool = False
    deleted: bool = False
    pairs: tuple[tuple[str, str], ...] = ()


class Call(Struct, frozen=True):
    """A tool call. `id` links it to its result; empty if the format has none."""

    origin: Origin
    id: str
    tool: str
    act: Act
    text: str
    """The command if there is one, else the input as compact JSON."""
    command: str = ""
    """The shell line, without a shell that only wraps it."""
    commands: tuple[Command, ...] = ()
    """The shell line split into commands."""
    path: str = ""
    """The first file or folder in the call."""
    query: str = ""
    """The search query, question or delegated task."""
    changes: tuple[Change, ...] = ()
    background: bool = False
    """The call continues after its result."""

    @property
    def only_looks(self) -> bool:
        """Whether it is a shell line of read-only programs."""
        return bool(self.commands) and all(each.only_looks for each in self.commands)


class Result(Struct, frozen=True, gc=False):
    origin: Origin
    call: str
    tool: str
    outcome: Outcome
    text: str
    exit_code: int | None = None
    words: str = ""
    """The person's text when refusing or answering the call."""
    task: str = ""
    """Id under which the call continues in the background."""


class PlanItem(Struct, frozen=True, gc=False):
    """An item of a plan or to-do list; `status`: open, active, done or dropped."""

    number: str
    text: str
    status: str


class Plan(Struct, frozen=True):
    """The complete plan after a call that changes it."""

    origin: Origin
    items: tuple[PlanItem, ...]


class Compaction(Struct, frozen=True, gc=False):
    """The agent's client replaced everything before by this summary; empty if it has none."""

    origin: Origin
    summary: str


class Notice(Struct, frozen=True, gc=False):
    """Text of the harness: boot text, command wrappers, injected memories, notifications."""

    origin: Origin
    kind: NoticeKind
    text: str
    speaker: Speaker = Speaker.HARNESS
    """The apparent speaker: the person for command wrappers, the agent for model errors."""


class Rewind(Struct, frozen=True, gc=False):
    """The person went back: the records from line `first` up to line `end` (0-based, half-open)
    were abandoned.
    """

    origin: Origin
    first: int
    end: int


Event: TypeAlias = Message | Thought | Call | Result | Plan | Compaction | Notice | Rewind
