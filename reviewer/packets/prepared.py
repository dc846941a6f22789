"""A source made ready for a task and a date: scored, ordered, its pieces countable.

Made once; every budget, pin and mute then only allocates anew (`assembling.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

from reviewer.packets.filling import Line
from reviewer.packets.forms import full_form, short_form, title_form
from reviewer.packets.measuring import Measurer, Piece
from reviewer.packets.scoring import Corpus, ranked, task_keywords
from reviewer.packets.values import SCORED, Material, Score, Section

COUNT_ALL_CHARS = 2_000_000
"""Up to so many characters the whole of every item is counted, needed or not."""

NOTED = "Also noted:"


class Prepared:
    """What can be assembled. `items[n]` is known as `n` everywhere."""

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
        """`task` gives the keywords; without one the open tasks do. `corpus`: that of the same
        material, when it was made before.
        """
        self.material = material
        self.measurer = measurer
        self.now = now
        self.task = _without_secrets(task.strip())
        self.marks = marks
        self.items = material.items
        self.corpus = corpus or Corpus(
            [item for section in SCORED for item in material.of(section)]
        )
        texts = [self.task] if self.task else [item.text for item in material.of(Section.TASKS)]
        self.keywords = task_keywords(texts)
        self.order: dict[Section, tuple[int, ...]] = {}
        self.scores: dict[int, Score] = {}
        self._order()
        self._shorts: dict[int, Piece | None] = {}
        self._titles: dict[int, str] = {}
        self.small = sum(len(item.text) for item in self.items) <= COUNT_ALL_CHARS

    def again(self, *, task: str | None = None, now: datetime | None = None) -> Prepared:
        """The same material for another task or date."""
        return Prepared(
            self.material,
            self.measurer,
            now=now or self.now,
            task=self.task if task is None else task,
            marks=self.marks,
            corpus=self.corpus,
        )

    def lines(self, section: Section, pinned: frozenset[str], muted: frozenset[str]) -> list[Line]:
        """The items of a section as they compete, without muted ones."""
        lines, above = [], ""
        for number in self.order[section]:
            item = self.items[number]
            if item.id in muted:
                continue
            with_lead = section is Section.CONVENTIONS and item.group != above
            above = item.group
            lines.append(
                Line(
                    number,
                    partial(self._full_cost, number, with_lead and bool(above)),
                    partial(self._short_cost, number),
                    partial(self._title_cost, number),
                    item.id in pinned,
                    item.superseded,
                )
            )
        return lines

    def size(self, section: Section, muted: frozenset[str]) -> int:
        """Characters of a section's items that hold."""
        return sum(
            len(item.text) + len(item.title)
            for item in (self.items[number] for number in self.order[section])
            if not item.superseded and item.id not in muted
        )

    def full(self, number: int) -> Piece:
        """The whole item."""
        return self.measurer.piece(full_form(self.items[number], marks=self.marks))

    def short(self, number: int) -> Piece | None:
        """Its lead, where it has one that is shorter."""
        if number not in self._shorts:
            form = short_form(self.items[number], marks=self.marks)
            self._shorts[number] = self.measurer.piece(form) if form else None
        return self._shorts[number]

    def title(self, number: int) -> Piece:
        """A line that says that it exists."""
        return self.measurer.piece(title_form(self.items[number], marks=self.marks))

    def title_text(self, number: int) -> str:
        """The title alone, without secrets, whether it was counted or not."""
        found = self._titles.get(number)
        if found is None:
            found = self._titles[number] = self._title_text(number)
        return found

    def _title_text(self, number: int) -> str:
        item = self.items[number]
        said = self.measurer.shown(title_form(item, marks=self.marks)).removeprefix("- ")
        said = said.removesuffix(f" [{item.place}]") if self.marks else said
        return said.removeprefix(f"[{item.at:%Y-%m-%d}] ") if item.at else said

    def lead(self, group: str) -> Piece:
        """The heading above the items of a group."""
        return self.measurer.piece(f"### {group}")

    def tier_1(self) -> Iterator[Piece]:
        """Blocks of the constitution."""
        for rule in self.material.constitution:
            mark = f" [{rule.place}]" if self.marks and rule.listed else ""
            yield self.measurer.piece(rule.text + mark)

    def keep_counts(self) -> str:
        """Keep what was counted for the next call; a sentence when that is not possible."""
        return self.measurer.keep(forget=self.small)

    def count_ahead(self) -> None:
        """Count every form of every item, so that other budgets need no encoder either."""
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

    def _order(self) -> None:
        places: dict[Section, list[int]] = {section: [] for section in Section}
        for number, item in enumerate(self.items):
            places[item.section].append(number)
        tasks = places[Section.TASKS]
        # the newest first; without a date last, as they stand
        tasks.sort(key=lambda n: -(at.timestamp() if (at := self.items[n].at) else float("-inf")))
        numbers = [number for section in SCORED for number in places[section]]
        scores = self.corpus.scores(self.keywords, self.now)
        self.scores = dict(zip(numbers, scores, strict=True))
        for section in SCORED:
            members: Sequence[int] = places[section]
            best = ranked([self.items[n] for n in members], [self.scores[n] for n in members])
            places[section] = [members[at] for at in best]
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
    """The heading of a section in the packet."""
    names = {
        Section.TASKS: "Current tasks",
        Section.DECISIONS: "Recent decisions",
        Section.LEARNINGS: "Recent learnings",
    }
    return f"## {names.get(section, section.capitalize())}"


def _without_secrets(text: str) -> str:
    """A task as it may leave: it stands in the packet's JSON."""
    if not text:
        return text
    from reviewer.text.secrets import mask  # late: its patterns take a while

    return mask(text).text
