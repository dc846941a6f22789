"""The queue: the list, the candidate under the cursor, and its evidence.

The first page is read before anything is shown; everything else is read in threads. The cursor
moves first, and the panes follow.
"""

from __future__ import annotations

from array import array
from asyncio import to_thread
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, structs
from textual import on
from textual.timer import Timer
from textual.worker import get_current_worker

from reviewer.engine import Engine
from reviewer.errors import ConflictError, FilterError, SourceError
from reviewer.promotion.views import Kind, QueueQuery, RejectReason, Sort, SourceState
from reviewer.text.display import display_line
from reviewer.tui.editor import ask_model
from reviewer.tui.evidence.candidate_pane import CandidatePane
from reviewer.tui.evidence.evidence_pane import EvidencePane
from reviewer.tui.evidence.row_sign import NO_BADGES, Badges
from reviewer.tui.evidence.structure import Extras
from reviewer.tui.kit import keys as kit_keys
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import Actor, runs
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.screen import ListScreen, TextEdit
from reviewer.tui.kit.text import count
from reviewer.tui.places import load_place, save_place
from reviewer.tui.queue import keys
from reviewer.tui.queue.model import Pace, QueueModel, count_new
from reviewer.tui.queue.panes import CandidateList
from reviewer.tui.queue.reading import ReadingAct, read_project_sessions

if TYPE_CHECKING:
    from reviewer.promotion.acceptance_model import Score
    from reviewer.promotion.history import Undone
    from reviewer.promotion.policies import Hint
    from reviewer.promotion.triage import Done, Seen
    from reviewer.promotion.views import CandidateView, Counts, EvidenceView, Member, QueueRow
    from reviewer.tui.kit.choice_pane import Option

FIRST_PAGE = 200
"""Rows shown before the rest of the list is read."""
NEARBY = 200
"""Rows around the cursor that it may go to when its own row has left the list."""
STATE_SECONDS = 0.4
"""Rest on a row before its source is compared, and policies and odds are read."""
BADGE_SECONDS = 0.5
"""Rest of the cursor before the badges of the visible rows are read."""
MANY = 500
"""Number of rows from which a decision shows its progress."""
CHECKED_AGAIN = 500
"""Decided rows that are read again at most after somebody else wrote."""

STATUSES = ("waiting", "deferred", "active", "invalid", "superseded", "all")
TITLES = {
    "waiting": "Candidates",
    "deferred": "Deferred",
    "active": "Active memories",
    "invalid": "Rejected",
    "superseded": "Merged into others",
    "all": "Everything",
}
READ_MORE = "i reads this project's sessions. Others: reviewer ingest PATH"
EMPTY = {
    "waiting": ("Nothing is waiting.", READ_MORE),
    "deferred": ("Nothing was deferred.", "w shows other rows."),
    "active": ("No memory is active yet.", "Promote a candidate with a; w shows other rows."),
    "invalid": ("Nothing was rejected.", "w shows other rows."),
    "superseded": ("Nothing was merged.", "w shows other rows."),
    "all": ("The store is empty.", READ_MORE),
}
REASONS = {
    RejectReason.NARRATION: ("narration", "of the moment, or of one task"),
    RejectReason.KNOWN: ("known", "the agent has it already"),
    RejectReason.WRONG: ("wrong", "it is not true, or not any more"),
    RejectReason.NARROW: ("too narrow", "it is true for one place or task only"),
    RejectReason.OTHER: ("other", "another reason"),
}
ENOUGH_DECISIONS = "30 decisions, at least 5 of each sort"


class Detail(Struct, frozen=True):
    """Everything about the row under the cursor."""

    view: CandidateView
    members: Sequence[Member]
    wordings: Sequence[tuple[str, str]]
    evidence: Sequence[EvidenceView]
    extras: Extras


