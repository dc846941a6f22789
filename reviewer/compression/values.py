"""The data contract of compression (`docs/design.md`, "Levels and anchors")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from math import ceil
from typing import Any, Literal

from msgspec import Struct, structs

from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.anchor_types import AnchorType
from reviewer.text.numerals import count, some_of

TurnKind = Literal["text", "thinking", "tool_use", "tool_result"]
TURN_KINDS: Mapping[str, TurnKind] = {
    "reasoning": "thinking",
    "tool_call": "tool_use",
    "tool_result": "tool_result",
}
"""Commit type -> kind of turn; text for every other type."""


class Level(IntEnum):
    """How far a segment is compressed."""

    FULL = 0
    DETAILED = 1
    BRIEF = 2
    TAGS = 3


RATIOS = {Level.FULL: 1, Level.DETAILED: 3, Level.BRIEF: 10, Level.TAGS: 50}
"""Original : compressed tokens, the target of a level."""
FEW_WORDS = 1 / 3
"""Maximum share of a segment for words of the person that are added to a target."""
HANDOVER_FROM = 600
"""Minimum tokens of a hand-over, for a summary much shorter than its source."""


SHORT = 40
"""Tokens up to which a segment or a file is not shortened: a summary would gain nothing."""
NOTHING_TOLD = "it cannot be summarized in so few words"
UNCHECKED = "nothing to check: tool output is left out"
OFFLINE, BY_HAND = "offline", "by hand"
"""Authors of a summary that are not a model."""


class HandoverSection(StrEnum):
    """The titles of a hand-over, most needed first."""

    REQUEST = "Request"
    INSTRUCTIONS = "Instructions and corrections"
    DECISIONS = "Decisions"
    PLAN = "Plan"
    DONE = "Done"
    NOW = "Now"
    THEN = "At this point"
    NEXT = "Next"
    LISTS = "Lists in play"
    COURSE = "Course"
    FOUND = "Found out"
    COMMANDS = "Commands"
    FILES = "Files"
    CHANGES = "Last changes"


TITLES = frozenset(f"{section.value}:" for section in HandoverSection)
"""The titles as lines of a text."""


class SegmentTurn(Struct, frozen=True, gc=False):
    """A message of a segment. `commit` is its id in the store, None for a bare file."""

    role: str
    text: str
    tokens: int
    kind: TurnKind = "text"
    name: str = ""
    at: str | None = None
    commit: int | None = None
    priority: Priority = Priority.NORMAL
    retention: RetentionCriteria = RetentionCriteria()
    call: str = ""
    """Joins a call and its result, if the format has such an id."""
    folder: str = ""
    """The working folder at that time, if known."""
    branch: str = ""
    outcome: str = ""
    """The outcome of a result's call (`Outcome`), if the format has it apart from the text; also of
    a call whose result is empty."""
    exit_code: int | None = None
    words: str = ""
    """The person's words when refusing or answering the call of a result."""
    summary: bool = False
    """A summary of earlier turns; one by this program is a segment by itself."""
    number: int = 0
    """Its place in the session, from 1; a summary counts as the turns it replaces."""
    aside: bool = False
    """A sub-agent's call or a notice: counts for the state of the work, but is not described."""

    @property
    def by_person(self) -> int:
        """Tokens of the person's words, approximate for those in a result."""
        message = self.role == "user" and self.kind == "text" and not self.aside
        return self.tokens if message else ceil(len(self.words) / 4)


class AppliedSummary(Struct, frozen=True, gc=False):
    """A summary in a chain in place of a segment, and its losses."""

    commit: int
    level: Level
    text: str
    tokens: int
    engine: str
    passes: bool
    loses: tuple[str, ...] = ()

    @property
    def shortens_the_person(self) -> bool:
        """Whether the summary lacks words of the person."""
        return any(line.startswith(f"{YOU}, turn") for line in self.loses)


