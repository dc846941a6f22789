"""The Compress screen as values: segments, their levels, previews, markers, losses.

No widget and no store. Previews are kept for each segment, level and writer, so that going back and
forth is free; sizes without a preview are estimates and marked as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, structs

from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.plan import (
    Choice,
    Plan,
    SegmentPreview,
    carried,
    filled,
    one_segment,
)
from reviewer.compression.retention import Criteria
from reviewer.compression.service import Expansion
from reviewer.compression.summarizer import target_tokens
from reviewer.compression.values import BY_HAND, ExpansionMarker, Level, Segment

if TYPE_CHECKING:
    from reviewer.commits.values import PatternCheck
    from reviewer.tui.kit.text import Span

LEVEL_NAMES = ("Full", "Detailed", "Brief", "Tags")
DEEPEST = 4
"""Markers within markers that can be opened."""

Writer = Literal["offline", "model", "by hand"]


def level_name(level: int) -> str:
    """`Brief`."""
    return LEVEL_NAMES[level]


class Key(NamedTuple):
    """Identifies a preview."""

    segment: str
    level: Level
    writer: Writer


class Size(NamedTuple):
    """Tokens, and whether they were counted or are an estimate."""

    tokens: int
    exact: bool


class Checked(Struct, frozen=True):
    """Criteria of a segment against a summary."""

    asked: Criteria = Criteria()
    checks: tuple[PatternCheck, ...] = ()
    matches: tuple[Span, ...] = ()


class Doubts(NamedTuple):
    """The fault of a plan, as a sentence without its full stop; empty for nothing."""

    words: str
    about: frozenset[str]
    """The segments that it is about, and `target`."""


def doubts_about(previews: Sequence[SegmentPreview], after: int, target: int | None) -> Doubts:
    """Summaries that do not pass, segments that stay Full, and a target that is not kept.

    `after`: tokens of the context with the plan.
    """
    parts = []
    wrong = [each for each in previews if each.in_doubt]
    refused = [each for each in previews if each.refused]
    if wrong:
        worst = min(wrong, key=lambda each: each.fidelity.overall_score)
        why = "; ".join(worst.fidelity.faults)
        others = f", and {len(wrong) - 1:,} more do not pass" if len(wrong) > 1 else ""
        score = worst.fidelity.overall_score
        parts.append(f"{worst.segment.id} has fidelity {score:.2f}: {why}{others}")
    if refused:
        others = f", and {len(refused) - 1:,} more" if len(refused) > 1 else ""
        parts.append(f"{refused[0].segment.id}{others} stays Full: {refused[0].kept.rstrip('.')}")
    about = {each.segment.id for each in (*wrong, *refused)}
    if target is not None and after > target:
        parts.append(f"the context would have {after:,} tokens, {after - target:,} over the target")
        about.add("target")
    return Doubts("; ".join(parts), frozenset(about))


AnswerKey = tuple[tuple[int, ...], Level]
"""Identifies a model's answer: commits, whatever the id of their segment, and a level."""


def answer_key(choice: Choice) -> AnswerKey:
    """The key of a choice among the answers."""
    return choice.sources, choice.level


@dataclass
class Choices:
    """The choices for one context, kept while other screens are shown."""

    chosen: dict[tuple[int, ...], Choice] = field(default_factory=dict)
    """By the commits of each choice."""
    answers: dict[AnswerKey, tuple[str, str, str]] = field(default_factory=dict)
    """The model's text, and the model's name."""
    target: int | None = None
    engine: Literal["offline", "model"] = "offline"


