"""The base of all screens: it reads in threads, writes through the engine, undoes, asks, and draws
the footer.
"""

from __future__ import annotations

from asyncio import Future, ensure_future, to_thread, wait
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeVar, cast

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.geometry import Region
from textual.keys import key_to_character
from textual.screen import Screen
from textual.worker import WorkerCancelled, WorkerFailed, WorkType

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
    PATIENCE_SECONDS,
    Actor,
    DismissOnce,
    StatusMessage,
    reachable,
    unless,
)
from reviewer.tui.kit.bars import FooterBar, StatusBar
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.running import RunningAct
from reviewer.tui.kit.text import cut
from reviewer.tui.kit.text_pane import TextPane

if TYPE_CHECKING:  # imported on first use: text fields are slow to import
    from reviewer.promotion.views import Done
    from reviewer.tui.kit.choice import ChoiceScreen, Find

Value = TypeVar("Value")

LEAST_WORDS = 20
"""Cells of an act's title in the message that it was undone, however narrow the screen."""


class EngineAct(Protocol):
    """The result of an act of the engine."""

    @property
    def act(self) -> int:
        """Its id in the ledger."""
        ...


ActT = TypeVar("ActT", bound=EngineAct)


class Step(NamedTuple):
    """An act that undo or redo on a screen reverses."""

    words: str
    """Empty for the title of the act."""
    place: str
    act: int
    """Of an undone step, the act that undid it."""


