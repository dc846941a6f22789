"""What an edit changed against the original, word by word: `[-removed-] {+added+}`."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.text.word_diff import Hunk
from reviewer.tui.theme import Glyphs, glyphs
from reviewer.tui.widgets.text_layout import Block, Run, Span
from reviewer.tui.widgets.text_pane import TextPane

HINTS = ("{ } change {dot} backspace puts it back", "{ } {dot} backspace", "{ }")


class WordDiffView(TextPane):
    """The difference, with one change chosen."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._hunks: tuple[Hunk, ...] = ()
        self._chosen = 0

    @property
    def chosen(self) -> int | None:
        """The number of the chosen change, from 0; None when nothing was changed."""
        return self._chosen if self.changes else None

    @property
    def changes(self) -> int:
        """How many changes there are."""
        return sum(hunk.op != "equal" for hunk in self._hunks)

    def show_hunks(self, hunks: Sequence[Hunk]) -> None:
        """Show another difference; the chosen change stays the same number where it can."""
        self._hunks = tuple(hunks)
        self._chosen = max(0, min(self._chosen, self.changes - 1))
        self._draw(follow=False)

    def choose(self, number: int) -> None:
        """Choose a change and bring it into sight; beyond the ends does nothing."""
        if 0 <= number < self.changes:
            self._chosen = number
            self._draw(follow=True)

    def _draw(self, *, follow: bool) -> None:
        signs = glyphs(self.app)
        total = self.changes
        where = f" {signs.rule} change {self._chosen + 1} of {total}" if total else ""
        self.show(
            [diff_block(self._hunks, self._chosen, signs)],
            title=f"Against the original{where}",
            hints=[hint.replace("{dot}", signs.dot) for hint in HINTS] if total else (),
            reveal=0 if total else None,
            keep_scroll=not follow,
        )


def diff_block(hunks: Sequence[Hunk], chosen: int, signs: Glyphs) -> Block:
    """The difference as one text; brackets say what was removed and added, not colour alone."""
    margin = (Run(" "),)
    if all(hunk.op == "equal" for hunk in hunks):
        return Block("Nothing is changed yet.", "faint", first=margin)
    parts: list[str] = []
    spans: list[Span] = []
    length = number = 0

    def add(text: str, style: str, here: bool) -> None:
        nonlocal length
        parts.append(text)
        spans.append(Span(length, length + len(text), style, here))
        length += len(text)

    for hunk in hunks:
        if hunk.op == "equal":
            parts.append(hunk.original)
            length += len(hunk.original)
            continue
        here = number == chosen
        number += 1
        if here:
            add(signs.bar, "accent_here", here)
        if hunk.original:
            add(f"[-{hunk.original}-]", "warm_here" if here else "removed", here)
        if hunk.original and hunk.edited:
            parts.append(" ")
            length += 1
        if hunk.edited:
            add(f"{{+{hunk.edited}+}}", "accent_here" if here else "added", here)
    return Block("".join(parts), "dim", tuple(spans), first=margin)
