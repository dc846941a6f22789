"""The parts of the Commits screen: the rows, one commit, and the lines about tokens."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.text.token_numbers import short_count
from reviewer.tui.commits import keys
from reviewer.tui.commits.model import (
    PATTERNS_SHOWN,
    PRIORITIES,
    CommitsModel,
    Shown,
    shares,
    tokens_by_priority,
)
from reviewer.tui.history.keys import UNDO_ACT
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.contexts import HASH_CHARACTERS, priority_sign
from reviewer.tui.kit.line import BarLine, Part, cells_of, cut, line_of
from reviewer.tui.kit.row_list import StoredList, cursor_bar
from reviewer.tui.kit.text import Block, Run, Span, count, moment
from reviewer.tui.kit.tool_calls import call_line, speaker, written_by_program
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.commits.values import (
        Annotation,
        CommitRow,
        CommitView,
        Imported,
        PatternCheck,
        TokenTotals,
    )
    from reviewer.compression.fit import Outlook, Reach

WITH_HASH, WITH_ROLE = 56, 36
"""Narrower lists leave out the hash, then the role."""
ROLE_CELLS, TOKEN_CELLS = 9, 6
LABEL_CELLS = 12
EARLIER_SHOWN = 5
WIDEST_BAR, NARROWEST_BAR = 40, 8
_TAG = re.compile(r"</?[\w-]+(?: [^<>]*)?>")


# the list


class CommitList(StoredList[CommitsModel]):
    """Draws a `CommitsModel` and moves its cursor."""

    def __init__(self, model: CommitsModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(model, id=id)
        self.highest_id = 0
        """The highest id of the context, for the width of the column."""

    def redraw_commits(self, ids: Collection[int]) -> None:
        """Redraw the visible ones of these commits."""
        top = self.scroll_offset.y
        for at in range(top, min(top + self.height, self.total)):
            if self.model.ids[at] in ids:
                self.refresh_line(at)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        model = self.model
        row, here, marked = model.row(at), at == model.cursor, model.is_marked(at)
        on_row = style.on_row(here=here)
        text, _, dim, accent, warm = on_row
        bar = cursor_bar(on_row, sign, here=here, focused=self.has_focus)
        if row is None:  # the commit no longer exists
            return line_of(
                [bar, (f"  gone: {shared.REFRESH.key} reads the context again", dim)],
                width,
                text,
                sign.ellipsis,
            )
        styles: dict[str, Style] = {"pinned": accent, "important": warm}
        columns = f"{row.id:>{len(str(self.highest_id))}} "
        if width >= WITH_HASH:
            columns += display_line(row.hash[:HASH_CHARACTERS]).ljust(HASH_CHARACTERS) + " "
        after = ""
        if width >= WITH_ROLE:
            word = cut(display_line(speaker(row)), ROLE_CELLS, sign.ellipsis)
            after = word.ljust(ROLE_CELLS)
        after += f"{row.tokens:>{TOKEN_CELLS + 1},} "
        words = text
        if marked:
            words = warm
        elif row.priority == "skip" or written_by_program(row):
            words = dim
        elif here:
            words = style.strong_here
        return line_of(
            [
                bar,
                (sign.mark if marked else " ", warm),
                (columns, dim),
                (priority_sign(row.priority, sign), styles.get(row.priority, dim)),
                (_criteria_sign(row, sign), warm),
                (after, dim),
                (display_line(row_words(row)[: width * 2]), words),
            ],
            width - 1,
            text,
            sign.ellipsis,
        ).extend_cell_length(width, text)


def row_words(row: CommitRow) -> str:
    """The text of a commit in its row: the tool's name for a call, else the first line."""
    if row.type == "tool_call" and not row.edited:
        return " ".join(call_line(row).split())
    if written_by_program(row):
        return " ".join(_TAG.sub(" ", row.first_line).split()) or row.first_line
    return row.first_line


def _criteria_sign(row: CommitRow, sign: Glyphs) -> str:
    """How many criteria a commit has, and whether its text was edited, in two cells."""
    many = str(row.criteria) if row.criteria < 10 else "+"
    return f"{many if row.criteria else ' '}{sign.edited if row.edited else ' '}"


# one commit


def commit_title(view: CommitView, signs: Glyphs) -> str:
    """`c3f9e21  user · 412 tok · ◆ important`."""
    row = view.row
    who = speaker(row)
    if view.name and view.name != who:
        who += f" {view.name}"
    if written_by_program(row):
        who += ", not typed by the user"
    sign = "" if row.priority == "normal" else f"{priority_sign(row.priority, signs)} "
    parts = (who, f"{row.tokens:,} tok", f"{sign}{row.priority}")
    return f"{row.hash[:HASH_CHARACTERS]}  {f' {signs.dot} '.join(parts)}"