class QueueScreen(ListScreen, pane=keys.QUEUE):
    tab = "queue"
    FILTER_HINT: ClassVar[str] = (
        'words  -word  "a phrase"  type:pref  kind:entity  is:edited  path:docs  conf>0.5  seen>2'
    )

    model: QueueModel

    def __init__(self, engine: Engine, project: str | None) -> None:
        model = QueueModel(engine.queue.rows)
        self.rows = CandidateList(model, engine.clock)
        self.candidate = CandidatePane(id="candidate")
        self.evidence = EvidencePane(id="evidence")
        super().__init__(
            engine,
            project,
            self.rows,
            [self.candidate, self.evidence],
            title="Candidates",
            model=model,
        )
        self.query_shown = QueueQuery(project=project)
        self._query_asked = self.query_shown
        self._opened = False
        self._whole = False
        """The list has all its rows, not just the first page."""
        self._wanted: Collection[int] = ()
        """Ids for the cursor when the list arrives, best first."""
        self._saved_place: int | None = None
        self._counts: Counts | None = None
        self._detail: Detail | None = None
        self._pace = Pace()
        self._badges_known: set[int] = set()
        self._badges_timer: Timer | None = None
        self._first_time = False
        """The queue of this project is opened for the first time."""
        self._folded = True
        """Excerpts are left out of the list while statements wait."""
        self._opened_excerpts: set[int] = set()
        """Excerpts that were opened in the editor: a promotes them as they are."""
        self._differences_shown: int | None = None
        """The row whose cluster was opened by the key that promotes it."""
        self._queued: int | None = None
        """The latest act that queued more candidates, until it is undone."""

    def on_mount(self) -> None:
        self.header.project = display_line(self.project or "all projects")

    # reading the list

    def reload(self) -> None:
        """Show the first page; later, the same rows as they are now, and how many are new."""
        if not self._opened:
            self._opened = True
            self._show_first_page()
            return
        self.model.forget()
        self.model.touched(list(self.model.settled)[:CHECKED_AGAIN])
        self.rows.refresh()
        self._forget_badges()
        self.show_counts()
        self.follow()
        shown, query = self.model.ids[:], self.query_shown
        self.read(lambda: count_new(shown, self._all_ids(query)), self._say_new, group="new rows")

    def _say_new(self, new: int) -> None:
        if new:
            self.say(f"{count(new, 'new candidate')} - R to show")

    def watch_store(self) -> None:
        self._keep_place()
        if self._whole:
            super().watch_store()

    def _show_first_page(self) -> None:
        place = load_place(self.engine.path, self.project)
        self._first_time = place is None
        statements = structs.replace(self.query_shown, statements_only=True)
        ids = self.engine.ids(statements, limit=FIRST_PAGE)
        if ids:
            self.query_shown = self._query_asked = statements
        else:
            self._folded = False
            ids = self.engine.ids(self.query_shown, limit=FIRST_PAGE)
        self.model.load(ids, () if place is None else [place])
        if place is not None and self.model.current_id != place:
            self._wanted = [place]
        self.rows.centre()
        self._list_changed()
        self.call_after_refresh(self._read_the_rest)

    def _read_the_rest(self) -> None:
        self._ask_for(self.query_shown, extends=True)
        self.show_counts()

    def _read_again(self, here: Collection[int] = ()) -> None:
        """Read the list again; the cursor stays on its row, or goes to the first of `here`."""
        self._ask(self.query_shown, here=here)
        self.show_counts()

    def _ask(self, query: QueueQuery, *, quick: bool = False, here: Collection[int] = ()) -> None:
        """Read another list: another filter, order or status.

        `quick` shows its first page first; the cursor goes to the first of `here`, or stays on its
        row.
        """
        self._wanted = here
        self._ask_for(query, quick=quick)

    def _ask_for(self, query: QueueQuery, *, quick: bool = False, extends: bool = False) -> None:
        self._query_asked = query

        def first_page() -> array[int]:
            worker = get_current_worker()
            return self.engine.ids(query, limit=FIRST_PAGE, cancelled=lambda: worker.is_cancelled)

        def show_first_page(ids: array[int]) -> None:
            self._take_list(query, ids)
            if len(ids) == FIRST_PAGE:
                self._ask_for(query, extends=True)

        if quick:
            self.read(first_page, show_first_page, group="ids")
        elif extends:
            self.read(lambda: self._all_ids(query), self._take_rest, group="ids")
        else:
            self.read(
                lambda: self._all_ids(query),
                lambda ids: self._take_list(query, ids),
                group="ids",
            )

    def _all_ids(self, query: QueueQuery) -> array[int]:
        worker = get_current_worker()
        return self.engine.ids(query, cancelled=lambda: worker.is_cancelled)

    def _take_rest(self, ids: array[int]) -> None:
        self._whole = True
        self.model.extend(ids)
        wanted, self._wanted = self._wanted, ()
        found = self.model.index_of(wanted) if not self.model.cursor else None
        self.rows.grown()
        if found is not None:
            self.rows.centre()
            self.list.move_to(found)

    def _take_list(self, query: QueueQuery, ids: array[int]) -> None:
        self._whole = True
        if not ids and query.statements_only:
            self._folded = False
            self._ask(structs.replace(query, statements_only=False), here=self._wanted)
            self.say("No statement is left: here are the excerpts, places to look.")
            return
        if not self.filter_invalid:
            self.status.recover()
        wanted, self._wanted = set(self._wanted), ()
        nearby = self.model.nearby(NEARBY)
        there = wanted.union(nearby).intersection(ids)
        here = list(wanted & there) or [number for number in nearby if number in there][:1]
        self.query_shown = query
        self.model.load(ids, here)
        if not here:
            self.model.cursor = 0
        self._list_changed()

    def _list_changed(self) -> None:
        self._settle_filter()
        self.note_version()
        self.rows.sort = self.query_shown.sort
        self._show_empty()
        self._show_remark()
        self.rows.rows_changed()
        self._show_title()
        self.follow()
        self._forget_badges()

    def open_memory(self, number: int) -> None:
        """Put the cursor on a memory; the list shows other rows when it is not among these."""
        view = self.engine.queue.candidate(number)
        ids = [number] if view.leader_id is None else [number, view.leader_id]
        at = self.model.index_of(ids)
        if at is not None:
            self.list.move_to(at)
            return
        shown_under = {view.status.value}
        if view.status == "candidate":
            shown_under.add("waiting")
        query = QueueQuery(
            project=self.query_shown.project,
            sort=self.query_shown.sort,
            status=self.query_shown.status if self.query_shown.status in shown_under else "all",
        )
        self._ask(query, here=ids[-1:])

    def refresh_rows(self) -> None:
        """Read the list again: decided rows leave, new ones appear."""
        self._read_again()
        self.say("The queue was read again.")

    # the lines around the list

    def _show_title(self) -> None:
        query = self.query_shown
        detail = f"by {query.sort.value}"
        if query.filter:
            detail += f"   / {display_line(query.filter)}"
        self.title_rule.show(TITLES.get(query.status, "Candidates"), detail)

    def show_counts(self) -> None:
        self.read(lambda: self.engine.queue.counts(self.project), self._take_counts, group="counts")

    def _take_counts(self, counts: Counts) -> None:
        self._counts = counts
        self.header.show_counts(counts)
        self.header.minutes = self._pace.minutes(counts.waiting)
        self._show_empty()
        self._show_remark()
        if self._first_time and counts.excerpts and not self.status.text:
            self.say("Rules found these offline. P asks a model for more, after saying its cost.")
        self._first_time = False

    def _show_remark(self) -> None:
        """Below the list: what waits and is not in it."""
        counts = self._counts
        if counts is None:
            return
        remarks = [f"+{counts.beyond_cap:,} more: M queues them"] if counts.beyond_cap else []
        if self.query_shown.statements_only and counts.excerpts:
            remarks.insert(0, f"Excerpts: {count(counts.excerpts, 'place')} to look, f shows them")
        remark = ", ".join(remarks)
        if remark != self.list.remark:
            self.list.remark = remark
            self.list.redraw_foot()

    def _show_empty(self) -> None:
        empty = not self.model.ids
        self.show_empty(empty=empty)
        lines = empty_lines(self.query_shown, self._counts)
        if self.list.empty != lines:
            self.list.empty = lines
            if empty:
                self.list.refresh()

    def footer_actions(self) -> Sequence[tuple[Action, Actor]]:
        """On a conflict, the keys that settle it."""
        actions = super().footer_actions()
        row = self.model.current
        if row is not None and row.kind == "conflict" and actions and actions[0][1] is self:
            return [(action, self) for action in keys.CONFLICT_FOOTER]
        return actions

    # the row under the cursor

    def cursor_moved(self) -> None:
        self._look_for_badges()

    def follow(self) -> None:
        """Read the row under the cursor with its evidence, and show it."""
        number = self.model.current_id
        if number is None:
            self._detail = None
            self.candidate.show_nothing("")
            self.evidence.show_nothing()
            self.show_footer()
            return
        self.read(lambda: read_detail(self.engine, number), self._show_detail, group="detail")

    def _show_detail(self, detail: Detail) -> None:
        number = detail.view.id
        if number != self.model.current_id:
            return
        self._detail = detail
        self._draw_candidate()
        self.evidence.show_evidence(detail.evidence)
        self.show_footer()
        self.set_timer(STATE_SECONDS, lambda: self._read_state(number))

    def _draw_candidate(self, state: SourceState = SourceState.UNKNOWN) -> None:
        detail = self._detail
        if detail is None:
            return
        self.candidate.show_candidate(
            detail.view,
            now=self.engine.clock(),
            members=detail.members,
            wordings=detail.wordings,
            state=state,
            extras=detail.extras,
            keep_scroll=state is not SourceState.UNKNOWN,
        )

    def _read_state(self, number: int) -> None:
        if number != self.model.current_id or not self.is_attached:
            return

        def work() -> tuple[SourceState, tuple[Hint, ...], Score | None]:
            insight = self.engine.insight
            hints = insight.hints([number]).get(number, ())
            self.engine.was_looked_at(number)
            return self.engine.sources.state(number), hints, insight.score(number)

        def then(found: tuple[SourceState, tuple[Hint, ...], Score | None]) -> None:
            detail, (state, hints, score) = self._detail, found
            if detail is not None and detail.view.id == number:
                extras = structs.replace(detail.extras, hints=hints, score=score)
                self._detail = structs.replace(detail, extras=extras)
                self._draw_candidate(state)
            self._badges_known.discard(number)  # its star goes when the cursor moves on

        self.read(work, then, group="state")

    # badges of the visible rows

    def _look_for_badges(self) -> None:
        if self._badges_timer is not None:
            self._badges_timer.stop()
        self._badges_timer = self.set_timer(BADGE_SECONDS, self._read_badges)

    def _forget_badges(self) -> None:
        self._badges_known.clear()
        self._look_for_badges()

    def _read_badges(self) -> None:
        wanted = [one for one in self.rows.ids_in_sight if one not in self._badges_known]
        if not wanted or not self.is_attached:
            return

        def work() -> dict[int, Badges]:
            hinted = self.engine.insight.hints(wanted)
            stale = self.engine.sources.stale(wanted)
            drafts = self.engine.drafts.ids()
            return {one: Badges(one in hinted, one in stale, one in drafts) for one in wanted}

        self.read(work, self._take_badges, group="badges")

    def _take_badges(self, badges: dict[int, Badges]) -> None:
        self._badges_known.update(badges)
        self.rows.show_badges(badges)

    # why a key cannot run now

    def _no_row(self) -> str | None:
        return None if self.model.current else "There is no candidate under the cursor."

    def _settled(self) -> str | None:
        row = self.model.current
        if row is not None and self.model.decided(self.model.cursor):
            return f"#{row.id} is decided already: u undoes the last decision, r puts it back."
        return self._no_row()

    def _is_conflict(self) -> str | None:
        row = self.model.current
        if row is None or row.kind != "conflict" or self.model.decided(self.model.cursor):
            return None
        return (
            f"#{row.id} is a conflict: 1 keeps the left side, 2 the right, b both, x dismisses it."
        )

    def _cannot_decide(self) -> str | None:
        return None if self.model.count_marked() else self._settled()

    def _cannot_promote(self) -> str | None:
        return None if self.model.count_marked() else self._is_conflict() or self._settled()

    def _cannot_reword(self) -> str | None:
        return self._is_conflict() or self._settled()

    def _cannot_restore(self) -> str | None:
        row = self.model.current
        if row is None or self.model.count_marked():
            return None if row else self._no_row()
        waits = not self.model.decided(self.model.cursor) and not row.deferred
        return f"#{row.id} is already waiting in the queue." if waits else None

    def _not_a_conflict(self) -> str | None:
        row = self.model.current
        if row is not None and row.kind != "conflict":
            return f"#{row.id} is not a conflict: this key settles one."
        if row is not None and self.model.decided(self.model.cursor):
            return f"Conflict #{row.id} is settled already: u undoes the last decision."
        return self._no_row()

    def _no_draft(self) -> str | None:
        row = self.model.current
        if row is not None and row.id not in self.engine.drafts.ids():
            return f"#{row.id} has no draft."
        return self._no_row()

    def _no_cluster(self) -> str | None:
        row = self.model.current
        if row is not None and not row.members and not self.model.is_open(self.model.cursor):
            return f"#{row.id} has no near duplicates behind it."
        return self._no_row()

    def _no_open_cluster(self) -> str | None:
        if self.model.current is not None and not self.model.is_open(self.model.cursor):
            return "No cluster is open here: enter opens one."
        return self._no_row()

    def _not_an_entity(self) -> str | None:
        row = self.model.current
        if row is not None and row.kind != "entity":
            return f"#{row.id} is not an entity, so it has no name: T gives it the type of one."
        return self._cannot_reword()

    def _no_excerpts(self) -> str | None:
        if self.query_shown.status != "waiting" or self.query_shown.filter:
            return "Excerpts are folded only in the list of what waits, without a filter."
        excerpts = self._counts.excerpts if self._counts else 0
        return None if excerpts else "No excerpt is waiting."

    def _no_project(self) -> str | None:
        return None if self.project else "All projects are shown: name one with --project."

    def _nothing_beyond_cap(self) -> str | None:
        beyond = self._counts.beyond_cap if self._counts else 0
        return None if beyond else "Nothing was left beyond the cap."

    def _nothing_to_undo_here(self) -> str | None:
        return None if self._queued is not None else self._nothing_to_undo()

    # deciding

    @runs(keys.PROMOTE, unless=_cannot_promote)
    async def promote(self) -> None:
        """Promote the marked rows, or this one; rows with a draft are left out."""
        ids = self._targets()
        row = self.model.current
        if row is not None and ids == [row.id] and self._is_new_excerpt(row):
            self._opened_excerpts.add(row.id)
            await self.edit()
            self.say("Word it as a memory: ctrl+s promotes it; esc, then a takes it as it is.")
            return
        drafts = await to_thread(self.engine.drafts.ids)
        ready = [number for number in ids if number not in drafts]
        left_out = len(ids) - len(ready)
        if left_out and len(ids) == 1:
            self.list.move_to(self.model.index_of(ids) or 0)
            await self.edit()
            self.say(f"#{ids[0]} has a draft: ctrl+s promotes it; esc, then D, discards it.")
            return
        if not ready:
            raise ConflictError(
                "All marked rows have drafts: a on each one opens its draft, D discards it."
            )
        remark = f", left out {count(left_out, 'row')} with drafts" if left_out else ""
        await self._decide(ready, "Promoting", self.engine.triage.promote, remark)

    @runs(keys.REJECT, unless=_cannot_decide)
    async def reject(self) -> None:
        """Reject the marked rows, or this one; a conflict is dismissed."""
        row = self.model.current
        if row is not None and row.kind == "conflict" and not self.model.count_marked():
            await self._resolve(self.engine.conflicts.dismiss)
        else:
            await self._decide(self._targets(), "Rejecting", self.engine.triage.reject)

    def _is_new_excerpt(self, row: QueueRow) -> bool:
        """Whether a row is an excerpt that nobody has worded or seen in the editor."""
        opened = row.id in self._opened_excerpts
        return row.is_excerpt and not row.edited and not opened and row.kind != "conflict"

    @runs(keys.REJECT_WHY, unless=_cannot_promote)
    async def reject_why(self) -> None:
        """Reject the marked rows, or this one, with a reason that one more key chooses."""
        from reviewer.tui.kit.choice_pane import Option  # late, as the chooser itself

        ids = self._targets()
        which = f"#{ids[0]}" if len(ids) == 1 else f"{len(ids):,} rows"

        async def then(option: Option) -> None:
            reject = partial(self.engine.triage.reject, reason=RejectReason(option.key))
            await self._decide(ids, "Rejecting", reject)

        reasons = [Option(each, *words) for each, words in REASONS.items()]
        await self.choose(
            f"Reject {which}", "the first letter chooses", reasons, then, by_letter=True
        )

    @runs(keys.DEFER, unless=_cannot_decide)
    async def defer(self) -> None:
        """Put the marked rows, or this one, at the end of the queue."""

        def defer(ids: Sequence[int], *, alone: Collection[int]) -> Done:
            return self.engine.triage.defer(ids)

        await self._decide(self._targets(), "Deferring", defer)

    def _targets(self) -> list[int]:
        """The marked rows that wait, or the row under the cursor."""
        waiting = [number for number in self.model.targets() if number not in self.model.settled]
        if not waiting:
            raise ConflictError("All marked rows are decided already: escape clears the marks.")
        return waiting

    async def _decide(
        self, ids: Sequence[int], words: str, act: Callable[..., Done], remark: str = ""
    ) -> None:
        """Write a decision. Rows of open clusters are decided without their near duplicates."""
        opened = {*self.model.leader_of, *self.model.leader_of.values()}
        alone = opened.intersection(ids)
        many = len(ids) >= MANY
        if many:
            self.say(f"{words} {len(ids):,} ...")
        done = await self.write(lambda: act(ids, alone=alone), words if many else "", len(ids))
        self._settle(done, [*ids, *done.ids], len(ids), remark)

    def _settle(self, done: Done, ids: Sequence[int], rows: int, remark: str = "") -> None:
        """Dim the decided rows and go to the next row that waits."""
        model = self.model
        model.clear_marks()
        model.touched(ids)
        self._pace.decided(rows)
        if model.ids and not model.waiting(model.cursor):
            self.list.move_to(model.after_decision(model.cursor))
        self._show_again(_words(done, remark))

    def _show_again(self, words: str) -> None:
        """After an act of this screen: draw the rows, and read the panes beside them again."""
        self.list.refresh()
        self.say(words)
        self.show_footer()
        self.note_version()
        self.show_counts()
        self.follow()

    @runs(keys.KEEP_LEFT, unless=_not_a_conflict)
    async def keep_left(self) -> None:
        await self._resolve(lambda number: self._supersede(number, left=True))

    @runs(keys.KEEP_RIGHT, unless=_not_a_conflict)
    async def keep_right(self) -> None:
        await self._resolve(lambda number: self._supersede(number, left=False))

    @runs(keys.KEEP_BOTH, unless=_not_a_conflict)
    async def keep_both(self) -> None:
        await self._resolve(self.engine.conflicts.keep_both)

    def _supersede(self, number: int, *, left: bool) -> Done:
        conflict = self.engine.conflicts.get(number)
        winner = conflict.left if left else conflict.right
        return self.engine.conflicts.supersede(number, winner.id)

    async def _resolve(self, settle: Callable[[int], Done]) -> None:
        number = self.model.current_id
        if number is not None:
            done = await self.write(lambda: settle(number))
            self._settle(done, done.ids, 1)

    @runs(keys.RESTORE, unless=_cannot_restore)
    async def restore(self) -> None:
        """Put the marked rows, or this one, back into the queue."""
        ids = self.model.targets()
        done = await self.write(lambda: self.engine.triage.restore(ids))
        self.model.clear_marks()
        self.model.touched(done.ids)
        self._show_again(_words(done))

    @runs(keys.MERGE, unless=_cannot_reword)
    async def merge(self) -> None:
        """Merge the nearest duplicate into this row; in a cluster, this row into its leader."""
        row = self.model.current
        if row is None:
            return
        number, into = row.id, self.model.leader_of.get(row.id) or row.leader_id
        if into is None:
            members = await to_thread(self.engine.queue.members, row.id)
            near = [member.id for member in members if member.status == "candidate"]
            if not near:
                raise ConflictError(f"#{row.id} has no near duplicate to merge.")
            number, into = near[0], row.id
        merged, target = number, into
        done = await self.write(lambda: self.engine.triage.merge(merged, target))
        self._settle(done, [merged, target, *done.ids], 1)

    @runs(keys.PROMOTE_CLUSTER, unless=_no_cluster)
    async def promote_cluster(self) -> None:
        """Open the cluster of this row with its differences; the second time, promote it."""
        row = self.model.current
        if row is None:
            return
        leader = self.model.leader_of.get(row.id, row.id)
        if self._differences_shown != leader or not self.model.is_open(self.model.cursor):
            if not self.model.is_open(self.model.cursor):
                await self.toggle_cluster()
            self._differences_shown = leader
            self.say(f"Read how they differ from #{leader}: A again promotes it and merges them.")
            return
        self._differences_shown = None
        self.collapse()
        done = await self.write(lambda: self.engine.triage.promote([leader]))
        self._settle(done, [leader, *done.ids], 1)

    @runs(keys.TYPE, unless=_cannot_reword)
    async def change_type(self) -> None:
        """Choose another type for this row."""
        row = self.model.current
        if row is None:
            return
        from reviewer.extraction.candidates import MemoryType
        from reviewer.extraction.entities.entity import EntityType
        from reviewer.tui.kit.choice_pane import Option

        number, seen = row.id, self._as_seen(row)
        options = [Option(str(each), str(each), "memory") for each in MemoryType]
        options += [
            Option(f"entity:{each}", each.replace("_", " "), "entity") for each in EntityType
        ]

        async def then(option: Option) -> None:
            done = await self.write(
                lambda: self.engine.triage.edit(number, type_=option.key, promote=False, seen=seen)
            )
            self._show_changed(done)

        await self.choose(f"Type of #{number}", f"now {row.type}", options, then)

    @runs(keys.NAME, unless=_not_an_entity)
    async def rename(self) -> None:
        """Type another name for this entity."""
        row = self.model.current
        if row is None:
            return
        from reviewer.tui.kit.choice_pane import Option

        number, seen = row.id, self._as_seen(row)
        entity = await to_thread(self.engine.entities.get, number)

        async def then(option: Option) -> None:
            done = await self.write(
                lambda: self.engine.triage.edit(number, name=option.key, promote=False, seen=seen)
            )
            self._show_changed(done)

        def typed(text: str) -> None:
            self.offer([Option(text, text, "enter gives it this name")] if text.strip() else [])

        await self.choose(
            f"Name of #{number}",
            "enter renames, escape leaves it",
            [],
            then,
            narrow=typed,
            hint="a name",
            nothing="Type a name.",
            text=entity.name,
            replace=True,
        )

    def _as_seen(self, row: QueueRow) -> Seen:
        from reviewer.promotion.triage import Seen  # late: the first page does not need it

        return Seen(row.status, row.content)

    def _show_changed(self, done: Done) -> None:
        self.model.touched(done.ids)
        self._show_again(f"{done.title} - u to undo" if done.act else f"{done.title}.")

    @runs(keys.QUEUE_MORE, unless=_nothing_beyond_cap)
    async def queue_more(self) -> None:
        """Queue candidates that were left beyond the cap."""
        done = await self.write(lambda: self.engine.intake.more(project=self.project))
        self._queued = done.act
        self.note_version()
        self._read_again()
        self.say(f"{done.title} - u to undo")

    @runs(keys.READ_SESSIONS, unless=_no_project)
    async def read_sessions(self) -> None:
        """Read the sessions of this project that lie where agents keep them."""
        project = self.project
        assert project is not None
        act = ReadingAct()
        report = await self.host.accompany(
            self, act, lambda: read_project_sessions(self.engine, project, act)
        )
        if report is None:
            self.say("There are no sessions of this project on this machine.")
            return
        self.note_version()
        self._read_again()
        stopped = "Stopped. " if report.state == "interrupted" else ""
        self.say(
            f"{stopped}Read {count(report.files, 'file')}, {report.unchanged:,} unchanged: "
            f"{count(report.new, 'new candidate')}."
        )

    @runs(keys.ASK_MODEL, unless=_no_project)
    def ask_model(self) -> None:
        """Leave the screen to `reviewer propose`, which says what it costs before it asks."""
        if self.project is not None:
            ask_model(self.app, self.engine.path, self.project)
            self.note_version()
            self._read_again()
            self.say("Back from the model: its statements wait first.")

    @runs(kit_keys.UNDO, unless=_nothing_to_undo_here)
    async def undo(self) -> None:
        """Undo the last decision, or queueing more if that came later."""
        following, queued = self.engine.history.next_undo(), self._queued
        if queued is None or (following is not None and following[0] > queued):
            await super().undo()
            return
        self._queued = None
        undone = await self.write(lambda: self.engine.history.undo_act(queued), "Undoing")
        self.note_version()
        self._read_again()
        self.say(f"Undone: {undone.title}")

    def show_reversed(self, undone: Undone) -> None:
        """Go to the first row that an undo or redo changed, or beyond it if that row is decided."""
        model = self.model
        at = model.index_of(undone.ids)
        model.touched(undone.ids)
        if at is None:
            self._read_again(undone.ids)
        else:
            self.list.move_to(at if model.waiting(at) else model.after_decision(at))
        self.list.refresh()
        self.show_footer()
        self.note_version()
        self.show_counts()
        self.follow()

    # editing

    @on(RowList.Opened)
    async def _double_clicked(self) -> None:
        await self.action_act(keys.EDIT.id)

    @runs(keys.EDIT, unless=_cannot_reword)
    async def edit(self) -> None:
        """Edit the row under the cursor, from its draft where there is one; saving promotes it."""
        row = self.model.current
        if row is None:
            return
        from reviewer.promotion.triage import LONGEST  # late: the first page does not need it

        number, seen = row.id, self._as_seen(row)
        self.say(f"Editing #{number}: ctrl+s promotes it, escape keeps a draft.")
        await self.edit_text(
            TextEdit(
                key=number,
                title=f"Edit #{number}",
                original=row.content,
                drafts=self.engine.drafts,
                save=lambda text: self.write(
                    lambda: self.engine.triage.edit(number, text, seen=seen)
                ),
                saved=lambda done: self._settle(done, done.ids, 1),
                verb="promote",
                limit=LONGEST,
                beside=(self.evidence,) if row.is_excerpt else (),
            )
        )

    def draft_changed(self, key: int, *, kept: bool) -> None:
        badges = self.rows.badges.get(key, NO_BADGES)
        self.rows.show_badges({key: structs.replace(badges, draft=kept)})
        self.follow()

    @runs(keys.DISCARD_DRAFT, unless=_no_draft)
    def discard_draft(self) -> None:
        """Throw away the draft of the row under the cursor."""
        number = self.model.current_id
        if number is not None:
            self.engine.drafts.discard(number)
            self.draft_changed(number, kept=False)
            self.say(f"The draft of #{number} was discarded; e begins with the original.")

    # other rows and orders

    @property
    def filter_text(self) -> str:
        return self._query_asked.filter

    def filter_problem(self, text: str) -> str:
        try:
            self.engine.queue.check(structs.replace(self.query_shown, filter=text))
        except FilterError as error:
            return str(error)
        return ""

    def run_filter(self, text: str, *, here: int | None) -> None:
        query = structs.replace(self.query_shown, filter=text)
        query = structs.replace(query, statements_only=self._folds(query))
        self._ask(query, quick=bool(text), here=() if here is None else [here])

    @runs(keys.SORT, unless=ListScreen.no_rows)
    async def sort(self) -> None:
        """Change to the next order; the learned one needs enough decisions to learn from."""
        orders = list(Sort)
        following = orders[(orders.index(self.query_shown.sort) + 1) % len(orders)]
        missing = ""
        if following is Sort.LEARNED and await to_thread(self.engine.insight.preference) is None:
            counts = await to_thread(self.engine.queue.counts, None)
            so_far = counts.promoted + counts.rejected
            following = orders[0]
            missing = f" The learned order needs {ENOUGH_DECISIONS}: {so_far:,} so far."
        self._ask(structs.replace(self.query_shown, sort=following))
        self.say(f"Ordered by {following.value}.{missing}")

    @runs(keys.STATUS)
    def next_status(self) -> None:
        """Show rows of the next status."""
        at = STATUSES.index(self.query_shown.status)
        status = STATUSES[(at + 1) % len(STATUSES)]
        query = structs.replace(self.query_shown, status=status)
        self._ask(structs.replace(query, statements_only=self._folds(query)))
        self.say(f"Shown: {TITLES[status].lower()}. w shows the next.")

    def _folds(self, query: QueueQuery) -> bool:
        """Whether a list leaves the excerpts out: only what waits, and while nothing is sought."""
        return self._folded and query.status == "waiting" and not query.filter

    @runs(keys.FOLD, unless=_no_excerpts)
    def fold(self) -> None:
        """Show the excerpts behind the statements, or hide them again."""
        self._folded = not self._folded
        self._ask(structs.replace(self.query_shown, statements_only=self._folded))
        self.show_counts()
        shown = "Excerpts are hidden" if self._folded else "Excerpts follow the statements"
        self.say(f"{shown}: f shows {'them' if self._folded else 'the statements alone'}.")

    # clusters

    @runs(keys.EXPAND, unless=_no_cluster)
    async def toggle_cluster(self) -> None:
        """Open the cluster of this row, or close it."""
        index = self.model.cursor
        if self.model.is_open(index):
            self.collapse()
            return
        members = await to_thread(self.engine.queue.members, self.model.ids[index])
        waiting = [member.id for member in members if member.status == "candidate"]
        self.model.open_cluster(index, waiting)
        self.rows.rows_changed()
        self.say("The cluster is open: each of its rows is decided alone now.")

    @runs(keys.COLLAPSE, unless=_no_open_cluster)
    def collapse(self) -> None:
        """Close the cluster; the cursor goes to its row."""
        self.model.close_cluster(self.model.cursor)
        self.rows.rows_changed()
        self.rest.moved()

    # moving

    @runs(keys.NEXT_WAITING, unless=ListScreen.no_rows)
    def next_waiting(self) -> None:
        self._go_to_waiting(1)

    @runs(keys.PREVIOUS_WAITING, unless=ListScreen.no_rows)
    def previous_waiting(self) -> None:
        self._go_to_waiting(-1)

    def _go_to_waiting(self, step: int) -> None:
        found = self.model.next_waiting(self.model.cursor + step, step)
        if found is None:
            self.say("No other row in this direction is waiting.")
        else:
            self.list.move_to(found)

    # looking

    @runs(keys.NEXT_EVIDENCE, unless=_no_row)
    def next_evidence(self) -> None:
        self.evidence.next_evidence()

    @runs(keys.PREVIOUS_EVIDENCE, unless=_no_row)
    def previous_evidence(self) -> None:
        self.evidence.previous_evidence()

    def _current_evidence(self) -> EvidenceView:
        """The evidence on the screen. Raises SourceError for a memory that was written by hand."""
        number, detail = self.model.current_id, self._detail
        evidence = self.evidence.current
        if number is not None and (detail is None or detail.view.id != number):
            evidence = next(iter(self.engine.queue.evidence(number)), None)
        if evidence is None:
            raise SourceError(f"#{number} was written by hand: it has no source file.")
        return evidence

    @runs(kit_keys.OPEN_SOURCE, unless=_no_row)
    def open_source(self) -> None:
        self.host.open_source(self._current_evidence())

    @runs(kit_keys.OPEN_EDITOR, unless=_no_row)
    def open_editor(self) -> None:
        evidence = self._current_evidence()
        self.edit_file(evidence.record.path, evidence.line)

    @runs(keys.WHY, unless=_no_row)
    def why(self) -> None:
        """Show every step from this row down to its source."""
        row = self.model.current
        if row is not None:
            self.host.open_why(row.id)

    @runs(keys.SESSION, unless=_no_row)
    def open_session(self) -> None:
        """Show the session that the evidence on the screen comes from, at its line."""
        row = self.model.current
        if row is not None:
            self.host.open_session(self._current_evidence(), row.project)

    @runs(kit_keys.COPY, unless=_no_row)
    def copy(self) -> None:
        row = self.model.current
        if row is not None:
            self.copy_text(row.content, f"Copied #{row.id} ({len(row.content):,} characters).")

    # the place

    def _keep_place(self) -> None:
        number = self.model.current_id
        if number is None or number == self._saved_place or self.engine.read_only:
            return
        self._saved_place = number
        try:
            save_place(self.engine.path, self.project, number)
        except OSError as error:
            self.say(f"The place cannot be remembered: {error.strerror}.", bad=True)

    def keep_now(self) -> None:
        """Keep the draft of the text being typed, and the place in the queue."""
        super().keep_now()
        self._keep_place()

    @runs(keys.LEAVE)
    def leave_reviewer(self) -> None:
        """Leave; an act that is being written is stopped instead."""
        if not self.host.stop_running():
            self.host.leave()


