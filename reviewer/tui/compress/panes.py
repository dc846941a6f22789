"""The widgets of the Compress screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.strip import Strip

from reviewer.compression.fidelity import MOST_LOST, newly_lost
from reviewer.compression.sections import Section
from reviewer.compression.segments import title_of
from reviewer.compression.values import Level
from reviewer.text.display import display_line
from reviewer.tui.compress import keys
from reviewer.tui.compress.drawing import (
    original_blocks,
    summary_blocks,
    summary_title,
    writer_note,
)
from reviewer.tui.compress.model import (
    LEVEL_NAMES,
    CompressModel,
    LostRow,
    Markers,
    Path,
    level_name,
    lost_rows,
)
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.bars import ClickLine
from reviewer.tui.kit.headings import HeadingPane
from reviewer.tui.kit.line import BarLine, Part, Separator, TitleRule, cells_of, cut, line_of
from reviewer.tui.kit.row_list import LoadedList, RowList, cursor_bar
from reviewer.tui.kit.text import Block, Run, count, figure
from reviewer.tui.kit.text_pane import HEADER_ROWS, TextPane
from reviewer.tui.theme import Glyphs, Palette, glyphs

if TYPE_CHECKING:
    from reviewer.compression.plan import Choice

TOKEN_CELLS = 6
WITH_BOTH = 26
"""Narrower lists leave out the present size of a segment."""
LOST_CHARACTERS = 200
"""Characters of a lost piece that are drawn."""
WITH_KIND = 34
WIDEST_BAR, NARROWEST_BAR = 30, 8
MARKER_STYLES = ("accent", "accent_here")


def short(tokens: int) -> str:
    """`412`, `4,012`, `481k`: at most six cells."""
    if tokens < 100_000:
        return f"{tokens:,}"
    return f"{tokens / 1_000:.0f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


class SegmentList(RowList):
    """Draws the segments of a `CompressModel` and moves its cursor."""

    def __init__(self, data: CompressModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.data = data
        self.drafts: frozenset[int] = frozenset()
        """First commits of the segments that have a draft."""

    @property
    def total(self) -> int:
        return len(self.data.segments) if self.data.plan is not None else 0

    @property
    def cursor(self) -> int:
        return self.data.cursor

    def put_cursor(self, index: int) -> None:
        self.data.cursor = index

    def redraw(self, index: int) -> None:
        """Redraw a row if it is visible."""
        top = self.scroll_offset.y
        if top <= index < top + self.height:
            self.refresh_line(index)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        """Number, state, level, topic, tokens now and then."""
        data = self.data
        if data.plan is None:
            return line_of([], width, style.text, sign.ellipsis)
        choice = data.plan.choices[at]
        first = choice.sources[0] if choice.sources else 0
        if data.trouble(choice):
            state = sign.attention
        elif data.writer(choice) == "by hand" or first in self.drafts:
            state = sign.edited
        else:
            state = sign.ellipsis if data.awaits_model(choice) else " "
        segment, size, here = data.segments[at], data.size(choice), at == data.cursor
        on_row = style.on_row(here=here)
        text, strong, dim, accent, warm = on_row
        words = strong if here else text
        letter = LEVEL_NAMES[choice.level][0]
        after = f"{'' if size.exact else '~'}{short(size.tokens)}"
        before = short(segment.tokens) if width >= WITH_BOTH else ""
        same = choice.level == 0
        right: list[Part] = [
            (before.rjust(TOKEN_CELLS + 1) if before else "", dim),
            (("" if same else after).rjust(TOKEN_CELLS + 1), accent if size.exact else dim),
        ]
        if same and not before:
            right = [(after.rjust(TOKEN_CELLS + 1), dim)]
        cells = sum(len(part) for part, _ in right)
        left: list[Part] = [
            cursor_bar(on_row, sign, here=here, focused=self.has_focus),
            (segment.id.removeprefix("s").rjust(len(data.segments[-1].id) - 1), dim),
            (state, warm),
            (f"{letter} ", dim if same else accent),
        ]
        room = width - cells - sum(len(part) for part, _ in left) - 1
        topic = cut(display_line(title_of(segment) or segment.id), max(room, 0), sign.ellipsis)
        strip = line_of([*left, (topic, words)], width - cells - 1, text, sign.ellipsis)
        end = line_of(right, cells + 1, text, sign.ellipsis)
        return Strip([*strip, *end], width)


@dataclass(frozen=True)
class LevelFigures:
    """The state of a level: not previewed yet, its figures, or why there are none."""

    tokens: int | None = None
    ratio: float = 0.0
    fidelity: float | None = None
    passes: bool = False
    trouble: str = ""


def level_figures(data: CompressModel, choice: Choice) -> LevelFigures:
    """The figures of a choice, if they are known yet."""
    found = data.shown(choice)
    if found is not None:
        compressed, fidelity = found.compressed, found.fidelity
        return LevelFigures(
            compressed.token_count,
            compressed.compression_ratio,
            fidelity.overall_score,
            fidelity.passes_threshold,
        )
    if choice.level is Level.FULL and data.current is not None:
        return LevelFigures(data.current.tokens)
    return LevelFigures(trouble=data.trouble(choice))


class LevelsLine(ClickLine):
    """`1 Full 4,012   2 Detailed 1,312 3.1:1 .92 ✓   ▌3 Brief 388 10.3:1 .91 ✓`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._figures: tuple[LevelFigures, ...] = ()
        self._chosen = 0

    def show(self, figures: tuple[LevelFigures, ...], chosen: int) -> None:
        """Show other figures; pass none to clear the line."""
        if (figures, chosen) != (self._figures, self._chosen):
            self._figures, self._chosen = figures, chosen
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The longest form that fits."""
        parts: list[Part] = []
        for names, ratios, scores in (
            (True, True, True),
            (True, True, False),
            (True, False, False),
            (False, False, False),
        ):
            parts = self._parts(style, sign, names=names, ratios=ratios, scores=scores)
            if cells_of(parts) <= self.size.width:
                break
        return parts, []

    def _parts(
        self, style: Palette, sign: Glyphs, *, names: bool, ratios: bool, scores: bool
    ) -> list[Part]:
        parts: list[Part] = []
        self.spots.clear()
        for level, each in enumerate(self._figures):
            here = level == self._chosen
            at = cells_of(parts)
            parts.append((sign.bar if here else " ", style.accent))
            parts.append((f"{level + 1} ", style.accent))
            full_name = level_name(level)
            name = full_name if names else full_name[0] if here else ""
            parts.append((f"{name} " if name else "", style.strong if here else style.dim))
            if each.trouble:
                parts.append((f"{sign.attention} ", style.warm))
            elif each.tokens is None:
                parts.append((f"{sign.ellipsis} ", style.faint))
            else:
                parts.append((short(each.tokens), style.text if here else style.dim))
                if level and ratios:
                    parts.append((f" {each.ratio:.1f}:1", style.dim))
                if level and scores and each.fidelity is not None:
                    verdict = sign.promoted if each.passes else sign.rejected
                    how = style.accent if each.passes else style.warm
                    parts.append((f" {figure(each.fidelity)}{verdict}", how))
            self.spots.append((at, cells_of(parts), keys.LEVELS[level].id))
            parts.append(("  " if names else " ", style.text))
        return parts


class WholeBar(BarLine):
    """`whole 48,120 → 9,204 ████▒▒▒|▒▒▒ target 8,000, 1,204 over      offline engine`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._now: tuple[int, int, bool, int | None, str] | None = None

    def show(
        self, before: int, after: int, target: int | None, engine: str, *, exact: bool
    ) -> None:
        """Show other sizes; `exact` False when some of them are estimates."""
        now = (before, after, exact, target, engine)
        if now != self._now:
            self._now = now
            self.refresh()

    def clear(self) -> None:
        """Clear the bar, for no context."""
        if self._now is not None:
            self._now = None
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The bar takes the room beside the numbers; with too little it is left out."""
        if self._now is None:
            return [], []
        before, after, exact, target, engine = self._now
        over = exact and target is not None and after > target
        sizes: list[Part] = [
            (" whole ", style.dim),
            (f"{before:,} {sign.arrow} ", style.text),
            (f"{'' if exact else '~'}{after:,}", style.warm if over else style.accent),
            (" ", style.text),
        ]
        goal: list[Part] = []
        if target is None:
            goal.append((" f: fit to budget ", style.faint))
        else:
            verdict = f"{after - target:,} over" if over else sign.promoted
            goal = [(f" target {target:,} ", style.text)]
            if exact:
                goal.append((f"{verdict} ", style.warm if over else style.accent))
        end: list[Part] = [(f" {engine} ", style.dim)]
        room = self.size.width - cells_of([*sizes, *goal, *end]) - 3
        bar = []
        if room >= NARROWEST_BAR:
            bar = _bar(min(room, WIDEST_BAR), before, after, target, style, sign, over=over)
        return [*sizes, *bar, *goal], [end, []]


def _bar(
    cells: int,
    before: int,
    after: int,
    target: int | None,
    style: Palette,
    sign: Glyphs,
    *,
    over: bool,
) -> list[Part]:
    whole = max(before, after, target or 0, 1)
    kept = min(max(round(after * cells / whole), 1 if after else 0), cells)
    drawn = [sign.shades[0]] * kept + [sign.shades[-1]] * (cells - kept)
    styles = [style.warm if over else style.accent] * kept + [style.faint] * (cells - kept)
    if target is not None:
        at = min(max(round(target * cells / whole), 0), cells - 1)
        drawn[at], styles[at] = "|", style.strong
    return list(zip(drawn, styles, strict=True))


class OriginalPane(TextPane):
    """A segment as it was written, with its anchors in brackets."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._shown: tuple[object, ...] = ()

    def forget(self) -> None:
        """Draw again next time, even the same segment."""
        self._shown = ()

    def draw(self, data: CompressModel, lost: LostRow | None) -> None:
        """Show the segment under the cursor with a lost piece highlighted, if that changed."""
        segment, found = data.current, data.current_preview
        if segment is None:
            return
        anchors = found.compressed.anchors if found is not None else ()
        place = None if lost is None else (lost.turn, lost.start, lost.end)
        now = (segment, anchors, place)
        if now == self._shown:
            return
        same = bool(self._shown) and self._shown[0] == segment
        self._shown = now
        signs = glyphs(self.app)
        blocks, reveal = original_blocks(segment, anchors, signs, place, data.speakers)
        turns = count(sum(bool(turn.text.strip()) for turn in segment.turns), "turn")
        self.show(
            blocks,
            title=f"Full {segment.tokens:,} {signs.dot} {turns}",
            reveal=reveal,
            keep_scroll=same and reveal is None,
        )