def text_blocks(shown: Shown, matches: Sequence[Span]) -> list[Block]:
    """The text: matches of criteria are marked strongly, other anchors lightly."""
    view = shown.view
    more = f", {shared.OPEN_SOURCE.key} opens the source" if view.source_line is not None else ""
    margin = (Run(" "),)
    if not view.text.strip():
        return [Block("This commit has no text.", "faint", first=margin)]
    style = "dim" if view.row.priority == "skip" else "text"
    text, spans = view.text, (*matches, *_uncovered(shown.anchors, matches))
    if shown.call is not None:
        text, spans = shown.call.text, shown.call.moved(spans)
    return [Block(text, style, spans, first=margin, more=more)]


def _uncovered(anchors: Sequence[Span], matches: Sequence[Span]) -> list[Span]:
    """The parts of anchors that no match covers."""
    found = []
    for anchor in anchors:
        start = anchor.start
        for match in matches:
            if match.end <= start or match.start >= anchor.end:
                continue
            if match.start > start:
                found.append(Span(start, match.start, anchor.style, here=False))
            start = max(start, match.end)
        if start < anchor.end:
            found.append(Span(start, anchor.end, anchor.style, here=False))
    return found


_UNCHECKED = {
    "pinned": "pinned: kept whole, so these need no check",
    "normal": "normal: not checked until the commit is important (i)",
    "skip": "skip: left out; these are checked again when it is important (i)",
}
"""The meaning of criteria on a commit that is not important."""


def survival_blocks(shown: Shown, signs: Glyphs) -> list[Block]:
    """The retention rules of a commit, whether each matches, and who decided when and why."""
    view = shown.view
    retention, row = view.retention, view.row
    blocks = []
    if retention.instructions:
        blocks.append(_labelled("retain", retention.instructions, "text"))
    known = {check.pattern: check for check in shown.checks}
    for pattern in retention.patterns[:PATTERNS_SHOWN]:
        check = known.get(pattern)
        quoted = f'"{pattern.text}"' if pattern.mode == "substring" else pattern.text
        result, style = verdict(check, signs) if check else ("", "faint")
        text = f"{quoted}   {result}"
        span = Span(len(text) - len(result), len(text), style)
        label = "match" if pattern.mode == "substring" else "regex"
        blocks.append(_labelled(label, text, "text", (span,)))
    beyond = len(retention.patterns) - PATTERNS_SHOWN
    if beyond > 0:
        blocks.append(_labelled("", f"and {beyond:,} more: {keys.RETAIN.key} shows all", "faint"))
    if retention and row.priority in _UNCHECKED:
        blocks.append(_labelled("", _UNCHECKED[row.priority], "warm"))
    if shown.draft:
        blocks.append(
            _labelled("", f"{signs.edited} draft kept: {keys.RETAIN.key} continues", "warm")
        )
    if not retention:
        bare = row.priority == "important"
        nothing = "no rules yet, compressed with care" if bare else "no rules yet"
        blocks.append(_labelled("retain", f"{nothing}: {keys.RETAIN.key} adds them", "faint"))
    blocks += _decisions(view, signs)
    if view.original is not None:
        remark = f"{signs.edited} the original is kept: {keys.EDIT.key} shows what changed"
        blocks.append(_labelled("edited", remark))
    if view.summary_of:
        hashes = " ".join(each[:HASH_CHARACTERS] for each in view.summary_of[:8])
        more = f" {signs.ellipsis}" if len(view.summary_of) > 8 else ""
        blocks.append(
            _labelled("summary of", f"{count(len(view.summary_of), 'commit')}: {hashes}{more}")
        )
    if view.written_by:
        blocks.append(_labelled("written by", display_line(view.written_by)))
    for order in view.orders:
        blocks.append(
            _labelled("injection", f'reads like a planted order: "{display_line(order)}"', "warm")
        )
    if view.at:
        blocks.append(_labelled("at", moment(view.at)))
    return blocks


def _labelled(label: str, text: str, style: str = "dim", spans: tuple[Span, ...] = ()) -> Block:
    return Block(text, style, spans, (Run(f" {label}".ljust(LABEL_CELLS + 1), "faint"),))


def _decisions(view: CommitView, signs: Glyphs) -> list[Block]:
    if not view.annotations:
        row = view.row
        sign = priority_sign(row.priority, signs)
        return [
            _labelled(
                "priority", f"{sign} {row.priority}, the default of {row.type.replace('_', ' ')}"
            )
        ]
    blocks = [_labelled("priority", _decision(view.annotations[0], signs))]
    earlier = view.annotations[1:]
    for place, each in enumerate(earlier[:EARLIER_SHOWN]):
        blocks.append(_labelled("before" if not place else "", _decision(each, signs), "faint"))
    if len(earlier) > EARLIER_SHOWN:
        blocks.append(_labelled("", f"and {len(earlier) - EARLIER_SHOWN:,} earlier", "faint"))
    return blocks


