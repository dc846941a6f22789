"""The interface between the summarizer and its engines: analysis of a segment, task, protocol."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.retention import criteria_of
from reviewer.compression.salient_terms import SourceTerms
from reviewer.compression.segments import full_text, readable
from reviewer.compression.session import SessionFacts, read_session
from reviewer.compression.turn_events import turn_events
from reviewer.compression.values import (
    AnchorPoint,
    Level,
    Segment,
    SummarizationOptions,
)


class SegmentAnalysis:
    """Everything computed once for a segment and shared by its levels.

    `segment` has its SKIP turns emptied.
    """

    def __init__(self, segment: Segment) -> None:
        self.segment = readable(segment)

    @cached_property
    def text(self) -> str:
        """The segment at Full."""
        return full_text(self.segment.turns)

    @cached_property
    def is_empty(self) -> bool:
        """Whether the segment has no text at Full."""
        return not any(turn.text.strip() for turn in self.segment.turns)

    @cached_property
    def terms(self) -> SourceTerms:
        """The salient terms of the segment's messages."""
        return SourceTerms(self.segment.turns)

    @cached_property
    def called_terms(self) -> SourceTerms:
        """The same, with those of the calls."""
        return SourceTerms(self.segment.turns, calls=True)

    @cached_property
    def session(self) -> SessionFacts:
        """The speeches, the steps in between, and the state of the work at the end."""
        before = self.segment.before
        return read_session(turn_events((*before, *self.segment.turns)), len(before))


class SummaryTask(Struct, frozen=True):
    """A text for an engine to write."""

    analysis: SegmentAnalysis
    level: Level
    anchors: tuple[AnchorPoint, ...]
    """Must appear verbatim in the text, most important first."""
    max_tokens: int
    """The limit for the text."""
    options: SummarizationOptions
    cancelled: Callable[[], bool] | None = None

    @property
    def segment(self) -> Segment:
        return self.analysis.segment

    @property
    def criteria(self) -> RetentionCriteria:
        """The retention criteria that the text is checked against."""
        return criteria_of(self.segment, self.options.retention)

    @property
    def needs_care(self) -> bool:
        """Whether some turns are IMPORTANT without criteria."""
        turns = self.segment.turns
        return any(t.priority is Priority.IMPORTANT and not t.retention for t in turns)


class EngineText(Struct, frozen=True):
    """A text of an engine. `model_tokens`: prompts and answers together, over all attempts."""

    text: str
    engine: str
    model_tokens: int = 0
    attempts: int = 1
    answered_before: bool = False
    """Whether it is an earlier run's answer, found without a request."""
    note: str = ""
    """For a person to read; usually empty."""
    written: str = ""
    """A model's text before anything was restored."""


class SummaryEngine(Protocol):
    """Writes the text of a level. Markers and Key Points are added by the summarizer."""

    @property
    def name(self) -> str:
        """`offline`, or the model's name."""
        ...

    @property
    def deterministic(self) -> bool:
        """Whether the same task always gives the same text, so that writing it again is cheap."""
        ...

    def write(self, task: SummaryTask) -> EngineText:
        """The text. Raises ModelError, CancelledError, RetryExhaustedError."""
        ...
