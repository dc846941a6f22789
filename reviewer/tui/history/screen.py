"""All acts of the ledger, newest first, with the changes of the current one."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

from rich.cells import set_cell_size

from reviewer.clock import iso
from reviewer.engine import Engine
from reviewer.promotion.decisions.history import ActView, ChangeView
from reviewer.promotion.lists.filters import require_date
from reviewer.text.clip import clip
from reviewer.text.display import display_line
from reviewer.tui.history import keys
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import Part, apart
from reviewer.tui.kit.list_screen import ListScreen, nothing_matches
from reviewer.tui.kit.row_list import StoredList
from reviewer.tui.kit.row_model import RowModel, has_words
from reviewer.tui.kit.text import MARGIN, Run, TextBlock, TextSpan, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import Glyphs, RowStyles, glyphs

CHANGES_SHOWN = 200
ACTOR_CELLS = 8
VALUE_CHARACTERS = 300
FIELD_CELLS = 15
WITH_ACTOR = 100
"""Minimum width in cells for the actor column."""

_MEMORY = re.compile(r"#\d{1,18}")
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

STATUS_WORDS = {
    "candidate": "waiting",
    "active": "promoted",
    "invalid": "rejected",
    "superseded": "merged",
}
"""Statuses in the words of the queue."""
TABLES = {
    "memory": "memory",
    "entity": "entity",
    "conflict": "conflict",
    "state": "trusted state",
    "context": "session",
    "commit_": "turn",
    "annotation": "priority",
    "anchor": "what must survive",
    "segment": "segment",
    "pipeline_run": "pipeline run",
    "source": "file",
}
"""Names of the tables shown; changes to all others are left out."""
_FIELDS = {
    "content": "words",
    "leader_id": "duplicate of",
    "left_id": "one side",
    "moments": "when",
    "right_id": "other side",
    "superseded_by": "replaced by",
}
_YES_OR_NO = {"deferred", "edited"}
_QUIET = {
    *("key", "project_id", "wave_id", "decided_at", "pending_since", "last_seen", "changed_at"),
    *("head_id", "hash", "content_id", "excerpt", "rank", "prior", "signal", "freshness"),
    *("modified_ns", "bytes", "tally", "levels", "live"),
}
"""Columns left out."""


class HistoryScreen(ListScreen, pane=keys.HISTORY):
    """Acts on the left, the changes of the one under the cursor on the right."""

    tab = "history"
    KEEPS_PLACE = True
    FILTER_HINT = "words of the title  who did it  today  02-14  since:2026-03  #12"

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        self.acts: RowModel[ActView] = RowModel(self._read_acts)
        self.changes = TextPane(title="Changes", id="changes")
        rows = ActList(self.acts, id="acts")
        self.words = rows.words
        super().__init__(
            engine, project, rows, [self.changes], title="Acts, newest first", model=self.acts
        )
        self._filter = ""
        self._wanted = 0
        """The act to put the cursor on once the list is read; 0: leave it."""

    def _read_acts(self, ids: Sequence[int]) -> list[ActView]:
        """Read acts, and the text of the memory that a decision is about."""
        acts = self.engine.history.views(ids)
        self.words.update(self.engine.history.wordings(acts))
        return acts

    def reload(self) -> None:
        """Reload the ledger; the cursor stays on its act or the nearest, or on the newest."""
        words, now = self._filter, self.engine.clock()
        days = {
            moment(iso(now - timedelta(back)))[:10]: name
            for back, name in enumerate(("today", "yesterday"))
        }
        history, text = self.engine.history, words.casefold().split()

        def work() -> array[int]:
            numbers = [word for word in text if _MEMORY.fullmatch(word)]
            others = " ".join(word for word in text if word not in numbers)
            on = [history.acts_on(int(number[1:])) for number in numbers]

            def wanted(act: ActView) -> bool:
                return all(act.id in each for each in on) and _matches(others, days, act)

            return history.folded(wanted if words else None)

        self.read(work, partial(self._show, words), group="rows")
        self.show_counts()

    def _show(self, words: str, ids: array[int]) -> None:
        self.list.empty = (
            "No acts yet.",
            "Reading sessions that bring proposals is one; connecting an agent is not.",
        )
        if words:
            nothing, clears = nothing_matches(words)
            fields = "The only field is since:, as in since:2026-03; a name needs none."
            self.list.empty = nothing, fields if ":" in words else clears
        here, self._wanted = self._wanted or self._place, 0
        self.acts.forget()
        self.acts.ids = ids
        older = (at for at, act in enumerate(ids) if act <= here)
        self.acts.cursor = next(older, max(len(ids) - 1, 0)) if here else 0
        self.list.rows_changed()
        self.show_empty(empty=not ids)
        self.follow()

    @property
    def _place(self) -> int:
        """The act under the cursor; 0 for the newest, whichever that is."""
        at_newest = not self.acts.cursor and not self._filter
        return 0 if at_newest else self.acts.current_id or 0

    @property
    def row_to_keep(self) -> int | None:
        return self._place if self.acts.ids else None

    @property
    def filter_text(self) -> str:
        return self._filter

    def check_filter(self, text: str) -> None:
        for date in _dates(text.casefold().split()):
            require_date(date)

    def run_filter(self, text: str, *, here: int | None) -> None:
        self._wanted = here or (0 if text else self._place)
        self._filter = text
        self.acts.cursor = 0
        self.reload()

    def follow(self) -> None:
        act, history, signs = self.acts.current, self.engine.history, glyphs(self.app)
        if act is None:
            self.void("read")
            self.changes.show([], title="Changes")
            return
        title = f"Act {act.id}"

        def work() -> tuple[list[TextBlock], bool]:
            changes = history.changes(act.id, limit=CHANGES_SHOWN)
            blocks = act_blocks(act, changes, history.reversals(act.id), signs)
            return blocks, history.can_undo(act, changes)

        def then(found: tuple[list[TextBlock], bool]) -> None:
            blocks, can_undo = found
            hint = f"{keys.UNDO_ACT.key} undoes this act" if can_undo else ""
            same = title == self.changes.title
            self.changes.show(blocks, title=title, hint=hint, keep_scroll=same)

        self.read(work, then)

    @unless(ListScreen.no_rows)
    async def action_undo_this(self) -> None:
        """Undo the act under the cursor; on a conflict, name the row that has changed since."""
        act = self.acts.under_cursor
        other = self.engine.history.decided_by_another(act.id)
        if other:
            title = f"Act {act.id} is a decision of {other}"
            await self.confirm(
                title, "undo it", "keep it", lambda: self._undo_act(act, anyone=True)
            )
        else:
            await self._undo_act(act)

    async def _undo_act(self, act: ActView, *, anyone: bool = False) -> None:
        await self.reverse(
            None, lambda: self.engine.history.undo_act(act.id, anyone=anyone), shared.UNDO
        )


class MemoryHistoryScreen(HistoryScreen, pane=keys.HISTORY):
    """The acts on a memory, over the screen that goes on when they are left."""

    KEEPS_PLACE = False

    def __init__(self, engine: Engine, project: str | None, memory: int) -> None:
        super().__init__(engine, project)
        self._filter = f"#{memory}"

    def step_back(self) -> bool:
        self.dismiss()
        return True


SINCE = "since:"


def _dates(words: Sequence[str]) -> list[str]:
    """The dates of `since:` in a filter, but for the one still being typed."""
    return [word.removeprefix(SINCE) for word in words if word.startswith(SINCE) and word != SINCE]


def _matches(line: str, days: Mapping[str, str], act: ActView) -> bool:
    """Whether an act matches a filter; `days` have names: today, yesterday."""
    at, words = moment(act.at), line.casefold().split()
    text = f"{act.title} {at} {days.get(at[:10], '')} by {act.actor}"
    rest = " ".join(word for word in words if not word.startswith(SINCE))
    return all(at >= date for date in _dates(words)) and has_words(text, rest)


class ActList(StoredList["RowModel[ActView]", ActView]):
    def __init__(self, model: RowModel[ActView], *, id: str) -> None:  # noqa: A002
        super().__init__(model, id=id)
        self.words: dict[int, str] = {}
        """Act -> the text of the memory it is about."""

    def parts_of(
        self, row: ActView, at: int, width: int, style: RowStyles, sign: Glyphs
    ) -> list[Part]:
        return act_parts(row, self.words.get(row.id, ""), width, style, sign)


def act_parts(act: ActView, words: str, width: int, style: RowStyles, signs: Glyphs) -> list[Part]:
    """One row: id, time, actor, title, and at the right whether it is undone."""
    text, _, dim, _, warm = style
    parts: list[Part] = [(f"{act.id:>6} ", dim)]
    if width >= 44:
        parts.append((f"{moment(act.at)[5:]}  ", dim))
    if width >= WITH_ACTOR:
        actor = display_line(act.actor)
        parts.append((f"{set_cell_size(actor, ACTOR_CELLS)} ", dim))
    undone = act.undone
    end = f" {signs.rejected} undone" if undone else ""
    parts += [
        (display_line(act.title), dim if undone else text),
        (f"  {display_line(words[: width * 2])}" if words else "", dim),
    ]
    return apart(parts, [(end, warm)], width, text, signs.ellipsis)


def act_blocks(
    act: ActView, changes: Sequence[ChangeView], reversals: Sequence[ActView], signs: Glyphs
) -> list[TextBlock]:
    """Title, time and actor, undos and redos, then the changes."""
    blocks = [TextBlock(act.title, "strong", first=MARGIN)]
    for each in (act, *reversals):
        verb = {"undo": "undone ", "redo": "redone "}.get(each.kind, "")
        about = f"{verb}{moment(each.at)} {signs.dot} by {each.actor}"
        blocks.append(TextBlock(about, "warm" if verb else "dim", first=MARGIN))
    alike: Counter[str] = Counter()
    for change in changes:
        if change.table in TABLES and (found := _change(change)):
            if len(found) > 1 or change.label:
                blocks += [TextBlock(""), *found]
            else:
                alike[found[0].text] += 1
    blocks += [
        TextBlock(f"{head}, {times:,} times" if times > 1 else head, "dim", first=MARGIN)
        for head, times in alike.items()
    ]
    if len(changes) < act.rows:
        blocks.append(TextBlock(""))
        blocks.append(TextBlock(f"and {act.rows - len(changes):,} more changes", "faint"))
    return blocks


def _change(change: ChangeView) -> list[TextBlock]:
    """The changed fields of a row; empty if none is shown."""
    what = "new" if change.before is None else "removed" if change.after is None else "changed"
    number = f" #{change.row}" if change.table == "memory" else ""
    head = f"{TABLES[change.table]}{number} {what}"
    label = f"  {clip(change.label, VALUE_CHARACTERS)}" if change.label else ""
    spans = (TextSpan(0, len(head), "accent"),)
    blocks = [TextBlock(head + label, "text", spans, first=MARGIN)]
    before, after = change.before or {}, change.after or {}
    if change.before is None or change.after is None:
        return blocks
    for name in after:
        old, new = before.get(name), after.get(name)
        if old == new or name in _QUIET:
            continue
        if name == "status":
            old, new = (STATUS_WORDS.get(str(value), value) for value in (old, new))
            if (old, new) == ("promoted", "rejected"):
                new = "retired"
        elif name == "moments":
            old, new = ("; ".join(_moments(str(value))) for value in (old, new))
        elif name in _YES_OR_NO:
            old, new = ("yes" if value else "no" for value in (old, new))
        blocks.append(_field(_FIELDS.get(name) or name.replace("_", " "), old, new))
    return blocks if len(blocks) > 1 else []


def _moments(stored: str) -> list[str]:
    from reviewer.recall.moments import read_moments  # late: it compiles patterns

    return [each.shown for each in read_moments(stored)] or ["by its wording and evidence"]


def _field(name: str, old: object, new: object) -> TextBlock:
    was, now = _value(old), _value(new)
    arrow = " -> "
    text = f"{was}{arrow}{now}"
    spans = (
        TextSpan(0, len(was), "removed"),
        TextSpan(len(was) + len(arrow), len(text), "added"),
    )
    return TextBlock(text, "dim", spans, first=(Run(f"   {name.ljust(FIELD_CELLS)} ", "faint"),))


def _value(value: object) -> str:
    if value is None:
        return "none"
    text = clip(str(value)[: 4 * VALUE_CHARACTERS], VALUE_CHARACTERS) or "empty"
    return moment(text) if _ISO.fullmatch(text) else text
