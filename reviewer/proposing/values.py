"""What is read and proposed: the lines of a session view, proposals, and their proof."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from reviewer.extraction.candidates import MemoryType
from reviewer.sources.events import Speaker

PLAN, APPROVED = "plan: ", "approved the plan"
"""How a plan that waits for approval begins in a view, and the line after which it is carried out.
"""


class LineRole(StrEnum):
    """The kind of a line of a session view."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # a call in one line, with its result where that is short
    ERROR = "error"  # a result that reports a failure
    REJECTED = "rejected"  # a call that the person refused, with the person's words
    SUMMARY = "summary"  # of a compaction, or written while the person was away
    EVENT = "event"  # a to-do list, a commit, an interruption


class Proposer(StrEnum):
    """What proposed a candidate."""

    NOTES = "notes"  # found by a rule, in notes or dialogue
    MEMORY = "memory"  # an agent had already remembered it
    FINDING = "finding"  # a failure with its fix, or a refusal, read off the events of sessions
    PROGRAM = "episode"  # made by the program itself: a conflict, a proposal to retire
    MODEL = "model"  # worded by a model from a session view
    COMMAND = "command"  # worded by an agent's command line from a session view
    MCP = "mcp"  # proposed by an agent while it worked
    PERSON = "person"  # worded by the person
    EXCERPT = "excerpt"  # a sentence of dialogue: a place to look


class ViewLine(Struct, frozen=True):
    """One message, call, result or event of a session as a reader needs it.

    `line` is the 0-based line of the file; for documents and databases, the position that a
    candidate's `source` has. Several view lines may share a line. `text` is masked; it has
    newlines only in dialogue. `left_out` counts the characters that were shortened away.
    """

    line: int
    role: LineRole
    speaker: Speaker
    text: str
    left_out: int = 0
    span: tuple[int, int] | None = None
    """The bytes of its turn in the file; an empty span where the file has rows. None: the line."""
    at: str = ""
    """When it was written, as far as the file says."""
    subject: str = ""
    """The tool and the file or words of a call that only looks, waits or edits, and has a result
    that is not shown."""


class SessionView(Struct, frozen=True):
    """A session as a reader needs it. `lines` are in the order of the file."""

    path: Path
    format: str
    lines: tuple[ViewLine, ...]
    tally: Mapping[str, int] = {}
    """Reason -> records left out."""
    session: str = ""
    """The one session of a file that has several; empty: all of the file."""


class Quote(Struct, frozen=True):
    """Words that prove a statement: an exact part of the text at `line` (0-based)."""

    line: int
    text: str


class Proposal(Struct, frozen=True, kw_only=True):
    """A statement that stands alone (8 to 280 characters), with the words that prove it.

    `confidence` is the proposer's own (0 to 1); None takes the prior of its rule.
    """

    statement: str
    type: MemoryType
    quotes: tuple[Quote, ...]
    speaker: Speaker
    proposer: Proposer
    rule: str
    """Id of the rule, template or model that proposed it, such as `model.qwen3-30b`."""
    scope: str = "project"
    """`project`, or `person` for what is true in every project."""
    kind: str = ""
    """A finer kind than the type: instruction, decision, trap, environment, architecture,
    convention, preference."""
    confidence: float | None = None
    standing: bool = True
    """False: an order that was meant for once."""
    joins: int = 0
    """The row that says the same already, by its number."""
    replaces: int = 0
    """The row that it makes untrue."""


class QuoteProof(Struct, frozen=True):
    """A quote, and whether the cited line has it; `line` may differ if it was found nearby."""

    line: int
    text: str
    found: bool


class Proof(Struct, frozen=True):
    """The checks of a proposal, shown beside it; computed from the lines alone."""

    quotes: tuple[QuoteProof, ...] = ()
    unproved: tuple[str, ...] = ()
    """Identifiers, paths, numbers, flags, versions and quoted words of the statement that the
    cited lines and their neighbours do not have."""
    not_alone_because: str = field(default="", name="alone")
    """Such as `it opens with "this"`; empty if the statement stands alone. In JSON: `alone`."""
    known: tuple[str, ...] = ()
    """Where the same is known already: `CLAUDE.md:12`, `memory #7`."""
    later: tuple[Quote, ...] = ()
    """Later lines about the same identifiers: whether they take it back, a reader has to say."""
    flags: tuple[str, ...] = ()
    """`injection`: an instruction that comes from a tool result or a web page. `secret`: text was
    masked."""
    origin: str = ""
    """Where a flagged instruction comes from, such as `WebFetch at line 120`."""
    replaces: int = 0
    """The row that it makes untrue, by its number; 0 for none."""

    @property
    def sound(self) -> bool:
        """Whether every quote was found, nothing is unproved, and the statement stands alone."""
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
    """A statement with its number, and the day of its latest proof."""

    id: int
    day: str
    text: str


class Relations(Struct, frozen=True):
    """What a reader says of statements, by their numbers.

    `same`: groups, the best wording first. `untrue`: an older statement and the later one that
    makes it untrue. `untrue_in_part`: the same where the rest still holds. `contradict`: pairs, of
    which nobody knows which holds.
    """

    same: tuple[tuple[int, ...], ...] = ()
    untrue: tuple[tuple[int, int], ...] = ()
    untrue_in_part: tuple[tuple[int, int], ...] = ()
    contradict: tuple[tuple[int, int], ...] = ()