def _words(done: Done, remark: str = "") -> str:
    """What an act did and how to undo it, where there is something to undo."""
    return f"{done.title}{remark} - u to undo" if done.act else f"{done.title}."


def read_detail(engine: Engine, number: int) -> Detail:
    """Everything about a row. Raises UnknownIdError."""
    view = engine.queue.candidate(number)
    extras = Extras()
    if view.kind is Kind.ENTITY:
        open_conflicts = tuple(engine.conflicts.of(number))
        extras = Extras(entity=engine.entities.get(number), open_conflicts=open_conflicts)
    elif view.kind is Kind.CONFLICT:
        extras = Extras(conflict=engine.conflicts.get(number))
    return Detail(
        view,
        engine.queue.members(number) if view.members else (),
        engine.queue.wordings(number) if view.edited else (),
        engine.queue.evidence(number),
        structs.replace(extras, draft=number in engine.drafts.ids()),
    )


def empty_lines(query: QueueQuery, counts: Counts | None) -> tuple[str, ...]:
    """The text of an empty list."""
    if query.filter:
        return (f"Nothing matches / {display_line(query.filter)}", "escape clears the filter.")
    lines: Iterable[str] = EMPTY.get(query.status, EMPTY["waiting"])
    if query.status != "waiting" or counts is None:
        return tuple(lines)
    beyond = counts.beyond_cap
    more = f"{count(beyond, 'candidate')} beyond the cap: M queues them."
    if counts.promoted + counts.rejected:
        lines = (
            "All clear: nothing is waiting." if not beyond else f"The queue is clear, with {more}",
            f"{counts.promoted:,} promoted, {counts.rejected:,} rejected so far.",
            "w shows them, F8 the history, u undoes the last decision.",
            f"More to read: {READ_MORE}",
        )
    elif beyond:
        lines = ("The queue is empty, with " + more,)
    return tuple(lines)