HEADINGS = frozenset(f"{section.value}:" for section in Section)


class SummaryPane(HeadingPane):
    headings = HEADINGS

    class Clicked(Message):
        """A marker was clicked."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._marked: Mapping[int, Path] = {}
        """The markers by the blocks that end with them."""
        self._about: tuple[tuple[int, ...], Level] | None = None
        """The commits and the level whose summary is shown; None for a note in its place."""
        self._segment: object = None
        """The segment that the places belong to."""
        self._places: dict[Level, tuple[int, str]] = {}
        """Where each level was left: the first row in sight and its heading."""
        self._left_at = ""
        """The heading at which the last level was left."""
        self._revealed: Path | None = None
        """The marker that was scrolled to last."""

    def draw(self, data: CompressModel, markers: Markers, live: str | None) -> None:
        """Show the summary of the segment under the cursor; `live`: the model's text so far.

        Another level begins at the heading at which the last one was left.
        """
        choice, found = data.choice, data.current_preview
        if choice is None:
            return
        self._remember(choice.sources)
        signs, name = glyphs(self.app), level_name(choice.level)
        if live is not None:
            words = live or f"It reads the segment {signs.ellipsis}"
            block = Block(words, "text" if live else "dim", first=(Run(" "),))
            title = f"{name} {signs.dot} writing, {shared.BACK.key} stops"
            self.show([block], title=title, keep_scroll=self._about is None)
            self._about = None
            return
        if found is None:
            trouble = data.trouble(choice)
            words = trouble or f"{name} is being written {signs.ellipsis}"
            sign = (Run(f" {signs.attention} " if trouble else " ", "warm"),)
            self.show([Block(words, "dim", first=sign)], title=name)
            self._about = None
            return
        checked = data.checked.get(data.offline_plan(choice)[0])
        matches = checked.matches if checked is not None else ()
        blocks, marked = summary_blocks(found, markers, matches, signs)
        note = writer_note(data, choice, signs)
        if note is not None:
            blocks.insert(0, note)
            marked = {block + 1: path for block, path in marked.items()}
        about = (choice.sources, choice.level)
        same, self._about = about == self._about, about
        reveal = None
        if markers.chosen is not None and markers.chosen != self._revealed:
            reveal = next((at for at, path in marked.items() if path == markers.chosen), None)
        self._revealed = markers.chosen
        self._marked = marked
        self.show(
            blocks,
            title=summary_title(found, signs),
            hints=(f"{keys.EXPAND.key} expands", keys.EXPAND.key)
            if found.compressed.expansion_markers
            else (),
            reveal=reveal,
            keep_scroll=same and reveal is None,
        )
        if not same and reveal is None:
            self._return_to(choice.level)

    def reveal(self, marker: Path, *, now: bool = True) -> None:
        """Scroll to a marker when it is drawn next, or with `now` False leave the text in place."""
        self._revealed = None if now else marker

    def _remember(self, segment: object) -> None:
        """Note where the summary on the screen is left."""
        if self._about is not None:
            if self.has_headings:  # tags have none
                self._left_at = self.section
            self._places[self._about[1]] = self.scroll_offset.y, self._left_at
        if segment != self._segment:
            self._segment, self._left_at = segment, ""
            self._places.clear()
            self.forget_heading()

    def _return_to(self, level: Level) -> None:
        """Scroll to where a level was left, or to the heading at which the last one was."""
        row, heading = self._places.get(level, (0, ""))
        self.forget_heading()
        if level in self._places and heading == self._left_at:
            self._place(row)
            self.refresh()
        else:
            self.go_to_section(self._left_at)

    def on_click(self, event: events.Click) -> None:
        """Report the marker that was clicked."""
        at = self.scroll_offset.y + event.y - HEADER_ROWS
        if event.y < HEADER_ROWS or at >= len(self._lines):
            return
        line = self._lines[at]
        path = self._marked.get(line.block)
        if path is not None and any(run.style in MARKER_STYLES for run in line.runs):
            event.stop()
            self.post_message(self.Clicked(path))


class LostList(LoadedList[LostRow]):
    """The losses of a level, heaviest first; below them the pinned spans of the segment."""

    class Selected(Message):
        """The cursor is on another row."""

    def __init__(self, title: TitleRule, *, id: str | None = None) -> None:  # noqa: A002
        """`title` is the rule above the list."""
        super().__init__(id=id)
        self._title = title
        self._about: tuple[object, ...] = ()

    def draw(self, data: CompressModel) -> None:
        """Show the losses of the segment under the cursor at its level."""
        choice, found = data.choice, data.current_preview
        if choice is None:
            return
        if found is None or choice.level is Level.FULL:
            self.empty = ("Full loses nothing.",) if choice.level is Level.FULL else ()
            self.show((), keep=False)
            self._title.show("Loses")
            self._about = ()
            return
        signs = glyphs(self.app)
        above = data.shown(data.at_level(choice, Level(choice.level - 1)))
        new = newly_lost(found.fidelity, above.fidelity if above is not None else None)
        rows = lost_rows(found, new)
        about = (choice.segment, choice.level)
        same, self._about = self._about == about, about
        total = len(found.fidelity.lost_information)
        detail = "heaviest first" if total else "nothing important"
        if total and choice.level > Level.DETAILED and above is not None:
            detail = f"{len(new):,} new since {level_name(choice.level - 1)}"
        self.empty = ()
        self.remark = (
            f"{keys.PIN_LOST.key} pin {signs.dot} {keys.RETAIN_LOST.key} "
            f"retain {signs.dot} {keys.EXPAND.key} show"
            if rows
            else ""
        )
        many = f"Loses {total:,}{'+' if total >= MOST_LOST else ''}" if total else "Loses"
        self._title.show(many, detail)
        self.show(rows, keep=same)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Keep moves here apart from those among the segments."""
        message.stop()
        self.post_message(self.Selected())

    def show(self, rows: Sequence[LostRow], *, keep: bool) -> None:
        """Show other rows, the cursor on the first, or unmoved with `keep`."""
        self.rows = rows
        self._cursor = max(0, min(self._cursor if keep else 0, len(rows) - 1))
        self.rows_changed()

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        """`− VendorClient.list_all  ×7 identifier`; `·`: the level above lost it already."""
        row, here = self.rows[at], at == self._cursor
        on_row = style.on_row(here=here)
        text, strong, dim, accent, warm = on_row
        mark: Part = (sign.minus, warm) if row.new else (sign.earlier, dim)
        if row.pinned:
            mark = (sign.pinned, accent)
        times = f" {sign.times}{row.times:,}" if row.times > 1 else ""
        kind = f" {row.kind} " if width >= WITH_KIND else " "
        bar = cursor_bar(on_row, sign, here=here, focused=self.has_focus)
        room = width - 3 - len(times) - len(kind)
        words = cut(display_line(row.text[:LOST_CHARACTERS]), max(room, 0), sign.ellipsis)
        style_of = strong if here else text if row.new or row.pinned else dim
        left = line_of(
            [bar, mark, (" ", text), (words, style_of), (times, warm)],
            width - len(kind),
            text,
            sign.ellipsis,
        )
        return Strip([*left, *line_of([(kind, dim)], len(kind), text, sign.ellipsis)], width)


