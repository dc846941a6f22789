"""Scores of items: relevance to the task, and recency."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property

from reviewer.packets.relevance import Index, Query, Relevance, query_of
from reviewer.packets.values import Item, Score, Section

RECENT = ((7, 1.0), (30, 0.7), (90, 0.4))
"""Maximum age in days -> recency."""
OLD = 0.2
CURRENT = 0.7
"""The recency of a convention, which is undated and in force; it breaks ties."""

_LABEL = re.compile(r"(?:^|(?<=[\s`]))#[\w-]+(?::[^\s`]+)?")
_FIELD = re.compile(r"^[^\w\n]*?\*\*[\w /-]{2,40}(?::\*\*|\*\*:)", re.MULTILINE)
"""A field label such as `**Status**:`, which says nothing about the entry."""
_IN_PROGRESS = re.compile(r"(?:^|\s)#in[-_]progress\b", re.IGNORECASE)
_PRIORITY = re.compile(r"(?:^|\s)#priority:(critical|urgent|high|medium|low)\b", re.IGNORECASE)
_PRIORITIES = {"critical": 4, "urgent": 4, "high": 3, "medium": 2, "low": 0}
_NO_PRIORITY = 1


def recency(days: int | None) -> float:
    """0.2 to 1.0 for an age in days: up to 7, 30, 90, and older. No date counts as old, a date
    in the future as today.
    """
    if days is None:
        return OLD
    return next((value for limit, value in RECENT if days <= limit), OLD)


def in_progress(text: str) -> bool:
    """Whether a task is labelled `#in-progress`."""
    return bool(_IN_PROGRESS.search(text))


def priority_of(text: str) -> int:
    """The priority of a task by its label, 0 to 4."""
    named = _PRIORITY.search(text)
    return _PRIORITIES[named[1].lower()] if named else _NO_PRIORITY


def without_labels(text: str) -> str:
    """A task without labels such as `#added:2026-02-14`."""
    return _LABEL.sub(" ", text) if "#" in text else text


def query_of_tasks(tasks: Iterable[str]) -> Query:
    """The query of the open tasks; one in progress counts three times."""
    return query_of(
        *(
            text
            for task in tasks
            for text in [without_labels(task)] * (3 if in_progress(task) else 1)
        )
    )


class Corpus:
    """The items with their words: built once, scored for any task and date."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)

    @cached_property
    def _index(self) -> Index:
        return Index(
            [
                (
                    item.title if item.heading else "",
                    without_labels(item.group),
                    _FIELD.sub(" ", without_labels(item.text)),
                )
                for item in self.items
            ]
        )

    def scores(
        self, query: Query, now: datetime, *, for_task: bool
    ) -> tuple[list[Score], tuple[str, ...]]:
        """The score of each item, in the order of `items`, and the words that tell them apart.

        `for_task`: the score is the relevance to the given task. Otherwise it is recency plus
        relevance to the open tasks, and 0 for superseded items.
        """
        matches: list[Relevance] = [Relevance(0.0)] * len(self.items)
        telling: tuple[str, ...] = ()
        if query and self.items:
            matches, telling = self._index.matches(query)
        return [
            _score(item, match, now, for_task)
            for item, match in zip(self.items, matches, strict=True)
        ], telling


def ranked(items: Sequence[Item], scores: Sequence[Score]) -> list[int]:
    """Indices of the items, best first.

    By score to two digits, then recency, then date, then order in the source; superseded ones last.
    With a task, open tasks in progress come first.
    """
    return sorted(
        range(len(items)),
        key=lambda at: (
            items[at].superseded,
            not scores[at].working,
            -round(scores[at].total, 2),
            -(CURRENT if items[at].section is Section.CONVENTIONS else scores[at].recency),
            *newest(items[at]),
            at,
        ),
    )


def by_recurrence(items: Sequence[Item]) -> list[int]:
    """Indices of the items: standing instructions, then by number of sessions, then by cost, then
    newest first; superseded and repeating ones last.
    """
    return sorted(
        range(len(items)),
        key=lambda at: (
            items[at].superseded,
            items[at].repeats,
            items[at].section is not Section.CONVENTIONS,
            -(items[at].recurrence or 0),
            -items[at].lost_calls,
            *newest(items[at]),
            at,
        ),
    )


RUN_LENGTH = 3


def interleaved(standing: Sequence[int], fitting: Iterable[int]) -> list[int]:
    """The items in standing order, with every fourth place for the best fit to the task: a request
    says little about later needs.
    """
    order: dict[int, None] = {}
    rest = iter(standing)
    for best in fitting:
        order[best] = None
        wanted = len(order) + RUN_LENGTH
        for at in rest:
            order[at] = None
            if len(order) >= wanted:
                break
    return list(order | dict.fromkeys(rest))


def newest(item: Item) -> tuple[float, ...]:
    """Sorts newest first; tasks of one date by progress and priority."""
    is_task = item.section is Section.TASKS
    return (
        -(item.at.timestamp() if item.at else float("-inf")),
        -int(is_task and in_progress(item.text)),
        -priority_of(item.text) if is_task else 0,
    )


def _score(item: Item, match: Relevance, now: datetime, for_task: bool) -> Score:
    # Whole days, so that a packet stays the same for a day.
    days = None if item.at is None else (now.date() - item.at.date()).days
    recent = recency(days)
    total = match.score if for_task else 0.0 if item.superseded else recent + match.score
    return Score(
        total=total,
        recency=recent,
        relevance=match.score,
        rarity=match.weight,
        matched=match.words,
        days=days,
        working=for_task and item.section is Section.TASKS and in_progress(item.text),
        for_task=for_task,
        recurrence=item.recurrence,
        lost_calls=item.lost_calls,
        origin=item.origin,
    )
