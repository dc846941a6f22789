"""Plans and previews as values, and their JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct, structs

from reviewer.compression.retention import RetentionFailure
from reviewer.compression.values import (
    BY_HAND,
    YOU,
    CompressedSegment,
    FidelityValidation,
    Level,
    Segment,
    SummarizationOptions,
)
from reviewer.errors import ReviewerError
from reviewer.text.numerals import count


class LevelChoice(Struct, frozen=True, gc=False):
    """A level for one segment, and its summary if already known."""

    segment: str
    level: Level
    sources: tuple[int, ...]
    """Ids of the segment's commits, for detecting changes of the context."""
    content: str | None = None
    """The summary, from a preview or by hand; None: the engine writes it."""
    engine: str = ""
    """Author of `content`: an engine, or `BY_HAND`."""
    written: str = ""
    """A model's text before anything was added, if it differs from `content`; this is graded."""


class CompressionPlan(Struct, frozen=True, gc=False):
    """Choices for the segments of a context, or of a range of it."""

    context: int
    head: str | None
    """Hash of the context's head when the plan was made."""
    choices: tuple[LevelChoice, ...]
    start: int | None = None
    """First commit of the range, None for the chain's first."""
    end: int | None = None
    """Last commit of the range, included; None for the chain's last."""
    engine: str = "offline"
    options: SummarizationOptions = SummarizationOptions()
    target: int | None = None
    """Maximum tokens of the whole context."""
    own: tuple[str, ...] = ()
    """Segments whose level a person chose, which stays also to reach the target."""

    def with_level(self, segment: str, level: Level) -> CompressionPlan:
        return self._with(segment, level=level, content=None, engine="", written="")

    def with_text(self, segment: str, content: str) -> CompressionPlan:
        """The plan with a summary written by a person."""
        return self._with(segment, content=content, engine=BY_HAND, written="")

    def _with(self, segment: str, **changes: object) -> CompressionPlan:
        return structs.replace(
            self,
            choices=tuple(
                structs.replace(choice, **changes) if choice.segment == segment else choice
                for choice in self.choices
            ),
        )


class SegmentPreview(Struct, frozen=True, gc=False):
    """A segment after a dry run."""

    segment: Segment
    level: Level
    compressed: CompressedSegment
    fidelity: FidelityValidation
    failures: tuple[RetentionFailure, ...] = ()
    """Retention criteria that a summary written by hand does not meet."""
    kept: str = ""
    """Why the segment stays Full although the plan gives it another level."""
    unchecked: tuple[str, ...] = ()
    """Criteria of IMPORTANT turns in words, which no program can check."""
    refused: bool = False
    """It stays Full because no summary of it meets its criteria."""

    @property
    def tokens(self) -> int:
        """Tokens that the segment will have in the context."""
        return self.segment.tokens if self.kept else self.compressed.token_count

    @property
    def is_full(self) -> bool:
        return bool(self.kept) or self.level is Level.FULL

    @property
    def changes(self) -> bool:
        applied = self.segment.applied
        if applied is None:
            return not self.is_full
        return self.is_full or self.compressed.content != applied.text

    @property
    def in_doubt(self) -> bool:
        """Whether a summary to be applied fails its checks."""
        written = self.changes and not self.is_full
        return written and bool(self.lost_turns or not self.fidelity.passes_threshold)

    @property
    def lost_turns(self) -> int:
        """Important turns without a trace in the summary."""
        return sum(each.kind == "turn" for each in self.fidelity.lost_information)

    @property
    def shortens_the_person(self) -> bool:
        """Whether the summary lacks words of the person. Tags have no sentences."""
        if self.kept:
            return False
        if self.level is Level.TAGS:
            return any(turn.by_person for turn in self.segment.turns)
        return any(each.what == YOU for each in self.fidelity.lost_information)

    @property
    def faults(self) -> tuple[str, ...]:
        """Why it stays Full or fails its checks, as parts of a sentence."""
        lost = ("an important turn is missing",) if self.lost_turns else ()
        return (self.kept,) if self.kept else (*lost, *self.fidelity.faults)

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        return {
            **summary_json(self.segment, self.compressed, self.fidelity),
            "kept_full": self.kept,
            "retention_missing": [failure.message for failure in self.failures],
        }


