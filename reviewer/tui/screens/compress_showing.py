"""Drawing the Compress screen: what is wanted of the desk, and what it brought, into the panes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.compressing import (
    MOST_LOST,
    RATIOS,
    Choice,
    Criteria,
    Level,
    SegmentPreview,
    criteria,
    newly_lost,
)
from reviewer.errors import ConflictError, ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.kit.contexts import match_spans
from reviewer.tui.kit.text import Block, Run, Span, count, fit
from reviewer.tui.resting import Resting
from reviewer.tui.screens.compress_desk import Job
from reviewer.tui.screens.compress_reading import CHANGED
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.compress_bars import LevelFigures
from reviewer.tui.widgets.compress_checks import check_blocks
from reviewer.tui.widgets.compress_lost import LostRow, lost_rows
from reviewer.tui.widgets.compress_original import original_blocks
from reviewer.tui.widgets.compress_row import level_name
from reviewer.tui.widgets.compress_summary import summary_blocks, summary_title

if TYPE_CHECKING:
    from reviewer.engine import PatternCheck
    from reviewer.tui.compress_model import Key
    from reviewer.tui.screens.compress import CompressScreen

PREVIEWED_TOKENS = 400_000
"""A context of more tokens is previewed where the cursor is, and its size is an estimate."""
TITLE_CELLS, NAME_CELLS = 8, 10


class Checked(Struct, frozen=True):
    """Criteria of a segment against a summary."""

    asked: Criteria
    checks: tuple[PatternCheck, ...]
    matches: tuple[Span, ...]


class CompressShowing:
    """Fills the panes of a `CompressScreen`."""

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self._resting = Resting(screen, self.settle)
        self._checked: dict[Key, Checked] = {}
        self._drawn: tuple[object, ...] = ()
        self._lost: tuple[object, ...] = ()
        self._summarized: tuple[object, ...] = ()
        self.place: LostRow | None = None
        """What is lost and shown in the original."""

    # what is wanted

    def follow(self) -> None:
        """The cursor moved: show its segment at once, or while skimming when it rests."""
        self._resting.moved()
        if self._resting.waits:
            self._screen.desk.want([])

    def settle(self) -> None:
        """Show the segment under the cursor, and ask for what is not known of it."""
        self._resting.stop()
        self.place = None
        self._screen.unfolding.forget()
        self.draw()
        self.want()

    def follow_lost(self) -> None:
        """The cursor went to something else that is lost: mark it in the original."""
        model, row = self._screen.model, self._screen.lost.current
        if model.choice is not None and row is not None:
            self.place = row
            self._draw_original(model.shown(model.choice))

    def read_done(self) -> None:
        """The context was read: measure the list, draw everything, ask for previews."""
        screen = self._screen
        screen.desk.start_over()
        screen.set_class(screen.model.plan is None and not screen.busy, "-empty")
        screen.list.rows_changed()
        self._drawn = ()
        self.show_title()
        self.settle()

    def want(self) -> None:
        """Ask the desk for the segment under the cursor, then for its neighbours, then for all."""
        screen, model = self._screen, self._screen.model
        if model.plan is None or model.choice is None:
            screen.desk.want([])
            return
        here, jobs = model.choice, []
        near = [here.level, Level(max(here.level - 1, 0)), *Level]
        wanted = [model.at_level(here, level) for level in near]
        choices = model.plan.choices
        wanted += choices[model.cursor + 1 : model.cursor + 3]
        if model.sent <= PREVIEWED_TOKENS:
            wanted += [each for each in choices if each.level is not Level.FULL]
        seen: set[Key] = set()
        for choice in wanted:
            job = self._job(choice)
            if job is not None and job[0] not in seen:
                seen.add(job[0])
                jobs.append(job[1])
        screen.desk.want(jobs)

    def _job(self, choice: Choice) -> tuple[Key, Job] | None:
        """The job that previews a choice; None where it is known already."""
        model, engine = self._screen.model, self._screen.engine
        key, plan = model.part(choice)
        if key in model.previews or key in model.troubles:
            return None

        def work() -> tuple[SegmentPreview, Checked]:
            found = engine.compression.preview(plan).segments[0]
            return found, self.check(found)

        return key, Job(key, work, lambda found: self.took(key, *found), self._failed(key))

    def check(self, found: SegmentPreview) -> Checked:
        """The criteria of a segment against its summary; safe in a worker."""
        asked = criteria(found.segment)
        text = found.compressed.content
        checks = self._screen.engine.contexts.check(asked.patterns, text)
        return Checked(asked, checks, match_spans(checks, text))

    def took(self, key: Key, found: SegmentPreview, checked: Checked) -> None:
        """A preview is there."""
        model = self._screen.model
        model.previews[key] = found
        model.troubles.pop(key, None)
        self._checked[key] = checked
        self._redraw(key)

    def _failed(self, key: Key) -> Callable[[ReviewerError], None]:
        def tell(error: ReviewerError) -> None:
            if isinstance(error, ConflictError):
                self._screen.reading.read_again(CHANGED)
                return
            self.failed(key, str(error))

        return tell

    def failed(self, key: Key, sentence: str) -> None:
        """There is no preview, and why."""
        self._screen.model.troubles[key] = sentence
        self._redraw(key)

    def _redraw(self, key: Key) -> None:
        screen, model = self._screen, self._screen.model
        at = model.at(key.segment)
        if at is None:
            return
        top = screen.list.scroll_offset.y
        if top <= at < top + screen.list.height:
            screen.list.refresh_line(at - top)
        if self._resting.waits:
            return  # the panes wait until the cursor rests
        self.show_whole()
        if at == model.cursor:
            self.draw()

    # the panes

    def draw(self) -> None:
        """Draw everything about the segment under the cursor that changed."""
        screen, model = self._screen, self._screen.model
        choice, segment = model.choice, model.current
        self.show_whole()
        if choice is None or segment is None:
            for pane in (screen.original, screen.summary, screen.checks):
                pane.show([], title="")
            screen.lost.show((), keep=False)
            screen.lost_title.show("")
            screen.levels.show((), 0)
            self._drawn = ()
            return
        screen.levels.show(
            tuple(self._figures(model.at_level(choice, level)) for level in Level), choice.level
        )
        found = model.shown(choice)
        self._draw_lost(choice, found)
        self._draw_original(found)
        self._draw_summary(choice, found)
        if screen.has_class("all-levels"):
            screen.columns.draw()

    def _figures(self, choice: Choice) -> LevelFigures:
        model = self._screen.model
        found = model.shown(choice)
        if found is None:
            if choice.level is Level.FULL and model.current is not None:
                return LevelFigures(model.current.tokens)
            return LevelFigures(trouble=model.trouble(choice))
        fidelity = found.fidelity
        return LevelFigures(
            found.compressed.token_count,
            found.compressed.compression_ratio,
            fidelity.overall_score,
            fidelity.passes_threshold,
        )

    def _draw_original(self, found: SegmentPreview | None) -> None:
        screen, segment = self._screen, self._screen.model.current
        if segment is None:
            return
        anchors = found.compressed.anchors if found is not None else ()
        row = self.place
        place = None if row is None else (row.turn, row.start, row.end)
        now = (segment, anchors, place)
        if now == self._drawn:
            return
        same = bool(self._drawn) and self._drawn[0] == segment
        self._drawn = now
        signs = glyphs(screen.app)
        blocks, reveal = original_blocks(segment, anchors, signs, place)
        turns = count(sum(bool(turn.text.strip()) for turn in segment.turns), "turn")
        screen.original.show(
            blocks,
            title=f"Full {segment.tokens:,} {signs.dot} {turns}",
            reveal=reveal,
            keep_scroll=same and reveal is None,
        )

    def _draw_lost(self, choice: Choice, found: SegmentPreview | None) -> None:
        screen, signs = self._screen, glyphs(self._screen.app)
        if found is None or choice.level is Level.FULL:
            screen.lost.empty = ("Full loses nothing.",) if choice.level is Level.FULL else ()
            screen.lost.show((), keep=False)
            screen.lost_title.show("Loses", "")
            self._lost = ()
            return
        above = screen.model.shown(screen.model.at_level(choice, Level(choice.level - 1)))
        new = newly_lost(found.fidelity, above.fidelity if above is not None else None)
        rows = lost_rows(found, new)
        about = (choice.segment, choice.level)
        same = bool(self._lost) and self._lost == about
        self._lost = about
        total = len(found.fidelity.lost_information)
        detail = "heaviest first" if total else "nothing that weighs"
        if total and choice.level > Level.DETAILED and above is not None:
            detail = f"{len(new):,} new since {level_name(choice.level - 1)}"
        screen.lost.empty = ()
        screen.lost.remark = f"p pin {signs.dot} r retain {signs.dot} enter show" if rows else ""
        many = f"Loses {total:,}{'+' if total >= MOST_LOST else ''}" if total else "Loses"
        screen.lost_title.show(many, detail)
        screen.lost.show(rows, keep=same)

    def _draw_summary(self, choice: Choice, found: SegmentPreview | None) -> None:
        screen, model = self._screen, self._screen.model
        signs = glyphs(screen.app)
        live = screen.writing.live(choice.segment)
        name = level_name(choice.level)
        if live is not None:
            title = f"{name} {signs.dot} writing, escape stops"
            words = live or f"It reads the segment {signs.ellipsis}"
            style = "text" if live else "dim"
            screen.summary.show([Block(words, style, first=(Run(" "),))], title=title)
            screen.checks.show([], title="Checks")
            return
        trouble = model.trouble(choice)
        if found is None:
            words = trouble or f"{name} is being written {signs.ellipsis}"
            sign = (Run(f" {signs.stale} " if trouble else " ", "warm"),)
            screen.summary.show([Block(words, "dim", first=sign)], title=name)
            screen.checks.show([], title="Checks")
            return
        unfolding = screen.unfolding
        key, _ = model.part(choice)
        checked = self._checked.get(key)
        blocks, marked = summary_blocks(
            found,
            unfolding.opened,
            unfolding.chosen,
            checked.matches if checked is not None else (),
            signs,
        )
        note = self._note(choice, trouble)
        if note is not None:
            blocks.insert(0, note)
            marked = {block + 1: path for block, path in marked.items()}
        chosen = (block for block, path in marked.items() if path == unfolding.chosen)
        reveal = next(chosen, None)
        about = (choice.segment, choice.level)
        same, self._summarized = about == self._summarized, about
        screen.summary.marked = marked
        hints = ("enter expands", "enter") if found.compressed.expansion_markers else ()
        screen.summary.show(
            blocks,
            title=summary_title(found, signs),
            hints=hints,
            reveal=reveal,
            keep_scroll=same and reveal is None,
        )
        screen.checks.show(
            check_blocks(
                found,
                RATIOS[choice.level],
                checked.asked if checked is not None else Criteria(),
                checked.checks if checked is not None else (),
                signs,
            ),
            title="Checks",
        )

    def _note(self, choice: Choice, trouble: str) -> Block | None:
        """What stands above a summary: that it is not the model's yet, and why."""
        screen, signs = self._screen, glyphs(self._screen.app)
        if trouble:
            offer = " This is the offline result: o takes it, w asks the model again."
            return Block(trouble + offer, "warm", first=(Run(f" {signs.stale} ", "warm"),))
        if screen.model.waits(choice):
            words = "The offline result; the model has not written this yet: w asks it."
            return Block(words, "faint", first=(Run(" "),))
        return None

    # titles and sizes

    def show_title(self) -> None:
        """The title above the list: which context, or which part of it."""
        screen, context = self._screen, self._screen.reading.context
        if context is None:
            screen.title_rule.show("Segments")
            return
        signs = glyphs(screen.app)
        detail = "from a commit on" if screen.reading.start is not None else ""
        room = max(screen.title_rule.size.width - len(detail) - TITLE_CELLS, NAME_CELLS)
        screen.title_rule.show(fit(display_line(context.name), room, signs.ellipsis), detail)

    def show_whole(self) -> None:
        """How large the whole context gets."""
        screen, model = self._screen, self._screen.model
        if screen.reading.context is None:
            screen.whole.clear()
            return
        after = model.whole()
        screen.whole.show(
            model.sent, after.tokens, model.target, screen.writing.engine_words(), exact=after.exact
        )
