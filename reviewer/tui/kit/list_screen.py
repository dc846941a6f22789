"""A list with panes beside it: focus, zoom, marks, filter and editor."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.reactive import var
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from reviewer.engine import Engine
from reviewer.errors import ConflictError, FilterError
from reviewer.text.display import display_line
from reviewer.text.filter_line import too_long
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import (
    unless,
)
from reviewer.tui.kit.bars import HeaderBar
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.row_model import RowModel
from reviewer.tui.kit.screen import ActT, KitScreen
from reviewer.tui.kit.text_edit import TextEdit, draft_number
from reviewer.tui.places import kept

if TYPE_CHECKING:  # imported on first use: text fields are slow to import
    from reviewer.promotion.views import Counts, Done
    from reviewer.tui.kit.edit_pane import EditPane
    from reviewer.tui.kit.filter import FilterBar

SKIM_SECONDS = 0.4
"""Cursor moves closer together than this count as skimming."""
REST_SECONDS = 0.16
"""While skimming, the panes update once the cursor has rested for this long."""
COLUMNS = [(0, "-stacked"), (100, "-beside")]
"""Minimum width in cells for each layout class of the style sheets."""

FIELD_WORDS = (
    ("word -word", '"a phrase"; rows with, without it'),
    ("kind:", "trap, preference, decision, entity, conflict ...: the words shown"),
    ("is:", "edited, deferred, unused, retired"),
    ("when:guard", "a moment of a memory: when:push, when:pinned, when:only"),
    ("by:", "me, agent, tool, note: who said it"),
    ("calls>2", "more wasted calls; also seen> conf> refs>"),
    ("path:", "part of a path; also session: since:2026-03"),
)
"""The syntax of a filter over memories, for the help."""


def nothing_matches(words: str) -> tuple[str, str]:
    """The text of a list in which a filter finds nothing."""
    clears = f"{keys.CLEAR_FILTER.key} clears the filter."
    return f"Nothing matches / {display_line(words)}", clears


class CursorRest:
    """Calls `follow` when the cursor moves: immediately, or after a rest while skimming."""

    def __init__(self, screen: Screen[Any], follow: Callable[[], None]) -> None:
        self._screen = screen
        self._follow = follow
        self._moved_at = 0.0
        self._timer: Timer | None = None

    @property
    def waiting(self) -> bool:
        """Whether the panes lag behind the cursor."""
        return self._timer is not None

    def moved(self) -> None:
        """Call `follow`, now or after a rest."""
        now = monotonic()
        skimming = now - self._moved_at < SKIM_SECONDS
        self._moved_at = now
        self.stop()
        if skimming:
            self._timer = self._screen.set_timer(REST_SECONDS, self._rested)
        else:
            self._follow()

    def stop(self) -> None:
        """Cancel a pending `follow`."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _rested(self) -> None:
        self._timer = None
        self._follow()


