"""Lines of a session view, proposals, and their proof."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from reviewer.extraction.candidates import MemoryType
from reviewer.sources.events import Speaker

PLAN, APPROVED = "plan: ", "approved the plan"
"""The prefix of a plan awaiting approval in a view, and the line after which it is executed."""


class LineRole(StrEnum):
    """The kind of a session view line."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # a call on one line, with its result if short
    ERROR = "error"  # a result reporting a failure
    REJECTED = "rejected"  # a call refused by the person, with their words
    SUMMARY = "summary"  # a compaction summary, or text written while the person was away
    EVENT = "event"  # a to-do list, a commit, an interruption


class Proposer(StrEnum):
    """The origin of a candidate."""

    NOTES = "notes"  # found by a rule, in notes or dialogue
    MEMORY = "memory"  # already remembered by an agent
    FINDING = "finding"  # a failure with its fix, or a refusal, from session events
    PROGRAM = "episode"  # made by the program itself: a conflict, a proposal to retire
    MODEL = "model"  # worded by a model from a session view
    COMMAND = "command"  # worded by an agent's command line from a session view
    MCP = "mcp"  # proposed by an agent while working
    PERSON = "person"  # written by the person
    EXCERPT = "excerpt"  # a sentence of dialogue: write a memory from this


class ViewLine(Struct, frozen=True):
    """One message, call, result or event of a session, for a reader.

    `line` is the 0-based line of the file or, for documents and databases, the position in a
    candidate's `source`. Several view lines may share a line. `text` is masked, with newlines only
    in dialogue. `left_out`: number of characters cut.
    """

    line: int
    role: LineRole
    speaker: Speaker
    text: str
    left_out: int = 0
    span: tuple[int, int] | None = None
    """Bytes of its turn in the file; an empty span if the file has rows; None: the line."""
    at: str = ""
    """When it was written, if the file says so."""
    subject: str = ""
    """Tool, and file or words, of a call that only looks, waits or edits and whose result is not
    shown."""


class SessionView(Struct, frozen=True):
    """A session for a reader. `lines` are in file order."""

    path: Path
    format: str
    lines: tuple[ViewLine, ...]
    tally: Mapping[str, int] = {}
    """Reason -> records left out."""
    session: str = ""
    """Which session of a file with several; empty: the whole file."""


class Quote(Struct, frozen=True):
    """A quote as proof of a statement: an exact part of the text at `line` (0-based)."""

    line: int
    text: str


class Proposal(Struct, frozen=True, kw_only=True):
    """A self-contained statement (8 to 280 characters) with its quotes.

    `confidence` is the proposer's own (0 to 1); None uses the prior of its rule.
    """

    statement: str
    type: MemoryType
    quotes: tuple[Quote, ...]
    speaker: Speaker
    proposer: Proposer
    rule: str
    """Id of the proposing rule, template or model, such as `model.qwen3-30b`."""
    kind: str = ""
    """Finer than the type: instruction, decision, trap, environment, architecture, convention,
    preference."""
    confidence: float | None = None
    standing: bool = True
    """False for a one-off instruction."""
    joins: int = 0
    """Number of an existing row that says the same."""
    replaces: int = 0
    """Number of the row that it makes untrue."""


class QuoteProof(Struct, frozen=True):
    """A quote, and whether the cited line contains it; `line` may differ if it was found nearby."""

    line: int
    text: str
    found: bool


class Proof(Struct, frozen=True):
    """The checks shown beside a proposal; computed from the session lines alone."""

    quotes: tuple[QuoteProof, ...] = ()
    unproved: tuple[str, ...] = ()
    """Identifiers, paths, numbers, flags, versions and quoted words of the statement missing
    from the cited lines and their neighbours."""
    not_alone_because: str = field(default="", name="alone")
    """Such as `it opens with "this"`; empty if the statement is self-contained. In JSON:
    `alone`."""
    known: tuple[str, ...] = ()
    """Where the same is already known: `CLAUDE.md:12`, `memory #7`."""
    later: tuple[Quote, ...] = ()
    """Later lines about the same identifiers; the reader decides whether they retract it."""
    flags: tuple[str, ...] = ()
    """`injection`: an instruction from a tool result or web page. `secret`: text was masked."""
    origin: str = ""
    """Origin of a flagged instruction, such as `WebFetch at line 120`."""
    replaces: int = 0
    """Number of the row that it makes untrue; 0 for none."""

    @property
    def sound(self) -> bool:
        """Whether every quote was found, nothing is unproved, and the statement is
        self-contained.
        """
        return (
            bool(self.quotes)
            and all(each.found for each in self.quotes)
            and not self.unproved
            and not self.not_alone_because
        )


class Proved(Struct, frozen=True):
    """A proposal from the file at `path`, with its proof."""

    path: Path
    proposal: Proposal
    proof: Proof


class Sentence(Struct, frozen=True):
    """A statement with its number and the date of its latest proof."""

    id: int
    day: str
    text: str


class Relations(Struct, frozen=True):
    """What a reader reports about statements, by number.

    `same`: groups, the best wording first. `untrue`: an older statement and the later one that
    makes it untrue. `corrected`: the same if a part is still true, with a wording of that part;
    empty if the reader gave no usable one. `contradict`: pairs that contradict each other, either
    of which may be true.
    """

    same: tuple[tuple[int, ...], ...] = ()
    untrue: tuple[tuple[int, int], ...] = ()
    corrected: tuple[tuple[int, int, str], ...] = ()
    contradict: tuple[tuple[int, int], ...] = ()
