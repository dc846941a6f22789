"""The texts of the Context screen: rows, levels, a summary, its checks and its losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from reviewer.commits.values import Priority
from reviewer.compression.markers import without_markers
from reviewer.compression.values import BY_HAND, Level
from reviewer.text.display import display_line
from reviewer.tui.context.model import (
    LEVEL_NAMES,
    CheckResult,
    ContextModel,
    ContextRow,
    what,
)
from reviewer.tui.kit.line import Part, apart
from reviewer.tui.kit.row_list import ModelList
from reviewer.tui.kit.text import MARGIN, Run, TextBlock, TextSpan
from reviewer.tui.theme import Glyphs, RowStyles

if TYPE_CHECKING:
    from reviewer.commits.values import CommitRow

TOKEN_CELLS, LEVEL_CELLS = 7, 9
WITH_BOTH = 56
"""Cells from which a row shows the tokens before and after."""


class RowsList(ModelList[ContextModel]):
    """Draws the segments and turns of a context, and moves the cursor."""

    @property
    def total(self) -> int:
        return len(self.model.rows)

    def row_parts(self, at: int, width: int, style: RowStyles, sign: Glyphs) -> list[Part]:
        """`▸ ◆ turns 2-5: build tags, make db      1,120 →   104  Brief`."""
        data, row = self.model, self.model.rows[at]
        text, strong, dim, accent, warm = style
        before, after, level = self._figures(row, width)
        right: list[Part] = [
            (f"{before.rjust(TOKEN_CELLS)} {sign.arrow} " if before else " ", dim),
            ((after or sign.ellipsis).rjust(TOKEN_CELLS), accent),
            ("  " + level.ljust(LEVEL_CELLS), text if level != LEVEL_NAMES[0] else dim),
        ]
        look = sign.attention if data.needs_a_look(row) else " "
        mark = {
            Priority.PINNED: sign.pinned,
            Priority.IMPORTANT: sign.important,
            Priority.SKIP: sign.skip,
        }.get(data.priority(row), " ")
        criteria = data.snapshot.commits[data.commits_of(row)[0]].criteria if row.commit else 0
        left: list[Part] = [
            (self._number_or_fold(row, sign).rjust(4), dim),
            (f" {mark}{look} ", warm),
            ("  " if row.segment is not None and row.commit is not None else "", dim),
        ]
        if row.commit is not None:
            left.append((f"{speaker(row.commit):7} ", dim))
        words = what(row.commit) if row.commit is not None else data.title(row)
        title = display_line(words) + (" (must survive)" if criteria else "")
        colour = strong if at == data.cursor else dim if row.commit is not None else text
        return apart([*left, (title, colour)], right, width, text, sign.ellipsis)

    def _number_or_fold(self, row: ContextRow, sign: Glyphs) -> str:
        """The number of the person's turn; for a segment, the sign that it can be folded."""
        if row.commit is not None:
            return str(self.model.snapshot.messages.get(row.commit.id, ""))
        return sign.unfolded if self.model.is_unfolded(row) else sign.folded

    def _figures(self, row: ContextRow, width: int) -> tuple[str, str, str]:
        """Tokens before and after, and the level; empty where it is not known yet."""
        data = self.model
        if row.commit is not None:
            return "", f"{row.commit.tokens:,}", ""
        choice, at = data.chosen_for(row), row.segment or 0
        segment = data.snapshot.segments[at]
        sent, original = segment.sent, segment.tokens
        if data.priority(row) is Priority.SKIP:
            before = sum(data.snapshot.commits[each].tokens for each in data.acted_on(row))
            return f"{before:,}", "0", "skipped"
        whole = f"{original:,}" if width >= WITH_BOTH else ""
        if choice is None or data.is_applied(choice):
            applied = segment.applied is not None
            return whole if applied else "", f"{sent:,}", "applied" if applied else ""
        size, found = data.size(choice), data.shown(choice)
        if choice.level is Level.FULL or (found is not None and found.kept):
            return "", f"{original:,}", LEVEL_NAMES[0]
        level = LEVEL_NAMES[choice.level] + ("*" if choice.engine == BY_HAND else "")
        return whole, "" if size is None else f"{size:,}", level


def speaker(commit: CommitRow) -> str:
    """The speaker of a turn that is not a message of the person."""
    if commit.role == "user":
        return "client" if commit.aside else "you"
    return {"assistant": "agent"}.get(commit.role, commit.role[:8])


def levels_named(figures: Sequence[str], chosen: int, width: int, sign: Glyphs) -> str:
    """The levels for a title: `Full 1,120 · Detailed 420 · ▌Brief 104 · Tags 22`; in less room
    only the `chosen` one has its name.
    """
    named = [(sign.bar if at == chosen else "") + words for at, words in enumerate(figures)]
    whole = f" {sign.dot} ".join(named)
    if cell_len(whole) <= width:
        return whole
    return f" {sign.dot} ".join(
        words if at == chosen else words.split()[-1] for at, words in enumerate(named)
    )


def loss_blocks(
    found: Sequence[CheckResult], losses: Sequence[str], signs: Glyphs
) -> list[TextBlock]:
    """The findings of the checks, then the losses of a summary, a line each."""
    line, spans = "", list[TextSpan]()
    for each in found:
        line += "   " if line else ""
        if each.good:
            line += f"{each.text} {signs.promoted}"
        else:
            start, line = len(line), f"{line}{signs.attention} {each.text}"
            spans.append(TextSpan(start, len(line), "warm", here=False))
    checks = [TextBlock(line, "dim", tuple(spans), first=MARGIN)] if line else []
    return [*checks, *(TextBlock(each, first=MARGIN, rest=(Run("   "),)) for each in losses)]


def summary_block(text: str) -> TextBlock:
    """A summary without its markers, which are for agents."""
    return TextBlock(without_markers(text).rstrip(), first=MARGIN)
