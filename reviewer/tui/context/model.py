"""A context on the screen as values: rows, levels, previews, what each level loses.

No widget and no store. A preview is kept for each text of a segment at a level, so that going back
and forth is free; sizes without a preview are estimates and marked as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, ValidationError, convert, structs

from reviewer.commits.values import CommitQuery, Priority
from reviewer.compression.fit import LAST_FULL
from reviewer.compression.plan import CompressionPlan, LevelChoice, SegmentPreview, one_segment
from reviewer.compression.segments import title_of
from reviewer.compression.summarizer import target_tokens
from reviewer.compression.values import BY_HAND, OFFLINE, Level, Segment
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.commits.values import CommitRow, ContextView, PatternCheck
    from reviewer.engine import Engine

LEVEL_NAMES = ("Full", "Detailed", "Brief", "Tags")
PRIORITIES = (Priority.SKIP, Priority.NORMAL, Priority.IMPORTANT, Priority.PINNED)
NEEDS = {
    "turn": "an important turn",
    "request": "the request",
    "instruction": "an instruction",
    "decision": "a decision",
}
"""Losses that a person has to know of, whatever the score says."""


class ContextRead(Struct, frozen=True):
    """A context as it was read. `trouble` says why it cannot be compressed."""

    context: ContextView
    commits: Sequence[CommitRow]
    segments: tuple[Segment, ...]
    plan: CompressionPlan | None
    sent: int
    version: object
    trouble: str = ""


def read_context(engine: Engine, number: int) -> ContextRead:
    """A context with a plan at Full. Raises UnknownIdError."""
    context = engine.contexts.get(number)
    version = engine.contexts.changed(number)
    commits = engine.contexts.rows(engine.contexts.ids(CommitQuery(number)))
    segments = engine.compression.segments(number)
    plan, trouble = None, ""
    try:
        plan = engine.compression.plan(number, Level.FULL, engine=OFFLINE)
    except ReviewerError as problem:
        trouble = str(problem)
    sent = sum(each.tokens for each in commits if each.priority is not Priority.SKIP)
    return ContextRead(context, commits, segments, plan, sent, version, trouble)


def first_plan(found: ContextRead, plan: CompressionPlan) -> CompressionPlan:
    """The plan before any choice: Brief, the newest segments and summaries Full."""
    summaries = {each.id for each in found.commits if each.type == "summary"}
    last = len(plan.choices) - LAST_FULL
    choices = []
    for at, choice in enumerate(plan.choices):
        stays = (last > 0 and at >= last) or not summaries.isdisjoint(choice.sources)
        whole = stays or not found.segments[at].tokens
        choices.append(structs.replace(choice, level=Level.FULL if whole else Level.BRIEF))
    return structs.replace(plan, choices=tuple(choices))


class Key(NamedTuple):
    """Identifies a preview: the commits, the level, and the text where it is not the engine's."""

    sources: tuple[int, ...]
    level: Level
    content: str | None


class ContextRow(NamedTuple):
    """A segment, one of its turns, or a turn that is in no segment because it is pinned."""

    segment: int | None
    commit: CommitRow | None


class TokenSize(NamedTuple):
    """Tokens, and whether they were counted or are an estimate."""

    tokens: int
    exact: bool


class Checked(Struct, frozen=True):
    """A preview with the criteria of its segment checked against it."""

    preview: SegmentPreview
    checks: tuple[PatternCheck, ...] = ()


class CheckResult(NamedTuple):
    """One result of the checks in words."""

    text: str
    good: bool


def findings(found: Checked) -> list[CheckResult]:
    """What a summary lacks first, then what is in order."""
    preview = found.preview
    fidelity, compressed = preview.fidelity, preview.compressed
    if preview.level is Level.FULL:
        return [CheckResult("Full loses nothing", True)]
    bad = [preview.kept.rstrip(".")] if preview.kept else []
    bad += [f'"{each.pattern.text}" is missing' for each in found.checks if each.state == "missing"]
    bad += [each.message.rstrip(".") for each in preview.failures]
    missing = {NEEDS[each.kind] for each in fidelity.lost_information if each.kind in NEEDS}
    needs = [*fidelity.needs_missing, *sorted(missing - set(fidelity.needs_missing))]
    bad += [f"{need} is missing" for need in needs]
    anchors = len(compressed.anchors)
    kept = anchors - len(compressed.anchors_missing)
    if kept < anchors:
        bad.append(f"anchors {kept} of {anchors}")
    if fidelity.invented:
        bad.append(f"not in the source: {', '.join(fidelity.invented[:3])}")
    if fidelity.orders:
        bad.append(f'reads like a planted order: "{fidelity.orders[0]}"')
    if not bad and not fidelity.passes_threshold:
        bad.append("much of what was said is missing")
    good = [f'"{each.pattern.text}"' for each in found.checks if each.state == "matches"]
    if anchors and kept == anchors:
        good.append(f"anchors {kept} of {anchors}")
    if not fidelity.invented:
        good.append("nothing invented")
    return [
        *(CheckResult(each, False) for each in bad),
        *(CheckResult(each, True) for each in good),
    ]


