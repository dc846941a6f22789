"""The lines of the Context screen: its rows, the levels, what a summary loses and its checks."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Static

from reviewer.commits.values import Priority
from reviewer.compression.markers import ANY_MARKER
from reviewer.compression.values import Level
from reviewer.text.display import display_line
from reviewer.tui.context.model import (
    LEVEL_NAMES,
    Checked,
    ContextModel,
    ContextRow,
    findings,
    is_by_hand,
)
from reviewer.tui.kit.line import Part, cells_of, entitle, line_of
from reviewer.tui.kit.row_list import ModelList, cursor_bar
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, cut
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import Glyphs, Palette, glyphs

ROLES = {"user": "you", "assistant": "agent"}
TOKEN_CELLS, LEVEL_CELLS = 7, 9
WITH_BOTH = 56
"""Cells from which a row shows the tokens before and after."""
TITLE_FRAME = 4
MAX_LOST = 20
"""Losses that are shown below a summary."""


class RowsList(ModelList[ContextModel]):
    """Draws the segments and turns of a context, and moves the cursor."""

    @property
    def total(self) -> int:
        return len(self.model.rows)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        """`2 ◆ setup: build tags, make db          1,120 →   104  Brief`."""
        data, row = self.model, self.model.rows[at]
        on_row = style.on_row(here=at == data.cursor)
        text, strong, dim, accent, warm = on_row
        choice = data.chosen_for(row) if row.commit is None else None
        before, after, level, exact = self._figures(row, width)
        right: list[Part] = [
            (f"{before.rjust(TOKEN_CELLS)} {sign.arrow} " if before else " ", dim),
            (after.rjust(TOKEN_CELLS), accent if exact else dim),
            ("  " + level.ljust(LEVEL_CELLS), text if level != LEVEL_NAMES[0] else dim),
        ]
        look = sign.attention if choice is not None and data.is_doubtful(choice) else " "
        number = data.number(row.segment) if row.segment is not None and row.commit is None else ""
        mark = {
            Priority.PINNED: sign.pinned,
            Priority.IMPORTANT: sign.important,
            Priority.SKIP: sign.skip,
        }.get(data.priority(row), " ")
        criteria = data.commits[data.commits_of(row)[0]].criteria if row.commit else 0
        left: list[Part] = [
            cursor_bar(on_row, sign, here=at == data.cursor, focused=self.has_focus),
            (number.rjust(4), dim),
            (f" {mark}{look} ", warm),
            ("  " if row.segment is not None and row.commit is not None else "", dim),
        ]
        if row.commit is not None and row.commit.id not in data.applied:
            role = ROLES.get(row.commit.role, row.commit.role)
            left.append((role[:7].ljust(8), dim))
        title = display_line(data.title(row)) + (" (must survive)" if criteria else "")
        room = max(width - cells_of(left) - cells_of(right), 0)
        words = strong if at == data.cursor else dim if row.commit is not None else text
        strip = line_of(
            [*left, (cut(title, room, sign.ellipsis), words)], width - cells_of(right), text, ""
        )
        return Strip([*strip, *line_of(right, cells_of(right), text, "")], width)

    def _figures(self, row: ContextRow, width: int) -> tuple[str, str, str, bool]:
        """Tokens before and after, the level, and whether the tokens were counted."""
        data = self.model
        if row.commit is not None:
            applied = data.applied.get(row.commit.id)
            if applied is None or width < WITH_BOTH:
                return "", f"{row.commit.tokens:,}", "", True
            return f"{applied.tokens_before:,}", f"{row.commit.tokens:,}", "applied", True
        choice, at = data.chosen_for(row), row.segment or 0
        sent, original = data.segments[at].tokens, data.original_of(at)
        if data.priority(row) is Priority.SKIP:
            before = sum(data.commits[each].tokens for each in data.acted_on(row))
            return f"{before:,}", "0", "skipped", True
        whole = f"{original:,}" if width >= WITH_BOTH else ""
        shorter = whole if sent != original else ""
        if choice is None:
            return shorter, f"{sent:,}", "", True
        size, found = data.size(choice), data.shown(choice)
        if (found.level if found is not None else choice.level) is Level.FULL:
            return shorter, f"{sent:,}", "applied" if shorter else LEVEL_NAMES[0], True
        level = LEVEL_NAMES[choice.level] + ("*" if is_by_hand(choice) else "")
        return whole, f"{'' if size.exact else '~'}{size.tokens:,}", level, size.exact


class SummaryPane(TextPane):
    """A segment at its level. The title names the levels:
    `─ 2 setup ── Full 1,120 · Detailed 420 · ▌Brief 104 · Tags 22 ─────`.
    """

    def __init__(self) -> None:
        super().__init__(id="summary")
        self._figures: tuple[str, ...] = ()
        self._chosen = -1

    def on_resize(self, event: events.Resize) -> None:
        self._draw_title()

    def name_levels(self, figures: Sequence[str] = (), chosen: int = -1) -> None:
        """Show other figures in the title; `chosen` is the level in use."""
        if (tuple(figures), chosen) != (self._figures, self._chosen):
            self._figures, self._chosen = tuple(figures), chosen
            self._draw_title()

    def _draw_title(self, hint: str = "") -> None:
        sign = glyphs(self.app)
        figures = [
            (sign.bar if level == self._chosen else "") + words
            for level, words in enumerate(self._figures)
        ]
        levels = f" {sign.dot} ".join(figures)
        if cell_len(levels) > self.size.width - TITLE_FRAME:  # the names but one go
            levels = f" {sign.dot} ".join(
                words if level == self._chosen else words.split()[-1]
                for level, words in enumerate(figures)
            )
        room = max(self.size.width - cell_len(levels) - 7, 0)
        title = cut(display_line(self.title), room, sign.ellipsis) if room > 7 else ""
        entitle(self, title, levels or hint)


class ChecksLine(Static):
    """What the checks of a summary found, and below it what it loses, a line each:
    `─ loses 2 ──────────────────────────────────────────────────`
    ` ! the request is missing   ! key points 3 of 4   "5433" ✓`
    ` the reason for port 5433`.
    """

    def __init__(self) -> None:
        super().__init__(id="checks")
        self._shown: tuple[Checked | None, str, Sequence[str]] = (None, "", ())

    def on_resize(self) -> None:
        self._draw()

    def show(
        self, found: Checked | None, why_full: str = "", lost_before: Sequence[str] = ()
    ) -> None:
        """Show a preview; None while there is none.

        `why_full`: why the segment stands at Full; `lost_before`: what an applied summary lost.
        """
        self._shown = (found, why_full, lost_before)
        self._draw()

    def _draw(self) -> None:
        found, why_full, lost_before = self._shown
        self.set_class(found is None, "-off")
        sign = glyphs(self.app)
        lost = losses(found, lost_before) if found is not None else ()
        at_full = found is None or (found.level is Level.FULL and not lost)
        title = f"loses {len(lost):,}" if lost else "checks" if at_full else "loses nothing"
        parts: list[str | tuple[str, str]] = []
        for each in findings(found, why_full) if found is not None else ():
            text = display_line(each.text)
            if each.good:
                parts += [(text, "$dim"), (f" {sign.promoted}   ", "$accent")]
            else:
                parts.append((f"{sign.attention} {text}   ", "$warning"))
        entitle(self, title)
        for loss in lost[:MAX_LOST]:
            parts.append(f"\n{display_line(loss)}" if parts else display_line(loss))
        self.update(Content.assemble(*parts))


def losses(found: Checked, lost_before: Sequence[str] = ()) -> Sequence[str]:
    """What a segment loses at its level, or lost when its summary was applied."""
    if found.level is Level.FULL:
        return lost_before
    return (*found.preview.fidelity.loses, *lost_before)


def with_open_markers(text: str, signs: Glyphs) -> str:
    """A summary with its markers as a person reads them."""
    return ANY_MARKER.sub(f"[{signs.arrow} the original]", text)


def summary_blocks(found: Checked, signs: Glyphs) -> list[TextBlock]:
    """A summary with its anchors marked; at Full the turns as they were written."""
    preview = found.preview
    content, spans = with_open_markers(preview.compressed.content, signs), list[TextSpan]()
    for anchor in preview.compressed.anchors:
        at = content.find(anchor.content)
        if at >= 0 and all(
            at >= each.end or at + len(anchor.content) <= each.start for each in spans
        ):
            spans.append(TextSpan(at, at + len(anchor.content), "anchor", here=False))
    spans.sort(key=lambda each: each.start)
    return [TextBlock(content, "text", tuple(spans), first=(Run(" "),), rest=(Run(" "),))]