class Preview(Struct, frozen=True):
    """A dry run of a plan; `plan` has the summaries filled in, ready to apply, and segments whose
    criteria cannot be met at Full.
    """

    plan: CompressionPlan
    segments: tuple[SegmentPreview, ...]
    tokens_before: int
    tokens_after: int

    @property
    def answered_before(self) -> int:
        """Segments written by a model in an earlier run, without a request now."""
        return sum(each.compressed.answered_before for each in self.segments)

    @property
    def shortened(self) -> tuple[str, ...]:
        """The segments that lack words of the person."""
        return tuple(each.segment.id for each in self.segments if each.shortens_the_person)

    @property
    def loses(self) -> str:
        """What the summaries lose in all: `12 tool results, 3 sentences: 9,400 tokens`."""
        short = [each for each in self.segments if not each.is_full]
        turns = Counter(turn.kind for each in short for turn in each.segment.turns if turn.tokens)
        lost = Counter(item.kind for each in short for item in each.fidelity.lost_information)
        amounts = (
            (turns["tool_result"], "tool result"),
            (turns["tool_use"], "tool call"),
            (lost["statement"], "sentence"),
        )
        what = ", ".join(count(number, noun) for number, noun in amounts if number)
        tokens = count(sum(each.segment.tokens - each.tokens for each in short), "token")
        return f"{what}: {tokens}" if what else tokens

    def to_json(self) -> list[dict[str, Any]]:
        """Every segment, then the total, for scripts."""
        after = self.tokens_after
        segments = [each.to_json() for each in self.segments]
        total = {
            "total": True,
            "context": self.plan.context,
            "segments": len(self.segments),
            "original_tokens": self.tokens_before,
            "tokens": after,
            "ratio": round(self.tokens_before / after, 3) if after else 0.0,
            "target": self.plan.target,
            "head": self.plan.head,
        }
        return [*segments, total]


class Applied(Struct, frozen=True):
    act: int
    title: str
    tokens_before: int
    tokens_after: int
    segments: int = 0
    """Segments replaced by a summary."""


def read_level(level: Level | str) -> Level:
    """The level of that name. Raises ReviewerError."""
    if isinstance(level, Level):
        return level
    found = Level.__members__.get(level.strip().upper())
    if found is None:
        names = ", ".join(each.name.lower() for each in Level)
        raise ReviewerError(f'There is no level "{level}"; choose {names}.')
    return found


def segment_sources(segment: Segment) -> tuple[int, ...]:
    """The commits of a segment in the chain."""
    if segment.applied is not None:
        return (segment.applied.commit,)
    return tuple(turn.commit for turn in segment.turns if turn.commit is not None)


def summary_json(
    segment: Segment, compressed: CompressedSegment, fidelity: FidelityValidation
) -> dict[str, Any]:
    """A segment at one level, for scripts."""
    return {
        "segment": segment.id,
        "topic": segment.topic,
        "commits": segment_sources(segment),
        "level": compressed.level.name.lower(),
        "content": compressed.content,
        "tokens": compressed.token_count,
        "original_tokens": compressed.original_token_count,
        "ratio": round(compressed.compression_ratio, 3),
        "anchors": [each.to_json() for each in compressed.anchors],
        "anchors_missing": [each.to_json() for each in compressed.anchors_missing],
        "markers": [
            {**structs.asdict(each), "target": each.target.name.lower()}
            for each in compressed.expansion_markers
        ],
        "fidelity": {
            **fidelity.scores,
            "passes": fidelity.passes_threshold,
            "checked": fidelity.checked,
            "lost": [
                {
                    "text": each.text,
                    "kind": each.kind,
                    "weight": each.weight,
                    "times": each.times,
                    "commit": segment.turns[each.turn].commit,
                    "start": each.start,
                    "end": each.end,
                }
                for each in fidelity.lost_information
            ],
            "invented": list(fidelity.invented),
            "needs_missing": list(fidelity.needs_missing),
            "orders": list(fidelity.orders),
        },
        "engine": compressed.engine,
        "note": compressed.note,
    }


def choice_of(segment: Segment, level: Level | None = None) -> LevelChoice:
    """A segment at a level; without one as it is, whole or as the summary that was applied."""
    sources, applied = segment_sources(segment), segment.applied
    if applied is not None and level in (None, applied.level):
        return LevelChoice(segment.id, applied.level, sources, applied.text, applied.engine)
    return LevelChoice(segment.id, level or Level.FULL, sources)


def one_segment(plan: CompressionPlan, choice: LevelChoice) -> CompressionPlan:
    """A plan for one segment only, without a target, so that its level stays as chosen."""
    return structs.replace(plan, choices=(choice,), target=None)
