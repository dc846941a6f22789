"""A context on the screen as values: rows, levels, previews and losses. No widget and no store. A
preview is kept for each text of a segment at a level, so that going back and forth is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, structs

from reviewer.commits.values import CommitQuery, Priority
from reviewer.compression.chosen_levels import ChosenLevel
from reviewer.compression.plan import (
    CompressionPlan,
    LevelChoice,
    SegmentPreview,
    choice_of,
    one_segment,
    segment_sources,
)
from reviewer.compression.retention import criteria_of
from reviewer.compression.segments import called, opening, title_of
from reviewer.compression.values import BY_HAND, OFFLINE, FidelityValidation, Level, Segment
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.commits.values import CommitRow, ContextView
    from reviewer.compression.values import AppliedSummary
    from reviewer.engine import Engine

LEVEL_NAMES = tuple(each.name.capitalize() for each in Level)
SHORTENED = "what you said is shortened"
TOOL_TURNS = {"tool_call": "call", "tool_result": "result"}
MARKUP = ("{", "<", "[{", '["')
"""The start of a text that one program wrote for another."""


class ContextSnapshot(Struct, frozen=True):
    """A context as it was read. `trouble` says why it cannot be compressed."""

    context: ContextView | None = None
    commits: Mapping[int, CommitRow] = {}
    """By their ids, in the order of the chain."""
    messages: Mapping[int, int] = {}
    """The number of each of the person's turns, by commit; no other turn has one."""
    segments: tuple[Segment, ...] = ()
    plan: CompressionPlan | None = None
    sent: int = 0
    version: object = None
    titles: tuple[str, ...] = ()
    """The titles of the segments."""
    levels: tuple[ChosenLevel, ...] = ()
    trouble: str = ""
    hits: frozenset[int] = frozenset()
    """The turns that match a filter."""


def read_context(engine: Engine, number: int, filter_: str = "") -> ContextSnapshot:
    """A context with a plan that leaves it as it is. Raises UnknownIdError."""
    contexts, compression = engine.contexts, engine.compression
    context, version = contexts.get(number), contexts.changed(number)
    rows = contexts.rows(contexts.ids(CommitQuery(number)))
    commits, segments = {each.id: each for each in rows}, compression.segments(number)
    plan, trouble = None, ""
    try:
        plan = compression.plan(number, None, engine=OFFLINE)
    except ReviewerError as problem:
        trouble = str(problem)
    return ContextSnapshot(
        context,
        commits,
        messages=contexts.persons_messages(number),
        segments=segments,
        plan=plan,
        sent=sum(each.tokens for each in rows if each.priority is not Priority.SKIP),
        version=version,
        titles=tuple(_title(each, commits) for each in segments),
        levels=compression.levels.get(number),
        trouble=trouble,
        hits=frozenset(contexts.ids(CommitQuery(number, filter_))),
    )


def _title(segment: Segment, commits: Mapping[int, CommitRow]) -> str:
    # The text of skipped turns is not read.
    first = segment_sources(segment)[0]
    line = commits[first].first_line if first in commits else ""
    return (title_of(segment) if segment.tokens else opening(line)) or segment.id


def choices_of(levels: Sequence[ChosenLevel], plan: CompressionPlan) -> tuple[LevelChoice, ...]:
    """The level of each segment: as it was chosen, else Full."""
    chosen = {(each.first, each.last): each for each in levels}
    choices = []
    for choice in plan.choices:
        before = [each.level for each in levels if each.is_about(choice.sources)]
        if known := chosen.get((choice.sources[0], choice.sources[-1])):
            text = {"content": known.content, "engine": known.engine, "written": known.written}
            choices.append(structs.replace(choice, level=known.level, **text))
        elif before:  # cut anew: the fullest of the levels of its turns
            choices.append(structs.replace(choice, level=min(before)))
        else:
            choices.append(choice)
    return tuple(choices)


Key = tuple[tuple[int, ...], Level, str | None]
"""Identifies a preview: the commits, the level, and the text where it is not the engine's."""


class Entered(NamedTuple):
    """Something that step_back leaves: a segment, by its turns, that is unfolded or viewed at a
    level; or the filter."""

    sources: tuple[int, ...] = ()
    level: Level | None = None
    """The level at which it is viewed, without being chosen."""


