"""The base classes of all screens.

`KitScreen` reads in threads, writes through the engine, undoes, and draws the footer.
`ListScreen` adds a list with panes beside it: focus, zoom, marks, filter and editor.
"""

from __future__ import annotations

from asyncio import to_thread
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from msgspec import structs
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.promotion.decisions.history import Undone
from reviewer.sharing import personal
from reviewer.sources.elsewhere import is_url
from reviewer.text.display import display_line
from reviewer.tui.editor import open_in_editor
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import (
    Actor,
    DismissOnce,
    StatusMessage,
    detached,
    reachable,
    unless,
)
from reviewer.tui.kit.bars import FooterBar, HeaderBar, StatusBar
from reviewer.tui.kit.host import Step, Steps
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.row_model import RowModel
from reviewer.tui.kit.text_pane import TextPane

if TYPE_CHECKING:  # imported on first use: text fields are slow to import
    from reviewer.promotion.views import Counts, QueueQuery
    from reviewer.tui.kit.choice import ChoiceScreen
    from reviewer.tui.kit.edit_pane import EditPane
    from reviewer.tui.kit.filter import FilterBar
    from reviewer.tui.kit.text_edit import TextEdit

WATCH_SECONDS = 2.0
"""How often a screen checks whether another process has written to the store."""
SKIM_SECONDS = 0.4
"""Cursor moves closer together than this count as skimming."""
REST_SECONDS = 0.16
"""While skimming, the panes update once the cursor has rested for this long."""

PAUSE = 0.6
"""An undo of an earlier act is confirmed by the same key, pressed at least this much later."""
COLUMNS = [(0, "-stacked"), (100, "-beside")]
"""Minimum width in cells for each layout class of the style sheets."""

Value = TypeVar("Value")


class EngineAct(Protocol):
    """The result of an act of the engine."""

    @property
    def act(self) -> int:
        """Its id in the ledger."""
        ...


ActT = TypeVar("ActT", bound=EngineAct)


