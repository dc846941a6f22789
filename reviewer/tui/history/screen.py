"""Every act of the ledger, newest first, with the changes of the act under the cursor."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import set_cell_size
from textual import on
from textual.strip import Strip

from reviewer.engine import Engine
from reviewer.promotion.decisions.history import ActView, ChangeView
from reviewer.text.display import display_line
from reviewer.tui.history import keys
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import Part, cells_of, line_of
from reviewer.tui.kit.row_list import RowList, StoredList, cursor_bar
from reviewer.tui.kit.row_model import RowModel
from reviewer.tui.kit.screen import ListScreen
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, count, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import Glyphs, Palette, glyphs

CHANGES_SHOWN = 200
READ_AHEAD = 100
"""Acts that are read below those in sight, because a page far down takes a while to find."""
ACTOR_CELLS = 8
VALUE_CHARACTERS = 300
FIELD_CELLS = 15
WITH_UNIT, WITH_ACTOR = 60, 80
"""Cells that a row needs to say `133 rows` instead of `133`, and to name the actor."""

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

STATUS_WORDS = {
    "candidate": "waiting",
    "active": "promoted",
    "invalid": "rejected",
    "superseded": "merged",
}
"""Statuses as the queue calls them."""
_QUIET = {"key", "project_id", "wave_id"}
"""Columns without use for a person beside the others."""


class HistoryScreen(ListScreen, pane=keys.HISTORY):
    """Acts on the left, the changes of the one under the cursor on the right."""

    tab = "history"
    FILTER_HINT = "words of the title"

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        self.acts = ActModel(self._read_acts)
        self.changes = TextPane(title="What it changed", id="changes")
        rows = ActList(self.acts, id="acts")
        super().__init__(
            engine, project, rows, [self.changes], title="Acts, newest first", model=self.acts
        )
        self._shown: tuple[ActView, list[ChangeView]] | None = None
        self._filter = ""
        self._found: list[ActView] = []
        """The acts that match the filter, oldest first."""

    def _read_acts(self, first: int, last: int) -> list[ActView]:
        if self._filter:
            return self._found[first - 1 : last][::-1]
        return self.engine.history.page(last + 1, last + 1 - first)

    def reload(self) -> None:
        """Read the ledger again; the cursor stays on its act."""
        if self._filter:
            self.read(self._matching, self._show_found, group="acts")
        else:
            self.void("acts")
            self.list.empty = ("No acts yet.", "Read something first: reviewer ingest PATH")
            self._show_total(self.engine.history.acts_total())
        self.show_counts()

    def _matching(self) -> list[ActView]:
        words, total = self._filter.casefold().split(), self.engine.history.acts_total()
        acts = self.engine.history.page(total + 1, total)[::-1]
        return [each for each in acts if all(word in each.title.casefold() for word in words)]

    def _show_found(self, found: list[ActView]) -> None:
        self._found = found
        self.list.empty = (f"Nothing matches / {display_line(self._filter)}",)
        self._show_total(len(found))

    def _show_total(self, total: int) -> None:
        self.acts.load(total)
        self.list.rows_changed()
        self.show_empty(empty=not total)
        self.follow()

    @property
    def filter_text(self) -> str:
        return self._filter

    def run_filter(self, text: str, *, here: int | None) -> None:
        self._filter = text
        self.acts.cursor = 0
        self.reload()

    def follow(self) -> None:
        act = self.acts.act
        if act is None:
            self._shown = None
            self.void("read")
            self.changes.show([])
            return
        self.read(
            lambda: self.engine.history.changes(act.id, limit=CHANGES_SHOWN),
            lambda changes: self._show_changes(act, changes),
        )

    def _show_changes(self, act: ActView, changes: list[ChangeView]) -> None:
        same = self._shown is not None and self._shown[0].id == act.id
        self._shown = (act, changes)
        signs = glyphs(self.app)
        self.changes.show(
            act_blocks(act, changes, signs),
            title=f"Act {act.id} {signs.dot} {act.kind}",
            hint=f"{keys.UNDO_ACT.key} undoes this act",
            keep_scroll=same,
        )

    def _no_act(self) -> str | None:
        return None if self.acts.act is not None else "There are no acts yet."

    def _no_memory(self) -> str | None:
        act, shown = self.acts.act, self._shown
        if act is not None and shown is not None and shown[0].id == act.id:
            changes = shown[1]
            all_read = len(changes) < CHANGES_SHOWN
            if all_read and not any(each.table == "memory" for each in changes):
                return f"Act {act.id} changed no memory."
        return self._no_act()

    @unless(_no_act)
    async def action_undo_this(self) -> None:
        """Undo the act under the cursor; a conflict names the row that has changed since."""
        act = self.acts.act
        if act is None:
            return
        other = self.engine.history.decided_by_another(act.id)
        if other:
            title = f"Act {act.id} is a decision of {other}"
            await self.confirm(
                title, "undo it", "leave it", lambda: self._undo_act(act, anyone=True)
            )
        else:
            await self._undo_act(act)

    async def _undo_act(self, act: ActView, *, anyone: bool = False) -> None:
        undone = await self.write(
            lambda: self.engine.history.undo_act(act.id, anyone=anyone), "Undoing"
        )
        redoable = self.engine.history.redo_title() == undone.title
        self.show_reversed(undone)
        redo = f" - {shared.REDO.key} to redo" if redoable else ""
        self.say(f"Undone: {display_line(undone.title)}{redo}")

    @on(RowList.Opened)
    @unless(_no_memory)
    def action_history_open(self) -> None:
        """Show in the queue the first memory that the act changed."""
        act = self.acts.act
        if act is None:
            return
        shown = self._shown
        changes = shown[1] if shown and shown[0].id == act.id else []
        changes = changes or self.engine.history.changes(act.id, limit=CHANGES_SHOWN)
        memory = next((change.row for change in changes if change.table == "memory"), None)
        if memory is None:
            self.say(f"Act {act.id} changed no memory.")
        else:
            self.host.open_memory(memory)


class NumberedAct(NamedTuple):
    """An act, and its number among those of the list, from 1, the oldest."""

    id: int
    act: ActView


class ActModel(RowModel[NumberedAct]):
    """Acts by their number, the newest first; only those in sight are read."""

    def __init__(self, read: Callable[[int, int], list[ActView]]) -> None:
        """`read` gets the first and last number of some acts, and returns them newest first."""
        super().__init__(self._read_numbers)
        self._read_acts = read

    def _read_numbers(self, numbers: Sequence[int]) -> list[NumberedAct]:
        last = max(numbers)
        acts = self._read_acts(max(min(numbers) - READ_AHEAD, 1), last)
        return [NumberedAct(last - at, act) for at, act in enumerate(acts)]

    def load(self, total: int) -> None:
        """Show so many acts; the cursor stays on its act, or on the newest."""
        here = self.current_id
        on_newest = self.cursor == 0
        self.forget()
        self.ids = array("q", range(total, 0, -1))
        self.cursor = 0 if on_newest or here is None else max(0, min(total - here, total - 1))

    @property
    def act(self) -> ActView | None:
        """The act under the cursor."""
        return self.current.act if self.current is not None else None


class ActList(StoredList[ActModel]):
    """Draws an `ActModel` and moves its cursor."""

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        row, here = self.model.row(at), at == self.model.cursor
        if row is None:
            return line_of([], width, style.text, sign.ellipsis)
        parts = act_parts(row.act, width, style, sign, here=here, focused=self.has_focus)
        return line_of(parts, width, style.on_row(here=here).text, sign.ellipsis)


def act_parts(
    act: ActView, width: int, style: Palette, signs: Glyphs, *, here: bool, focused: bool
) -> list[Part]:
    """One row: bar, id, time, actor, title, and at the right the number of rows, or that it was
    undone.
    """
    on_row = style.on_row(here=here)
    text, _, dim, _, warm = on_row
    parts = [cursor_bar(on_row, signs, here=here, focused=focused), (f"{act.id:>6} ", dim)]
    if width >= 44:
        parts.append((f"{moment(act.at)[5:]}  ", dim))
    if width >= WITH_ACTOR:
        actor = display_line(act.actor)
        parts.append((f"{set_cell_size(actor, ACTOR_CELLS)} ", dim))
    undone = act.undone
    rows = count(act.rows, "row") if width >= WITH_UNIT else f"{act.rows:,}"
    end = f" {signs.rejected} undone " if undone else f" {rows} "
    room = width - cells_of(parts) - len(end)
    title = display_line(act.title)
    shown = line_of([(title, dim if undone else text)], max(room, 0), text, signs.ellipsis)
    parts += [(segment.text, segment.style or text) for segment in shown]
    parts.append((end, warm if undone else dim))
    return parts


def act_blocks(act: ActView, changes: Sequence[ChangeView], signs: Glyphs) -> list[TextBlock]:
    """Title, when and by whom, then every row that was changed."""
    about = f" {signs.dot} ".join(
        part
        for part in (
            moment(act.at),
            f"by {act.actor}",
            count(act.rows, "row"),
            f"of act {act.target}" if act.target else "",
            f"{signs.rejected} undone since" if act.undone else "",
        )
        if part
    )
    margin = (Run(" "),)
    blocks = [TextBlock(act.title, "strong", first=margin), TextBlock(about, "dim", first=margin)]
    for change in changes:
        blocks += _change(change, signs)
    if len(changes) < act.rows:
        blocks.append(TextBlock(""))
        blocks.append(TextBlock(f"and {count(act.rows - len(changes), 'row')} more", "faint"))
    return blocks


def _change(change: ChangeView, signs: Glyphs) -> list[TextBlock]:
    what = {True: "new", False: "changed"}[change.before is None]
    if change.after is None:
        what = "removed"
    head = f"{change.table} #{change.row} {what}"
    label = f"  {_short(change.label)}" if change.label else ""
    spans = (TextSpan(0, len(head), "accent"),)
    blocks = [TextBlock(""), TextBlock(head + label, "text", spans, first=(Run(" "),))]
    before, after = change.before or {}, change.after or {}
    if change.before is None or change.after is None:
        return blocks
    for name in after:
        old, new = before.get(name), after.get(name)
        if old == new or name in _QUIET:
            continue
        if name == "status" and change.table in ("memory", "entity"):
            old, new = (STATUS_WORDS.get(str(value), value) for value in (old, new))
        blocks.append(_field(name.replace("_", " "), old, new))
    return blocks


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
    text = _short(str(value)) or "empty"
    return moment(text) if _ISO.fullmatch(text) else text


def _short(text: str) -> str:
    text = " ".join(text[: 4 * VALUE_CHARACTERS].split())
    return text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS]}…"
