"""A context as values: the list, one commit, criteria as they are typed, tokens."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from reviewer.tui.kit.contexts import match_spans
from reviewer.tui.kit.row_model import RowModel
from reviewer.tui.kit.text import Span
from reviewer.tui.kit.tool_calls import CallText, call_text
from reviewer.tui.places import load_context

if TYPE_CHECKING:
    from reviewer.commits.values import (
        CommitRow,
        CommitView,
        ContextView,
        PatternCheck,
        RetentionCriteria,
        TokenTotals,
    )
    from reviewer.engine import Engine
    from reviewer.promotion.history import ChangeView

Mode = Literal["substring", "regex"]
PATTERNS_SHOWN = 50
"""Patterns of a commit that are checked and shown below its text."""
PRIORITIES = ("pinned", "important", "normal", "skip")
"""From the most careful treatment in compression to none."""

_COMMIT_COLUMNS = {"annotation": "commit_id", "commit_": "target_id"}
"""The column that names the commit of a row, by table."""


class CommitsModel(RowModel["CommitRow"]):
    """The commits of one context that pass the filter, in the order of the chain."""

    def __init__(self, fetch: Callable[[Sequence[int]], list[CommitRow]]) -> None:
        super().__init__(fetch)
        self._unfiltered = self.ids
        """The ids without a filter: they give the neighbours of a row that the filter hides."""

    def load(self, ids: array[int], here: int | None = None, *, filtered: bool = False) -> None:
        """Show other rows. Marks stay on rows that are still listed.

        The cursor goes to the id `here`, else it stays on its row; if that row no longer exists, it
        goes to the nearest one below, else above.
        """
        before, at = self.ids, self.cursor
        if here is not None and here not in before and here in self._unfiltered:
            before = self._unfiltered
        if here is not None and here in before:
            at = before.index(here)
        self.ids = array("q", ids)
        self.forget()
        self.range_from = None
        left = set(self.ids)
        self.marks &= left
        wanted = [*([] if here is None else [here]), *before[at:], *reversed(before[:at])]
        place = next((number for number in wanted if number in left), None)
        self.cursor = 0 if place is None else self.ids.index(place)
        if not filtered:
            self._unfiltered = self.ids


class Chain(Struct, frozen=True):
    """A context as it was read, and all contexts of the store."""

    context: ContextView
    contexts: Sequence[ContextView]
    totals: TokenTotals
    filter: str
    ids: array[int]


class Shown(Struct, frozen=True):
    view: CommitView
    call: CallText | None = None
    """The arguments of a tool call as lines."""
    checks: tuple[PatternCheck, ...] = ()
    matches: tuple[Span, ...] = ()
    anchors: tuple[Span, ...] = ()
    draft: bool = False
    """A draft of its criteria is kept."""


def read_chain(engine: Engine, project: str | None, wanted: int | None, text: str) -> Chain | None:
    """A context through a filter: the wanted one, else the one shown last.

    None when there is no context. Raises FilterError.
    """
    from reviewer.commits.values import CommitQuery

    found = engine.contexts.all(project)
    if not found:
        return None
    wanted = wanted or load_context(engine.path, project)
    context = next((each for each in found if each.id == wanted), found[0])
    ids = engine.contexts.ids(CommitQuery(context.id, text))
    return Chain(context, found, engine.contexts.totals(context.id), text, ids)


def read_commit(engine: Engine, number: int) -> Shown:
    """A commit with its checks and its anchors. Raises UnknownIdError."""
    view = engine.contexts.commit(number)
    checks = engine.contexts.check(view.retention.patterns[:PATTERNS_SHOWN], view.text)
    return Shown(
        view,
        call_text(view.text) if view.row.type == "tool_call" else None,
        checks,
        match_spans(checks, view.text),
        _anchor_spans(engine, view),
        number in engine.retention_drafts.ids(),
    )


def _anchor_spans(engine: Engine, view: CommitView) -> tuple[Span, ...]:
    """The spans of a commit that compression keeps anyway."""
    if view.row.priority in ("pinned", "skip"):
        return ()  # a pinned commit is kept whole, a skipped one not at all
    found = engine.compression.anchor_spans(view.text, view.row.role)
    spans: list[Span] = []
    for each in sorted(found, key=lambda each: each.start):
        if not spans or each.start >= spans[-1].end:
            spans.append(Span(each.start, each.end, "anchor", here=False))
    return tuple(spans)


def changed_commits(changes: Sequence[ChangeView]) -> list[int]:
    """The commits whose annotations or texts an act changed."""
    found: dict[int, None] = {}
    for change in changes:
        column = _COMMIT_COLUMNS.get(change.table)
        number = (change.after or change.before or {}).get(column) if column else None
        if isinstance(number, int):
            found[number] = None
    return list(found)


# criteria


class Criteria(Struct, frozen=True):
    instructions: str = ""
    patterns: tuple[tuple[str, Mode], ...] = ()
    reason: str = ""

    def texts(self, mode: Mode) -> list[str]:
        """The patterns of one mode."""
        return [text for text, own in self.patterns if own == mode]


def encode_draft(criteria: Criteria) -> str:
    """Criteria as a draft keeps them."""
    return msgspec.json.encode(criteria).decode()


def decode_draft(text: str) -> Criteria:
    """Criteria from a draft. Raises msgspec.MsgspecError."""
    return msgspec.json.decode(text, type=Criteria)


def as_typed(retention: RetentionCriteria) -> Criteria:
    """Criteria as the form shows them, each on one line; without the reason, which every save asks
    for.

    Line breaks become `\\n` in a regular expression, and blanks elsewhere.
    """
    patterns: list[tuple[str, Mode]] = []
    for pattern in retention.patterns:
        between = r"\n" if pattern.mode == "regex" else " "
        patterns.append((between.join(pattern.text.splitlines()), pattern.mode))
    words = " ".join((retention.instructions or "").splitlines())
    return Criteria(words.strip(), tuple(patterns))


def align_modes(
    before: Sequence[str], modes: Sequence[Mode], after: Sequence[str], known: Mapping[str, Mode]
) -> list[Mode]:
    """The mode of each line after an edit.

    Lines that did not change keep theirs. A changed line takes the mode of the line that was in its
    place; an added line takes its last mode (`known`), else it is a text.
    """
    first = 0
    shorter = min(len(before), len(after))
    while first < shorter and before[first] == after[first]:
        first += 1
    last = 0
    while last < shorter - first and before[-1 - last] == after[-1 - last]:
        last += 1
    replaced = modes[first : len(before) - last]
    fresh: list[Mode] = []
    for place, line in enumerate(after[first : len(after) - last]):
        if place < len(replaced):
            fresh.append(replaced[place])
        else:
            fresh.append(known.get(line, "substring"))
    return [*modes[:first], *fresh, *modes[len(before) - last :]]


# tokens


def tokens_by_priority(totals: TokenTotals) -> dict[str, int]:
    """The tokens of every priority, in the order of `PRIORITIES`."""
    known = {str(priority): tokens for priority, tokens in totals.by_priority.items()}
    return {priority: known.get(priority, 0) for priority in PRIORITIES}


def shares(values: Sequence[int], cells: int) -> list[int]:
    """`cells` divided in proportion to `values`; every value above zero gets at least one."""
    total = sum(values)
    if not total or cells <= 0:
        return [0] * len(values)
    exact = [value * cells / total for value in values]
    parts = [max(int(share), 1) if value else 0 for share, value in zip(exact, values, strict=True)]
    while sum(parts) > cells:
        largest = max(range(len(parts)), key=lambda at: parts[at])
        if parts[largest] == 1:
            break
        parts[largest] -= 1
    while sum(parts) < cells:
        short = max(range(len(parts)), key=lambda at: exact[at] - parts[at])
        parts[short] += 1
    return parts