class KitScreen(DismissOnce, Actor, Screen[None], inherit_bindings=False):
    """A screen that never blocks on a file or the store."""

    tab: ClassVar[str] = ""
    """The name of this screen's tab; empty if it has none."""

    class Arrived(Message):
        """The result of a read; only the latest of its group counts."""

        def __init__(self, group: str, number: int, take: Callable[[], None]) -> None:
            super().__init__()
            self.group = group
            self.number = number
            self.take = take

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        super().__init__()
        self.engine = engine
        self.project = project
        self.status = StatusBar(id="status")
        self.footer = FooterBar(id="footer")
        self.question: ChoiceScreen | None = None
        """The question open over this screen."""
        self._latest: Counter[str] = Counter()
        self._seen_version = engine.version()

    # reading

    def read(
        self,
        work: Callable[[], Value],
        then: Callable[[Value], None],
        *,
        group: str = "read",
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Run `work` in a thread, then `then` with its result on the event loop.

        A later read replaces an earlier one of the same group. The message of a ReviewerError
        goes to `failed`, by default to the status line.
        """
        self._latest[group] += 1
        number = self._latest[group]

        def run() -> None:
            try:
                value = work()
            except ReviewerError as error:
                text = str(error)
                report = failed or self.say_trouble
                self.post_message(self.Arrived(group, number, lambda: report(text)))
            else:
                self.post_message(self.Arrived(group, number, lambda: then(value)))

        self.run_worker(run, thread=True, exclusive=True, group=group)

    def void(self, group: str) -> None:
        """Ignore the pending reads of a group."""
        self._latest[group] += 1

    @on(Arrived)
    def _arrived(self, message: Arrived) -> None:
        message.stop()
        if not detached(self) and message.number == self._latest[message.group]:
            message.take()

    def say_trouble(self, sentence: str) -> None:
        """Show a message in the status line as a problem."""
        self.say(sentence, bad=True)

    @on(StatusMessage)
    def _show_status(self, message: StatusMessage) -> None:
        message.stop()
        self.status.say(message.text, bad=message.bad)

    # changes to the store

    def reload(self) -> None:
        """Read everything on the screen again; overridden by screens that show the store."""

    def watch_store(self) -> None:
        """Reload if any process has written since the last check."""
        if self.is_active and self.engine.version() != self._seen_version:
            self.note_version()
            self.reload()

    def note_version(self) -> None:
        """Mark the screen as up to date with the store."""
        self._seen_version = self.engine.version()

    def on_screen_resume(self) -> None:
        self.watch_store()

    # writing

    async def write(self, act: Callable[[], ActT], words: str = "", total: int = 0) -> ActT:
        """Run an act of the engine in a thread.

        Pass `words` (such as `Rejecting`) for an act that may take long: its progress is shown and
        escape stops it. Exceptions propagate.
        """
        if words:
            done = await self.host.carry_out(self, act, words, total)
        else:
            done = await to_thread(act)
        self.note_act(done.act)
        self.status.remark = display_line(self.engine.say_binding())
        if personal(self.engine.path, "-agents").is_dir():
            self.run_worker(self._bring_memory_folders_up_to_date, thread=True)
        return done

    def note_act(self, act: int, words: str = "") -> None:
        """Record an act of this session, the screen that made it, and its wording there."""
        self.host.made_here[act] = (self.place, words)
        self.host.redo_ended = False
        for each in self.host.steps.values():
            each.undone.clear()

    @property
    def place(self) -> str:
        """The name of this screen in messages."""
        return self.tab.capitalize()

    def _bring_memory_folders_up_to_date(self) -> None:
        """Update the memory folders the person has chosen."""
        from reviewer.agents.memory_updates import bring_up_to_date

        for sentence in bring_up_to_date(self.engine):
            self.app.call_from_thread(self.say_trouble, display_line(sentence))

    @property
    def steps(self) -> Steps:
        """Choices on this screen for undo and redo."""
        return self.host.steps.setdefault(self.tab, Steps())

    def note_step(self, words: str, before: object) -> None:
        """Record a choice for undo."""
        self.steps.done.append(Step(words, self._latest_act(), before))
        self.steps.undone.clear()
        self.host.redo_ended = True

    def take_back(self, choices: object) -> object:
        """Restore earlier choices and return the current ones; for screens that note steps."""
        raise NotImplementedError

    def _latest_act(self) -> int:
        following = self.engine.history.next_undo()
        return following[0] if following else 0

    def _last_step(self) -> bool:
        """Whether undo would take back a choice, not an act."""
        done = self.steps.done
        return bool(done) and done[-1].after >= self._latest_act()

    def _nothing_to_undo(self) -> str | None:
        if self._last_step() or self.engine.history.undo_title():
            return None
        if (other := self.engine.history.latest_of_another()) is None:
            return "There is nothing to undo."
        return f"You have nothing to undo: {display_line(other[2])} made the latest decision."

    def _nothing_to_redo(self) -> str | None:
        by_act = not self.host.redo_ended and self.engine.history.redo_title()
        return None if self.steps.undone or by_act else "There is nothing to redo."

    @unless(_nothing_to_undo)
    async def action_undo(self) -> None:
        """Undo the last choice or act of this session; an act of an earlier session is named
        first and needs the key again.
        """
        if self._last_step():
            self._reverse_step(self.steps.done, self.steps.undone)
        else:
            await self._reverse(self.engine.history.next_undo(), self.engine.history.undo, "undo")

    @unless(_nothing_to_redo)
    async def action_redo(self) -> None:
        if self.steps.undone:
            self._reverse_step(self.steps.undone, self.steps.done)
        else:
            await self._reverse(self.engine.history.next_redo(), self.engine.history.redo, "redo")

    def _reverse_step(self, taken: list[Step], kept: list[Step]) -> None:
        """Undo or redo a choice."""
        step = taken.pop()
        kept.append(step._replace(choices=self.take_back(step.choices)))
        self.host.redo_ended = True
        self._say_reversed(step.words, "redo" if taken is self.steps.undone else "undo")

    async def _reverse(
        self, following: tuple[int, str] | None, reverse: Callable[[], Undone], verb: str
    ) -> None:
        """Undo or redo an act; an act of an earlier session is named first."""
        if following is None:
            return
        number, title = following
        early = number not in self.host.made_here
        named, at = self.host.named_act
        if early and (named != number or monotonic() - at < PAUSE):
            self.host.named_act = number, monotonic()
            key = (keys.UNDO if verb == "undo" else keys.REDO).key
            self.say(f"From an earlier session: {display_line(title)} - {key} again to {verb} it")
            return
        done = await self.write(reverse, "Undoing" if verb == "undo" else "Redoing")
        made_on, words = self.host.made_here.setdefault(done.target, ("", ""))
        where = "earlier session" if early else made_on
        self.host.came_back = done.ids
        if not detached(self):
            self.show_reversed(done)
        here = where in ("", self.place)
        self._say_reversed((words or done.title) + ("" if here else f" ({where})"), verb)

    def _say_reversed(self, what: str, verb: str) -> None:
        done, key, way = (
            ("Undone", keys.REDO, "redo") if verb == "undo" else ("Redone", keys.UNDO, "undo")
        )
        self.say(f"{done}: {display_line(what)} - {key.key} to {way}")

    def show_reversed(self, undone: Undone) -> None:
        """Show the rows changed by an undo or redo."""
        self.note_version()
        self.reload()

    # copying and opening

    def copy_text(self, text: str, message: str) -> None:
        """Copy to the clipboard with OSC 52."""
        self.app.copy_to_clipboard(text)
        self.say(message)

    def edit_file(self, path: str, line: int) -> None:
        """Open a file at a 0-based line in the person's editor."""
        if is_url(path):
            self.say_trouble("The file is not on this machine.")
            return
        self.say(open_in_editor(self.app, path, line + 1))

    # keys

    def footer_actions(self) -> Sequence[tuple[Action, Actor]]:
        """The footer's actions, the menu last, each with the node that runs it."""
        focused = self.focused
        chain = focused.ancestors_with_self if focused is not None else [self]
        for node in chain:
            if isinstance(node, Actor) and node.pane.footer:
                menu = [keys.MENU] if keys.MENU in node.pane.actions else []
                footer = (*node.pane.footer, *menu)
                return [(action, node) for action in footer if node.offers(action)]
        return []

    def show_footer(self) -> None:
        """Show the keys of the focused pane, then menu and help; never queries the store."""
        focused = self.focused
        typing = focused is not None and focused.check_consume_key("a", "a")
        shown = []
        for action, node in [*self.footer_actions(), (keys.HELP, self.host)]:
            names = list(self.host.keymap_in_use.keys(action))
            if typing:  # printable keys go into the text field
                names = [key for key in names if len(key) > 1 and not _types(key)]
            if names:
                titled = node.title_of(action) if isinstance(node, Actor) else action.title
                title = action.in_footer or titled
                shown.append((names[0], title, action.id))
        self.footer.show(shown)

    def on_descendant_focus(self) -> None:
        self.show_footer()

    async def action_clicked(self, name: str) -> None:
        """Run the action clicked in a bar."""
        for action, node in reachable(self):
            if action.id == name:
                await node.perform(action)
                return

    def action_close(self) -> None:
        """Close the screen, or stop the running act."""
        if not self.host.stop_running():
            self.dismiss()

    # choosing

    @property
    def row_in_question(self) -> Region:
        """The line that a question must not cover."""
        return Region(0, 0, self.size.width, 1)

    async def choose(
        self,
        title: str,
        options: Sequence[Option],
        then: Callable[[Option], Awaitable[None]],
        *,
        narrow: Callable[[str], None] | None = None,
        hint: str = "",
        nothing: str = "",
        text: str = "",
        current: str = "",
        whole: bool = False,
        pane: TextPane | None = None,
    ) -> None:
        """Open a `ChoiceScreen` beside the row and call `then` with the chosen option."""
        from reviewer.tui.kit.choice import ChoiceScreen  # late: text fields are slow to import

        asked = ChoiceScreen(
            title,
            options,
            near=self.row_in_question,
            narrow=narrow,
            hint=hint,
            nothing=nothing,
            text=text,
            current=current,
            whole=whole,
            pane=pane,
        )

        async def answered(option: Option | None) -> None:
            self.question = None
            self.show_footer()
            self.left_question()
            if option is not None:
                await self.patiently(lambda: then(option))

        self.question = asked
        self.footer.show([(each.key, each.title, each.id) for each in asked.pane.footer])
        await self.app.push_screen(asked, answered)

    async def ask_text(
        self,
        title: str,
        then: Callable[[str], Awaitable[None]],
        *,
        text: str = "",
        hint: str = "",
        empty: str = "",
        problem: Callable[[str], str] | None = None,
    ) -> None:
        """Ask for one line of text and call `then` with it.

        `problem` returns why a text is not accepted; `empty` is the meaning of an empty line,
        which is refused without it.
        """
        nothing = f"{keys.CHOOSE.key} accepts what you type."

        def options(typed: str) -> list[Option]:
            typed = typed.strip()
            trouble = problem(typed) if problem is not None and typed else ""
            if self.question is not None:
                self.question.nothing = trouble or nothing
            if trouble or not (typed or empty):
                return []
            return [Option(typed, typed or empty, f"{keys.CHOOSE.key} accepts it")]

        async def answered(option: Option) -> None:
            await then(option.key)

        await self.choose(
            title,
            options(text),
            answered,
            narrow=lambda typed: self.offer(options(typed)),
            hint=hint,
            nothing=nothing,
            text=text,
        )

    async def confirm(
        self,
        title: str,
        yes: str,
        no: str,
        then: Callable[[], Awaitable[None]],
        pane: TextPane | None = None,
    ) -> None:
        """Ask yes or no: enter confirms, `n` and enter declines; page keys scroll `pane`."""

        async def answered(option: Option) -> None:
            if option.key == "yes":
                await then()
            else:
                self.say("Nothing was changed.")

        await self.choose(
            title,
            [Option("yes", f"Yes, {yes}"), Option("no", f"No, {no}")],
            answered,
            hint="type the first letter, or arrows move",
            pane=pane,
        )

    def left_question(self) -> None:
        """Called after a question was answered or closed."""

    def offer(self, options: Sequence[Option]) -> None:
        """Show other options in the open question."""
        if self.question is not None:
            self.question.offer(options)

    def offer_from(self, work: Callable[[], Sequence[Option]]) -> None:
        """Find options in a thread, and show them if the same question is still open."""
        asked = self.question
        if asked is not None:
            asked.wait_for_offer()

        def then(options: Sequence[Option]) -> None:
            if asked is not None and self.question is asked:
                asked.offer(options)

        self.read(work, then, group="options")

    async def action_menu(self) -> None:
        """Choose an action that has no key; unavailable ones come last, with the reason."""
        rare = [each for each in self.pane.actions if not self.host.keymap_in_use.keys(each)]
        reasons = {each.id: self._reason(each) for each in rare}
        rare.sort(key=lambda each: bool(reasons[each.id]))

        async def then(option: Option) -> None:
            await self.perform(rare[int(option.key)])

        options = [
            Option(str(at), self.title_of(each), reasons[each.id] or each.short)
            for at, each in enumerate(rare)
        ]
        await self.choose("More", options, then)

    def _reason(self, action: Action) -> str:
        """Why an action cannot run now; empty on an error, which choosing it will report."""
        try:
            return self.why_not(action) or ""
        except ReviewerError:
            return ""

    def keep_now(self) -> None:
        """Save unsaved text and the cursor's place before a change of screen or exit."""


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
        self.overlay: Widget | None = None
        """The open editor, which replaces panes."""
        self._beside: Sequence[Widget] = ()
        self._zoomed: Widget | None = None
        self._editor: EditPane | None = None

    def compose(self) -> ComposeResult:
        """Header and tabs, list and panes, the parts below, status line and footer."""
        # Set the breakpoint's class immediately, or Textual lays everything out twice.
        width = self.app.size.width
        self.add_class([name for least, name in COLUMNS if width >= least][-1])
        base = self.app.screen_stack[0]
        if base is not self:
            self.header.same_as(base.query_one(HeaderBar))
        yield self.header
        yield from self.compose_above()
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield from self.compose_left()
            with Vertical(id="right"):
                yield from self.compose_right()
        yield from self.compose_below()
        yield self.status
        yield self.footer

    def compose_above(self) -> Iterable[Widget]:
        """Lines between the tabs and the panes."""
        return ()

    def compose_left(self) -> Iterable[Widget]:
        """The list and the lines above it."""
        return (self.list,)

    def compose_right(self) -> ComposeResult:
        """The panes, stacked by default."""
        yield from self.panes

    def compose_below(self) -> Iterable[Widget]:
        """Lines between the panes and the status line."""
        return ()

    def on_mount(self) -> None:
        """Focus the list, load it, and watch the store."""
        self.set_focus(self.list, scroll_visible=False)
        self.show_footer()
        entitle(self.list, self._title)
        self.reload()
        self.set_interval(WATCH_SECONDS, self.watch_store)

    def show_counts(self) -> None:
        """Read the queue's counts for the header."""
        self.read(lambda: self.engine.queue.counts(self.project), self.take_counts, group="counts")

    def take_counts(self, counts: Counts) -> None:
        """Show the counts here and on the base screen, whose header every new screen copies."""
        for header in (self.header, self.app.screen_stack[0].query_one(HeaderBar)):
            header.waiting = counts.waiting

    async def write(self, act: Callable[[], ActT], words: str = "", total: int = 0) -> ActT:
        done = await super().write(act, words, total)
        if not detached(self):
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
        """Mark or unmark this row and go down."""
        model = self._marked_model()
        model.toggle_mark()
        self.list.refresh_line(model.cursor)
        self.list.move_by(1)
        self.say_marked()

    @unless(no_rows)
    def action_range(self) -> None:
        """Mark every row from the last mark to this one."""
        self._marked_model().mark_to_here()
        self.list.refresh()
        self.say_marked()

    @unless(no_rows)
    def action_mark_all(self) -> None:
        """Mark every row that can be marked, or none."""
        model = self._marked_model()
        if model.marks:
            model.marks.clear()
        else:
            model.marks = set(model.markable())
        self.list.refresh()
        self.say_marked()

    def say_marked(self) -> None:
        """Show the number of marked rows."""
        count = len(self._marked_model().marks)
        self.say(f"{count:,} marked" if count else "No rows are marked.")
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
        """Fill the screen with the focused pane, or show all panes again."""
        focused = self.focused
        if self._zoomed is not None:
            self.unzoom()
        else:
            self.fill_with(focused if focused in self.panes else self.list)

    def fill_with(self, pane: Widget) -> None:
        """Fill the screen with a pane."""
        self._zoomed = pane
        self._arrange()

    def unzoom(self) -> None:
        """Show all panes again."""
        self._zoomed = None
        self._arrange()

    @property
    def zoomed(self) -> Widget | None:
        """The pane that fills the screen."""
        return self._zoomed

    def action_next_pane(self) -> None:
        self._step_pane(1)

    def action_previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        order = self.tab_order()
        at = order.index(self.focused) if self.focused in order else 0
        pane = order[(at + step) % len(order)]
        if self._zoomed is not None:
            self.fill_with(pane)
        # Immediately, so that a key typed ahead reaches the new pane.
        self.set_focus(pane, scroll_visible=False)

    def tab_order(self) -> list[Widget]:
        """The panes in tab order."""
        return [self.list, *(pane for pane in self.panes if pane.can_focus)]

    def read_pane(self, pane: Widget) -> None:
        """Fill the screen with a pane and focus it, or return to the list."""
        if self._zoomed is not None:
            self.unzoom()
            self.set_focus(self.list, scroll_visible=False)
        else:
            self.set_focus(pane, scroll_visible=False)
            self.fill_with(pane)

    def action_back(self) -> None:
        """Stop the running act, else clear the marks, leave the zoom, return to the list, clear
        the filter, or leave the screen: one per key press.
        """
        if self.host.stop_running():
            return
        if self.model is not None and self.model.marks:
            self.action_mark_all()
        elif self._zoomed is not None:
            self.read_pane(self._zoomed)
        elif self.focused is not self.list:
            self.set_focus(self.list, scroll_visible=False)
        elif self.filter_text:
            self.clear_filter()
        else:
            self.leave_last()

    def leave_last(self) -> None:
        """The last step of going back: close the screen, or say how to quit."""
        base = self.app.screen_stack[0]
        if self is base or self.tab != "queue":
            self.host.action_how_to_quit()
        else:
            self.dismiss()

    @property
    def row_in_question(self) -> Region:
        rows = self.list
        y = rows.content_region.y + max(rows.cursor - rows.scroll_offset.y, 0)
        return Region(rows.region.x, y, rows.region.width, 1)

    def show_empty(self, *, empty: bool) -> None:
        """Give an empty list the whole width."""
        self.set_class(empty, "-empty")

    def _arrange(self) -> None:
        """Hide the panes covered by zoom or overlay."""
        zoomed, overlay = self._zoomed, self.overlay
        if overlay is not None:
            zoomed = None
        left, right = self.query_one("#left"), self.query_one("#right")
        left.set_class(zoomed is not None and zoomed is not self.list, "-off")
        right.set_class(zoomed is self.list, "-off")
        self.set_class(zoomed is not None, "-zoomed")
        self.set_class(overlay is not None, "-overlay")
        for pane in self.panes:
            covered = overlay is not None and pane not in self._beside
            off = covered or (zoomed is not None and zoomed is not pane)
            pane.set_class(off, "-off")

    def on_descendant_focus(self) -> None:
        self.show_footer()
        self._show_applied_filter()

    # the editor

    async def show_overlay(self, pane: Widget, *, beside: Sequence[Widget] = ()) -> None:
        """Show a pane in place of the others, except those in `beside`."""
        if self.overlay is not pane:
            self.status.say("")  # the last message is about another row
        if not pane.is_attached:
            await self.query_one("#right").mount(pane)
        if self.overlay is not None and self.overlay is not pane:
            self.overlay.add_class("-off")
        pane.remove_class("-off")
        self.overlay, self._beside = pane, beside
        self.list.locked = True
        self.remove_class("-empty")
        self._arrange()

    def close_overlay(self) -> None:
        """Show the panes again, with the focus on the list."""
        if self.overlay is not None:
            self.overlay.add_class("-off")
            self.overlay = None
        self.list.locked = False
        self._arrange()
        self.set_focus(self.list, scroll_visible=False)

    def why_not(self, action: Action) -> str | None:
        """Refuse every action while the editor is open."""
        if self.overlay is not None:
            return (
                f"Finish this first: {keys.SAVE_EDIT.key} saves it, "
                f"{keys.LEAVE_EDIT.key} keeps it as a draft."
            )
        return super().why_not(action)

    async def edit_text(self, edit: TextEdit) -> None:
        """Edit a text, starting from its draft if there is one."""
        if self._editor is None:
            from reviewer.tui.kit.edit_pane import EditPane

            self._editor = EditPane(self._edit_done, id="edit")
        draft = edit.drafts.load(edit.key)
        await self.show_overlay(self._editor, beside=edit.beside)
        self._editor.begin(edit, draft)
        if draft is not None:
            self.say(f"{edit.title}: this is your draft.")

    @property
    def editing(self) -> TextEdit | None:
        """The text in the open editor."""
        editor = self._editor
        return editor.edit if editor is not None and self.overlay is editor else None

    def _edit_done(self, edit: TextEdit) -> None:
        if self.editing is edit:  # another text may be open by now
            self.close_overlay()
            self.draft_changed(edit.key)

    def draft_changed(self, key: int) -> None:
        """Called after a draft was kept or discarded."""

    def keep_now(self) -> None:
        """Save the draft of the text being typed."""
        if self._editor is not None and self.editing is not None:
            self._editor.keep_now()

    # the filter; a screen with one overrides the next three

    @property
    def filter_text(self) -> str:
        """The active filter."""
        return ""

    def filter_problem(self, text: str) -> str:
        """The problem with a filter; empty if it is valid."""
        return ""

    def types_listed(self, query: QueueQuery) -> tuple[str, ...]:
        """Hints for an empty result: the types and kinds in the list, if the filter uses them."""
        if "type:" not in query.filter and "kind:" not in query.filter:
            return ()
        types, kinds = map(", ".join, self.engine.queue.types(structs.replace(query, filter="")))
        return f"type: one of {types or 'none'}", f"kind: one of {kinds or 'none'}"

    def run_filter(self, text: str, *, here: int | None) -> None:
        """Show the matching rows, with the cursor on the id `here`."""

    async def action_filter(self) -> None:
        """Type a filter below the list."""
        if self.filter_bar is None:
            from reviewer.tui.kit.filter import FilterBar

            self.filter_bar = FilterBar(
                self.FILTER_HINT, self._try_filter, self._keep_filter, self.clear_filter
            )
            await self.query_one("#left").mount(self.filter_bar)
        if not self.filter_text and self.model is not None:
            self.row_before_filter = self.model.current_id
        self.filter_bar.open()

    def _keep_filter(self, text: str) -> None:
        self._try_filter(text)
        if not self.filter_invalid and self.filter_bar is not None:
            self.filter_bar.show(text)
            self.set_focus(self.list, scroll_visible=False)

    def clear_filter(self) -> None:
        """Show all rows; the cursor stays on its row."""
        if self.filter_bar is not None:
            self.filter_bar.show("")
        self._try_filter("")
        self.set_focus(self.list, scroll_visible=False)

    def _try_filter(self, text: str) -> None:
        problem = self.filter_problem(text)
        self.filter_invalid = bool(problem)
        if problem:
            self.status.say(problem, bad=True)
            return
        self.status.recover()
        if text != self.filter_text:
            self.run_filter(text, here=None if text else self.row_before_filter)

    def _show_applied_filter(self) -> None:
        """Show the active filter in the field, unless it has the focus."""
        if self.filter_bar is None or self.filter_bar.field.has_focus:
            return
        if self.filter_invalid:
            self.filter_invalid = False
            self.status.recover()
        self.filter_bar.show(self.filter_text)

    async def action_project(self) -> None:
        """Choose the project to show."""
        names = await to_thread(self.engine.project_names)
        options = [Option("", "all projects"), *(Option(name, name) for name in names)]

        async def then(option: Option) -> None:
            self.host.change_project(option.key or None)

        await self.choose("Project", options, then, current=self.project or "")

    def action_refresh(self) -> None:
        """Read everything again."""
        self.note_version()
        self.reload()


class TextScreen(KitScreen, inherit_bindings=False):
    """A screen with a single pane of text."""

    def __init__(self, engine: Engine, project: str | None = None, *, title: str = "") -> None:
        super().__init__(engine, project)
        self.text = TextPane(title=title, id="text")

    def compose(self) -> ComposeResult:
        yield self.text
        yield self.status
        yield self.footer

    def on_mount(self) -> None:
        self.set_focus(self.text, scroll_visible=False)
        self.show_footer()


def _types(key: str) -> bool:
    """Whether a text field accepts this key as a character."""
    from textual.keys import key_to_character

    character = key_to_character(key)
    return character is not None and character.isprintable()
