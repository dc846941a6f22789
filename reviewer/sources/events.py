"""The event stream of a session: what every reader yields, and what everything else consumes.

A reader goes through a file once and yields events in the order of the file. What a format lacks
is absent, never guessed. Views, findings, work state, notes, hand-overs, imports of contexts and
the fleet consume these events; nobody opens a session a second time.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from reviewer.sources.shell import Command


class Speaker(StrEnum):
    """Who a message comes from."""

    PERSON = "person"
    AGENT = "agent"
    SUBAGENT = "subagent"
    HARNESS = "harness"


class Act(StrEnum):
    """What a call does, whatever the agent's name for the tool is."""

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
    """How a call ended. UNKNOWN: the result allows two readings."""

    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"


class NoticeKind(StrEnum):
    """Text that nobody wrote for this conversation. The values are the reasons in reports."""

    DATA = "picture or document"
    BOOT = "boot text"
    WRAPPER = "wrapper"
    INJECTED = "injected memory"
    OVERLONG = "message over 2 MB"
    TEMPLATE = "template"
    INTERRUPTED = "interrupted by the person"


class Origin(Struct, frozen=True, gc=False):
    """The record that an event comes from: its position in the file, and its circumstances.

    Lines and bytes are 0-based and half-open, in the file on disk; a format without lines counts
    rows or items as lines. `sha256` (hex) is the hash of the raw bytes. `key` identifies the
    record within a project: the format's own id if it has one, else `sha256:<hex>`. All events of
    one record share one Origin.
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
    """The id that the blocks of one reply share, where a format writes each block as a record."""
    queued: bool = False
    """Typed while the agent was busy."""
    conversation: int = 0
    """Tells the conversations of a file apart that have no session."""


class Message(Struct, frozen=True, gc=False):
    """Words of the conversation. Text that the harness put around the person's words is blanked
    at the same length, so that offsets stay correct.
    """

    origin: Origin
    speaker: Speaker
    text: str
    name: str = ""
    """The speaker where several people talk."""


class Thought(Struct, frozen=True, gc=False):
    """What an agent thought, where it is readable."""

    origin: Origin
    text: str


class Change(Struct, frozen=True):
    """A change that a call makes to one file. `pairs`: each replaced text with its replacement;
    a whole file that is written has one pair with an empty first text.
    """

    path: str
    created: bool = False
    deleted: bool = False
    pairs: tuple[tuple[str, str], ...] = ()


class Call(Struct, frozen=True):
    """A call of a tool. `id` joins it to its result; empty where the format has none."""

    origin: Origin
    id: str
    tool: str
    act: Act
    text: str
    """The command if the call has one, else its input as compact JSON."""
    command: str = ""
    """The shell line, without a shell that was only called to run it."""
    commands: tuple[Command, ...] = ()
    """The shell line in its parts."""
    path: str = ""
    """The first file or folder that the call names."""
    query: str = ""
    """What is searched for, asked or delegated."""
    changes: tuple[Change, ...] = ()
    background: bool = False
    """The call goes on after its result."""


class Result(Struct, frozen=True, gc=False):
    """The result of a call."""

    origin: Origin
    call: str
    tool: str
    outcome: Outcome
    text: str
    exit_code: int | None = None
    words: str = ""
    """What the person wrote when refusing or answering the call."""
    task: str = ""
    """The id under which the call goes on in the background."""


class PlanItem(Struct, frozen=True, gc=False):
    """An item of a plan or to-do list; `status` is one of open, active, done, dropped."""

    number: str
    text: str
    status: str


class Plan(Struct, frozen=True):
    """The whole plan as it is after a call that changes it."""

    origin: Origin
    items: tuple[PlanItem, ...]


class Compaction(Struct, frozen=True, gc=False):
    """The agent's client replaced what came before by this summary; empty if it has none."""

    origin: Origin
    summary: str


class Notice(Struct, frozen=True, gc=False):
    """Text of the harness: boot text, command wrappers, injected memories, notifications."""

    origin: Origin
    kind: NoticeKind
    text: str
    speaker: Speaker = Speaker.HARNESS
    """In whose name it stands: wrappers of commands in the person's, errors of the model in the
    agent's.
    """


class Rewind(Struct, frozen=True, gc=False):
    """The person went back: the records from line `first` up to line `end` (0-based, half-open)
    were abandoned.
    """

    origin: Origin
    first: int
    end: int


Event: TypeAlias = Message | Thought | Call | Result | Plan | Compaction | Notice | Rewind