class CompressModel:
    """The segments of one context, or of a range of it, with a cursor and a plan."""

    def __init__(self) -> None:
        self.segments: tuple[Segment, ...] = ()
        self.cursor = 0
        """The index of a segment; 0 without segments."""
        self._places: dict[str, int] = {}
        self.plan: Plan | None = None
        self.engine: Literal["offline", "model"] = "offline"
        """The engine for segments without another choice."""
        self.sent = 0
        """Tokens of the whole context as it is."""
        self.target: int | None = None
        self.speakers: Mapping[int, str] = {}
        """The recorded type of commits with the role of the user that a program wrote."""
        self.taken_offline: set[str] = set()
        """Segments that use the offline result while the model writes."""
        self.previews: dict[Key, SegmentPreview] = {}
        self.checked: dict[Key, Checked] = {}
        self.troubles: dict[Key, str] = {}
        """Why there is no preview, as a sentence."""
        self.answers: dict[AnswerKey, tuple[str, str, str]] = {}
        """The model's text, and the model's name: checked again after pins change."""
        self.chosen: dict[tuple[int, ...], Choice] = {}
        """Every choice so far, by its commits."""

    # segments

    def segment(self, segment: str) -> Segment | None:
        at = self._places.get(segment)
        return None if at is None else self.segments[at]

    def index_of(self, segment: str) -> int | None:
        return self._places.get(segment)

    @property
    def current(self) -> Segment | None:
        return self.segments[self.cursor] if self.cursor < len(self.segments) else None

    @property
    def first_commit(self) -> int | None:
        """The first commit of the segment under the cursor."""
        segment = self.current
        return segment.turns[0].commit if segment is not None and segment.turns else None

    def go_to_commit(self, commit: int | None) -> None:
        """Put the cursor on the segment of a commit, or leave it where it is."""
        at = next(
            (
                at
                for at, segment in enumerate(self.segments)
                if commit is not None and any(turn.commit == commit for turn in segment.turns)
            ),
            self.cursor,
        )
        self.cursor = max(0, min(at, len(self.segments) - 1))

    def load(self, segments: Sequence[Segment], plan: Plan | None, sent: int) -> list[str]:
        """Replace the segments; previews stay for those that did not change.

        Choices for the same commits are restored. Returns the known segments that changed.
        """
        before, first = self.segments, self.first_commit
        self._show(segments)
        self.sent = sent
        changed = [each.id for each in before if self.segment(each.id) != each]
        self.forget(changed)
        self.plan = None if plan is None else carried(plan, self.chosen)
        self.go_to_commit(first)
        self.taken_offline &= {each.id for each in self.segments}
        return changed

    def _show(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        self._places = {each.id: at for at, each in enumerate(self.segments)}

    # contexts

    def clear(self) -> None:
        """Drop everything about the context."""
        self._show(())
        self.plan, self.sent, self.cursor = None, 0, 0
        self.target = None
        self.speakers = {}
        self.taken_offline.clear()
        self.forget_all()

    def enter(self, kept: Choices) -> None:
        """Begin with the earlier choices for a context."""
        self.clear()
        self.chosen, self.answers = kept.chosen, kept.answers
        self.target, self.engine = kept.target, kept.engine

    def choices(self) -> Choices:
        """The choices, for when this context is shown again."""
        return Choices(dict(self.chosen), dict(self.answers), self.target, self.engine)

    def forget(self, segments: Iterable[str]) -> None:
        """Drop the previews of some segments, so that they are written again."""
        dropped = set(segments)
        keys = {*self.previews, *self.troubles, *self.checked}
        for key in [key for key in keys if key.segment in dropped]:
            self.previews.pop(key, None)
            self.checked.pop(key, None)
            self.troubles.pop(key, None)

    def forget_all(self) -> None:
        """Drop every preview; texts of a model or a person are checked again."""
        self.previews.clear()
        self.checked.clear()
        self.troubles.clear()

    # the present state

    @property
    def choice(self) -> Choice | None:
        if self.plan is None or self.cursor >= len(self.plan.choices):
            return None
        return self.plan.choices[self.cursor]

    @property
    def current_preview(self) -> SegmentPreview | None:
        """The preview of the choice for the segment under the cursor."""
        choice = self.choice
        return self.shown(choice) if choice is not None else None

    def writer(self, choice: Choice) -> Writer:
        if choice.engine == BY_HAND:
            return "by hand"
        model = self.engine == "model" and choice.segment not in self.taken_offline
        return "model" if model and choice.level is not Level.FULL else "offline"

    def key(self, choice: Choice) -> Key:
        """The key of a choice among the previews."""
        return Key(choice.segment, choice.level, self.writer(choice))

    def shown(self, choice: Choice) -> SegmentPreview | None:
        """The preview of a choice; the offline one until the model has written."""
        key = self.key(choice)
        found = self.previews.get(key)
        if found is None and key.writer == "model":
            return self.previews.get(key._replace(writer="offline"))
        return found

    def at_level(self, choice: Choice, level: Level) -> Choice:
        """A choice moved to a level; a summary by hand belongs to its own level."""
        if level == choice.level:
            return choice
        return structs.replace(choice, level=level, content=None, engine="", append_missing=False)

    def awaits_model(self, choice: Choice) -> bool:
        """Whether the model has not written a choice yet."""
        return self.writer(choice) == "model" and answer_key(choice) not in self.answers

    def unwritten(self) -> list[Choice]:
        """Every choice that the model has not written yet."""
        return [each for each in self.plan.choices if self.awaits_model(each)] if self.plan else []

    def doubts(self) -> Doubts:
        """The faults of the summaries as far as they are previewed."""
        shown = [self.shown(each) for each in self.plan.choices] if self.plan else []
        whole = self.whole()  # an estimate says nothing about a target that was just fitted
        return doubts_about(
            [each for each in shown if each is not None],
            whole.tokens,
            self.target if whole.exact else None,
        )

    def trouble(self, choice: Choice) -> str:
        """Why there is no preview of a choice; empty when there is one, or it is not ready yet."""
        key = self.key(choice)
        return self.troubles.get(key) or self.troubles.get(key._replace(writer="offline"), "")

    def offline_plan(self, choice: Choice) -> tuple[Key, Plan]:
        """The key of the preview of one choice, and a plan for it that does not ask a model.

        Text of a model is only checked; without one the offline result is shown.
        """
        assert self.plan is not None
        key = self.key(choice)
        if key.writer == "model":
            answer = self.answers.get(answer_key(choice))
            if answer is None:
                key = key._replace(writer="offline")
            else:
                choice = structs.replace(
                    choice, content=answer[0], engine=answer[1], written=answer[2]
                )
        return key, one_segment(structs.replace(self.plan, engine="offline"), choice)

    def plan_by_hand(self, choice: Choice, content: str) -> Plan:
        """A plan of this choice alone with a text by hand."""
        assert self.plan is not None
        by_hand = structs.replace(choice, content=content, engine=BY_HAND, written="")
        return one_segment(structs.replace(self.plan, engine="offline"), by_hand)

    def model_plan(self, choice: Choice) -> Plan:
        """A plan of this choice alone for the model to write.

        One that it has written already is asked for again; others may be answers of an earlier run.
        """
        assert self.plan is not None
        plain = structs.replace(choice, content=None, engine="")
        options = structs.replace(self.plan.options, fresh=answer_key(choice) in self.answers)
        return one_segment(structs.replace(self.plan, engine="model", options=options), plain)

    def engine_text(self, choice: Choice, found: SegmentPreview) -> str:
        """The engine's text for a choice, even if a person has written one since."""
        plain = structs.replace(choice, content=None, engine="")
        return (self.shown(plain) or found).compressed.content

    def to_preview(self, *, everything: bool) -> list[Choice]:
        """Choices in the order in which their previews are wanted.

        The segment under the cursor at its level and the others, the two segments below, then all
        other compressed ones.
        """
        here = self.choice
        if self.plan is None or here is None:
            return []
        near = [here.level, Level(max(here.level - 1, 0)), *Level]
        wanted = [self.at_level(here, level) for level in near]
        wanted += self.plan.choices[self.cursor + 1 : self.cursor + 3]
        if everything:
            wanted += [each for each in self.plan.choices if each.level is not Level.FULL]
        return wanted

    # sizes

    def size(self, choice: Choice) -> Size:
        """The tokens that a segment will have in the context."""
        segment = self.segment(choice.segment)
        assert segment is not None  # choices are of the segments on the screen
        whole = segment.tokens
        if choice.level is Level.FULL:
            return Size(whole, exact=True)
        found = self.shown(choice)
        if found is None:
            return Size(target_tokens(whole, choice.level), exact=False)
        return Size(found.tokens, exact=not self.awaits_model(choice))

    def whole(self) -> Size:
        """The tokens that the whole context will have."""
        if self.plan is None:
            return Size(self.sent, exact=True)
        sizes = [self.size(each) for each in self.plan.choices]
        saved = sum(each.tokens for each in self.segments) - sum(each.tokens for each in sizes)
        return Size(self.sent - saved, all(each.exact for each in sizes))

    # choosing

    def choose(self, segments: Iterable[str], level: Level) -> None:
        """Choose another level for some segments; summaries by hand of other levels are dropped."""
        wanted = set(segments)
        assert self.plan is not None
        choices = tuple(
            structs.replace(each, level=level, content=None, engine="", append_missing=False)
            if each.segment in wanted and (each.level != level or each.engine == BY_HAND)
            else each
            for each in self.plan.choices
        )
        self.replace_plan(structs.replace(self.plan, choices=choices))

    def use_fitted_plan(self, plan: Plan) -> int:
        """Choose the levels of a plan for the whole context; returns the number of texts by hand
        that were dropped.
        """
        left = 0
        for choice in plan.choices:
            before = self.chosen.get(choice.sources)
            if before is None or before.level != choice.level:
                left += before is not None and before.engine == BY_HAND
                self.chosen[choice.sources] = choice
        return left

    def store_answer(self, choice: Choice, found: SegmentPreview) -> Key:
        """Store a model's text for a choice; returns the key of its preview."""
        done = found.compressed
        self.answers[answer_key(choice)] = done.content, done.engine, done.written
        return Key(choice.segment, choice.level, "model")

    def write(self, segment: str, content: str, found: SegmentPreview) -> Key:
        """Store a summary by hand for a segment; returns the key of its preview."""
        assert self.plan is not None
        self.replace_plan(self.plan.with_text(segment, content))
        return Key(segment, found.level, "by hand")

    def store_preview(self, key: Key, found: SegmentPreview, checked: Checked) -> None:
        self.previews[key] = found
        self.checked[key] = checked
        self.troubles.pop(key, None)

    def replace_plan(self, plan: Plan) -> None:
        """Replace the plan by another one for the same segments."""
        self.plan = plan
        self.chosen.update((each.sources, each) for each in plan.choices)

    def to_apply(self) -> Plan:
        """The plan filled with all previews. There must be a plan."""
        assert self.plan is not None
        return filled(structs.replace(self.plan, engine=self.engine), self.shown)


# losses


@dataclass(frozen=True)
class LostRow:
    """A piece of the source, at `turn`, `start:end` of it."""

    text: str
    kind: str
    times: int
    turn: int
    start: int
    end: int
    new: bool = True
    """The level closer to Full still has it."""
    pinned: bool = False


def lost_rows(preview: SegmentPreview, new: frozenset[str]) -> list[LostRow]:
    """The losses of a preview, then its pinned spans."""
    rows = [
        LostRow(each.text, each.kind, each.times, each.turn, each.start, each.end, each.text in new)
        for each in preview.fidelity.lost_to_show
    ]
    missing = set(preview.compressed.anchors_missing)
    rows += [
        LostRow(each.content, "pinned", 1, each.turn, each.start, each.end, pinned=True)
        for each in preview.compressed.anchors
        if each.source == "pinned" and each not in missing
    ]
    return rows


def anchor_type(preview: SegmentPreview | None, row: LostRow) -> AnchorType:
    """The type of a lost anchor; a fact if the lost piece was not an anchor."""
    anchors = preview.compressed.anchors if preview is not None else ()
    place = (row.turn, row.start, row.end)
    same = (each.type for each in anchors if (each.turn, each.start, each.end) == place)
    return next(same, AnchorType.CRITICAL_FACT)


# markers

Path = tuple[str, ...]
"""A marker: the markers that had to be opened before it, and its own id."""


@dataclass(frozen=True)
class Fold:
    """A visible marker: its place in the tree of texts, and the segment that it opens."""

    path: Path
    marker: ExpansionMarker


class Markers:
    """The open markers of the summary on the screen, and the chosen one."""

    def __init__(self) -> None:
        self.opened: dict[Path, Expansion] = {}
        self.chosen: Path | None = None

    def clear(self) -> None:
        """Close everything, for another summary."""
        self.opened.clear()
        self.chosen = None

    def folds(self, preview: SegmentPreview | None) -> list[Fold]:
        """Every visible marker in order; those within an opened one come after it."""
        found: list[Fold] = []

        def walk(inner: Sequence[ExpansionMarker], above: Path) -> None:
            for marker in sorted(inner, key=lambda each: each.start):
                path = (*above, marker.id)
                found.append(Fold(path, marker))
                nearer = self.opened.get(path)
                if nearer is not None and len(path) < DEEPEST:
                    walk(nearer.markers, path)

        if preview is not None:
            walk(preview.compressed.expansion_markers, ())
        return found

    def step(self, folds: Sequence[Fold], step: int) -> Fold:
        """The marker after the chosen one, or before it; wraps around at the ends."""
        paths = [fold.path for fold in folds]
        if self.chosen in paths:
            return folds[(paths.index(self.chosen) + step) % len(folds)]
        return folds[0 if step > 0 else -1]

    def close(self, path: Path) -> None:
        """Close a marker and all open ones within it."""
        for each in [each for each in self.opened if each[: len(path)] == path]:
            del self.opened[each]