class KitScreen(DismissOnce, Actor, Screen[None], inherit_bindings=False):
    """A screen that never blocks on a file or the store."""

    tab: ClassVar[str] = ""
    """The name of this screen's tab; empty if it has none."""

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        super().__init__()
        self.engine = engine
        self.project = project
        self.status = StatusBar(id="status")
        self.footer = FooterBar(id="footer")
        self.done: list[Step] = []
        """The acts of this screen, latest last."""
        self.undone: list[Step] = []
        self._named_act = 0
        """The act from elsewhere that the next key undoes or redoes."""
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

        A later read replaces an earlier one of the same group. The message of an
        expected failure goes to `failed`, by default to the status line.
        """

        async def run() -> None:
            try:
                value = await to_thread(work)
            except (ReviewerError, OSError) as error:
                if self.is_attached:
                    (failed or self.say_trouble)(str(error))
            else:
                if self.is_attached:
                    then(value)

        reading: WorkType[None] = run  # not a coroutine, which nobody awaits if it is replaced
        self.run_worker(reading, exclusive=True, group=group)

    @property
    def question(self) -> ChoiceScreen | None:
        """The question open over this screen; of several, the last."""
        is_asked = self.host.shown is self is not self.app.screen
        return cast("ChoiceScreen", self.app.screen) if is_asked else None

    async def finish_reading(self) -> None:
        """Wait for the rows that the screen is reading, so that a key typed ahead finds its own."""
        pending = [
            each
            for each in self.workers
            if each.node is self and each.group == "rows" and not each.is_finished
        ]
        for each in pending:
            with suppress(WorkerFailed, WorkerCancelled):  # a failed read says so by itself
                await each.wait()

    def void(self, group: str) -> None:
        """Ignore the pending reads of a group."""
        self.workers.cancel_group(self, group)

    def say_trouble(self, sentence: str) -> None:
        self.say(sentence, bad=True)

    @on(StatusMessage)
    def _show_status(self, message: StatusMessage) -> None:
        message.stop()
        self.status.say(message.text, bad=message.bad, passing=message.passing)

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

    def on_screen_suspend(self) -> None:
        """Remove the message about this visit, unless only a question covers the screen."""
        if self.host.shown not in (self, None):
            self.status.say("")

    def on_screen_resume(self) -> None:
        self.show_footer()
        self._named_act = 0
        self.watch_store()

    def come_back(self) -> None:
        """Called when the screen is shown again by its key: reread everything that is not in the
        store."""

    # writing

    async def write(self, act: Callable[[], ActT], words: str = "", total: int = 0) -> ActT:
        """Run an act of the engine in a thread, and record it for undo.

        Pass `words` (such as `Rejecting`) for an act that may take long: its progress is shown and
        escape stops it. Exceptions propagate.
        """
        done = await self.change(act, words, total)
        self.note_act(done.act)
        return done

    async def change(self, act: Callable[[], ActT], words: str = "", total: int = 0) -> ActT:
        """Run an act or its reversal in a thread."""
        if words:
            running = RunningAct(words, total)

            def watched() -> ActT:
                with self.engine.watched(running.watch):
                    return act()

            done = await self.host.accompany(self, running, watched)
        else:
            done = await to_thread(act)
        self.status.remark = display_line(self.engine.say_binding())
        if personal(self.engine.path, "-agents").is_dir():
            update = ensure_future(self._update_agents())
            await wait({update}, timeout=PATIENCE_SECONDS)
            if update.done():
                self.status.remark = f"{self.status.remark} {update.result()}".strip()
            else:
                self.app.run_worker(self._say_late(update))
        return done

    async def _say_late(self, update: Future[str]) -> None:
        """Add the remark to the message of an act that was shown without it."""
        if remark := await update:
            self.say(f"{self.status.text.rstrip('.') or 'Done'}. {remark}")

    def note_act(self, act: int, words: str = "") -> None:
        """Record an act for undo, with its wording here."""
        self._named_act = 0
        if self.done and self.done[-1].act == act:
            self.done.pop()
        if act:
            self.done.append(Step(words, self.place, act))
            self.undone.clear()

    def say_done(self, done: Done, remark: str = "") -> None:
        """Show an act, and how to undo it."""
        self.say(f"{display_line(done.title)}{remark}{to_undo(done.act)}")

    @property
    def place(self) -> str:
        """The name of this screen in messages."""
        return self.tab.capitalize()

    async def _update_agents(self) -> str:
        """Update the moments that hooks read, the memory folders that the person has chosen, and
        the settings of connected agents; returns what was rewritten and what failed, in sentences.
        """
        from reviewer.agents.memory_updates import bring_up_to_date, update_call_hooks

        agents: dict[str, None] = {}

        def update() -> list[str]:
            problems = bring_up_to_date(self.engine)
            return problems + update_call_hooks(
                self.engine, lambda agent, _: agents.update({agent: None})
            )

        problems = await to_thread(update)
        follow = [f"The settings of {' and '.join(agents)} follow."] if agents else []
        return display_line(" ".join((*follow, *problems)))

    def _latest(self, steps: list[Step], is_reversed: Callable[[int], bool]) -> Step | None:
        """The last step of this screen that was not reversed elsewhere."""
        while steps and is_reversed(steps[-1].act):
            steps.pop()
        return steps[-1] if steps else None

    def _nothing_to_undo(self) -> str | None:
        history = self.engine.history
        if self._latest(self.done, history.is_undone) or history.next_undo():
            return None
        if (other := history.latest_of_another()) is None:
            return "There is nothing to undo."
        return f"You have nothing to undo: {display_line(other[2])} made the latest decision."

    def _nothing_to_redo(self) -> str | None:
        history = self.engine.history
        elsewhere = not self.done and history.next_redo()
        here = self._latest(self.undone, history.is_redone)
        return None if here or elsewhere else "There is nothing to redo."

    @unless(_nothing_to_undo)
    async def action_undo(self) -> None:
        """Undo this person's last act. One from elsewhere is first named; the key again undoes it,
        and then those before it.
        """
        history = self.engine.history
        step, latest = self._latest(self.done, history.is_undone), history.next_undo()
        if step and (latest is None or latest[0] <= step.act):
            await self.reverse(step, lambda: history.undo_act(step.act), keys.UNDO)
        elif self._was_named(latest, keys.UNDO):
            await self.reverse(None, history.undo, keys.UNDO)
            self._named_act, _ = history.next_undo() or (0, "")

    @unless(_nothing_to_redo)
    async def action_redo(self) -> None:
        history = self.engine.history
        if step := self._latest(self.undone, history.is_redone):
            await self.reverse(step, lambda: history.redo_act(step.act), keys.REDO)
        elif self._was_named(history.next_redo(), keys.REDO):
            await self.reverse(None, history.redo, keys.REDO)

    def _was_named(self, following: tuple[int, str] | None, key: Action) -> bool:
        """Whether an act from elsewhere was named, else name it."""
        if following is None:
            return False
        number, title = following
        if self._named_act == number:
            return True
        self._named_act = number
        self.say(
            f"Done earlier or elsewhere: {display_line(title)} - {key.key} again to {key.title} it"
        )
        return False

    async def reverse(self, step: Step | None, reverse: Callable[[], Undone], key: Action) -> None:
        """Undo or redo a step of this screen, or else an act from elsewhere."""
        undoes = key is keys.UNDO
        taken, kept = (self.done, self.undone) if undoes else (self.undone, self.done)
        try:
            done = await self.change(reverse, "Undoing" if undoes else "Redoing")
        finally:  # a step that cannot be reversed gives way to acts from elsewhere
            if step is not None:
                taken.remove(step)
        words, place = (step.words, step.place) if step else ("", self.place)
        step = Step(words or done.title, place, done.act if undoes else done.target)
        if self.is_attached:
            self.show_reversed(done)
        kept.append(step)
        where = "" if step.place == self.place else f" ({step.place})"
        verb, other = ("Undone", keys.REDO) if undoes else ("Redone", keys.UNDO)
        again = f"{where} - {other.key} to {other.title}"
        room = self.size.width - cell_len(f"  {verb}: {again}")
        words = cut(display_line(step.words), max(room, LEAST_WORDS), self.host.glyphs.ellipsis)
        self.say(f"{verb}: {words}{again}")

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
        if asked := self.question:
            return [(action, asked) for action in asked.pane.footer]
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
        shown = []
        for action, node in [*self.footer_actions(), (keys.HELP, self.host)]:
            if names := self.keys_of(action):
                titled = node.title_of(action) if isinstance(node, Actor) else action.title
                title = action.in_footer or titled
                shown.append((names[0], title, action.id))
        self.footer.show(shown)

    def keys_of(self, action: Action) -> list[str]:
        """The keys of an action that are not letters for the focused field."""
        field = (self.question.field if self.question else self.focused) or self
        return [
            key
            for key in action.bound_keys
            if not field.check_consume_key(key, key_to_character(key))
        ]

    def on_descendant_focus(self) -> None:
        self.show_footer()

    async def action_clicked(self, name: str) -> None:
        """Run the action clicked in a bar."""
        for action, node in reachable(self):
            if action.id == name:
                await node.perform(action)
                return

    def action_close(self) -> None:
        if not self.host.stop_running():
            self.dismiss()

    # choosing

    def row_in_question(self) -> tuple[Region, int]:
        """The line that a question must not cover, and the line where its list ends."""
        return Region(0, 0, self.size.width, 1), self.size.height

    async def choose(
        self,
        title: str,
        options: Sequence[Option] | Find,
        then: Callable[[Option], Awaitable[None]],
        *,
        hint: str = "",
        text: str = "",
        current: str = "",
        whole: bool = False,
        pane: TextPane | None = None,
        nothing: str = "Nothing matches.",
        stays: bool = False,
    ) -> None:
        """Open a `ChoiceScreen` beside the row and call `then` with the chosen option; one that
        `stays` is there again when what the option opened is left.
        """
        from reviewer.tui.kit.choice import ChoiceScreen  # late: text fields are slow to import

        near, until = self.row_in_question()
        asked = ChoiceScreen(
            title,
            options,
            near=near,
            until=until,
            hint=hint,
            text=text,
            current=current,
            whole=whole,
            pane=pane,
            nothing=nothing,
            chosen=then if stays else None,
        )

        async def answered(option: Option | None) -> None:
            self.show_footer()
            if self.question is None:
                self.left_question()
            if option is not None:
                await self.patiently(lambda: then(option))

        opened = self.app.push_screen(asked, answered)
        self.show_footer()
        await opened

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

        def find(typed: str) -> Sequence[Option] | str:
            typed = typed.strip()
            if trouble := problem(typed) if problem is not None and typed else "":
                return trouble
            if not (typed or empty):
                return f"{keys.CHOOSE.key} accepts what you type."
            return [Option(typed, typed or empty, f"{keys.CHOOSE.key} accepts it")]

        async def answered(option: Option) -> None:
            await then(option.key)

        await self.choose(title, find, answered, hint=hint, text=text)

    async def confirm(
        self,
        title: str,
        yes: str,
        no: str,
        then: Callable[[], Awaitable[None]],
        pane: TextPane | None = None,
        *,
        current: str = "yes",
    ) -> None:
        """Ask yes or no: enter takes the current answer, a first letter the other one; page keys
        scroll `pane`.
        """

        async def answered(option: Option) -> None:
            if option.key == "yes":
                await then()
            else:
                self.say("Nothing was changed.")

        await self.choose(
            title,
            [
                Option("yes", f"Yes, {yes}", by_start=True),
                Option("no", f"No, {no}", by_start=True),
            ],
            answered,
            hint="type the first letter, or arrows move",
            current=current,
            pane=pane,
        )

    def left_question(self) -> None:
        """Called after a question was answered or closed."""

    async def action_menu(self) -> None:
        """Choose an action that can run now, those without a key first; typing finds any."""
        actions = [each for each in self.pane.actions if self._can_run(each)]
        actions.sort(key=lambda each: bool(each.bound_keys))
        await self.host.show_menu((*actions, keys.SWITCH_THEME))

    def _can_run(self, action: Action) -> bool:
        """Whether an action can run now; also on an error, which choosing it will report."""
        try:
            return not self.why_not(action)
        except ReviewerError:
            return True

    def keep_now(self) -> None:
        """Save unsaved text and the cursor's place before a change of screen or exit."""


def to_undo(act: int) -> str:
    """The end of a message about an act: how to undo it; a full stop if nothing was changed."""
    return f" - {keys.UNDO.key} to undo" if act else "."


class TextScreen(KitScreen, inherit_bindings=False):
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