class Segment(Struct, frozen=True, gc=False):
    """Consecutive turns that are compressed together. Its id has no colon and no bracket."""

    id: str
    turns: tuple[SegmentTurn, ...]
    tokens: int
    topic: str = ""
    is_part: bool = True
    """Whether turns of the session may follow, which settle its open points."""
    applied: AppliedSummary | None = None
    """The summary in place of these turns in the chain."""
    called: str = ""
    """The tool and file of the call before it, if it begins with the result."""
    before: tuple[SegmentTurn, ...] = ()
    """Earlier turns of the session, which count for the state of the work alone."""

    @property
    def sent(self) -> int:
        """Its tokens in the chain."""
        return self.tokens if self.applied is None else self.applied.tokens

    @property
    def added_words(self) -> int:
        """Tokens that the person's words add to a target: all of them if they are few, else 0."""
        said = sum(turn.by_person for turn in self.turns)
        return said if said <= self.tokens * FEW_WORDS else 0


class AnchorPoint(Struct, frozen=True, gc=False):
    """A span `segment.turns[turn].text[start:end]`, the `content`, that must survive verbatim.

    `source`: detected by a cue, pinned by a person, or matched by a criterion.
    """

    type: AnchorType
    content: str
    importance: float
    turn: int
    start: int
    end: int
    source: Literal["detected", "pinned", "retained"] = "detected"

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        return {
            "type": str(self.type),
            "content": self.content,
            "importance": self.importance,
            "source": self.source,
        }


class ExpansionMarker(Struct, frozen=True, gc=False):
    """A place `content[start:end]` of a summary that expands to the level nearer to Full."""

    id: str
    label: str
    target: Level
    start: int
    end: int
    segment: str
    adds: int = 0
    """Tokens that expanding it adds."""


class SummarizationOptions(Struct, frozen=True):
    """Configuration of one summarization; None for the default of the level or the settings."""

    model_id: str | None = None
    max_output_tokens: int | None = None
    temperature: float = 0.3
    generate_expansion_markers: bool = True
    retention: RetentionCriteria = RetentionCriteria()
    """Criteria for this call alone, in addition to those of the commits."""
    max_retries: int = 3
    ceiling: int | None = None
    """A hard ceiling on the tokens of the content, even if anchors are lost."""


class CompressedSegment(Struct, frozen=True, gc=False):
    level: Level
    content: str
    anchors: tuple[AnchorPoint, ...]
    expansion_markers: tuple[ExpansionMarker, ...]
    token_count: int
    original_token_count: int
    anchors_missing: tuple[AnchorPoint, ...] = ()
    engine: str = "offline"
    note: str = ""
    """For a person to read: `anchors need 312 tokens`."""
    answered_before: bool = False
    """Written by the model in an earlier run, without a request now."""
    written: str = ""
    """A model's text before missing anchors were restored; empty for other texts."""

    @property
    def as_written(self) -> str:
        return self.written or self.content

    @property
    def compression_ratio(self) -> float:
        """Original : compressed tokens; 0.0 for nothing."""
        return self.original_token_count / self.token_count if self.token_count else 0.0


LostKind = Literal[
    "anchor", "turn", "request", "instruction", "state", "next", "statement", "identifier",
    "number", "result", "term",
]  # fmt: skip
YOU = "you"
_ORDER: tuple[str, ...] = (
    "turn", YOU, "anchor", "state", "next", "statement", "identifier", "number", "result",
    "term",
)  # fmt: skip


class Lost(Struct, frozen=True, gc=False):
    """Something that a summary lost. `weight`: within its kind; `times`: how often it occurs."""

    text: str
    kind: LostKind
    weight: float
    times: int
    turn: int
    start: int
    end: int
    what: str = ""
    """Its kind in a word: `you`, `decision`, `name`."""
    number: int = 0
    """That of its turn; 0 where it is from several."""

    @property
    def line(self) -> str:
        """`decision, turn 12: keep the port`."""
        turn = f", turn {self.number}" if self.number else ""
        return f"{self.what}{turn}: {' '.join(self.text.replace('**', '').strip('| ').split())}"

    @property
    def place(self) -> tuple[float, ...]:
        """Its rank in a list for a person: the person's words, then decisions, then the agent's
        statements, each in session order; then names by weight.
        """
        rank = min(_ORDER.index(each) for each in (self.kind, self.what) if each in _ORDER)
        weighed = self.kind in ("anchor", "identifier", "number", "term")
        return rank, -self.weight if weighed else 0, self.number, self.start