FILTER = Entered()


class ContextRow(NamedTuple):
    """A segment, one of its turns, or a turn that is in no segment because it is pinned."""

    segment: int | None
    commit: CommitRow | None


class CheckResult(NamedTuple):
    text: str
    good: bool


def findings(preview: SegmentPreview, why_full: str = "") -> list[CheckResult]:
    """The losses of a summary, and what must survive.

    `why_full`: why the segment is at Full; empty if that is said elsewhere.
    """
    fidelity, compressed = preview.fidelity, preview.compressed
    if preview.level is Level.FULL:
        return [CheckResult(why_full, True)] if why_full else []
    if preview.kept:
        return [CheckResult(f"Full: {preview.kept.rstrip('.')}", not preview.refused)]
    failing = [each.pattern for each in preview.failures]
    bad = [each.message.rstrip(".") for each in preview.failures]
    if compressed.engine == OFFLINE:
        bad += [f'"{" ".join(each.split())}" needs a model' for each in preview.unchecked]
    bad += fidelity.found
    bad += ["an important turn is missing"] if preview.lost_turns else []
    bad += [SHORTENED] if preview.shortens_the_person else []
    good = [
        f'"{each.text}"' for each in criteria_of(preview.segment).patterns if each not in failing
    ]
    if compressed.engine != OFFLINE:
        by = "" if compressed.engine == BY_HAND else "by "
        good.append(f"written {by}{compressed.engine}")
    return [CheckResult(each, each in good) for each in (*bad, *good)]