class KeptLevel(NamedTuple):
    """The level of a segment, by its first turn; `own`: the person chose it."""

    turn: int
    level: Level
    own: bool


@dataclass
class Choices:
    """The choices for one context, kept while other screens are shown."""

    chosen: dict[tuple[int, ...], LevelChoice] = field(default_factory=dict)
    own: set[int] = field(default_factory=set)
    """The turns of segments whose level the person chose, which a fit leaves as it is."""
    remembered: Mapping[int, Level] = field(default_factory=dict)
    """Levels of an earlier session, by the first turn of their segments."""

    def to_keep(self) -> list[KeptLevel]:
        """The levels to remember when the program ends."""
        return [
            KeptLevel(sources[0], each.level, sources[0] in self.own)
            for sources, each in self.chosen.items()
        ]

    @classmethod
    def of_kept(cls, found: object) -> Choices:
        """The choices of an earlier session; none where they cannot be read."""
        try:
            kept = convert(found or [], list[KeptLevel])
        except ValidationError:
            kept = []
        return cls(
            own={each.turn for each in kept if each.own},
            remembered={each.turn: each.level for each in kept},
        )

    opened: set[tuple[int, ...]] = field(default_factory=set)
    target: int | None = None


class Levels(NamedTuple):
    """The choices at one time, and the turns of those that the person made."""

    choices: tuple[LevelChoice, ...]
    own: frozenset[int]


def _kept(
    fresh: LevelChoice, known: LevelChoice | None, level_of: Mapping[int, Level]
) -> LevelChoice:
    """The choice that was made before for the turns of a segment; where segments were cut anew,
    the fullest of the latest levels of its turns.
    """
    if known is not None:
        return structs.replace(known, segment=fresh.segment)
    levels = [level_of[turn] for turn in fresh.sources if turn in level_of]
    return structs.replace(fresh, level=min(levels)) if levels else fresh