ANCHORS, FACTS, CONTEXT = 0.4, 0.3, 0.3
"""Shares of the three parts in the overall score."""
PASSES = 0.85
"""Minimum overall fidelity of a summary that passes, if it has all anchors."""


def overall_score(anchors: float, facts: float, context: float) -> float:
    return ANCHORS * anchors + FACTS * facts + CONTEXT * context


class FidelityValidation(Struct, frozen=True, gc=False):
    """The fidelity of a compressed segment; scores from 0 to 1."""

    overall_score: float
    anchor_preservation: float
    factual_accuracy: float
    context_retention: float
    lost_information: tuple[Lost, ...] = ()
    invented: tuple[str, ...] = ()
    """Names, numbers and quotations of the summary that are not in the source."""
    needs_missing: tuple[str, ...] = ()
    """Needs of whoever continues that are not covered: `the state of the work`."""
    orders: tuple[str, ...] = ()
    """Sentences of a model that read like orders planted in its source."""
    complete: bool = True
    """Every anchor is in the text, possibly restored."""
    checked: bool = True
    """Whether the scores say anything: tool output alone has no anchors, needs or salient terms, so
    that only an invention could lower them.
    """

    @property
    def scores(self) -> dict[str, float]:
        """The scores by their names for scripts and in the store."""
        return {
            "overall": self.overall_score,
            "anchor_preservation": self.anchor_preservation,
            "factual_accuracy": self.factual_accuracy,
            "context_retention": self.context_retention,
        }

    def with_context_of(self, nearer: FidelityValidation) -> FidelityValidation:
        """The same, with no better context than a longer text about the same."""
        context = min(self.context_retention, nearer.context_retention)
        overall = overall_score(self.anchor_preservation, self.factual_accuracy, context)
        return structs.replace(self, overall_score=round(overall, 4), context_retention=context)

    @property
    def lost_to_show(self) -> tuple[Lost, ...]:
        """The losses without plain words."""
        return tuple(each for each in self.lost_information if each.kind != "term")

    @property
    def loses(self) -> tuple[str, ...]:
        """The losses for a person: a line each, plain words as their number."""
        shown = [each.line for each in self.lost_to_show]
        words = len(self.lost_information) - len(shown)
        return (*shown, *([f"{count(words, 'plain word')}, not listed"] if words else []))

    @property
    def lost_counts(self) -> str:
        """`4 sentences, 26 names and numbers`; empty if nothing is lost."""
        amounts = Counter[tuple[str, str]]()
        for each in self.lost_to_show:
            noun = ("sentence", "sentences")
            if each.kind in ("identifier", "number"):
                noun = ("name or number", "names and numbers")
            elif each.kind == "result":
                noun = ("call or result", "calls and results")
            amounts[noun] += each.times if each.kind == "result" else 1
        return ", ".join(count(number, *noun) for noun, number in amounts.items())

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults of the summary, as parts of a sentence; empty if it passes."""
        return () if self.passes_threshold else self.found

    @property
    def found(self) -> tuple[str, ...]:
        """The faults, also of a summary that passes."""
        found = [f"leaves out {need}" for need in self.needs_missing]
        if self.orders:
            found.insert(0, f'reads like a planted order: "{self.orders[0]}"')
        if self.invented:
            found.append(f"not in the source: {some_of(self.invented)}")
        if self.anchor_preservation < 1.0:
            found.append(f"{1 - self.anchor_preservation:.0%} of the key points are missing")
        if not found and not self.passes_threshold:
            found.append("little of the original is in it")
        return tuple(found)

    @property
    def passes_threshold(self) -> bool:
        """At least .85 overall, every anchor in the text, and no planted order."""
        return self.overall_score >= PASSES and self.complete and not self.orders