def _decision(annotation: Annotation, signs: Glyphs) -> str:
    """`◆ important by you, 2026-02-14 10:22, "finance asked"`."""
    sign = priority_sign(annotation.priority, signs)
    who = f"{sign} {annotation.priority} by {annotation.actor}, {moment(annotation.at)}"
    return f'{who}, "{annotation.reason}"' if annotation.reason else who


def verdict(check: PatternCheck, signs: Glyphs) -> tuple[str, str]:
    """A check in words, and their style: `✓ matches here (2)`."""
    match check.state:
        case "matches":
            return f"{signs.promoted} matches here ({check.matches:,})", "accent"
        case "missing":
            return f"{signs.rejected} not in this commit", "warm"
        case "bad":
            at = f" at column {check.column + 1}" if check.column is not None else ""
            return f"{signs.attention} bad regex{at}", "warm"
        case "slow":
            return f"{signs.attention} too slow", "warm"


def imported_words(done: Imported) -> str:
    """A sentence about an import, and the lines that it skipped."""
    name = display_line(done.context.name)
    if not done.commits:
        return f"{name} has all of that file already: nothing was added."
    words = f"{name}: {count(done.commits, 'commit')} imported"
    if done.skipped:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in done.skipped.items())
        words += f", passed over: {display_line(reasons)}"
    return f"{words} - {shared.SHOW_HISTORY.key} shows the act, {UNDO_ACT.key} there takes it back"


# the lines about tokens


class Balance(BarLine):
    """`tokens ███▓▓▓▒▒▒▒▒░  ● 1,204  ◆ 3,880  · 40,726  ∅ 2,310`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._tokens: dict[str, int] = {}

    def show(self, totals: TokenTotals | None) -> None:
        tokens = {} if totals is None else tokens_by_priority(totals)
        if tokens != self._tokens:
            self._tokens = tokens
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The bar takes the cells beside the numbers; with too few it is left out."""
        if not self._tokens:
            return [], []
        styles = dict(
            zip(PRIORITIES, (style.accent, style.warm, style.dim, style.faint), strict=True)
        )
        label: list[Part] = [(" tokens ", style.dim)]
        numbers: list[Part] = []
        for priority, tokens in self._tokens.items():
            numbers.append((f" {priority_sign(priority, sign)} ", styles[priority]))
            numbers.append((f"{tokens:,} ", style.text))
        room = self.size.width - cells_of([*label, *numbers]) - 1
        bar: list[Part] = []
        if room >= NARROWEST_BAR:
            parts = shares(list(self._tokens.values()), min(room, WIDEST_BAR))
            for priority, shade, cells in zip(PRIORITIES, sign.shades, parts, strict=True):
                bar.append((shade * cells, styles[priority]))
        return [*label, *bar, *numbers], []


class OutlookLine(BarLine):
    """Outlook after compressing, in one sentence."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._wordings: tuple[str, ...] = ()

    def show(self, wordings: Sequence[str]) -> None:
        """Show another sentence, given in several wordings, the longest first; the first that fits
        is drawn.
        """
        if tuple(wordings) != self._wordings:
            self._wordings = tuple(wordings)
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The longest wording that fits, else the shortest, cut."""
        room = self.size.width - 2
        fitting = [each for each in self._wordings if len(each) <= room] or self._wordings[-1:]
        return [(f" {text}", style.dim) for text in fitting[:1]], []


def outlook_wordings(outlook: Outlook, reach: Reach | None, signs: Glyphs) -> tuple[str, ...]:
    """Wordings of an outlook as one line, the longest first."""
    between = f" {signs.dot} "
    levels = between.join(
        f"{level.name.title()} {short_count(tokens)}"
        for level, tokens in sorted(outlook.at_level.items())
        if level > 0
    )
    floor = f"pins and anchors need {short_count(outlook.floor)}"
    if reach is None:
        whole = f"now {short_count(outlook.total)}, all of it at {levels}"
        return (
            f"{whole}{between}{floor}{between}w: what would fit",
            f"{whole}{between}{floor}",
            levels,
        )
    mark = signs.promoted if reach.reachable else signs.rejected
    verdict = f"{mark} {reach.target:,} {'can be reached' if reach.reachable else 'is too few'}"
    return (
        f"all of it at {levels}{between}{verdict}: {floor}",
        f"{levels}{between}{verdict}",
        verdict,
    )


def unmeasured_wordings(tokens: int) -> tuple[str, ...]:
    """Wordings for a context that is measured only on request."""
    return (
        f"Measuring what would be left of {short_count(tokens)} tokens "
        f"takes a while: {keys.WHAT_FITS.key} does it.",
        f"{keys.WHAT_FITS.key} measures what would be left.",
    )
