"""A source prepared for any budget: items scored and ordered, costs counted on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from reviewer.errors import ReviewerError
from reviewer.packets.allocation import ItemCosts
from reviewer.packets.relevance import query_of
from reviewer.packets.scoring import (
    Corpus,
    by_recurrence,
    interleaved,
    newest,
    query_of_tasks,
    ranked,
)
from reviewer.packets.token_counts import CountedText, Measurer, safe_text
from reviewer.packets.values import SCORED, Material, Score, Section, item_id
from reviewer.packets.wording import full_form, short_form, title_form, title_in_full
from reviewer.text.plain_sentences import has_only_plain_words

COUNT_ALL_CHARS = 2_000_000
"""Up to this size of a source, all items are counted, shown or not."""

NOTED = "Also noted:"

LARGEST_TASK = 4_000_000
"""Characters of a task; more is refused."""


class Prepared:
    """A source prepared for a task and a date. Methods refer to `items[n]` as `n`.

    Built once; other budgets, pins and mutes only need a new allocation (`assembly.py`).
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
        if len(task) > LARGEST_TASK:
            raise ReviewerError(
                f"The task has {len(task):,} characters, and at most {LARGEST_TASK:,} are read: "
                "give the part that the packet is for."
            )
        self.material = material
        self.measurer = measurer
        self.now = now
        self.task = _without_secrets(task.strip())
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

    def ids(self) -> frozenset[str]:
        """The ids of all items, the rules of the constitution included."""
        rules = (
            item_id(Section.CONSTITUTION, "", rule.text) for rule in self.material.constitution
        )
        return frozenset((*(item.id for item in self.items), *rules))

    def costs(
        self, section: Section, pinned: frozenset[str], muted: frozenset[str]
    ) -> list[ItemCosts]:
        """The items of a section in order of preference, without muted ones."""
        costs: list[ItemCosts] = []
        above = ""
        for number in self.order[section]:
            item = self.items[number]
            if item.id in muted:
                continue
            with_lead = section is Section.CONVENTIONS and item.group != above and not self.for_task
            above = item.group
            costs.append(
                ItemCosts(
                    number,
                    partial(self._full_cost, number, with_lead and bool(above)),
                    partial(self._short_cost, number),
                    partial(self._title_cost, number),
                    item.id in pinned,
                    item.superseded,
                    item.all_or_nothing,
                )
            )
        return costs

    def size(self, section: Section, muted: frozenset[str]) -> int:
        """Characters of a section, without superseded and muted items."""
        return sum(
            len(item.text) + len(item.title)
            for item in (self.items[number] for number in self.order[section])
            if not item.superseded and item.id not in muted
        )

    def full(self, number: int) -> CountedText:
        """The whole item."""
        item = self.items[number]
        return self.measurer.piece(full_form(item, marks=self.marks, grouped=self.for_task))

    def short(self, number: int) -> CountedText | None:
        """The short form, for items that have one."""
        if number not in self._shorts:
            item = self.items[number]
            form = short_form(item, marks=self.marks, grouped=self.for_task)
            self._shorts[number] = self.measurer.piece(form) if form else None
        return self._shorts[number]

    def title(self, number: int) -> CountedText:
        """The one-line form."""
        return self.measurer.piece(title_form(self.items[number]))

    def title_text(self, number: int) -> str:
        """The title alone, secrets masked."""
        found = self._titles.get(number)
        if found is None:
            title = title_in_full(self.items[number])
            # most have no secret, and there may be thousands
            plain = title.isprintable() and has_only_plain_words(title)
            found = title.strip() if plain else safe_text(title)
            self._titles[number] = found
        return found

    def lead(self, group: str) -> CountedText:
        """The heading above the items of a group."""
        return self.measurer.piece(f"### {group}")

    def tier_1(self) -> Iterator[CountedText]:
        """Blocks of the constitution."""
        for rule in self.material.constitution:
            mark = f" [{rule.place}]" if self.marks and rule.listed else ""
            yield self.measurer.piece(rule.text + mark)

    def count_ahead(self) -> None:
        """Count every form of every item ahead of later budgets."""
        for number in range(len(self.items)):
            self.full(number)
            self.short(number)
            self.title(number)
        for group in {item.group for item in self.items if item.section is Section.CONVENTIONS}:
            if group:
                self.lead(group)
        self.measurer.piece(NOTED)
        for section in Section:
            self.measurer.piece(heading_of(section))

    def _order(self, scores: Sequence[Score]) -> None:
        items = self.items
        self.scores = dict(enumerate(scores))
        if any(item.recurrence is not None for item in items):
            standing = by_recurrence(items)
            fitting = [n for n in ranked(items, scores) if scores[n].relevance and self.for_task]
            self.best_first = tuple(interleaved(standing, fitting))
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

    def _full_cost(self, number: int, with_lead: bool) -> int:
        lead = self.lead(self.items[number].group).cost if with_lead else 0
        return self.full(number).cost + lead

    def _short_cost(self, number: int) -> int | None:
        piece = self.short(number)
        return piece.cost if piece else None

    def _title_cost(self, number: int) -> int:
        return self.title(number).cost


def heading_of(section: Section) -> str:
    """The heading of a section."""
    names = {
        Section.TASKS: "Current tasks",
        Section.DECISIONS: "Recent decisions",
        Section.LEARNINGS: "Recent learnings",
    }
    return f"## {names.get(section, section.capitalize())}"


def _without_secrets(text: str) -> str:
    """Masks secrets in the task, which is part of the JSON output."""
    if not text or has_only_plain_words(text):
        return text
    from reviewer.text.secrets import mask  # late: compiling its patterns takes a while

    return mask(text).text


DEFAULT_COUNTING = "cl100k_base"


def prepare_folder(
    folder: Path,
    *,
    now: datetime,
    task: str = "",
    counting: str = DEFAULT_COUNTING,
    marks: bool = False,
) -> Prepared:
    """A context folder, scored for a task and a date.

    `counting`: the name of an encoding, or `estimate`. Raises SourceError for anything that is not
    a context folder.
    """
    from reviewer.packets.context_folder import find_folder, read_folder  # late: for folders

    found = find_folder(folder)
    material = read_folder(found)
    return Prepared(material, Measurer(counting), now=now, task=task, marks=marks)