class ListScreen(KitScreen, inherit_bindings=False):
    """A list on the left, panes on the right; stacked on a narrow screen."""

    HORIZONTAL_BREAKPOINTS = COLUMNS
    FILTER_HINT: ClassVar[str] = "words  -word"
    FILTER_WORDS: ClassVar[Sequence[tuple[str, str]]] = ()
    COLUMN_WORDS: ClassVar[str] = ""
    """What the columns of the list mean, for the help."""
    KEEPS_PLACE: ClassVar[bool] = False
    """Whether filter and row are those of the last time."""

    zoomed: var[Widget | None] = var(None, init=False)
    """The pane that fills the screen."""

    def __init__(
        self,
        engine: Engine,
        project: str | None,
        rows: RowList,
        panes: Sequence[Widget],
        *,
        title: str,
        model: RowModel[Any] | None = None,
    ) -> None:
        """`panes` from top to bottom; `model` if rows can be marked."""
        super().__init__(engine, project)
        self.list = rows
        self.panes = tuple(panes)
        self.model = model
        self.header = HeaderBar(self.tab)
        self._title = title
        self.cursor_rest = CursorRest(self, self.follow)
        self.filter_bar: FilterBar | None = None
        self.filter_invalid = False
        """The text in the filter field is invalid."""
        self.row_before_filter: int | None = None
        """The id under the cursor before filtering; None once the cursor has moved."""
        self.editing: TextEdit | None = None
        """The text in the open editor, which replaces panes."""
        self._editor: EditPane | None = None
        self.kept_place: tuple[str, int | None] = ("", None)
        """The filter and the row as remembered."""

    def compose(self) -> ComposeResult:
        # Set the breakpoint's class immediately, or Textual lays everything out twice.
        width = self.app.size.width
        self.add_class([name for least, name in COLUMNS if width >= least][-1])
        yield self.header
        yield from self.compose_above()
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self.list
            with Vertical(id="right"):
                yield from self.panes
        yield self.status
        yield self.footer

    def compose_above(self) -> Iterable[Widget]:
        """Lines between the tabs and the panes."""
        return ()

    def on_mount(self) -> None:
        self.set_focus(self.list, scroll_visible=False)
        self.show_footer()
        entitle(self.list, self._title)
        self.open_as_left()

    def open_as_left(self) -> None:
        """Show the list of this project with the filter and the row of the last time."""
        if self.KEEPS_PLACE:
            match kept(self.engine.path).get(self._place_name):
                case [str(words), int(row)]:
                    self.kept_place = words, row
                case _:
                    self.kept_place = "", None
        self.open_list(*self.kept_place)
        if self.filter_text:
            self.call_later(self._show_kept_filter)

    @property
    def _place_name(self) -> str:
        """The name under which the place in the list of a project is kept."""
        return f"{self.tab} list of {self.project or ''}"

    def open_list(self, words: str, row: int | None) -> None:
        """Show the list for the first time, with the remembered filter and row."""
        if row is None or self.filter_problem(words):
            self.reload()
        else:
            self.run_filter(words, here=row)
            self.show_counts()

    def on_screen_resume(self) -> None:
        base = self.app.screen_stack[0]
        if base is not self:
            self.header.same_as(base.query_one(HeaderBar))

    def show_counts(self) -> None:
        """Read the queue's counts for the header."""
        self.read(lambda: self.engine.queue.counts(self.project), self.take_counts, group="counts")

    def take_counts(self, counts: Counts) -> None:
        """Show the counts here and on the open screens; later ones copy the header of the first."""
        for screen in {self, *self.app.screen_stack}:
            for header in screen.query(HeaderBar):
                header.waiting = counts.waiting

    async def change(self, act: Callable[[], ActT], words: str = "", total: int = 0) -> ActT:
        done = await super().change(act, words, total)
        if self.is_attached:
            self.show_counts()
        return done

    # the cursor

    @on(RowList.Moved)
    def _cursor_moved(self) -> None:
        self.row_before_filter = None
        self.cursor_rest.moved()

    def follow(self) -> None:
        """Show the row under the cursor in the panes."""

    # marks

    def no_rows(self) -> str | None:
        """Why an action on a row cannot run."""
        return None if self.list.total else "The list is empty."

    @unless(no_rows)
    def action_mark(self) -> None:
        model = self._marked_model()
        model.toggle_mark()
        self.list.refresh_line(model.cursor)
        self.list.move_by(1)
        self.say_marked()

    @unless(no_rows)
    def action_mark_all(self) -> None:
        model = self._marked_model()
        if model.marks:
            model.marks.clear()
        else:
            model.marks = set(model.markable())
        self.list.refresh()
        self.say_marked()

    def say_marked(self, none: str = "No rows are marked.") -> None:
        count = len(self._marked_model().marks)
        self.say(f"{count:,} marked" if count else none)
        self.show_footer()

    def _marked_model(self) -> RowModel[Any]:
        if self.model is None:
            raise TypeError(f"{type(self).__name__} has no model with marks")
        return self.model

    def title_of(self, action: Action) -> str:
        """The title of an action, with the number of marked rows."""
        marked = len(self.model.marks) if self.model is not None else 0
        if marked and action.takes_marked:
            return f"{action.title} {marked:,} marked"
        return action.title

    # panes

    def action_zoom(self) -> None:
        pane = self.focused if self.focused in self.panes else self.list
        self.zoomed = pane if self.zoomed is None else None

    def watch_zoomed(self) -> None:
        self._arrange()

    def action_next_pane(self) -> None:
        self._step_pane(1)

    def action_previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        order = self.tab_order()
        at = order.index(self.focused) if self.focused in order else 0
        pane = order[(at + step) % len(order)]
        if self.zoomed is not None:
            self.zoomed = pane
        # Immediately, so that a key typed ahead reaches the new pane.
        self.set_focus(pane, scroll_visible=False)

    def tab_order(self) -> list[Widget]:
        return [self.list, *(pane for pane in self.panes if pane.can_focus)]

    def read_pane(self, pane: Widget) -> None:
        """Fill the screen with a pane and focus it, or return to the list."""
        self.zoomed = pane if self.zoomed is None else None
        self.set_focus(self.list if self.zoomed is None else pane, scroll_visible=False)

    def action_back(self) -> None:
        """Stop the running act, else clear the marks, leave the zoom, return to the list, step back
        or clear the filter, or leave the screen: one per key press.
        """
        if self.host.stop_running():
            return
        if self.model is not None and self.model.marks:
            self.action_mark_all()
        elif self.zoomed is not None:
            self.read_pane(self.zoomed)
        elif self.focused is not self.list:
            self.set_focus(self.list, scroll_visible=False)
        elif not self.step_back():
            if self.filter_text:
                self.clear_filter()
            else:
                self.leave_last()

    def step_back(self) -> bool:
        """Leave what was opened last on the list; False if that is the filter, or nothing is
        open."""
        return False

    def leave_last(self) -> None:
        """The last step of going back: close the screen, or say how to quit."""
        base = self.app.screen_stack[0]
        if self is base or self.tab != "queue":
            self.host.action_how_to_quit()
        else:
            self.dismiss()

    def row_in_question(self) -> tuple[Region, int]:
        rows = self.list
        y = rows.content_region.y + max(rows.cursor - rows.scroll_offset.y, 0)
        return Region(rows.region.x, y, rows.region.width, 1), rows.region.bottom

    def show_empty(self, *, empty: bool) -> None:
        """Give an empty list the whole width, which says why it is empty, but not over the
        editor.
        """
        self.set_class(empty and self.editing is None, "-empty")
        if empty:
            self.zoomed = None

    def _arrange(self) -> None:
        """Hide the panes covered by zoom or editor."""
        edit = self.editing
        zoomed = self.zoomed if edit is None else None
        left, right = self.query_one("#left"), self.query_one("#right")
        left.set_class(zoomed is not None and zoomed is not self.list, "-off")
        right.set_class(zoomed is self.list, "-off")
        self.set_class(zoomed is not None, "-zoomed")
        self.set_class(edit is not None, "-editing")
        self.list.locked = edit is not None
        if self._editor is not None:
            self._editor.set_class(edit is None, "-off")
        for pane in self.panes:
            covered = edit is not None and pane not in edit.beside
            off = covered or (zoomed is not None and zoomed is not pane)
            pane.set_class(off, "-off")

    def on_descendant_focus(self) -> None:
        self.show_footer()
        self._show_applied_filter()

    async def perform(self, action: Action) -> None:
        """A key typed before the first rows have arrived waits for them."""
        if not self.list.total and action is not keys.BACK:
            await self.finish_reading()
        await super().perform(action)

    # the editor

    def why_not(self, action: Action) -> str | None:
        """Refuse every action while the editor is open."""
        if self.editing is not None:
            return (
                f"Finish this first: {keys.SAVE_EDIT.key} saves it, "
                f"{keys.LEAVE_EDIT.key} keeps it as a draft."
            )
        return super().why_not(action)

    async def edit_text(self, edit: TextEdit) -> None:
        """Edit a text in place of the panes, starting from its draft if there is one."""
        if self.editing is None:
            self.status.say("")  # the last message is about another row
        if self._editor is None:
            from reviewer.tui.kit.edit_pane import EditPane

            self._editor = EditPane(self._edit_done)
            await self.query_one("#right").mount(self._editor)
        draft = edit.drafts.load(edit.key)
        self.editing = edit
        self.remove_class("-empty")
        self._arrange()
        self._editor.begin(edit, draft)
        if draft is not None:
            self.say(f"{edit.title}: this is your draft; empty it to discard it.")

    async def action_write(self) -> None:
        """Write a memory in the person's own words, and promote it."""
        project = self.one_project("memory")

        async def save(text: str) -> Done:
            from reviewer.extraction.rules import sentence_type  # late: it compiles patterns

            type_ = sentence_type(text.strip())
            return await self.write(
                lambda: self.engine.entities.author(project, type_, text, promote=True)
            )

        await self.edit_text(
            TextEdit(
                key=draft_number(project),
                title="New memory",
                original="",
                drafts=self.engine.state_drafts,
                save=save,
                saved=self.written,
                again=keys.WRITE,
                verb="promote",
            )
        )

    def written(self, done: Done) -> None:
        """Called after a memory was written."""
        self.say_done(done)

    def one_project(self, what: str) -> str:
        """The project that something is written for. Raises ConflictError if there are several."""
        projects = [self.project] if self.project else self.engine.project_names()
        if len(projects) != 1:
            raise ConflictError(f"Choose the project of the {what} first: {keys.PROJECT.key}.")
        return projects[0]

    def _edit_done(self, edit: TextEdit) -> None:
        if self.editing is edit:  # another text may be open by now
            self.editing = None
            self._arrange()
            self.set_focus(self.list, scroll_visible=False)
            self.draft_changed(edit.key)

    def leave_edit(self) -> str:
        """Close the editor; returns a sentence about its text, empty if none is open."""
        return self._editor.leave() if self._editor is not None and self.editing else ""

    def draft_changed(self, key: int) -> None:
        """Called after a draft was kept or discarded."""

    def keep_now(self) -> None:
        """Save the draft of the text being typed, and the place in the list."""
        if self._editor is not None and self.editing is not None:
            self._editor.keep_now()
        self.keep_place()

    @property
    def row_to_keep(self) -> int | None:
        """The id of the row to remember; None before there are rows."""
        return self.model.current_id if self.model is not None else None

    def keep_place(self) -> None:
        """Remember the filter and the row under the cursor, if they have changed."""
        row = self.row_to_keep if self.KEEPS_PLACE else None
        words = self.filter_text
        if row is not None and (words, row) != self.kept_place:
            self.kept_place = words, row
            self.keep_for_next_run({self._place_name: [words, row]})

    # the filter; a screen with one overrides the next three

    @property
    def filter_text(self) -> str:
        """The active filter."""
        return ""

    def filter_problem(self, text: str) -> str:
        """The problem with a filter; empty if it is valid."""
        try:
            self.check_filter(text)
        except FilterError as error:
            return str(error)
        return too_long(text)

    def check_filter(self, text: str) -> None:
        """Raise FilterError for an invalid filter."""

    def run_filter(self, text: str, *, here: int | None) -> None:
        """Show the matching rows, with the cursor on the id `here`."""

    async def _mount_filter(self) -> FilterBar:
        if self.filter_bar is None:
            from reviewer.tui.kit.filter import FilterBar

            self.filter_bar = FilterBar(
                self.FILTER_HINT, self.try_filter, self.keep_filter, self.clear_filter
            )
            await self.query_one("#left").mount(self.filter_bar)
        return self.filter_bar

    async def _show_kept_filter(self) -> None:
        (await self._mount_filter()).show(self.filter_text)

    async def action_filter(self) -> None:
        bar = await self._mount_filter()
        if not self.filter_text and self.model is not None:
            self.row_before_filter = self.model.current_id
        bar.open()

    def keep_filter(self) -> None:
        """Go back to the list with the typed filter, if it is valid."""
        if self.filter_bar is not None:
            self.try_filter(text := self.filter_bar.field.value)
            if not self.filter_invalid:
                self.filter_bar.show(text)
                self.set_focus(self.list, scroll_visible=False)
                self.row_before_filter = None

    def clear_filter(self) -> None:
        """Show all rows; the cursor stays on its row, or goes back to the one before the filter if
        that was not kept.
        """
        if self.filter_bar is not None:
            self.filter_bar.show("")
        self.try_filter("")
        self.set_focus(self.list, scroll_visible=False)

    def try_filter(self, text: str) -> None:
        """Show the matching rows, or the error in the filter."""
        problem = self.filter_problem(text)
        self.filter_invalid = bool(problem)
        if problem:
            self.status.say(problem, bad=True)
            return
        self.status.recover()
        if text != self.filter_text:
            row = self.model.current_id if self.model is not None else None
            self.run_filter(text, here=None if text else self.row_before_filter or row)

    def _show_applied_filter(self) -> None:
        """Show the active filter in the field, unless it has the focus."""
        if self.filter_bar is None or self.filter_bar.field.has_focus:
            return
        if self.filter_invalid:
            self.filter_invalid = False
            self.status.recover()
        self.filter_bar.show(self.filter_text)

    async def action_project(self) -> None:
        names = await to_thread(self.engine.project_names)
        waiting = await to_thread(self.engine.queue.waiting_by_project)
        details = {name: f"{number:,} waiting" for name, number in waiting.items()}
        options = [Option(name, name, details.get(name, "")) for name in names]
        options.insert(0, Option("", "all projects", f"{sum(waiting.values()):,} waiting"))
        others = Option("/", "others", "projects with agents' sessions on this machine")
        options.append(others)

        async def then(option: Option) -> None:
            if option is others:
                self.host.open_start()
            else:
                self.host.change_project(option.key or None)

        nothing = "Nothing matches. Empty this line: the last choice lists the others here."
        await self.choose("Project", options, then, current=self.project or "", nothing=nothing)

    def action_refresh(self) -> None:
        self.note_version()
        self.reload()
