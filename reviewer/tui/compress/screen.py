"""Previews of a smaller context and its losses: a level for each segment, before it is applied."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widget import Widget

from reviewer.commits.values import ContextView
from reviewer.compression.measures import listening
from reviewer.compression.plan import Applied, Choice, Plan, SegmentPreview
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.compression.retention import criteria
from reviewer.compression.service import Expansion, expand_one_level
from reviewer.compression.span_marks import Span as MarkedSpan
from reviewer.compression.values import RATIOS, Level, Segment
from reviewer.engine import Engine
from reviewer.errors import ConflictError, ReviewerError
from reviewer.llm.model import CancelledError
from reviewer.promotion.history import Undone
from reviewer.text.display import display_line
from reviewer.text.token_numbers import read_tokens
from reviewer.tui.commits.keys import COMPRESS_FROM, IMPORT
from reviewer.tui.compress import keys
from reviewer.tui.compress.drawing import check_blocks
from reviewer.tui.compress.model import (
    Checked,
    Choices,
    CompressModel,
    Doubts,
    Fold,
    Key,
    LostRow,
    Markers,
    Path,
    anchor_type,
    doubts_about,
    level_name,
)
from reviewer.tui.compress.panes import (
    LevelColumns,
    LevelsLine,
    LostList,
    OriginalPane,
    SegmentList,
    SummaryPane,
    WholeBar,
    level_figures,
)
from reviewer.tui.compress.reading import ContextRead, first_plan, read_context
from reviewer.tui.compress.work import (
    DRAW_SECONDS,
    Delivered,
    Job,
    ModelRun,
    PreviewQueue,
    Streamed,
    Task,
)
from reviewer.tui.handover.keys import HAND_OVER
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import detached, runs
from reviewer.tui.kit.contexts import context_words, cost_options, match_spans
from reviewer.tui.kit.keys import COPY, NEXT_HEADING, PREVIOUS_HEADING
from reviewer.tui.kit.line import Separator, TitleRule
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.screen import ListScreen, Movable
from reviewer.tui.kit.text import count, fit, short_ids
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.places import keep_context, load_commit, load_context
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.commits.values import Annotated
    from reviewer.compression.fit import Reach
    from reviewer.tui.compress.summary_edit import SummaryEditPane
    from reviewer.tui.kit.choice_pane import ChoicePane, Option

PREVIEWED_TOKENS = 400_000
"""Tokens above which only the segment under the cursor is previewed, and the size is an estimate,
until a target is given.
"""
MANY_PREVIEWS = 10
"""Previews from which on the bar says how many are left; fewer would only flicker."""
MEASURE_SECONDS = 0.3
"""Pause in typing before a budget is measured."""
QUOTED = 60
"""Characters of a span that a message quotes."""
TITLE_CELLS, NAME_CELLS = 8, 10

EMPTY = "No contexts yet. A context is a transcript as a chain of commits."
READING = ("Reading the context ...",)
CHANGED = "The context changed meanwhile: it was read again, and what you chose is kept."
STOPPED = "Stopped: nothing was written."
NO_MARKERS = "This summary has nothing to expand: Detailed and Brief have markers."
NOTHING_LOST = "This level loses nothing here."
STILL_PREVIEWING = "The preview is still being written, try again."


class CompressScreen(ListScreen, pane=keys.COMPRESS):
    """Segments on the left; the original beside its summary, with losses and checks."""

    tab = "compress"

    def __init__(
        self, engine: Engine, project: str | None = None, start: int | None = None
    ) -> None:
        """`start`: the commit to begin at; None for the whole context."""
        self.data = CompressModel()
        self.markers = Markers()
        self.segments = SegmentList(self.data, id="segments")
        self.segments.empty = READING
        self.levels = LevelsLine(id="levels")
        self.original = OriginalPane(id="original")
        self.between = Separator(id="between")
        self.summary = SummaryPane(id="summary")
        self.lost_title = TitleRule("Loses", id="lost-title")
        self.lost = LostList(self.lost_title, id="lost")
        self.checks = TextPane(title="Checks", id="checks")
        self.whole = WholeBar(id="whole")
        self.columns = LevelColumns(id="columns")
        self.editor: SummaryEditPane | None = None
        panes = [self.original, self.summary, self.lost, self.checks]
        super().__init__(engine, project, self.segments, panes, title="Segments")

        self._named: frozenset[str] = frozenset()
        """The faults that were named when `A` was pressed, until anything else is done."""
        self.start = start
        """The commit at which the range begins; None for the whole context."""
        self.contexts: Sequence[ContextView] = ()
        self.context: ContextView | None = None
        self.was_read = False
        self.partial = False
        """The rest of a long context is still being read."""
        self._wanted: int | None = None
        """The context that is being read, until it is shown."""
        self._version: object = None
        """The read state of the context on the screen."""
        self._foreign = engine.foreign_version()

        self.previews = PreviewQueue(
            lambda work: self.run_worker(work, thread=True, group="previews"), self.post_message
        )
        self.writing: ModelRun | None = None
        self.long_task: Task | None = None
        """Levels are being chosen, or summaries applied."""
        self._model_name = "model"
        self._question = 0
        """Counts the budgets, so that a late answer finds its question or is dropped."""

        self._listening = ExitStack()
        """Ends with the screen: hears the log of compressions."""
        self._place: LostRow | None = None
        """The lost text that is highlighted in the original."""

    # layout

    def compose_right(self) -> ComposeResult:
        """Levels, then the original beside the summary."""
        yield self.levels
        with Horizontal(id="panes"):
            yield self.original
            yield self.between
            with Vertical(id="result"):
                yield self.summary
                yield self.lost_title
                yield self.lost
                yield self.checks

    def compose_below(self) -> Iterable[Widget]:
        return (self.whole,)

    def arranged(self) -> None:
        """Hide the parts that belong to hidden panes."""
        covered = self.overlay is not None
        zoomed = None if covered else self.zoomed
        self.query_one("#panes").set_class(covered, "-off")
        self.levels.set_class(covered, "-off")
        self.query_one("#result").set_class(zoomed is self.original, "-off")
        self.between.set_class(zoomed is not None, "-off")
        self.lost_title.set_class(zoomed not in (None, self.lost), "-off")

    def show_joint(self) -> None:
        """The inner vertical rule meets the rule above the list of losses."""
        if not detached(self):
            self.between.joint = max(self.lost_title.region.y - self.between.region.y, 0)

    def on_resize(self) -> None:
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        if detached(self):
            return
        if self.all_levels_shown and self.size.width < LevelColumns.LEAST:
            self._show_one_level()
        self._fold()
        self._show_title()

    def on_descendant_focus(self) -> None:
        """The layout and the titles follow the focus; in the summary a marker is chosen
        immediately.
        """
        self._fold()
        self.lost_title.focused(self.lost.has_focus)
        if self.focused is self.summary and (fold := self._choose_marker()) is not None:
            self.draw()
            self._say_marker(fold)

    def _fold(self) -> None:
        """Where the screen is narrow, fold what is not used, so that the text has the room.

        Elsewhere these classes would only cost a new layout for each change of the focus.
        """
        stacked = self.has_class("-stacked")
        self.set_class(stacked and self.focused is self.original, "-at-original")
        self.set_class(stacked and self.focused is self.summary, "-at-summary")
        self.set_class(stacked and self.focused is not self.list, "-folded")

    def close_overlay(self) -> None:
        super().close_overlay()
        self.show_empty(empty=self.data.plan is None)

    def tab_order(self) -> list[Widget]:
        return list(self.columns.panes) if self.all_levels_shown else super().tab_order()

    @property
    def moved(self) -> Movable:
        """The move keys go to the list of losses while it has the focus."""
        return self.lost if self.focused is self.lost else self.list

    # when keys cannot run

    @property
    def running(self) -> str:
        """The work in progress: `Writing 3 of 12`; empty for none."""
        if self.writing is not None:
            return self.writing.words
        return self.long_task.words if self.long_task is not None else ""

    def why_not(self, action: Action) -> str | None:
        reason = super().why_not(action)
        if reason is None and action in keys.AWAIT_WORK and self.running:
            return f"{self.running}: {shared.BACK.key} stops it."
        return reason

    def unfinished(self) -> str:
        if self.overlay is not None and self.overlay is self.editor:
            return (
                f"Finish the summary first: {shared.SAVE_EDIT.key} accepts "
                f"it, {shared.LEAVE_EDIT.key} keeps a draft."
            )
        return super().unfinished()

    def _needs_context(self) -> str | None:
        if not self.was_read:
            return "The context is still being read, try again."
        if self.context is None:
            return (
                f"There is no context yet: {shared.SHOW_COMMITS.key}, "
                f"then {IMPORT.key} imports a transcript."
            )
        return None

    def _needs_segment(self) -> str | None:
        if self.data.segments and self.data.plan is not None:
            return None
        return self._needs_context() or "There is nothing to compress in this context."

    def _needs_summary(self) -> str | None:
        choice = self.data.choice
        if choice is None:
            return self._needs_segment()
        if choice.level is Level.FULL:
            return "Full is the original: 2 3 4 choose a level first."
        return None if self.data.shown(choice) is not None else STILL_PREVIEWING

    def _needs_lost(self) -> str | None:
        return self._needs_segment() or (NOTHING_LOST if self.lost.current is None else None)

    def _needs_marker(self) -> str | None:
        return self._needs_segment() or (None if self._folds() else NO_MARKERS)

    def _needs_preview(self) -> str | None:
        missing = self.data.current_preview is None
        return self._needs_segment() or (STILL_PREVIEWING if missing else None)

    def _needs_model(self) -> str | None:
        offline = self.data.engine == "offline"
        words = f"The offline engine writes by itself: {keys.SWITCH_ENGINE.key} asks the model."
        return self._needs_segment() or (words if offline else None)

    def _needs_model_segment(self) -> str | None:
        choice = self.data.choice
        if choice is not None and self.data.writer(choice) == "model":
            return None
        return self._needs_segment() or "This segment is not written by the model."

    def _needs_other_context(self) -> str | None:
        if len(self.contexts) == 1:
            return (
                f"This is the only context: {shared.SHOW_COMMITS.key}, "
                f"then {IMPORT.key} imports another one."
            )
        return self._needs_context()

    def _needs_range(self) -> str | None:
        whole = (
            f"The whole context is shown: {COMPRESS_FROM.key} on "
            "the Commits screen begins at a commit."
        )
        return self._needs_context() or (whole if self.start is None else None)

    # reading the context

    def reload(self) -> None:
        """Read the context left last; later read again only the parts that others changed."""
        if not self.was_read:
            wanted = load_context(self.engine.path, self.project)
            self._read_context(wanted)
            return
        foreign = self.engine.foreign_version()
        if self.context is None or foreign == self._foreign:
            return
        self._foreign = foreign
        number, known = self.context.id, self._version

        def take(version: object) -> None:
            if version != known:
                self._read_again(CHANGED)

        self.read(lambda: self.engine.contexts.changed(number), take, group="watch")

    def watch_store(self) -> None:
        """Do not replace a context while something about it is open or being written."""
        if self.overlay is None and not self.running:
            super().watch_store()

    def refresh_rows(self) -> None:
        """Read everything again, and write every offline preview again."""
        self._version = None
        self._read_again("The context was read again.")

    @runs(keys.NEXT_CONTEXT, unless=_needs_other_context)
    def next_context(self) -> None:
        ids, here = [each.id for each in self.contexts], self._context_wanted
        if here is not None and ids:
            at = ids.index(here) if here in ids else -1
            self._open_context(ids[(at + 1) % len(ids)])

    @runs(keys.WHOLE_CONTEXT, unless=_needs_range)
    def whole_context(self) -> None:
        """Show the whole context instead of a range."""
        self.start = None
        self._read_again(
            f"The whole context; {COMPRESS_FROM.key} on the Commits screen begins at a commit."
        )

    @runs(keys.CONTEXTS, unless=_needs_context)
    async def choose_context(self) -> None:
        """Choose the context to show, the latest changed first."""
        from reviewer.tui.kit.choice_pane import Option

        here = self.context
        options = []
        for each in self.contexts:
            if here is None or each.id != here.id:
                words = context_words(each, with_project=self.project is None)
                options.append(Option(str(each.id), f"{each.name}   {words}"))
        if here is not None:
            options.append(Option(str(here.id), f"{here.name}   is shown now"))

        async def then(option: Option) -> None:
            self._keep_place()
            self._open_context(int(option.key))

        await self.choose("Contexts", "changed latest first", options, then)

    def _open_context(self, context: int) -> None:
        self.start = None
        self._read_context(context)

    def _read_again(self, sentence: str) -> None:
        """Read the context again, say why, and keep the cursor on its commits."""
        self._read_context(self._context_wanted, sentence)

    @property
    def _context_wanted(self) -> int | None:
        """The context that was asked for last, even while another one is still shown."""
        if self._wanted is not None:
            return self._wanted
        return self.context.id if self.context is not None else None

    def _read_written(self, sentence: str = "", *, all_full: bool = False) -> None:
        """Read the context again after this screen wrote to it.

        `all_full`: segments without a choice stay at Full, as after a compression.
        """
        number = self.context.id if self.context is not None else None
        self._read_context(number, sentence, all_full=all_full, own=True)

    def _read_context(
        self,
        wanted: int | None,
        sentence: str = "",
        *,
        all_full: bool = False,
        own: bool = False,
        entire: bool = False,
    ) -> None:
        """`own`: this screen wrote; `entire`: read a long context in one go."""
        engine, project, start = self.engine, self.project, self.start
        self._foreign = engine.foreign_version()
        self._wanted = wanted
        self.note_version()
        known = self.context is not None and self.context.id == wanted and not self.partial

        def work() -> ContextRead | None:
            return read_context(engine, project, wanted, start, entire=entire or known)

        def take(found: ContextRead | None) -> None:
            self._wanted = None
            self._show_context(found, sentence, all_full=all_full, own=own)

        def failed(trouble: str) -> None:
            self._wanted = None
            self.say_trouble(trouble)

        self.read(work, take, group="context", failed=failed, one_at_a_time=True)

    def _show_context(
        self, found: ContextRead | None, sentence: str, *, all_full: bool, own: bool
    ) -> None:
        data = self.data
        self.was_read = True
        self.status.recover()
        if sentence:
            self.say(sentence)
        if found is None:
            self.contexts, self.context = (), None
            data.clear()
            way = f"{shared.SHOW_COMMITS.key}, then {IMPORT.key} imports one"
            self.segments.empty = (EMPTY, f"{way}; in a shell: reviewer context import FILE")
        else:
            other = self.context is None or self.context.id != found.context.id
            changed = found.version != self._version
            if other:
                self._keep_choices()
                kept = self.host.compress_kept.get(found.context.id)
                data.enter(kept if kept is not None else Choices())
            self.contexts, self.context = found.contexts, found.context
            self._version, self.start = found.version, found.start
            self.segments.drafts = found.drafts
            plan = found.plan
            if plan is not None:
                plan = first_plan(found, plan, all_full=all_full)
            if changed and not other and not own:
                data.forget_all()
            data.speakers = found.speakers
            data.load(found.segments, plan, found.sent)
            if other:
                place = load_commit(self.engine.path, found.context.id)
                data.go_to_commit(found.start or place)
            self.segments.empty = READING if found.partial else tuple(found.trouble.split(": ", 1))
            self.partial = found.partial
            if found.partial:
                number = found.context.id
                self._read_context(number, sentence, all_full=all_full, own=True, entire=True)
        self.previews.start_over()
        self.show_empty(empty=data.plan is None and self.overlay is None)
        self.segments.rows_changed()
        self.original.forget()
        self._show_title()
        self.settle()

    def _keep_choices(self) -> None:
        if self.context is not None:
            self.host.compress_kept[self.context.id] = self.data.choices()

    def _keep_place(self) -> None:
        """Remember the context, the segment under the cursor, and the choices."""
        if self.context is None:
            return
        self._keep_choices()
        if self.engine.read_only:
            return
        try:
            keep_context(self.engine.path, self.project, self.context.id, self.data.first_commit)
        except OSError as error:
            self.say(f"The place cannot be remembered: {error.strerror}.", bad=True)

    def keep_now(self) -> None:
        if self.editor is not None:
            self.editor.keep_now()
        self._keep_place()

    def on_mount(self) -> None:
        self._listening.enter_context(listening(self._log))

    def _log(self, level: str, words: str) -> None:
        """Keep a line of the log; called from threads."""
        at = self.engine.clock()
        self.host.compress_log.append(f"{at:%H:%M:%S} {level} {words}")

    def on_unmount(self) -> None:
        """Stop the work, and keep the place for when the screen is opened again."""
        for work in (self.writing, self.long_task):
            if work is not None:
                work.stopped.set()
        self.previews.start_over()
        self._listening.close()
        self._keep_place()

    # previews

    def cursor_moved(self) -> None:
        """Previews wait until the cursor rests."""
        self.previews.replace([])

    def follow(self) -> None:
        self.settle()

    def settle(self) -> None:
        """Show the segment under the cursor, and request its missing previews."""
        self.cursor_rest.stop()
        self._named = frozenset()
        self._place = None
        self.markers.clear()
        self.draw()
        self._want_previews()
        self._show_whole()
        self.show_footer()

    def _want_previews(self) -> None:
        everything = self.data.sent <= PREVIEWED_TOKENS or self.data.target is not None
        jobs: dict[Key, Job] = {}
        for choice in self.data.to_preview(everything=everything):
            key, plan = self.data.offline_plan(choice)
            known = key in self.data.previews or key in self.data.troubles
            if not known and key not in jobs:
                jobs[key] = self._preview_job(key, plan)
        self.previews.replace(list(jobs.values()))

    def _preview_job(self, key: Key, plan: Plan) -> Job:
        def failed(error: ReviewerError) -> None:
            if isinstance(error, ConflictError):
                self._read_again(CHANGED)
            else:
                self._no_preview(key, str(error))

        return Job(
            key, lambda: self._preview(plan), lambda found: self.store_preview(key, *found), failed
        )

    def _preview(self, plan: Plan, watch: Watch | None = None) -> tuple[SegmentPreview, Checked]:
        """The preview of a plan of one segment with its criteria checked, in a thread."""
        found = self.engine.compression.preview(plan, watch).segments[0]
        asked = criteria(found.segment)
        text = found.compressed.content
        checks = self.engine.contexts.check(asked.patterns, text)
        return found, Checked(asked, checks, match_spans(checks, text))

    def store_preview(self, key: Key, found: SegmentPreview, checked: Checked) -> None:
        """Store a preview and draw the change."""
        self.data.store_preview(key, found, checked)
        self._redraw(key)

    def _no_preview(self, key: Key, sentence: str) -> None:
        self.data.troubles[key] = sentence
        self._redraw(key)

    def _redraw(self, key: Key) -> None:
        at = self.data.index_of(key.segment)
        if at is None:
            return
        self.segments.redraw(at)
        if self.cursor_rest.waiting:
            return  # the panes wait until the cursor rests
        if at == self.data.cursor:
            self.draw()
            self.show_footer()
        else:
            self._show_whole()

    @on(Delivered)
    def _delivered(self, message: Delivered) -> None:
        message.stop()
        if not detached(self):
            message.take()

    # drawing

    def draw(self) -> None:
        """Draw the changes of the segment under the cursor."""
        data = self.data
        choice = data.choice
        self._show_whole()
        if choice is None:
            for pane in (self.original, self.summary, self.checks):
                pane.show([], title="")
            self.lost.show((), keep=False)
            self.lost_title.show("")
            self.levels.show((), 0)
            self.original.forget()
            return
        figures = [level_figures(data, data.at_level(choice, level)) for level in Level]
        self.levels.show(tuple(figures), choice.level)
        found = data.shown(choice)
        live = self.writing.text(choice.segment) if self.writing is not None else None
        self.original.draw(data, self._place)
        self.lost.draw(data)
        self.summary.draw(data, self.markers, live)
        checks = []
        if found is not None and live is None:
            checked = data.checked.get(data.offline_plan(choice)[0], Checked())
            checks = check_blocks(found, RATIOS[choice.level], checked, glyphs(self.app))
        self.checks.show(checks, title="Checks")
        if self.all_levels_shown:
            self.columns.draw(data)

    def _show_title(self) -> None:
        """Name the context, and whether only a part of it is shown."""
        if self.context is None:
            self.title_rule.show("Segments")
            return
        detail = "from a commit on" if self.start is not None else ""
        room = max(self.title_rule.size.width - len(detail) - TITLE_CELLS, NAME_CELLS)
        signs = glyphs(self.app)
        name = short_ids(display_line(self.context.name), signs.ellipsis)
        self.title_rule.show(fit(name, room, signs.ellipsis), detail)
        self.title_rule.name_columns(f"tokens {signs.arrow} summary", "tokens")

    def _show_whole(self) -> None:
        """Show the resulting size of the whole context."""
        if self.context is None:
            self.whole.clear()
            return
        data, after = self.data, self.data.whole()
        writer = "offline engine" if data.engine == "offline" else self._model_name
        if (left := self.previews.pending) >= MANY_PREVIEWS:
            writer = f"{count(left, 'preview')} to go {glyphs(self.app).dot} {writer}"
        self.whole.show(data.sent, after.tokens, data.target, writer, exact=after.exact)

    # levels

    @runs(keys.FULL, unless=_needs_segment)
    def full(self) -> None:
        self._choose_level(Level.FULL)

    @runs(keys.DETAILED, unless=_needs_segment)
    def detailed(self) -> None:
        self._choose_level(Level.DETAILED)

    @runs(keys.BRIEF, unless=_needs_segment)
    def brief(self) -> None:
        self._choose_level(Level.BRIEF)

    @runs(keys.TAGS, unless=_needs_segment)
    def tags(self) -> None:
        self._choose_level(Level.TAGS)

    def _choose_level(self, level: Level) -> None:
        choice = self.data.choice
        if choice is None:
            return
        by_hand = self.data.writer(choice) == "by hand"
        self.data.choose([choice.segment], level)
        self.segments.redraw(self.data.cursor)
        self.settle()
        kept = (
            f"; the text by hand is kept as a draft, {keys.EDIT_SUMMARY.key} continues it"
            if by_hand
            else ""
        )
        self.say(f"{choice.segment}: {level_name(level)}{kept}")

    @runs(keys.SAME_LEVEL, unless=_needs_segment)
    def same_level(self) -> None:
        """Give every segment the level of this one; texts by hand are kept."""
        data, choice = self.data, self.data.choice
        if choice is None or data.plan is None:
            return
        wanted = [
            each.segment
            for each in data.plan.choices
            if data.writer(each) != "by hand" and each.level != choice.level
        ]
        data.choose(wanted, choice.level)
        self.segments.refresh()
        self.settle()
        self.say(f"{count(len(wanted), 'segment')} more at {level_name(choice.level)}.")

    # losses

    @on(LostList.Selected)
    def _lost_selected(self) -> None:
        """Highlight the row under the cursor in the original."""
        if self.lost.current is not None:
            self._place = self.lost.current
            self.original.draw(self.data, self._place)

    def _lost_here(self) -> tuple[Segment, LostRow, int, str]:
        """The segment, the lost row under the cursor, its commit and its text there."""
        segment, row = self.data.current, self.lost.current
        if segment is None or row is None:
            raise ReviewerError(NOTHING_LOST)
        turn = segment.turns[row.turn]
        if turn.commit is None:
            raise ReviewerError("This text is not part of a commit.")
        return segment, row, turn.commit, turn.text[row.start : row.end] or row.text

    @runs(keys.PIN_LOST, unless=_needs_lost)
    async def pin_lost(self) -> None:
        """Pin the lost text, or unpin it."""
        segment, row, commit, text = self._lost_here()
        marks = self.engine.compression.marks
        if row.pinned:
            act = await to_thread(marks.unmark, commit, row.start, row.end)
        else:
            kind = anchor_type(self.data.current_preview, row)
            span = MarkedSpan(commit, row.start, row.end, kind)
            act = await to_thread(marks.mark, span)
        verb = "Unpinned" if row.pinned else "Pinned"
        self._follow_act(act, f"{verb} {quoted(text)}", segment)

    @runs(keys.RETAIN_LOST, unless=_needs_lost)
    async def retain_lost(self) -> None:
        """Make the text a criterion of its commit, in addition to the others."""
        segment, _, commit, text = self._lost_here()

        def work() -> Annotated:
            patterns = self.engine.contexts.commit(commit).retention.patterns
            texts = [each.text for each in patterns if each.mode == "substring"]
            regexes = [each.text for each in patterns if each.mode == "regex"]
            return self.engine.contexts.annotate(
                commit, retain_match=[*texts, text], retain_regex=regexes
            )

        done = await to_thread(work)
        self._follow_act(done.act, f"Retained {quoted(text)}", segment, done.warnings)

    def _follow_act(
        self, act: int, words: str, segment: Segment, warnings: Sequence[str] = ()
    ) -> None:
        """Show the result of an act, and preview the segment again."""
        if act:
            self.host.made_on[act] = self.tab
        remark = f" {display_line(warnings[0])}" if warnings else ""
        self.data.forget([segment.id])
        self.previews.start_over()  # one that is being written does not know of the act
        sentence = (
            f"{words} - {shared.UNDO.key} to undo{remark}" if act else f"{words}: nothing changed."
        )
        self._read_written(sentence)

    def show_reversed(self, undone: Undone) -> None:
        self.data.forget_all()
        self.previews.start_over()
        self._read_written()

    # fitting a budget

    @runs(keys.FIT, unless=_needs_segment)
    async def fit_to_budget(self) -> None:
        """Ask how many tokens the context may have, and choose levels that fit."""
        from reviewer.tui.kit.choice_pane import Option

        if self.context is None:
            return
        self._question += 1
        number, wanted, question = self.context.id, self.data.target, self._question
        timer: Timer | None = None

        def is_asked() -> bool:
            return question == self._question and self.overlay is not None

        def work(target: int) -> tuple[Reach, list[Option]]:
            reach = self.engine.compression.reach(number, target)
            rows = self.engine.contexts.rows([cost.commit for cost in reach.costly])
            lines = {row.id: row.first_line for row in rows}
            return reach, cost_options(reach, lines, glyphs(self.app))

        def take(target: int, found: tuple[Reach, list[Option]]) -> None:
            if is_asked() and target == wanted:  # another number may have been typed meanwhile
                self.offer(found[1])
                self.say(found[0].message)

        def measure() -> None:
            target = wanted
            if target is not None and is_asked():
                self.say("Measuring the context ...")
                self.read(lambda: work(target), lambda found: take(target, found), group="target")

        def narrow(text: str) -> None:
            nonlocal wanted, timer
            wanted = read_tokens(text)
            if timer is not None:
                timer.stop()
            if wanted is None:
                self.offer([Option("", "a number", "such as 8000 or 8k")] if text else [])
            else:
                self.offer([Option("", f"fit {wanted:,}", f"{shared.CHOOSE.key} chooses levels")])
                timer = self.set_timer(MEASURE_SECONDS, measure)

        async def then(_: Option) -> None:
            self._question += 1
            if wanted is not None:
                self._fit(wanted)

        whole = "" if self.start is None else " of the whole context"
        await self.choose(
            "Fit to budget",
            f"how many tokens{whole}? now {self.data.sent:,}",
            [],
            then,
            narrow=narrow,
            hint="such as 8000 or 8k",
            nothing="Levels are chosen so that the context has at most that many tokens.",
            text="" if wanted is None else str(wanted),
            replace=True,
        )

    def on_choice_pane_left(self, message: ChoicePane.Left) -> None:
        """Drop the measurement for a budget."""
        message.stop()
        self._question += 1

    def _fit(self, target: int) -> None:
        if self.context is None:
            return
        number, before, self.data.target = self.context.id, self.data.target, target
        task = self.long_task = Task("Choosing levels")
        self._show_whole()
        self.say(f"Choosing levels that fit {target:,} tokens ...")

        def progress(found: PreviewProgress) -> None:
            words = f"Choosing levels: {found.done:,} of at most {found.total:,} summaries tried"
            self.post_message(Delivered(lambda: self._say_progress(task, words)))

        def work() -> Plan:
            watch = Watch(task.stopped.is_set, on_progress=progress)
            return self.engine.compression.fit(number, target, engine="offline", watch=watch)

        def done(plan: Plan) -> None:
            if task.stopped.is_set():
                failed(STOPPED)
                return
            self.long_task = None
            left = self.data.use_fitted_plan(plan)
            self.start = None
            levels = [choice.level for choice in plan.choices]
            words = ", ".join(
                f"{levels.count(level):,} {level_name(level)}" for level in sorted(set(levels))
            )
            drafts = f" {count(left, 'text')} by hand left, kept as drafts." if left else ""
            self._read_again(f"Fits {target:,} tokens: {words}.{drafts} A applies it.")

        def failed(sentence: str) -> None:
            self.long_task = None
            if task.stopped.is_set():
                self.data.target = before
                self._show_whole()
                self.say("Stopped: the levels stay as they were.")
            else:
                self.say_trouble(sentence)
            self._want_previews()

        self.previews.start_over()
        self.read(work, done, group="task", failed=failed)

    def _say_progress(self, task: Task, words: str) -> None:
        if task is self.long_task and not task.stopped.is_set():
            task.words = words
            self.say(f"{words}; {shared.BACK.key} stops it.")

    # applying

    @runs(keys.APPLY, unless=_needs_segment)
    def apply(self) -> None:
        """Replace the segments with their summaries, as shown."""
        data, context = self.data, self.context
        if data.plan is None or context is None:
            return
        if self.partial:
            self.say("The rest of the context is still being read, try again.")
            return
        waiting = data.unwritten()
        if waiting:
            self.say(
                f"The model has not written {count(len(waiting), 'segment')}: "
                f"{keys.ASK_FOR_ALL.key} asks for them, "
                f"{keys.TAKE_OFFLINE.key} uses the offline result of one, "
                f"{keys.SWITCH_ENGINE.key} goes back to the offline engine."
            )
            return
        chosen = [each for each in data.plan.choices if each.level is not Level.FULL]
        if not chosen:
            self.say(
                f"Every segment is Full: {keys.DETAILED.key} {keys.BRIEF.key} {keys.TAGS.key} "
                f"choose a level, {keys.FIT.key} levels that fit a size."
            )
            return
        doubts = data.doubts()
        if not doubts.about <= self._named:
            self._ask_again(doubts)
            return
        self._apply(context.id, data.to_apply(), chosen)

    def _ask_again(self, doubts: Doubts) -> None:
        """Name the faults; the same key then applies it."""
        self._named = doubts.about
        self.say(f"{doubts.words} - A again applies it anyway.", bad=True)

    def _apply(self, context: int, plan: Plan, chosen: Sequence[Choice]) -> None:
        compression = self.engine.compression
        task = self.long_task = Task("Applying")
        named, target = self._named, self.data.target

        def progress(found: PreviewProgress) -> None:
            if task.stopped.is_set():
                raise CancelledError(STOPPED)
            left = task.left(found.done, found.total)
            words = f"Previewing {found.done:,} of {found.total:,} before they are applied{left}"
            self.post_message(Delivered(lambda: self._say_progress(task, words)))

        def work() -> Applied | Doubts | ConflictError | None:
            try:
                preview = compression.preview(plan, Watch(task.stopped.is_set, None, progress))
                if task.stopped.is_set():
                    return None
                # Some segments may not have been previewed before.
                doubts = doubts_about(preview.segments, preview.tokens_after, target)
                if not doubts.about <= named:
                    return doubts
                applied = compression.apply(context, preview.plan, expected_head=plan.head)
            except ConflictError as error:
                return error
            self.host.made_on[applied.act] = self.tab
            return applied

        def done(applied: Applied | Doubts | ConflictError | None) -> None:
            self.long_task = None
            if applied is None:
                failed(STOPPED)
                return
            if isinstance(applied, Doubts):
                self._ask_again(applied)
                self._want_previews()
                return
            self._named = frozenset()
            if isinstance(applied, ConflictError):
                self._read_written(f"{applied} It was read again.")
                return
            for choice in chosen:
                if choice.sources:
                    self.engine.summary_drafts.discard(choice.sources[0])
            words = f"Compressed {applied.tokens_before:,} to {applied.tokens_after:,} tokens"
            self._read_written(f"{words} - {shared.UNDO.key} to undo", all_full=True)

        def failed(sentence: str) -> None:
            self.long_task = None
            if task.stopped.is_set():
                self.say(STOPPED)
                self._want_previews()
            else:
                self.say_trouble(sentence)

        self.previews.start_over()
        self.say(f"Applying {count(len(chosen), 'summary', 'summaries')} ...")
        self.read(work, done, group="task", failed=failed)

    # writing with a model

    @runs(keys.SWITCH_ENGINE, unless=_needs_segment)
    async def switch_engine(self) -> None:
        """Switch to the model, which writes this segment immediately, or back to the offline
        engine.
        """
        data = self.data
        if data.engine == "model":
            data.engine = "offline"
            self.say("The offline engine writes; what the model wrote is kept for m.")
            self.settle()
            self.segments.refresh()
            return
        engines = self.engine.compression.engines
        self._model_name = (await to_thread(engines.summarizer, "model")).engine.name
        data.engine = "model"
        self.segments.refresh()
        choice = data.choice
        if choice is not None and data.awaits_model(choice):
            self._write([choice])
        else:
            self.settle()
            self.say(
                f"{self._model_name} writes when {keys.ASK_MODEL.key} asks it; "
                f"{keys.ASK_FOR_ALL.key} asks for all segments."
            )

    @runs(keys.ASK_MODEL, unless=_needs_model)
    def ask_model(self) -> None:
        """Let the model write the segment under the cursor, or write it again."""
        choice = self.data.choice
        if choice is None or choice.level is Level.FULL:
            self.say("Full is the original: 2 3 4 choose a level that the model writes.")
            return
        self.data.taken_offline.discard(choice.segment)
        if self.data.writer(choice) == "by hand":
            self.say(
                "This summary is by hand: its level's key leaves "
                f"it, then {keys.ASK_MODEL.key} asks."
            )
            return
        self._write([choice])

    @runs(keys.ASK_FOR_ALL, unless=_needs_model)
    def ask_for_all(self) -> None:
        """Let the model write every choice that it has not written."""
        waiting = self.data.unwritten()
        if waiting:
            self._write(waiting)
        else:
            self.say("Everything is written: A applies it.")

    @runs(keys.TAKE_OFFLINE, unless=_needs_model_segment)
    def take_offline(self) -> None:
        """Use the offline result of the segment under the cursor."""
        choice = self.data.choice
        if choice is None:
            return
        self.data.taken_offline.add(choice.segment)
        self.data.troubles.pop(Key(choice.segment, choice.level, "model"), None)
        self.segments.refresh()
        self.settle()
        self.say(
            f"This segment uses the offline result; {keys.ASK_MODEL.key} asks the model after all."
        )

    def _write(self, choices: Sequence[Choice]) -> None:
        data, engine = self.data, self.engine
        run = self.writing = ModelRun(choices, [data.model_plan(each) for each in choices])
        for choice in choices:
            data.troubles.pop(Key(choice.segment, choice.level, "model"), None)

        def work() -> None:
            run.write(
                self._preview,
                self.post_message,
                lambda *found: self._written(run, *found),
                lambda *found: self._not_written(run, *found),
                at_once=engine.compression.engines.concurrency("model"),
            )
            self.post_message(Delivered(lambda: self._all_written(run)))

        self.run_worker(work, thread=True, group="writing")
        self.say(
            f"{self._model_name} writes {count(len(choices), 'segment')}; "
            f"{shared.BACK.key} stops it."
        )
        self.draw()

    @on(Streamed)
    def _streamed(self, message: Streamed) -> None:
        message.stop()
        self.set_timer(DRAW_SECONDS, self._draw_streamed)

    def _draw_streamed(self) -> None:
        choice, run = self.data.choice, self.writing
        if run is not None:
            run.shown()
            if choice is not None and run.text(choice.segment) is not None:
                self.draw()

    def _written(
        self, run: ModelRun, choice: Choice, found: SegmentPreview, checked: Checked
    ) -> None:
        run.ended(choice.segment)
        run.done += 1
        run.answered_before += found.compressed.answered_before
        self.store_preview(self.data.store_answer(choice, found), found, checked)
        if self.writing is run and not run.stopped.is_set() and run.done < len(run.choices):
            self.say(f"{run.words} with {self._model_name}; {shared.BACK.key} stops it.")

    def _not_written(self, run: ModelRun, choice: Choice, error: ReviewerError) -> None:
        run.ended(choice.segment)
        if isinstance(error, ConflictError):
            run.stopped.set()
            self._read_again(CHANGED)
            return
        if run.stopped.is_set():
            self.draw()
            return
        run.failed += 1
        run.last_failure = str(error)
        self._no_preview(Key(choice.segment, choice.level, "model"), str(error))
        self.say_trouble(
            f"{error} {keys.TAKE_OFFLINE.key} uses the offline "
            f"result, {keys.ASK_MODEL.key} asks again."
        )

    def _all_written(self, run: ModelRun) -> None:
        if self.writing is run:
            self.writing = None
        written = f"{run.done:,} of {len(run.choices):,} written"
        if run.answered_before:
            written += f" ({run.answered_before:,} answered before)"
        if run.stopped.is_set():
            self.say(
                f"Stopped: {written}, and kept. {keys.ASK_MODEL.key} "
                f"or {keys.ASK_FOR_ALL.key} continues."
            )
        elif run.failed and len(run.choices) > 1:
            left = len(run.choices) - run.done - run.failed
            skipped = f", {left:,} not asked for after that" if left else ""
            self.say_trouble(
                f"{written} and kept, {run.failed:,} failed{skipped}: {run.last_failure} "
                f"{keys.ASK_FOR_ALL.key} asks again, {keys.TAKE_OFFLINE.key} uses the "
                f"offline result of one, {keys.SWITCH_ENGINE.key} of all."
            )
        elif not run.failed:
            dot = glyphs(self.app).dot
            self.say(
                f"{self._model_name}: {written} {dot} {keys.APPLY.key} applies, "
                f"{keys.ASK_MODEL.key} writes this one again."
            )
        self.segments.refresh()
        self.settle()

    # a summary by hand

    @runs(keys.EDIT_SUMMARY, unless=_needs_summary)
    async def edit_summary(self) -> None:
        """Write the summary of the segment under the cursor, from its draft where there is one."""
        choice, found = self.data.choice, self.data.current_preview
        if choice is None or found is None or not choice.sources:
            return
        if self.editor is None:
            from reviewer.tui.compress.summary_edit import SummaryEditPane

            drafts = self.engine.summary_drafts
            self.editor = SummaryEditPane(drafts, self._judge, id="summary-edit")
        if self.all_levels_shown:
            self._show_one_level()
        await self.show_overlay(self.editor)
        original = self.data.engine_text(choice, found)
        self.editor.edit(choice, original, found.compressed.content)

    def _judge(
        self, choice: Choice, content: str, take: Callable[[SegmentPreview, Checked], None]
    ) -> None:
        """Preview a choice with a text by hand before everything else."""
        plan = self.data.plan_by_hand(choice, content)
        self.previews.prioritize(
            Job(
                ("by hand", content),
                lambda: self._preview(plan),
                lambda found: take(*found),
                lambda error: self.say_trouble(str(error)),
            )
        )

    def on_summary_edit_pane_taken(self, message: SummaryEditPane.Taken) -> None:
        """Use the text as the summary of its segment."""
        message.stop()
        choice, found = message.choice, message.found
        key = self.data.write(choice.segment, message.content, found)
        self.segments.drafts = self.segments.drafts | {choice.sources[0]}
        self.close_overlay()
        self.store_preview(key, found, message.checked)
        self.segments.refresh()
        self.settle()
        anchors = len(found.compressed.anchors_missing)
        left = f", {count(anchors, 'anchor')} left out" if anchors else ""
        self.say(f"{choice.segment} is by hand now{left}: A applies it.")

    def on_summary_edit_pane_closed(self, message: SummaryEditPane.Closed) -> None:
        message.stop()
        choice = message.choice
        here = {choice.sources[0]}
        drafts = self.segments.drafts
        self.segments.drafts = drafts | here if message.draft else drafts - here
        self.close_overlay()
        self.segments.refresh()
        self.settle()
        if message.kept:
            self.say(
                f"The draft for {choice.segment} is kept: {keys.EDIT_SUMMARY.key} continues it."
            )
        else:
            self.say(f"{choice.segment} was left unchanged.")

    # markers

    def _folds(self) -> list[Fold]:
        return self.markers.folds(self.data.current_preview)

    @on(RowList.Opened)
    @runs(keys.EXPAND, unless=_needs_segment)
    def expand_here(self) -> None:
        """Expand the marker, or collapse it; a lost row is shown in the original."""
        if self.focused is self.lost:
            if self.lost.current is not None:
                self._place = self.lost.current
                self._focus_pane(self.original)
                self.draw()
        elif self._folds():
            self._toggle_marker(self.markers.chosen)
        else:
            self.say(NO_MARKERS)

    @runs(keys.NEXT_MARKER, unless=_needs_marker)
    def next_marker(self) -> None:
        self._focus_pane(self.summary)
        self._step_marker(1)

    @runs(keys.PREVIOUS_MARKER, unless=_needs_marker)
    def previous_marker(self) -> None:
        self._focus_pane(self.summary)
        self._step_marker(-1)

    @runs(NEXT_HEADING, unless=_needs_segment)
    def next_heading(self) -> None:
        self._step_heading(1)

    @runs(PREVIOUS_HEADING, unless=_needs_segment)
    def previous_heading(self) -> None:
        self._step_heading(-1)

    def _choose_marker(self) -> Fold | None:
        """Choose the first marker if none is chosen, and leave the text where it is: it may be
        read from the beginning.
        """
        folds = self._folds()
        if self.markers.chosen is not None or not folds:
            return None
        fold = self.markers.step(folds, 1)
        self.markers.chosen = fold.path
        self.summary.reveal(fold.path, now=False)
        return fold

    def _step_heading(self, step: int) -> None:
        self._choose_marker()
        self._focus_pane(self.summary)
        title = self.summary.step_heading(step)
        words = title or "This summary has no other heading in that direction."
        self.say(words)

    def _step_marker(self, step: int) -> None:
        fold = self.markers.step(self._folds(), step)
        self.markers.chosen = fold.path
        self.summary.reveal(fold.path)
        self.draw()
        self._say_marker(fold)

    def _say_marker(self, fold: Fold) -> None:
        if fold.path in self.markers.opened:
            self.say(f"Expanded: -{fold.marker.adds:,} tokens when {keys.EXPAND.key} collapses it.")
        else:
            self.say(f"Expand for more detail: +{fold.marker.adds:,} tokens")

    def on_summary_pane_clicked(self, message: SummaryPane.Clicked) -> None:
        """Expand or collapse the marker that was clicked."""
        message.stop()
        self._toggle_marker(message.path)

    def _toggle_marker(self, path: Path | None) -> None:
        folds = self._folds()
        if not folds:
            return
        fold = next((each for each in folds if each.path == path), folds[0])
        self.markers.chosen = fold.path
        self.summary.reveal(fold.path)
        if fold.path in self.markers.opened:
            self.markers.close(fold.path)
            self.draw()
            self._say_marker(fold)
        else:
            self._open_marker(fold)

    def _open_marker(self, fold: Fold) -> None:
        choice, found = self.data.choice, self.data.current_preview
        if found is None:
            return
        compression = self.engine.compression
        segment, anchors = found.segment, found.compressed.anchors
        level = Level(fold.marker.target + 1)

        def take(text: Expansion) -> None:
            if self.data.choice == choice:
                self.markers.opened[fold.path] = text
                self.draw()
                self._say_marker(fold)

        self.previews.prioritize(
            Job(
                ("expand", segment.id, fold.path),
                lambda: expand_one_level(compression, segment, anchors, level),
                take,
                lambda error: self.say_trouble(str(error)),
            )
        )

    # looking

    @runs(keys.ALL_LEVELS, unless=_needs_segment)
    async def all_levels(self) -> None:
        """Show the four levels side by side, or one again."""
        if self.all_levels_shown:
            self._show_one_level()
            return
        if self.size.width < LevelColumns.LEAST:
            self.say(f"All levels side by side need {LevelColumns.LEAST} columns: 1-4 switch.")
            return
        if self.zoomed is not None:
            self.unzoom()
        if not self.columns.is_attached:
            await self.query_one("#body").mount(self.columns)
        self.add_class("-all-levels")
        choice = self.data.choice
        self.set_focus(self.columns.panes[choice.level if choice is not None else 0])
        self.columns.draw(self.data)

    @property
    def all_levels_shown(self) -> bool:
        return self.has_class("-all-levels")

    def _show_one_level(self) -> None:
        self.remove_class("-all-levels")
        self.set_focus(self.list, scroll_visible=False)

    @runs(COPY, unless=_needs_preview)
    def copy(self) -> None:
        """Copy the summary to the clipboard."""
        found = self.data.current_preview
        if found is not None:
            content = found.compressed.content
            self.copy_text(content, f"Copied {found.segment.id} ({len(content):,} characters).")

    def zoom(self) -> None:
        """Fill the screen with the focused pane; from all levels, with the summary."""
        if self.all_levels_shown:
            self._show_one_level()
            self._focus_pane(self.summary)
        super().zoom()

    @runs(keys.LOG)
    def show_log(self) -> None:
        """Show the log of the compressions."""
        from reviewer.tui.compress.log import LogScreen

        self.app.push_screen(LogScreen(self.engine, tuple(self.host.compress_log)))

    @runs(HAND_OVER, unless=_needs_context)
    def hand_over(self) -> None:
        """Show the hand-over of the whole context, from its originals."""
        if self.context is not None:
            number, compression = self.context.id, self.engine.compression
            name = f"the context {self.context.name}"
            self.host.open_handover(lambda: (name, compression.original_turns(number)))

    def _focus_pane(self, pane: Widget) -> None:
        if self.zoomed is not None and self.zoomed is not pane:
            self.fill_with(pane)
        self.set_focus(pane, scroll_visible=False)

    def back(self) -> None:
        """Leave one state: the writing, all levels, the zoom, the pane."""
        for work in (self.writing, self.long_task):
            if work is not None:
                work.stopped.set()
                self.say("Stopping ...")
                return
        if self.all_levels_shown:
            self._show_one_level()
        else:
            super().back()


def quoted(text: str) -> str:
    """A span in a message."""
    words = " ".join(display_line(text).split())
    return f'"{words}"' if len(words) <= QUOTED else f'"{words[: QUOTED - 3]}..."'
