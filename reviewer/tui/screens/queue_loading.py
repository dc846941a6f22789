"""Reading for the queue screen: snapshots, the row under the cursor, counts, other writers.

The cursor moves first. A read that is worth a frame runs in a worker thread; a later one of the
same sort makes an earlier one void.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.worker import get_current_worker

from reviewer.errors import ReadStoppedError, ReviewerError
from reviewer.tui.messages import (
    CountsRead,
    DetailRead,
    Failed,
    OthersWrote,
    SnapshotRead,
    StateRead,
)
from reviewer.tui.pace import Pace
from reviewer.tui.place import load_place, save_place
from reviewer.tui.resting import Resting
from reviewer.tui.widgets.structure_text import Extras

if TYPE_CHECKING:
    from reviewer.engine import Counts, QueueQuery
    from reviewer.tui.screens.queue import QueueScreen

FIRST_PAGE = 200
STATE_SECONDS = 0.4
_SHOWN_UNDER = {"candidate": "waiting"}


class Loading:
    """Fills the list and the panes of a `QueueScreen`."""

    def __init__(self, screen: QueueScreen) -> None:
        from reviewer.engine import QueueQuery

        self._screen = screen
        self._engine = screen.engine
        self.query = QueueQuery(project=screen.project)
        self.counts: Counts | None = None
        self.shown: DetailRead | None = None
        self.pace = Pace()
        self.asked = self.query
        """What was asked for last; `query` is what is shown."""
        self._whole = False
        self._wanted_place: int | None = None
        self._saved_place: int | None = None
        self._resting = Resting(screen, self.read_detail)
        self._version = self._engine.foreign_version()

    def work(self, group: str, work: Callable[[], None]) -> None:
        """Run reads in a thread; what goes wrong comes back as a sentence."""

        def guarded() -> None:
            try:
                work()
            except ReadStoppedError:
                return  # a later read of the group is under way
            except ReviewerError as error:
                self._screen.post_message(Failed(str(error)))

        self._screen.run_worker(guarded, thread=True, exclusive=True, group=group)

    # the snapshot

    def first_page(self) -> None:
        """Show the first rows before anything else; the whole list and the counts follow."""
        screen = self._screen
        place = load_place(self._engine.path, screen.project)
        ids = self._engine.ids(self.query, limit=FIRST_PAGE)
        screen.model.load(ids, place)
        if place is not None and screen.model.current_id != place:
            self._wanted_place = place
        screen.list.centre()
        self._shown_again()
        screen.call_after_refresh(self._read_the_rest)

    def _read_the_rest(self) -> None:
        self._read_ids(self.query, extends=True)
        self.read_counts()

    def ask(self, query: QueueQuery, *, quick: bool = False, here: int | None = None) -> None:
        """Read another list: another filter, order or status.

        `quick` shows its first page first; the cursor goes to `here`, or stays on its row.
        """
        self._wanted_place = here
        self._read_ids(query, extends=False, quick=quick)

    def go_to(self, number: int) -> None:
        """Put the cursor on a memory; the list shows all when its rows cannot hold that one."""
        from reviewer.engine import QueueQuery

        view = self._engine.queue.candidate(number)
        leader = view.leader_id
        at = self._screen.model.index_of([number] if leader is None else [number, leader])
        if at is not None:
            self._screen.list.move_to(at)
            return
        here = number if leader is None else leader
        status = self.query.status
        if status not in {view.status.value, _SHOWN_UNDER.get(view.status.value)}:
            status = "all"
        self.ask(
            QueueQuery(project=self.query.project, sort=self.query.sort, status=status), here=here
        )

    def refresh(self, here: int | None = None) -> None:
        """Read the list again; the cursor stays on its row, or goes to `here`."""
        self._wanted_place = here
        self._read_ids(self.query, extends=False)
        self.read_counts()
        self._screen.say("The queue was read again.")

    def _read_ids(self, query: QueueQuery, *, extends: bool, quick: bool = False) -> None:
        """`extends`: the first page is shown already. `quick`: show it before the rest."""
        self.asked = query

        def work() -> None:
            engine, post = self._engine, self._screen.post_message
            void = _superseded()
            if quick:
                first = engine.ids(query, limit=FIRST_PAGE, cancelled=void)
                post(SnapshotRead(query, first, extends=False))
                if len(first) < FIRST_PAGE:
                    return
            post(SnapshotRead(query, engine.ids(query, cancelled=void), extends=quick or extends))

        self.work("ids", work)

    def take_snapshot(self, message: SnapshotRead) -> None:
        """Show a list that was read."""
        model = self._screen.model
        if message.query != self.asked:
            return
        self._whole = True
        if message.extends:
            model.extend(message.ids)
            place, self._wanted_place = self._wanted_place, None
            found = model.index_of([place]) if place is not None and not model.cursor else None
            self._screen.list.grown()
            if found is not None:
                self._screen.list.centre()
                self._screen.list.move_to(found)
            return
        if not self._screen.filtering.invalid:
            self._screen.status.recover()
        near = model.ids[model.cursor : model.cursor + FIRST_PAGE]
        place, self._wanted_place = self._wanted_place, None
        self.query = message.query
        places = ([] if place is None else [place]) + list(near)
        held = set(places).intersection(message.ids)
        model.load(message.ids, next((one for one in places if one in held), None))
        if not held:
            model.cursor = 0
        self._shown_again()

    def _shown_again(self) -> None:
        screen = self._screen
        screen.filtering.settle()
        screen.shows.show_keys()
        self._version = self._engine.foreign_version()
        screen.shows.show_empty()
        screen.list.model_changed()
        screen.shows.show_title()
        self.read_detail()
        screen.badges.forget()

    # the row under the cursor

    def follow(self) -> None:
        """The cursor moved: show the row at once, or while skimming when it rests."""
        self._resting.moved()

    def read_detail(self) -> None:
        """Read the row under the cursor with its evidence."""
        number = self._screen.model.current_id
        if number is None:
            self.shown = None
            self._screen.shows.show_detail()
            return
        engine, queue = self._engine, self._engine.queue

        def work() -> None:
            view = queue.candidate(number)
            extras = Extras()
            if view.kind == "entity":
                open_conflicts = tuple(engine.conflicts.of(number))
                extras = Extras(entity=engine.entities.get(number), open_conflicts=open_conflicts)
            elif view.kind == "conflict":
                extras = Extras(conflict=engine.conflicts.get(number))
            extras = replace(extras, draft=number in engine.drafts.ids())
            self._screen.post_message(
                DetailRead(
                    number,
                    view,
                    queue.members(number) if view.members else (),
                    queue.wordings(number) if view.edited else (),
                    queue.evidence(number),
                    extras,
                )
            )

        self.work("detail", work)

    def take_detail(self, message: DetailRead) -> None:
        """Show a row that was read, unless the cursor went on."""
        if message.memory_id != self._screen.model.current_id:
            return
        self.shown = message
        self._screen.shows.show_detail()
        self._screen.set_timer(STATE_SECONDS, lambda: self._read_state(message.memory_id))

    def _read_state(self, number: int) -> None:
        if number != self._screen.model.current_id or not self._screen.is_attached:
            return

        def work() -> None:
            engine = self._engine
            state = engine.sources.state(number)
            hints = engine.insight.hints([number]).get(number, ())
            score = engine.insight.score(number)
            self._screen.post_message(StateRead(number, state, hints, score))

        self.work("state", work)

    def take_state(self, message: StateRead) -> None:
        """Say so when the source changed since."""
        shown = self.shown
        if shown is not None and message.memory_id == shown.memory_id:
            shown.extras = replace(shown.extras, hints=message.hints, score=message.score)
            self._screen.shows.show_detail(message.state)

    # counts and other writers

    def read_counts(self) -> None:
        """Count again for the header."""

        def work() -> None:
            counts = self._engine.queue.counts(self._screen.project)
            self._screen.post_message(CountsRead(counts))

        self.work("counts", work)

    def take_counts(self, counts: Counts) -> None:
        """Show counts in the header."""
        self.counts = counts
        header = self._screen.header
        header.waiting = counts.waiting
        header.promoted = counts.promoted_today
        header.rejected = counts.rejected_today
        header.minutes = self.pace.minutes(counts.waiting)
        self._screen.shows.show_empty()
        self._screen.shows.show_remark()

    def wrote(self) -> None:
        """This screen has written: that is no news from others."""
        self._version = self._engine.foreign_version()
        self.read_counts()
        self.read_detail()

    def watch(self) -> None:
        """Notice what others wrote, keep the place. Draws nothing when nothing is.

        Below another screen it waits until it is resumed: what it drew would be drawn over that.
        """
        self._keep_place()
        if not self._screen.is_active:
            return
        version = self._engine.foreign_version()
        if version == self._version or not self._whole:
            return
        self._version = version
        shown = self._screen.model.ids[:]

        def work() -> None:
            fresh = self._engine.ids(self.query, cancelled=_superseded())
            self._screen.post_message(OthersWrote(_count_new(shown, fresh)))

        self.work("others", work)

    def take_others(self, new: int) -> None:
        """Rows are read again in place; new ones wait for a refresh, so the cursor stays."""
        screen = self._screen
        screen.model.forget()
        screen.list.refresh()
        screen.badges.forget()
        self.read_counts()
        self.read_detail()
        if new:
            screen.say(f"{new:,} new candidate{'s' if new > 1 else ''} - R to show")

    def _keep_place(self) -> None:
        number = self._screen.model.current_id
        if number is None or number == self._saved_place or self._engine.read_only:
            return
        self._saved_place = number
        try:
            save_place(self._engine.path, self._screen.project, number)
        except OSError as error:
            self._screen.say(f"The place cannot be remembered: {error.strerror}.", bad=True)

    def close(self) -> None:
        """Keep the place before the screen goes."""
        self._keep_place()


def _superseded() -> Callable[[], bool]:
    """Whether the worker that asks has been overtaken by a later one of its group."""
    worker = get_current_worker()
    return lambda: worker.is_cancelled


def _count_new(shown: array[int], fresh: array[int]) -> int:
    """How many ids of `fresh` are not among `shown`: a byte each, where a set takes a hundred."""
    known = bytearray(max(shown, default=0) + 1)
    for number in shown:
        known[number] = 1
    return sum(number >= len(known) or not known[number] for number in fresh)
