"""Deciding on the Compress screen: levels, pins and criteria from what is lost, undo."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.compressing import AnchorType, Level, MarkedSpan, Segment
from reviewer.errors import ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.bulk import carry
from reviewer.tui.kit.text import count
from reviewer.tui.left import was_left
from reviewer.tui.widgets.compress_lost import LostRow
from reviewer.tui.widgets.compress_row import level_name

if TYPE_CHECKING:
    from reviewer.engine import Annotated
    from reviewer.tui.screens.compress import CompressScreen

QUOTED = 60
"""Characters of a span that a message quotes."""


class CompressActs:
    """What the deciding keys of a `CompressScreen` do."""

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self._engine = screen.engine

    # levels

    def full(self) -> None:
        """The original."""
        self._choose(Level.FULL)

    def detailed(self) -> None:
        """About a third."""
        self._choose(Level.DETAILED)

    def brief(self) -> None:
        """About a tenth."""
        self._choose(Level.BRIEF)

    def tags(self) -> None:
        """About a fiftieth."""
        self._choose(Level.TAGS)

    def _choose(self, level: Level) -> None:
        screen, model = self._screen, self._screen.model
        choice = model.choice
        if choice is None:
            return
        by_hand = model.writer(choice) == "by hand"
        model.choose([choice.segment], level)
        screen.list.refresh_line(model.cursor - screen.list.scroll_offset.y)
        screen.showing.settle()
        kept = "; the text by hand is kept as a draft, e goes on with it" if by_hand else ""
        screen.say(f"{choice.segment}: {level_name(level)}{kept}")

    def same_level(self) -> None:
        """Every segment at the level of this one; those by hand stay."""
        screen, model = self._screen, self._screen.model
        choice, plan = model.choice, model.plan
        if choice is None or plan is None:
            return
        wanted = [
            each.segment
            for each in plan.choices
            if model.writer(each) != "by hand" and each.level != choice.level
        ]
        model.choose(wanted, choice.level)
        screen.list.refresh()
        screen.showing.settle()
        screen.say(f"{count(len(wanted), 'segment')} more at {level_name(choice.level)}.")

    # what is lost

    def _lost(self) -> tuple[Segment, LostRow, int, str]:
        """The segment, what is lost under the cursor, its commit and its text there."""
        segment, row = self._screen.model.current, self._screen.lost.current
        if segment is None or row is None:
            raise ReviewerError("This level loses nothing here.")
        turn = segment.turns[row.turn]
        if turn.commit is None:
            raise ReviewerError("This stands in no commit.")
        return segment, row, turn.commit, turn.text[row.start : row.end] or row.text

    async def pin(self) -> None:
        """Pin the span, or take its pin back."""
        segment, row, commit, text = self._lost()
        marks = self._engine.compression.marks
        if row.pinned:
            act = await to_thread(marks.unmark, commit, row.start, row.end)
            self._follow(act, f"Unpinned {quoted(text)}", segment)
            return
        span = MarkedSpan(commit, row.start, row.end, self._type(row))
        act = await to_thread(marks.mark, span)
        self._follow(act, f"Pinned {quoted(text)}", segment)

    def _type(self, row: LostRow) -> AnchorType:
        """The type of a lost anchor; a fact where it was none."""
        model = self._screen.model
        found = model.shown(model.choice) if model.choice is not None else None
        anchors = found.compressed.anchors if found is not None else ()
        place = (row.turn, row.start, row.end)
        same = (each.type for each in anchors if (each.turn, each.start, each.end) == place)
        return next(same, AnchorType.CRITICAL_FACT)

    async def retain(self) -> None:
        """Make the text a criterion of its commit, beside those that it has."""
        segment, _, commit, text = self._lost()

        def work() -> Annotated:
            held = self._engine.contexts.commit(commit).retention.patterns
            texts = [each.text for each in held if each.mode == "substring"]
            regexes = [each.text for each in held if each.mode == "regex"]
            return self._engine.contexts.annotate(
                commit, retain_match=[*texts, text], retain_regex=regexes
            )

        done = await to_thread(work)
        self._follow(done.act, f"Retained {quoted(text)}", segment, done.warnings)

    def _follow(self, act: int, words: str, segment: Segment, warnings: Sequence[str] = ()) -> None:
        """Say what was done and let the preview follow."""
        screen = self._screen
        remark = f" {display_line(warnings[0])}" if warnings else ""
        said = f"{words} - u to undo{remark}" if act else f"{words}: that held already."
        screen.model.forget([segment.id])
        screen.reading.wrote(said)

    # undo

    async def undo(self) -> None:
        """Take the last decision back."""
        undone = await carry(self._screen, self._engine, self._engine.history.undo, "Undoing")
        self._again(f"Undone: {display_line(undone.title)} - Z to redo")

    async def redo(self) -> None:
        """Do again what was undone."""
        redone = await carry(self._screen, self._engine, self._engine.history.redo, "Redoing")
        self._again(f"Redone: {display_line(redone.title)} - u to undo")

    def _again(self, words: str) -> None:
        if was_left(self._screen):
            self._screen.say(words)
            return
        self._screen.model.forget_all()
        self._screen.reading.wrote(words)


def quoted(text: str) -> str:
    """A span in a message."""
    words = " ".join(display_line(text).split())
    return f'"{words}"' if len(words) <= QUOTED else f'"{words[: QUOTED - 3]}..."'