class ContextModel:
    """The rows of one context with a cursor, the levels of its segments, and their previews."""

    def __init__(self) -> None:
        self.snapshot = ContextSnapshot()
        """The context as it was read."""
        self.plan: CompressionPlan | None = None
        self.rows: list[ContextRow] = []
        self.cursor = 0
        self.words = ""
        """A filter: only matching turns are listed, and segments with its words in their title."""
        self.entered: list[Entered] = []
        """The steps to go back, latest last."""
        self.chosen: tuple[ChosenLevel, ...] = ()
        """The levels that the store has."""
        self.previews: dict[Key, SegmentPreview | str] = {}
        """Each preview, or a sentence that says why there is none."""

    @property
    def look(self) -> Entered | None:
        """The level at which a segment is viewed."""
        return next((each for each in self.entered if each.level is not None), None)

    @look.setter
    def look(self, looked: Entered | None) -> None:
        self.entered = [each for each in self.entered if each.level is None]
        self.entered += [looked] if looked is not None else []

    def filter_by(self, words: str) -> None:
        self.words = words
        self.entered = [*(each for each in self.entered if each != FILTER), FILTER]

    def step_back(self) -> bool:
        """Leave what was opened last, if it is still listed; False if that is the filter, or
        nothing is open."""
        segments = [row for row in self.rows if row.commit is None]
        for last in reversed(self.entered):
            if last == FILTER and self.words:
                return False
            for row in segments:
                if last.level is None and last in self._unfolding(row.segment or 0):
                    self.toggle(row)
                    return True
                if last.level is not None and last.sources == self.commits_of(row):
                    self.look = None
                    return True
        return False

    def load(self, found: ContextSnapshot, here: int | None = None) -> None:
        """Show a context; the cursor goes to the commit `here`, or stays on its own."""
        here = here if here is not None else self.first_commit
        self.snapshot, self.plan = found, found.plan
        self.take(found.levels)
        self._arrange(here)

    def clear(self) -> None:
        self.snapshot, self.plan, self.rows, self.cursor = ContextSnapshot(), None, [], 0

    def _arrange(self, here: int | None) -> None:
        """List the rows in the order of the chain; the cursor goes to the commit `here`."""
        of: dict[int, int] = {}
        for at, segment in enumerate(self.snapshot.segments):
            of.update(dict.fromkeys(segment_sources(segment), at))
        rows: list[ContextRow] = []
        shown: set[int] = set()
        unfolded = {at for at in set(of.values()) if self._unfolding(at)}
        words = self.words.casefold().split()
        for number, commit in self.snapshot.commits.items():
            at, hit = of.get(number, -1), number in self.snapshot.hits
            if at < 0:
                rows += [ContextRow(None, commit)] if hit else []
                continue
            if at not in shown and (hit or self._is_named(at, words)):
                shown.add(at)
                rows.append(ContextRow(at, None))
            if at in shown and ((words and hit) or at in unfolded):
                rows.append(ContextRow(at, commit))
        self.rows = rows
        self.cursor = max(0, min(self.cursor, len(rows) - 1))
        if here is not None:
            self.go_to_commit(here)

    def _is_named(self, at: int, words: Sequence[str]) -> bool:
        """Whether the title of a segment has all words of a filter."""
        title = self.title(ContextRow(at, None)).casefold()
        return all(word in title for word in words)

    def _sources(self, at: int) -> tuple[int, ...]:
        return segment_sources(self.snapshot.segments[at])

    def _unfolding(self, at: int) -> list[Entered]:
        """The unfolded segments with turns of this one, which a pin may have cut since."""
        here = self._sources(at)
        return [
            each
            for each in self.entered
            if each.level is None and not set(each.sources).isdisjoint(here)
        ]

    # rows

    @property
    def row(self) -> ContextRow | None:
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    def commits_of(self, row: ContextRow) -> tuple[int, ...]:
        """The commits that an act on a row changes."""
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
            unfolding = self._unfolding(row.segment)
            self.entered = [each for each in self.entered if each not in unfolding]
            if not unfolding:
                self.entered.append(Entered(self._sources(row.segment)))
            self._arrange(None)
            self.cursor = self.rows.index(ContextRow(row.segment, None))

    def acted_on(self, row: ContextRow) -> tuple[int, ...]:
        """The turns that a key changes: in a segment those that the filter shows, without thoughts,
        which are not sent.
        """
        commits = self.commits_of(row)
        if row.commit is None and self.words:
            commits = tuple(each for each in commits if each in self.snapshot.hits) or commits
        spoken = tuple(each for each in commits if self.snapshot.commits[each].type != "reasoning")
        return spoken or commits

    def said_in(self, row: ContextRow) -> tuple[int, ...]:
        """The person's messages among the turns that a key changes; all of these without one."""
        turns = self.acted_on(row)
        return tuple(each for each in turns if each in self.snapshot.messages) or turns

    def priority(self, row: ContextRow) -> Priority:
        """The priority of a turn; for a segment, the one shared by all its turns, else the most
        careful one."""
        return self.priority_of(self.acted_on(row))

    def priority_of(self, commits: Sequence[int]) -> Priority:
        """The priority that all these turns have, else the most careful one."""
        found = {self.snapshot.commits[each].priority for each in commits}
        careful = max(found, key=[*Priority].index, default=Priority.NORMAL)
        return Priority.NORMAL if careful is Priority.SKIP and len(found) > 1 else careful

    def is_unfolded(self, row: ContextRow) -> bool:
        return row.commit is None and bool(self.words or self._unfolding(row.segment or 0))

    def title(self, row: ContextRow) -> str:
        """`turns 3-5: Paint the gate`: the title of a row, after the person's turns in it."""
        turns = self.snapshot.segments[row.segment or 0].turns if row.commit is None else ()
        commits = [row.commit.id] if row.commit is not None else [each.commit for each in turns]
        words = what(row.commit) if row.commit else self.snapshot.titles[row.segment or 0]
        return f"{self.turns([each for each in commits if each])}: {words}".removeprefix(": ")

    def turns(self, commits: Sequence[int]) -> str:
        """The person's turns among others: `turn 3`, `turns 3-5`; empty without one."""
        known = self.snapshot.messages
        numbers = [known[each] for each in commits if each in known]
        if len(numbers) > 1:
            return f"turns {numbers[0]}-{numbers[-1]}"
        return f"turn {numbers[0]}" if numbers else ""

    def named(self, segment: str) -> str:
        """The title of a segment, in quotation marks, by its id."""
        return f"“{self.snapshot.titles[self.index_of(segment)]}”"

    def applied_summary(self, row: ContextRow) -> AppliedSummary | None:
        return self.snapshot.segments[row.segment].applied if row.segment is not None else None

    @property
    def original(self) -> int:
        """The tokens of the whole session, before any summary."""
        return self.snapshot.sent + sum(each.tokens - each.sent for each in self.snapshot.segments)

    def retaining(self, row: ContextRow) -> tuple[int, ...]:
        """The turns that may get criteria, of several those that are not skipped; for an applied
        summary, its originals.
        """
        turns = () if row.segment is None else self.snapshot.segments[row.segment].turns
        if row.segment is None or self.applied_summary(row) is None:
            found = self.acted_on(row)
            skipped = {each.commit for each in turns if each.priority is Priority.SKIP}
            return tuple(each for each in found if each not in skipped) or found
        spoken = [each for each in turns if each.kind != "thinking"] or turns
        return tuple(each.commit for each in spoken if each.commit is not None)

    def fidelity(self, preview: SegmentPreview) -> FidelityValidation:
        """That of a summary, whose losses have the numbers of the person's turns."""
        turns, known = preview.segment.turns, self.snapshot.messages
        lost = tuple(
            structs.replace(each, number=known.get(turns[each.turn].commit or 0, 0))
            if each.number
            else each
            for each in preview.fidelity.lost_information
        )
        return structs.replace(preview.fidelity, lost_information=lost)

    # levels

    def segment_of(self, choice: LevelChoice) -> Segment:
        return self.snapshot.segments[self.index_of(choice.segment)]

    def is_applied(self, choice: LevelChoice) -> bool:
        applied = self.segment_of(choice).applied
        return applied is not None and choice.content == applied.text

    def _stored(self, choice: LevelChoice) -> list[ChosenLevel]:
        """The stored choice for the turns of a choice."""
        return [each for each in self.chosen if each.is_about(choice.sources)]

    def why_full(self, choice: LevelChoice) -> str:
        """Why a segment is at Full, if somebody chose that."""
        return "Full: chosen" if self._stored(choice) else ""

    @property
    def target(self) -> int:
        """The tokens of the last fit; 0 without one."""
        stored = (each for choice in self.all_choices for each in self._stored(choice))
        return next((each.target for each in stored if each.target), 0)

    def chosen_for(self, row: ContextRow | None) -> LevelChoice | None:
        """The choice for the segment of a row."""
        if row is None or row.segment is None or self.plan is None:
            return None
        return self.plan.choices[row.segment]

    def choice(self, row: ContextRow | None) -> LevelChoice | None:
        """The choice for the segment of a row, at the level at which it is viewed."""
        chosen = self.chosen_for(row)
        look = self.look
        if chosen is None or look is None or look.level is None or look.sources != chosen.sources:
            return chosen
        return self.at_level(chosen, look.level)

    @property
    def own(self) -> list[LevelChoice]:
        """The choices that the person made, which a fit leaves as they are."""
        return [
            choice for choice in self.all_choices if any(each.own for each in self._stored(choice))
        ]

    @property
    def all_choices(self) -> tuple[LevelChoice, ...]:
        return self.plan.choices if self.plan is not None else ()

    def with_own(self, *changed: LevelChoice) -> list[ChosenLevel]:
        """The chosen levels, with some choices of the person added."""
        own, new = self.own, {each.segment: each for each in changed}
        return [
            _chosen(
                new.get(choice.segment, choice),
                own=choice in own or choice.segment in new,
                target=self.target,
            )
            for choice in self.all_choices
            if choice.segment in new or self._stored(choice)
        ]

    def with_levels(self, levels: Sequence[LevelChoice], target: int) -> list[ChosenLevel]:
        """The chosen levels after a fit; the person's own and texts of the same level stay."""
        own = self.own
        return [
            _chosen(old if old.level is new.level else new, own=old in own, target=target)
            for old, new in zip(self.all_choices, levels, strict=True)
            if old.level is not new.level or not self.is_applied(old)
        ]

    def with_all(self, level: Level) -> list[ChosenLevel]:
        """The same level for every segment; a fit may change it."""
        choices = (self.at_level(each, level) for each in self.all_choices)
        return [_chosen(each, own=False) for each in choices if not self.is_applied(each)]

    def at_level(self, choice: LevelChoice, level: Level) -> LevelChoice:
        return choice if level is choice.level else choice_of(self.segment_of(choice), level)

    def plan_of(self, choice: LevelChoice, *, engine: str = OFFLINE) -> CompressionPlan:
        """A plan of one choice alone. There must be a plan."""
        assert self.plan is not None
        return one_segment(structs.replace(self.plan, engine=engine), choice)

    # previews

    @staticmethod
    def key(choice: LevelChoice) -> Key:
        return choice.sources, choice.level, choice.content

    def shown(self, choice: LevelChoice) -> SegmentPreview | None:
        """The preview of a choice, once it was written."""
        found = self.previews.get(self.key(choice))
        return None if isinstance(found, str) else found

    def trouble(self, choice: LevelChoice) -> str:
        """Why there is no preview; empty when there is one, or it is not written yet."""
        found = self.previews.get(self.key(choice))
        return found if isinstance(found, str) else ""

    def put_preview(self, choice: LevelChoice, found: SegmentPreview | str) -> None:
        self.previews[self.key(choice)] = found

    def take(self, levels: Sequence[ChosenLevel]) -> None:
        """The store has other levels now."""
        self.chosen = tuple(levels)
        if self.plan is not None:
            choices = choices_of(levels, self.plan)
            self.plan = structs.replace(self.plan, choices=choices)

    def needs_a_look(self, row: ContextRow) -> bool:
        """Whether the summary of a segment fails its checks, shortens the person's words, or cannot
        be written.
        """
        choice = self.chosen_for(row) if row.commit is None else None
        if choice is None:
            return False
        applied = self.segment_of(choice).applied
        if applied is not None and self.is_applied(choice):
            return not applied.passes or applied.shortens_the_person
        if choice.level is Level.FULL:
            return False
        found = self.shown(choice)
        doubtful = found is not None and (bool(doubts([found])) or found.shortens_the_person)
        return doubtful or bool(self.trouble(choice))

    def next_to_look_at(self, step: int) -> int | None:
        """The nearest row below, or above, that needs a look."""
        rows = range(self.cursor + step, len(self.rows) if step > 0 else -1, step)
        return next((at for at in rows if self.needs_a_look(self.rows[at])), None)

    def wanted(self) -> list[LevelChoice]:
        """Choices without a preview, most urgent first: the row under the cursor at its level and
        at the others, then every compressed segment.
        """
        if self.plan is None:
            return []
        here, wanted = self.choice(self.row), list[LevelChoice]()
        if here is not None:
            wanted = [self.at_level(here, level) for level in (here.level, *Level)]
        wanted += [each for each in self.changes() if each.level is not Level.FULL]
        found: dict[Key, LevelChoice] = {}
        for each in wanted:
            if self.key(each) not in self.previews:
                found.setdefault(self.key(each), each)
        return list(found.values())

    def size(self, choice: LevelChoice) -> int | None:
        """The tokens that a segment will have in the context; None until that is known."""
        segment = self.segment_of(choice)
        if choice.level is Level.FULL or self.is_applied(choice):
            return segment.tokens if choice.level is Level.FULL else segment.sent
        found = self.shown(choice)
        return None if found is None else found.tokens

    def index_of(self, segment: str) -> int:
        """The index of a segment by its id."""
        return next(at for at, each in enumerate(self.snapshot.segments) if each.id == segment)

    def after(self) -> int | None:
        """The tokens that the whole context will have; None until that is known."""
        total = self.snapshot.sent
        for choice, segment in zip(self.all_choices, self.snapshot.segments, strict=False):
            if (size := self.size(choice)) is None:
                return None
            total += size - segment.sent
        return total

    def changes(self) -> list[LevelChoice]:
        """The choices that are to be applied."""
        return [each for each in self.all_choices if each != choice_of(self.segment_of(each))]


def what(commit: CommitRow) -> str:
    """The first line of a turn; for a tool's turn without words, the tool."""
    line, kind = commit.first_line, TOOL_TURNS.get(commit.type)
    if kind is None or not (line.startswith(MARKUP) or not any(map(str.isalpha, line))):
        return line
    about = called(commit.name, line) if kind == "call" else ""
    return about or f"{commit.name or 'tool'} {kind}"


def _chosen(choice: LevelChoice, *, own: bool, target: int = 0) -> ChosenLevel:
    first, last = choice.sources[0], choice.sources[-1]
    text = (choice.content, choice.engine, choice.written)
    return ChosenLevel(first, last, choice.level, own, *text, target)


def doubts(previews: Sequence[SegmentPreview]) -> list[SegmentPreview]:
    """The summaries that fail their checks."""
    return [each for each in previews if each.in_doubt or each.refused]