class ContextModel:
    """The rows of one context with a cursor, the levels of its segments, and their previews."""

    def __init__(self) -> None:
        self.segments: tuple[Segment, ...] = ()
        self.commits: Mapping[int, CommitRow] = {}
        self.plan: CompressionPlan | None = None
        self.rows: list[ContextRow] = []
        self.cursor = 0
        self.words = ""
        """A filter: only turns with all these words are shown."""
        self.sent = 0
        self.choices = Choices()
        self.previews: dict[Key, Checked] = {}
        self.troubles: dict[Key, str] = {}
        """Why there is no preview, as a sentence."""

    def load(self, found: ContextRead, choices: Choices, here: int | None = None) -> None:
        """Show a context; choices for the same commits stay, the cursor goes to a commit."""
        here = here if here is not None else self.first_commit
        self.choices, self.segments, self.sent = choices, found.segments, found.sent
        self.commits = {each.id: each for each in found.commits}
        plan = found.plan
        if plan is not None:
            plan = first_plan(found, plan)
            chosen = choices.chosen
            levels = {turn: each.level for each in chosen.values() for turn in each.sources}
            levels = {**choices.remembered, **levels}
            for summary in (each.id for each in found.commits if each.type == "summary"):
                levels[summary] = Level.FULL
            kept = tuple(_kept(each, chosen.get(each.sources), levels) for each in plan.choices)
            plan = structs.replace(plan, choices=kept)
        self.plan = plan
        self._arrange(here)

    def clear(self) -> None:
        """Show no context."""
        self.segments, self.plan, self.rows, self.cursor, self.sent = (), None, [], 0, 0
        self.commits = {}

    def _arrange(self, here: int | None) -> None:
        """List the rows in the order of the chain; the cursor goes to the commit `here`."""
        of: dict[int, int] = {}
        for at, segment in enumerate(self.segments):
            of.update((turn.commit, at) for turn in segment.turns if turn.commit is not None)
        rows: list[ContextRow] = []
        shown: set[int] = set()
        words = self.words.casefold().split()
        for number, commit in self.commits.items():
            if not all(word in commit.first_line.casefold() for word in words):
                continue
            at = of.get(number, -1)
            if at < 0:
                rows.append(ContextRow(None, commit))
                continue
            if at not in shown:
                shown.add(at)
                rows.append(ContextRow(at, None))
            if words or self._sources(at) in self.choices.opened:
                rows.append(ContextRow(at, commit))
        self.rows = rows
        self.cursor = max(0, min(self.cursor, len(rows) - 1))
        if here is not None:
            self.go_to_commit(here)

    def filter_by(self, words: str) -> None:
        """Show only turns that have all words in their first line, with their segments."""
        here, self.words = self.first_commit, words
        self._arrange(here)

    def _sources(self, at: int) -> tuple[int, ...]:
        return tuple(turn.commit for turn in self.segments[at].turns if turn.commit is not None)

    # rows

    @property
    def row(self) -> ContextRow | None:
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    def commits_of(self, row: ContextRow) -> tuple[int, ...]:
        """The commits that an act on a row is about."""
        if row.commit is not None:
            return (row.commit.id,)
        return self._sources(row.segment) if row.segment is not None else ()

    @property
    def first_commit(self) -> int | None:
        row = self.row
        commits = self.commits_of(row) if row is not None else ()
        return commits[0] if commits else None

    def go_to_commit(self, commit: int) -> None:
        """Put the cursor on the row of a commit, or on the segment that it is in."""
        best = None
        for at, row in enumerate(self.rows):
            if commit in self.commits_of(row):
                best = at if best is None or row.commit is not None else best
        if best is not None:
            self.cursor = best

    def toggle(self, row: ContextRow) -> None:
        """Show the turns of a segment, or hide them."""
        if row.segment is not None:
            sources = self._sources(row.segment)
            self.choices.opened ^= {sources}
            self._arrange(None)
            self.cursor = self.rows.index(ContextRow(row.segment, None))

    def priority(self, row: ContextRow) -> Priority:
        """The priority of a turn; of a segment that of all its turns, else the most careful one."""
        found = {self.commits[each].priority for each in self.commits_of(row)}
        careful = max(found, key=PRIORITIES.index, default=Priority.NORMAL)
        return Priority.NORMAL if careful is Priority.SKIP and len(found) > 1 else careful

    def title(self, row: ContextRow) -> str:
        if row.commit is not None:
            return row.commit.first_line
        segment = self.segments[row.segment or 0]
        return title_of(segment) or segment.id

    def numbered_title(self, row: ContextRow) -> str:
        number = f"{row.segment + 1} " if row.segment is not None else ""
        return number + self.title(row)

    def applied_summary(self, row: ContextRow) -> int | None:
        """The commit of a row that is one applied summary."""
        commits = self.commits_of(row)
        found = len(commits) == 1 and self.commits[commits[0]].type == "summary"
        return commits[0] if found else None

    # levels

    def choice(self, row: ContextRow | None) -> LevelChoice | None:
        """The choice for the segment of a row."""
        if row is None or row.segment is None or self.plan is None:
            return None
        return self.plan.choices[row.segment]

    @property
    def levels(self) -> Levels:
        """What is chosen now."""
        return Levels(self.plan.choices if self.plan else (), frozenset(self.choices.own))

    def restore(self, before: Levels) -> None:
        """Choose again what was chosen before, for the segments that there still are."""
        old = {each.sources: each for each in before.choices}
        self.choices.own = set(before.own)
        self._replace(
            {
                each.segment: structs.replace(old[each.sources], segment=each.segment)
                for each in (self.plan.choices if self.plan else ())
                if each.sources in old
            }
        )

    def own(self) -> list[LevelChoice]:
        """The choices that the person made, which a fit leaves as they are."""
        choices = self.plan.choices if self.plan else ()
        return [each for each in choices if not self.choices.own.isdisjoint(each.sources)]

    def choose_own(self, choice: LevelChoice, level: Level) -> None:
        """Choose the level of one segment."""
        self.choices.own.update(choice.sources)
        self.choose([choice.segment], level)

    def choose_for_all(self, level: Level) -> None:
        """Choose a level for every segment, which a fit may change."""
        self.choices.own.clear()
        self.choose([each.segment for each in (self.plan.choices if self.plan else ())], level)

    def choose(self, segments: Sequence[str], level: Level) -> None:
        """Choose another level for some segments; a text by hand belongs to its own level."""
        self._replace(
            {
                each.segment: structs.replace(
                    each, level=level, content=None, engine="", written=""
                )
                for each in (self.plan.choices if self.plan else ())
                if each.segment in segments and each.level is not level
            }
        )

    def put_text(self, choice: LevelChoice, content: str, engine: str, written: str = "") -> None:
        """Use a text as the summary of a segment."""
        text = structs.replace(choice, content=content, engine=engine, written=written)
        self.choices.own.update(choice.sources)
        self._replace({choice.segment: text})

    def use(self, choices: Sequence[LevelChoice]) -> None:
        """Take over the levels of a plan; texts of the same level stay."""
        self._replace(
            {
                new.segment: new
                for new, old in zip(choices, self.plan.choices if self.plan else (), strict=True)
                if new.level is not old.level
            }
        )

    def _replace(self, changed: Mapping[str, LevelChoice]) -> None:
        if self.plan is not None:
            choices = tuple(changed.get(each.segment, each) for each in self.plan.choices)
            self.plan = structs.replace(self.plan, choices=choices)
            for each in choices:
                self.choices.chosen.pop(each.sources, None)  # so that the latest stand last
                self.choices.chosen[each.sources] = each

    def at_level(self, choice: LevelChoice, level: Level) -> LevelChoice:
        """A choice at another level."""
        if level is choice.level:
            return choice
        return structs.replace(choice, level=level, content=None, engine="", written="")

    def plan_of(self, choice: LevelChoice, *, engine: str = OFFLINE) -> CompressionPlan:
        """A plan of one choice alone. There must be a plan."""
        assert self.plan is not None
        return one_segment(structs.replace(self.plan, engine=engine), choice)

    # previews

    @staticmethod
    def key(choice: LevelChoice) -> Key:
        return Key(choice.sources, choice.level, choice.content)

    def shown(self, choice: LevelChoice) -> Checked | None:
        """The preview of a choice, once it was written."""
        return self.previews.get(self.key(choice))

    def trouble(self, choice: LevelChoice) -> str:
        """Why there is no preview; empty when there is one, or it is not written yet."""
        return self.troubles.get(self.key(choice), "")

    def forget_previews(self) -> None:
        """The turns changed: write every preview again."""
        self.previews.clear()
        self.troubles.clear()

    def wanted(self) -> list[LevelChoice]:
        """Choices without a preview, most urgent first: the row under the cursor at its level and
        at the others, then every compressed segment.
        """
        if self.plan is None:
            return []
        here, wanted = self.choice(self.row), list[LevelChoice]()
        if here is not None:
            wanted = [self.at_level(here, level) for level in (here.level, *Level)]
        wanted += [each for each in self.plan.choices if each.level is not Level.FULL]
        found: dict[Key, LevelChoice] = {}
        for each in wanted:
            key = self.key(each)
            if key not in self.previews and key not in self.troubles:
                found.setdefault(key, each)
        return list(found.values())

    def size(self, choice: LevelChoice) -> TokenSize:
        """The tokens that a segment will have in the context."""
        whole = self.segments[self.place(choice)].tokens
        if choice.level is Level.FULL:
            return TokenSize(whole, True)
        found = self.shown(choice)
        if found is None:
            return TokenSize(target_tokens(whole, choice.level), False)
        return TokenSize(found.preview.tokens, True)

    def place(self, choice: LevelChoice) -> int:
        """The index of the segment of a choice."""
        return next(at for at, each in enumerate(self.segments) if each.id == choice.segment)

    def after(self) -> TokenSize:
        """The tokens that the whole context will have."""
        if self.plan is None:
            return TokenSize(self.sent, True)
        sizes = [self.size(each) for each in self.plan.choices]
        saved = sum(each.tokens for each in self.segments) - sum(each.tokens for each in sizes)
        return TokenSize(self.sent - saved, all(each.exact for each in sizes))

    def compressed(self) -> list[LevelChoice]:
        """The choices that are not Full."""
        return [each for each in (self.plan.choices if self.plan else ()) if each.level]


def doubts(previews: Sequence[SegmentPreview]) -> list[SegmentPreview]:
    """The summaries that do not pass their checks."""
    return [each for each in previews if each.in_doubt or each.refused]


def is_by_hand(choice: LevelChoice) -> bool:
    return choice.engine == BY_HAND