class LevelColumns(Horizontal):
    """The four levels of a segment side by side."""

    LEAST = 100
    """Screen width in columns that they need."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.panes = [TextPane(id=f"level-{int(level)}") for level in Level]
        self._segment: object = None

    def compose(self) -> ComposeResult:
        for number, pane in enumerate(self.panes):
            if number:
                yield Separator()
            yield pane

    def draw(self, data: CompressModel) -> None:
        """Draw the state of every level of the segment under the cursor."""
        choice, segment = data.choice, data.current
        signs = glyphs(self.app)
        sources = choice.sources if choice is not None else None
        same, self._segment = sources == self._segment, sources
        for level, pane in zip(Level, self.panes, strict=True):
            if choice is None or segment is None:
                pane.show([], title=level_name(level))
                continue
            at_level = data.at_level(choice, level)
            found = data.shown(at_level)
            here = f"{signs.bar} " if level == choice.level else ""
            if level is Level.FULL:
                anchors = found.compressed.anchors if found is not None else ()
                blocks, _ = original_blocks(segment, anchors, signs, recorded=data.speakers)
                pane.show(blocks, title=f"{here}Full {segment.tokens:,}", keep_scroll=same)
            elif found is None:
                words = data.trouble(at_level) or signs.ellipsis
                pane.show([Block(words, "dim", first=(Run(" "),))], title=here + level_name(level))
            else:
                blocks, _ = summary_blocks(found, Markers(), (), signs)
                title = here + summary_title(found, signs).replace("fidelity ", "")
                pane.show(blocks, title=title, keep_scroll=same)
