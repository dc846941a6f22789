"""A source prepared for any budget: items scored and ordered, costs counted on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from reviewer.packets.allocation import Room
from reviewer.packets.relevance import query_of
from reviewer.packets.scoring import (
    Corpus,
    by_recurrence,
    interleaved,
    newest,
    query_of_tasks,
    ranked,
)
from reviewer.packets.token_counts import CountedText, Measurer
from reviewer.packets.values import SCORED, Material, Score, Section, State
from reviewer.packets.wording import full_form, short_form, title_form, title_in_full
from reviewer.text.for_agents import as_markdown

COUNT_ALL_CHARS = 2_000_000
"""Up to this size of a source, all items are counted, shown or not."""

NOTED = "Also noted:"


class Prepared:
    """A source prepared for a task and a date. Methods refer to `items[n]` as `n`.

    Built once; other budgets only need a new allocation (`assembly.py`).
    """

    def __init__(
        self,
        material: Material,
        measurer: Measurer,
        *,
        now: datetime,
        task: str = "",
        marks: bool = False,
        corpus: Corpus | None = None,
    ) -> None:
        """`task`: the items that fit it come first. Without one, a folder's decisions and learnings
        are ranked by the words of the open tasks. `corpus`: from an earlier Prepared of the same
        material.
        """
        self.material = material
        self.measurer = measurer
        self.now = now
        self.task = task.strip()
        if self.task:  # it is part of the JSON output
            from reviewer.text.secrets import mask  # late: loading its rules slows down a hook

            self.task = mask(self.task).text
        self.marks = marks
        self.items = material.items
        self.corpus = corpus or Corpus(self.items)
        self.query = query_of(self.task)
        scores, self.keywords = self.corpus.scores(self.query, now, for_task=True)
        self.for_task = any(score.relevance for score in scores)
        """Whether a task was given, and some item has one of its words."""
        if not self.for_task:
            self.query = query_of_tasks(item.text for item in material.of(Section.TASKS))
            scores, self.keywords = self.corpus.scores(self.query, now, for_task=False)
        self.order: dict[Section, tuple[int, ...]] = {}
        self.best_first: tuple[int, ...] = ()
        """All items in one order; empty if each section has its own share of the room."""
        self.scores: dict[int, Score] = {}
        self._order(scores)
        self._shorts: dict[int, CountedText | None] = {}
        self._titles: dict[int, str] = {}
        self.small = sum(len(item.text) for item in self.items) <= COUNT_ALL_CHARS

    def with_task(self, task: str) -> Prepared:
        """The same material for another task."""
        return Prepared(
            self.material,
            self.measurer,
            now=self.now,
            task=task,
            marks=self.marks,
            corpus=self.corpus,
        )

    def room(
        self,
        wanted: Mapping[Section, Sequence[int]],
        budget: int,
        tokens: int,
        kept: int,
    ) -> Room:
        """The form of each item. `tokens`: the budget left for items; `kept`: tokens kept for the
        instruction about shortened ones.
        """

        def cost(number: int, state: State) -> int | None:
            piece = self.piece(number, state)
            return None if piece is None else piece.cost

        room = Room(
            self.items,
            wanted,
            cost,
            budget=budget,
            tokens=tokens,
            headings={each: self.measurer.piece(heading_of(each)).cost for each in wanted},
            noted=self.measurer.piece(NOTED).cost,
            kept=kept,
            capped=not self.remembered,
        )
        if self.best_first:
            room.fill_in_order(self.best_first)
        else:
            room.fill_by_section()
        return room

    def piece(self, number: int, state: State) -> CountedText | None:
        """An item in a form; None for a dropped one, and without a short form."""
        match state:
            case State.FULL:
                return self.full(number)
            case State.SHORT:
                return self.short(number)
            case State.TITLE:
                return self.measurer.piece(title_form(self.items[number]))
        return None

    def full(self, number: int) -> CountedText:
        return self.measurer.piece(full_form(self.items[number], marks=self.marks))

    def short(self, number: int) -> CountedText | None:
        """The short form, for items that have one."""
        if number not in self._shorts:
            form = short_form(self.items[number], marks=self.marks)
            self._shorts[number] = self.measurer.piece(form) if form else None
        return self._shorts[number]

    def title_text(self, number: int) -> str:
        """The title alone, secrets masked."""
        if number not in self._titles:
            self._titles[number] = as_markdown(title_in_full(self.items[number]))
        return self._titles[number]

    def tier_1(self) -> Iterator[CountedText]:
        for rule in self.material.constitution:
            mark = f" [{rule.place}]" if self.marks and rule.listed else ""
            yield self.measurer.piece(rule.text + mark)

    def _order(self, scores: Sequence[Score]) -> None:
        items = self.items
        self.scores = dict(enumerate(scores))
        self.remembered = any(item.recurrence is not None for item in items)
        if self.remembered:
            standing = by_recurrence(items)
            fitting = [n for n in ranked(items, scores) if scores[n].relevance and self.for_task]
            best = interleaved(standing, fitting)
            self.best_first = tuple(sorted(best, key=lambda number: not items[number].pinned))
        elif self.for_task:
            self.best_first = tuple(ranked(items, scores))
        if self.best_first:
            self.order = {
                section: tuple(n for n in self.best_first if items[n].section is section)
                for section in Section
            }
            return
        places: dict[Section, list[int]] = {section: [] for section in Section}
        for number, item in enumerate(items):
            places[item.section].append(number)
        # newest first; without a date last, in the order of the file
        places[Section.TASKS].sort(key=lambda number: newest(items[number]))
        for section in SCORED:
            members = places[section]
            best = ranked([items[n] for n in members], [scores[n] for n in members])
            places[section] = [members[at] for at in best]
        self.scores = {n: scores[n] for section in SCORED for n in places[section]}
        self.order = {section: tuple(found) for section, found in places.items()}


def heading_of(section: Section) -> str:
    names = {
        Section.TASKS: "Current tasks",
        Section.DECISIONS: "Recent decisions",
        Section.LEARNINGS: "Recent learnings",
    }
    return f"## {names.get(section, section.capitalize())}"


def prepare_folder(folder: Path, *, now: datetime, task: str = "") -> Prepared:
    """A context folder, scored for a task and a date. Raises SourceError for anything that is not
    a context folder.
    """
    from reviewer.packets.context_folder import read_folder  # late: for folders

    return Prepared(read_folder(folder), Measurer(), now=now, task=task)
