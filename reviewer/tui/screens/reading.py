"""Reading behind the screen: work in a thread, its result back as a message."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from textual import on
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from reviewer.errors import ReviewerError
from reviewer.tui.acting import Acting
from reviewer.tui.kit.bars import FooterBar
from reviewer.tui.left import LeftOnce, was_left
from reviewer.tui.legacy_actions import actions_of
from reviewer.tui.situation import Situation

Value = TypeVar("Value")

ASK_SECONDS = 0.05
"""How often work that waits for its turn looks whether it is still wanted."""
_turns: defaultdict[tuple[type, str], Lock] = defaultdict(Lock)


class ReadingScreen(LeftOnce, Acting, Screen[None], inherit_bindings=False):
    """A screen that never waits for a file or the store."""

    class Came(Message):
        """A result is there; only the latest of its group is taken."""

        def __init__(self, group: str, number: int, take: Callable[[], None]) -> None:
            super().__init__()
            self.group = group
            self.number = number
            self.take = take

    def __init__(self) -> None:
        super().__init__()
        self._latest: Counter[str] = Counter()

    def read(
        self,
        work: Callable[[], Value],
        then: Callable[[Value], None],
        *,
        group: str = "read",
        failed: Callable[[str], None] | None = None,
        in_turn: bool = False,
    ) -> None:
        """Run `work` in a thread and `then` with its result, unless the group was asked again.

        A ReviewerError goes to `failed`, or into the status line. `in_turn`: only one work of the
        group runs at a time, also where a screen of this kind was left and opened again, and what
        nobody wants any more is not begun. Long work that waited for the same things would
        otherwise keep every screen that was left meanwhile, and the threads of the others.
        """
        self._latest[group] += 1
        number = self._latest[group]
        turn = _turns[type(self), group]

        def guarded() -> None:
            if not in_turn:
                run()
            elif _begun(turn):
                try:
                    run()
                finally:
                    turn.release()

        def run() -> None:
            try:
                value = work()
            except ReviewerError as error:
                text = str(error)
                tell = failed or self.trouble
                self.post_message(self.Came(group, number, lambda: tell(text)))
            else:
                self.post_message(self.Came(group, number, lambda: then(value)))

        self.run_worker(guarded, thread=True, exclusive=True, group=group)

    def trouble(self, sentence: str) -> None:
        """Say what went wrong."""
        self.say(sentence, bad=True)

    def show_keys(self, pane: str, now: Situation | None = None) -> None:
        """Put the keys of a pane into the footer, as the user's keymap has them.

        `now` says how many rows are marked, for the actions that take those. A screen that is
        being left has lost its footer before the last news reaches it.
        """
        keymap = getattr(self.app, "keymap_in_use", None)
        actions = [action for action in actions_of([pane, "app"]) if action.footer]
        actions.sort(key=lambda action: action.footer)
        shown = [
            (
                keymap.keys(action.id)[0] if keymap else action.keys.split(",")[0],
                action.titled(now or Situation()),
                action.id,
            )
            for action in actions
        ]
        for footer in self.query(FooterBar):
            footer.show(shown)

    @on(Came)
    def _take(self, message: Came) -> None:
        message.stop()
        if not was_left(self) and message.number == self._latest[message.group]:
            message.take()


def _begun(turn: Lock) -> bool:
    """Wait for a turn, and take it; False when the work is not wanted any more."""
    worker = get_current_worker()
    while not turn.acquire(timeout=ASK_SECONDS):
        if worker.is_cancelled:
            return False
    if worker.is_cancelled:
        turn.release()
        return False
    return True
