"""The queue: the list, the candidate under the cursor, and its evidence.

The first page is read before the first paint, everything else in threads. The cursor moves first
and the panes follow.
"""

from __future__ import annotations

from array import array
from asyncio import to_thread
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import structs
from textual import on
from textual.widget import Widget
from textual.worker import get_current_worker

from reviewer.engine import Engine
from reviewer.errors import ConflictError, SourceError
from reviewer.projects import project_here
from reviewer.promotion.views import REASONS, QueueQuery, RejectReason
from reviewer.text.clip import clip
from reviewer.text.display import display_line
from reviewer.tui.evidence.candidate_pane import CandidatePane, lacking
from reviewer.tui.evidence.detail import Detail, read_detail
from reviewer.tui.evidence.evidence_pane import EvidencePane
from reviewer.tui.evidence.steps import line_of_file
from reviewer.tui.kit import keys as kit_keys
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.bars import HeaderBar
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.list_screen import FIELD_WORDS, ListScreen, nothing_matches
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.text import count, cut, moment, short_ids
from reviewer.tui.kit.text_edit import TextEdit
from reviewer.tui.queue import keys
from reviewer.tui.queue.candidate_list import CandidateList
from reviewer.tui.queue.model import QueueModel, count_new
from reviewer.tui.queue.reader import ALL_READ, NOBODY, ReaderBar, find_offers
from reviewer.tui.queue.reading import (
    ReadingAct,
    SessionsHere,
    find_here,
    paths_at,
    read_on,
    read_project_sessions,
)

if TYPE_CHECKING:
    from subprocess import Popen

    from reviewer.promotion.decisions.history import Undone
    from reviewer.promotion.decisions.triage import Seen
    from reviewer.promotion.lists.reader_log import Offer
    from reviewer.promotion.rows.finding_rows import FindingView, ShownLine
    from reviewer.promotion.views import Counts, Done, EvidenceView, QueueRow, SourceState
    from reviewer.promotion.waves.report import WaveReport

FIRST_PAGE = 200
"""Rows shown before the rest of the list is loaded."""
NEARBY = 200
"""Rows around the cursor that it can move to if its own row has left the list."""
STATE_SECONDS = 0.4
"""Rest on a row before its source is checked."""
FIRST_LOOK_SECONDS = 1.5
"""How long after the start to look for sessions and pipelines."""
LOOK_SECONDS = 20.0
"""How often to look for sessions and pipelines; the same as `reviewer watch`."""
WORDS_CELLS = 30
"""Cells for a row's text in an undo message."""
MANY = 500
"""Minimum number of rows for a progress display."""
MAX_REREAD = 500
"""Maximum number of decided rows to reload after another process has written."""

FINDING_CHARACTERS, REQUEST_CHARACTERS = 300, 40
YOU_DID = {"refusal": "you refused", "correction": "you corrected"}
"""The kinds of findings with the person's words, as the list begins them."""
MANY_AT_ONCE = 20
"""Decisions on more rows than this ask for confirmation."""

WHAT_TO_DO = (
    f"What may agents remember? {keys.PROMOTE.key} keeps, {keys.REJECT.key} rejects, "
    f"{keys.SESSION.key} shows where it was said."
)
"""The first message, as long as nothing has been decided."""

WAITING = "Waiting"
TITLES = {
    "waiting": WAITING,
    "deferred": "Deferred",
    "active": "Promoted",
    "invalid": "Rejected or retired",
    "superseded": "Merged into others",
    "all": "Everything",
}


class QueueScreen(ListScreen, pane=keys.QUEUE):
    tab = "queue"
    KEEPS_PLACE = True
    FILTER_WORDS = FIELD_WORDS
    FILTER_HINT: ClassVar[str] = (
        'by:me  words  -word  "a phrase"  kind:conflict  is:edited  path:docs  seen>2'
    )

    model: QueueModel

    def __init__(self, engine: Engine, project: str | None) -> None:
        model = QueueModel(engine.queue.rows)
        rows = CandidateList(model)
        self.candidate = CandidatePane(id="candidate")
        self.evidence = EvidencePane(id="evidence")
        super().__init__(
            engine,
            project,
            rows,
            [self.candidate, self.evidence],
            title="Waiting",
            model=model,
        )
        self.list: CandidateList = rows
        self.query_asked = QueueQuery(project=project)
        """The latest requested list; the previous one is shown until its rows arrive."""
        self.loaded = False
        """Whether the whole list is loaded, not only its first page."""
        self._left = False
        """Whether another screen, and not a question, covers this one."""
        self._counts: Counts | None = None
        self._detail: Detail | None = None
        self._here: SessionsHere | None = None
        """The sessions of this project, after the first look."""
        self._reader: Popen[bytes] | None = None
        """The process that reads new turns of agents."""
        self.reader = ReaderBar()

    def compose_above(self) -> Iterable[Widget]:
        return (self.reader,)

    def on_mount(self) -> None:
        self._show_project()
        self.set_timer(FIRST_LOOK_SECONDS, self._look_around)
        self.set_interval(LOOK_SECONDS, self._look_around)

    def on_screen_suspend(self) -> None:
        self._left = self.host.shown is not self

    def on_screen_resume(self) -> None:
        """Reload the list if another screen has written meanwhile, such as an undo in History,
        unless it would lose marks or close clusters.
        """
        in_use = self.model.marks or self.model.leader_of
        changed = self.engine.version() != self._seen_version
        if self._left and self.loaded and changed and not in_use:
            self._load_again()

    def _show_project(self) -> None:
        self.header.project = display_line(self.project or "all projects")

    def begin(self, project: str | None, words: str) -> None:
        """Show a project from its first page; a text being edited becomes a draft."""
        words = f"{words} {self.leave_edit()}".strip()
        is_other = project != self.project
        if is_other:
            self.done, self.undone = [], []
            self.model.cursor = 0
        self.project = project
        self.query_asked = QueueQuery(project=project)
        self.loaded = False
        for group in ("rows", "new rows", "sessions", "offers"):
            self.void(group)  # they belong to the previous project
        self._here = None
        self.reader.clear()
        self._look_around()
        self._show_project()
        self.note_version()
        if is_other:
            self.open_as_left()
        else:
            self._load_again()
        self.say(words)

    def _look_around(self) -> None:
        """Look for sessions, and show the tab of the pipelines if there is one."""

        def work() -> bool:
            from reviewer.tui.pipelines import model  # late: the first page does not need it

            return model.is_any_pipeline(self.engine, self.project)

        def then(found: bool) -> None:
            for each in self.app.screen_stack:
                for header in each.query(HeaderBar):
                    header.pipelines = found

        self.look_for_sessions()
        self.read(work, then, group="pipelines")

    # the sessions of agents

    def look_for_sessions(self) -> None:
        """Look for sessions of this project; read new turns if some were read before."""
        project = self.project
        reads_on = self._reader is not None and self._reader.poll() is None
        if project is not None and self.host.running is None and not reads_on:
            self.read(
                lambda: find_here(self.engine, project), self._take_sessions, group="sessions"
            )

    def _take_sessions(self, here: SessionsHere) -> None:
        self._here = here
        self._show_empty()
        if not self.reader.reads:
            self.look_for_readers()
        is_free = self.host.running is None
        if here.known and here.unread and is_free and self.project is not None:
            try:
                self._reader = read_on(self.engine.path, self.project)
            except OSError as error:
                self.say(f"New turns cannot be read: {error.strerror}.", bad=True)

    # the reader

    def look_for_readers(self) -> None:
        """Offer readers until one has read a session of this project: then the key is known."""
        project, engine = self.project, self.engine
        if project is not None and not self.host.is_demo:
            self.read(
                lambda: [] if engine.reader_log.ends(project) else find_offers(engine, project),
                self.reader.take,
                group="offers",
            )

    @on(ReaderBar.Ended)
    def _reader_ended(self, message: ReaderBar.Ended) -> None:
        if message.new:
            self._load_again()
        if message.problem:
            self.say(message.problem, bad=True)
        self.look_for_readers()

    # reading the list

    def open_list(self, words: str, row: int | None) -> None:
        """Show the first page at once, and read the rest after it was painted."""
        if words and not self.filter_problem(words):
            self.query_asked = structs.replace(self.query_asked, filter=words)
        query, here = self.query_asked, () if row is None else (row,)
        self.model.load(self.engine.queue.ids(query, limit=FIRST_PAGE), here)
        found = self.model.current_id in here
        self._draw_list()
        self.call_after_refresh(lambda: self._load_rest(query, () if found else here))

    def reload(self) -> None:
        """Reload the visible rows and announce new ones."""
        self.model.forget()
        self.model.reread(list(self.model.dimmed)[:MAX_REREAD])
        self.list.refresh()
        self.show_counts()
        self.follow()
        shown, query = self.model.ids[:], self.query_asked
        self.read(lambda: count_new(shown, self._ids(query)), self._say_new, group="new rows")

    def _say_new(self, new: int) -> None:
        if new and (self.reader.reads or not self.model.ids):
            self._load_again()
        elif new:
            self.say(f"{count(new, 'new candidate')} - {kit_keys.REFRESH.key} to show")

    def watch_store(self) -> None:
        self.keep_place()
        if self.loaded:
            super().watch_store()

    def _load_rest(self, query: QueueQuery, here: Collection[int] = ()) -> None:
        """Add the rows after the first page; the cursor goes to the first of the ids `here`,
        unless it has moved.
        """

        def append(ids: array[int]) -> None:
            self.loaded = True
            self.model.extend(ids)
            found = self.model.index_of(here) if not self.model.cursor else None
            self.list.rows_changed()
            if found is not None:
                self.list.move_to(found)

        if self.query_asked is query:  # a key typed ahead may have requested another list
            self.read(lambda: self._ids(query), append, group="rows")
        self.show_counts()

    def _load_again(self, here: Collection[int] = ()) -> None:
        """Reload the list; the cursor goes to the first of the ids `here`, or stays on its row."""
        self._load(self.query_asked, here=here)
        self.show_counts()

    def _load(
        self, query: QueueQuery, *, first: int | None = None, here: Collection[int] = ()
    ) -> None:
        """Load a list with another filter or status, its `first` rows before the rest. The cursor
        goes to the first of the ids `here`, or stays on its row.
        """
        self.query_asked = query
        self.note_version()  # the rows of this list are not new arrivals in the previous one

        def show(ids: array[int]) -> None:
            self._show_list(ids, here)
            if len(ids) == first:
                self._load_rest(query)

        self.read(lambda: self._ids(query, first), show, group="rows")

    def _ids(self, query: QueueQuery, limit: int | None = None) -> array[int]:
        worker = get_current_worker()
        return self.engine.queue.ids(query, limit=limit, cancelled=lambda: worker.is_cancelled)

    def _show_list(self, ids: array[int], wanted: Collection[int]) -> None:
        """Show a list; the cursor goes to a wanted row, or stays on its row or the nearest."""
        self.loaded = True
        if not self.filter_invalid:
            self.status.recover()
        nearby = self.model.nearby(NEARBY)
        if nearby and nearby[0] not in ids:  # it may have been joined to another row
            self.model.forget(nearby[:1])
            row = self.model.current
            if row is not None and row.leader_id is not None:
                nearby.insert(0, row.leader_id)
        listed = {*wanted, *nearby}.intersection(ids)
        here = listed.intersection(wanted) or [each for each in nearby if each in listed][:1]
        self.model.load(ids, here)
        if not here:
            self.model.cursor = 0
        self._draw_list()

    def _draw_list(self) -> None:
        """Draw the loaded list, the lines around it and the panes."""
        self._show_applied_filter()
        self.note_version()
        self._show_empty()
        self._show_remark()
        self.list.rows_changed()
        self._show_title()
        self.follow()

    def action_refresh(self) -> None:
        """Reload the list: decided rows leave, new ones appear."""
        self._load_again()
        self.say("Queue reloaded.")

    # the lines around the list

    def _show_title(self) -> None:
        query = self.query_asked
        detail = f"/ {display_line(query.filter)}" if query.filter else ""
        entitle(self.list, TITLES[query.status], detail)
        self.list.whole = query.status == "waiting" and not detail
        if self.list.has_class("-untitled") != self.list.whole:
            self.list.set_class(self.list.whole, "-untitled")
            self.call_after_refresh(self.list.rows_changed)  # the title takes a row of the list

    def take_counts(self, counts: Counts) -> None:
        super().take_counts(counts)
        first = self._counts is None and not (counts.promoted or counts.rejected)
        if first and counts.waiting and not self.status.text:
            self.say(WHAT_TO_DO)
        self._counts = counts
        self._show_empty()
        self._show_remark()

    def _show_remark(self) -> None:
        """Show how many rows do not wait: deferred ones, and those held back; and how often the
        person refused or corrected something that is no row.
        """
        counts = self._counts
        if counts is None:
            return
        waits = self.query_asked.status == "waiting"
        beside = ((counts.deferred, "deferred"), (counts.beyond_cap, "held back"))
        remark = ", ".join(f"{number:,} {words}" for number, words in beside if number and waits)
        remark = f"{remark} (under {kit_keys.MENU.key})" if remark else ""
        yours = f"{keys.FINDINGS.key}: {counts.refusals:,} you refused or corrected"
        parts = (remark, yours if counts.refusals and waits else "")
        self.list.remark = f" {self.host.glyphs.dot} ".join(filter(None, parts))
        self.list.redraw_foot()

    def _show_empty(self) -> None:
        empty = not self.model.ids
        self.show_empty(empty=empty)
        if empty:
            self.list.empty = empty_lines(self.query_asked, self._counts, self._here)
            self.list.refresh()

    # the row under the cursor

    def follow(self) -> None:
        """Load the row under the cursor with its evidence, and show it."""
        memory_id = self.model.current_id
        if memory_id is None:
            self._detail = None
            self.candidate.show_nothing("")
            self.evidence.show_nothing()
            self.show_footer()
            return
        several = self.project is None
        self.read(
            lambda: read_detail(self.engine, memory_id, name_project=several),
            self._show_detail,
            group="detail",
        )

    def _show_detail(self, detail: Detail) -> None:
        if detail.view.id == self.model.current_id:
            self._detail = detail
            self.candidate.show_candidate(detail, now=self.engine.clock())
            self.evidence.show_evidence(detail)
            self.show_footer()
            self.set_timer(STATE_SECONDS, lambda: self._after_rest(detail))

    def _after_rest(self, detail: Detail) -> None:
        """Check the source of a row after a rest on it."""

        def then(state: SourceState) -> None:
            if detail is self._detail:
                checked = structs.replace(detail, state=state)
                self.candidate.show_candidate(checked, now=self.engine.clock(), keep_scroll=True)

        if detail is self._detail and self.is_attached:
            self.read(lambda: self.engine.sources.state(detail.view.id), then, group="state")

    # why a key cannot run now

    def _no_row(self) -> str | None:
        return None if self.model.current else "No candidate under the cursor."

    def _why_not_waiting(self) -> str | None:
        row = self.model.current
        if row is not None and self.model.is_dimmed(self.model.cursor):
            return f"#{row.id} is already decided: {keys.RESTORE.key} returns it."
        return self._no_row()

    def _must_be_settled(self) -> str | None:
        row = self.model.current
        if row is None or row.kind != "conflict" or self.model.is_dimmed(self.model.cursor):
            return None
        newer, both = keys.PROMOTE.key, keys.REJECT.key
        return f"#{row.id} is a conflict: {newer} keeps the newer side, {both} leaves both."

    def _cannot_decide(self) -> str | None:
        return None if self.model.marks else self._why_not_waiting()

    def _cannot_promote(self) -> str | None:
        row = self.model.current
        if row is None or self.model.marks or row.id not in self.engine.drafts.ids():
            return self._cannot_decide()
        edit, discard = keys.EDIT.key, keys.DISCARD_DRAFT.key
        return f"#{row.id} has a draft: {edit} opens it, {discard} discards it."

    def _cannot_reword(self) -> str | None:
        return self._must_be_settled() or self._why_not_waiting()

    def _cannot_restore(self) -> str | None:
        ids = self.model.targets()
        if not ids or not all(map(self.model.waits_here, ids)):
            return self._no_row()
        are = "is" if len(ids) == 1 else "are"
        return f"{_named(ids)} {are} already waiting in the queue."

    def _no_draft(self) -> str | None:
        row = self.model.current
        if row is not None and row.id not in self.engine.drafts.ids():
            return f"#{row.id} has no draft."
        return self._no_row()

    def _no_cluster(self) -> str | None:
        row = self.model.current
        if row is not None and not row.members and not self.model.is_open(self.model.cursor):
            return f"#{row.id} has no near duplicates."
        return self._no_row()

    def _nothing_to_merge(self) -> str | None:
        row = self.model.current
        if self.model.marks:
            several = len(self.model.marks - self.model.dimmed) > 1
            return None if several else "Mark at least two waiting rows."
        if row is not None and row.leader_id is None:
            return "Mark the rows to merge, or go to one that is shown as alike."
        return self._cannot_reword()

    def _not_an_entity(self) -> str | None:
        row = self.model.current
        if row is not None and row.kind != "entity":
            return f"#{row.id} is not an entity, so it has no name."
        return self._cannot_reword()

    def _no_project(self) -> str | None:
        choose = kit_keys.PROJECT.key
        return None if self.project else f"All projects are shown: {choose} chooses one."

    def _nothing_beyond_cap(self) -> str | None:
        return None if self._counts and self._counts.beyond_cap else "Nothing is held back."

    # deciding

    @unless(_cannot_promote)
    async def action_promote(self) -> None:
        """Promote the marked rows, or this one, without those with a draft; of a conflict, the
        newer side.
        """
        if self._must_be_settled() and not self.model.marks:
            await self._settle(side=0)
            return
        ids = self._targets()
        drafts = await to_thread(self.engine.drafts.ids)
        ready = [each for each in ids if each not in drafts]
        left_out = len(ids) - len(ready)
        if not ready:
            raise ConflictError(
                f"Nothing promoted: all of these rows have drafts; {keys.EDIT.key} opens one."
            )
        remark = f", skipped {count(left_out, 'row')} with a draft" if left_out else ""
        await self._decide(ready, "Promoting", self.engine.triage.promote, remark)

    @unless(_cannot_decide)
    async def action_reject(self) -> None:
        """Reject the marked rows, or this one; a conflict is dismissed."""
        if self._must_be_settled() and not self.model.marks:
            await self._settle(side=None)
        else:
            await self._decide(self._targets(), "Rejecting", self.engine.triage.reject)

    def _cannot_say_why(self) -> str | None:
        return None if self.model.marks else self._cannot_reword()

    @unless(_cannot_say_why)
    async def action_reject_why(self) -> None:
        ids, reject = self._targets(), self.engine.triage.reject

        async def then(option: Option) -> None:
            await self._decide(ids, "Rejecting", partial(reject, reason=RejectReason(option.key)))

        reasons = [Option(each, *words) for each, words in REASONS.items()]
        await self.choose(f"Why reject {_named(ids)}", reasons, then)

    @unless(_cannot_decide)
    async def action_defer(self) -> None:
        if self.query_asked.status == "deferred":
            await self.perform(keys.RESTORE)
            return
        # Near duplicates are never deferred with a row, so it makes no difference who is `alone`.
        await self._decide(
            self._targets(), "Deferring", lambda ids, alone: self.engine.triage.defer(ids),
            alike=False,
        )  # fmt: skip

    def offers(self, action: Action) -> bool:
        """An empty list offers only actions that lead to rows, a decided row none that decides."""
        leads = (keys.READ_SESSIONS, kit_keys.PROJECT, kit_keys.UNDO, kit_keys.FILTER)
        if not self.model.ids:
            return action in (*leads, kit_keys.MENU)
        decides = action in (keys.PROMOTE, keys.REJECT, keys.EDIT, keys.DEFER)
        return not decides or not self._cannot_decide()

    def title_of(self, action: Action) -> str:
        """The title of an action, with the other rows that it decides on, or the marked rows if
        few."""
        if action is keys.DEFER and self.query_asked.status == "deferred":
            action = keys.RESTORE
        if action is keys.MERGE and not self._nothing_to_merge():
            ids, into = self._merging()
            return f"merge {_named(ids)} into #{into}"
        title, promotes = super().title_of(action), action is keys.PROMOTE
        marks, detail = self.model.marks, self._detail
        if detail is not None and detail.view.id != self.model.current_id:
            detail = None
        if action is keys.RESTORE and not marks and detail is not None and detail.retired:
            return "put back into Memory"
        if not (promotes or action is keys.REJECT) or len(marks) > MANY_AT_ONCE:
            return title
        if marks:  # only rows in the cache: the store is not queried here
            known = [row for each in marks if (row := self.model.known(each)) is not None]
            return self._with_alike(title, known) if len(known) == len(marks) else title
        if detail is None or detail.view.status != "candidate":
            return title
        if detail.view.kind == "conflict":
            return "keep newer" if promotes else "leave both"
        if "retire" in detail.view.flags:
            return "retire it" if promotes else "keep it"
        return self._with_alike(title, [detail.view])

    def _with_alike(self, title: str, rows: Iterable[QueueRow]) -> str:
        """A title with the number of near duplicates that are decided with rows."""
        opened = self._opened
        alike = sum(row.members for row in rows if row.id not in opened)
        return f"{title} +{alike} alike" if alike else title

    def _targets(self) -> list[int]:
        """The marked rows that still wait, or the row under the cursor."""
        targets, dimmed = self.model.targets(), self.model.dimmed
        waiting = [memory_id for memory_id in targets if memory_id not in dimmed]
        if not waiting:
            key = kit_keys.BACK.key
            raise ConflictError(f"All marked rows are already decided: {key} clears the marks.")
        return waiting

    @property
    def _opened(self) -> set[int]:
        """The rows of open clusters, which are decided without their near duplicates."""
        return {*self.model.leader_of, *self.model.leader_of.values()}

    async def _decide(
        self,
        ids: Sequence[int],
        words: str,
        act: Callable[..., Done],
        remark: str = "",
        *,
        alike: bool = True,
    ) -> None:
        """Write a decision, which includes rows `alike`; ask first if it is about many rows."""
        if len(ids) <= MANY_AT_ONCE:
            await self._write_decision(ids, words, act, remark)
            return
        opened = self._opened
        closed = [each for each in ids if alike and each not in opened]
        more = await to_thread(self.engine.queue.count_behind, closed)
        await self.confirm(
            f"{words} {len(ids):,} rows at once{f', +{more:,} alike' if more else ''}",
            f"all {len(ids):,}",
            "change nothing",
            lambda: self._write_decision(ids, words, act, remark),
        )

    async def _write_decision(
        self, ids: Sequence[int], words: str, act: Callable[..., Done], remark: str
    ) -> None:
        """Decide rows of open clusters without their near duplicates."""
        alone = self._opened.intersection(ids)
        row, total = self.model.current, len(ids)
        progress = words if total >= MANY else ""
        done = await self.write(lambda: act(ids, alone=alone), progress, total)
        if row is not None and list(ids) == [row.id]:
            words = cut(display_line(row.content), WORDS_CELLS, self.host.glyphs.ellipsis)
            self.note_act(done.act, f"{done.title}  {words}")
        self._after_decision(done, [*ids, *done.ids], remark)

    def _after_decision(self, done: Done, ids: Sequence[int], remark: str = "") -> None:
        """Dim the decided rows and go to the next waiting row."""
        model = self.model
        model.marks.clear()
        model.reread(ids)
        if model.ids and not model.waiting(model.cursor):
            self.list.move_to(model.after_decision(model.cursor))
        self.say_done(done, remark)
        self._show_again()

    def _show_again(self) -> None:
        """Redraw the rows and reload the panes after an act of this screen."""
        self.list.refresh()
        self.show_footer()
        self.note_version()
        self.follow()

    def _no_conflict(self) -> str | None:
        row = self.model.current
        if row is not None and row.kind != "conflict":
            return f"#{row.id} is not a conflict."
        return self._why_not_waiting()

    @unless(_no_conflict)
    async def action_keep_older(self) -> None:
        await self._settle(side=1)

    async def _settle(self, side: int | None) -> None:
        """Settle this conflict in favour of a side, or of none."""
        number, conflicts = self.model.under_cursor.id, self.engine.conflicts

        def settle() -> Done:
            if side is None:
                return conflicts.dismiss(number)
            return conflicts.supersede(number, conflicts.get(number).sides[side].id)

        done = await self.write(settle)
        self._after_decision(done, done.ids)

    def _are_retired(self, ids: Sequence[int]) -> bool:
        """Whether all rows were memories, which go back to them."""
        rejected = all(row.status == "invalid" for row in self.engine.queue.rows(ids))
        return rejected and self.engine.history.retired(ids) == {*ids}

    @unless(_cannot_restore)
    async def action_restore(self) -> None:
        ids, triage = self.model.targets(), self.engine.triage
        retired = await to_thread(self._are_retired, ids)
        await self._change(lambda: triage.keep_again(ids) if retired else triage.restore(ids))
        self.model.marks.clear()
        self.show_footer()

    @unless(_nothing_to_merge)
    async def action_merge(self) -> None:
        ids, into = self._merging()

        def merge(ids: Sequence[int], **_: object) -> Done:
            done = self.engine.triage.merge(ids, into)
            return structs.replace(done, ids=(*done.ids, into))

        remark = f", which keeps its wording: {keys.EDIT.key} changes it"
        await self._decide(ids, "Merging", merge, remark, alike=False)
        at = self.model.index_of([into])
        if at is not None and self.model.waiting(at):
            self.list.move_to(at)

    def _merging(self) -> tuple[list[int], int]:
        """The rows to merge, and the one they go into: the marked rows into this one or the first
        of them; else this row into its cluster's leader.
        """
        row = self.model.under_cursor
        if row.leader_id is not None and not self.model.marks:
            return [row.id], row.leader_id
        marked = self._targets()
        into = row.id if row.id in marked else marked[0]
        return [each for each in marked if each != into], into

    @unless(_cannot_reword)
    async def action_type(self) -> None:
        from reviewer.extraction.candidates import MemoryType
        from reviewer.extraction.entities.entity import EntityType

        row = self.model.under_cursor
        memory_id, seen = row.id, self._as_seen(row)
        options = [Option(str(each), str(each)) for each in MemoryType]
        options += [
            Option(f"entity:{each}", f"entity: {each.replace('_', ' ')}") for each in EntityType
        ]
        here = f"entity:{row.type}" if row.kind == "entity" else row.type

        async def then(option: Option) -> None:
            edit = self.engine.triage.edit
            await self._change(lambda: edit(memory_id, type_=option.key, promote=False, seen=seen))

        await self.choose(f"Type of #{memory_id}", options, then, current=here)

    @unless(_not_an_entity)
    async def action_name(self) -> None:
        row = self.model.under_cursor
        memory_id, seen = row.id, self._as_seen(row)
        entity = await to_thread(self.engine.entities.get, memory_id)

        async def then(name: str) -> None:
            edit = self.engine.triage.edit
            await self._change(lambda: edit(memory_id, name=name, promote=False, seen=seen))

        await self.ask_text(f"Name of #{memory_id}", then, text=entity.name, hint="a name")

    def _as_seen(self, row: QueueRow) -> Seen:
        from reviewer.promotion.decisions.triage import (
            Seen,  # late: the first page does not need it
        )

        return Seen(row.status, row.content)

    async def _change(self, act: Callable[[], Done]) -> None:
        """Write an act that leaves the cursor where it is."""
        done = await self.write(act)
        self.model.reread(done.ids)
        self.say_done(done)
        self._show_again()

    @unless(_nothing_beyond_cap)
    async def action_more(self) -> None:
        done = await self.write(lambda: self.engine.intake.more(project=self.project))
        self._load_again()
        self.say_done(done)

    def action_start(self) -> None:
        self.host.open_start()

    async def action_read_sessions(self) -> None:
        project = self.project
        if project is None:
            self.host.open_start()
            return
        act = ReadingAct(self.host.glyphs)
        report = await self.host.accompany(
            self, act, lambda: read_project_sessions(self.engine, project, act)
        )
        waits = self._counts is not None and self._counts.waiting
        if not waits and not (report and report.files):
            self.host.open_start()  # other folders may have more
            return
        if report is None:
            self.say("There are no sessions of this project on this machine.")
            return
        self._show_read(report)

    @unless(_no_project)
    async def action_findings(self) -> None:
        """Choose a finding of this project, and read the session there: first where the person
        refused or corrected something.
        """
        project, sources, dot = self.project or "", self.engine.sources, self.host.glyphs.dot
        everything = await to_thread(self.engine.findings, project)
        found = [each for each in everything if each.evidence]
        yours = [each for each in found if each.kind in YOU_DID]
        yours.sort(key=lambda each: each.last, reverse=True)
        found = [*yours, *(each for each in found if each.kind not in YOU_DID)]
        found.sort(key=lambda each: bool(each.status))
        if not found:
            self.say("No findings yet: they come from the sessions that are read.")
            return

        def option(at: int, each: FindingView) -> Option:
            price = f"{count(each.sessions, 'session')}, {count(each.cost, 'wasted call')}"
            begins = YOU_DID.get(each.kind, price)
            parts = (each.text, each.command, each.fix)
            if each.kind in YOU_DID:
                parts = (each.words, each.text, "")
            said = clip(f" {dot} ".join(filter(None, parts)), FINDING_CHARACTERS)
            if each.status:
                said = f"{TITLES.get(each.status, WAITING).lower()}: {said}"
            return Option(str(at), begins, display_line(said))

        def read(shown: ShownLine) -> None:
            self.host.open_session(line_of_file(shown.path, shown.line, shown.text), project)

        async def then(option: Option) -> None:
            chosen = found[int(option.key)]
            places: dict[str, ShownLine] = {}
            for each in chosen.evidence:
                # The person's words come behind the call.
                if chosen.kind in YOU_DID or each.path not in places:
                    places[each.path] = each

            async def then_read(option: Option) -> None:
                read(places[option.key])

            if len(places) == 1:
                read(*places.values())
                return
            known = {each.path: each for each in await to_thread(sources.sessions, project)}

            def session(path: str, shown: ShownLine) -> Option:
                there, line = known.get(path), f"line {shown.line + 1}: {shown.text}"
                request = clip(there.request if there else "", REQUEST_CHARACTERS)
                name = moment(there.last) if there else short_ids(Path(path).stem)
                return Option(path, name, f" {dot} ".join(filter(None, (request, line))))

            sessions = [session(*each) for each in places.items()]
            await self.choose("Which session to read", sessions, then_read, whole=True, stays=True)

        options = [option(at, each) for at, each in enumerate(found)]
        await self.choose(
            "What you refused or corrected, and what failed",
            options,
            then,
            whole=True,
            stays=True,
        )

    async def action_read_file(self) -> None:
        await self._ask_path("")

    async def _ask_path(self, text: str) -> None:
        async def then(option: Option) -> None:
            if option.key.endswith("/"):
                await self._ask_path(option.key)
                return
            project = self.project or project_here()
            path, act = Path(option.key), ReadingAct(self.host.glyphs)
            report = await self.host.accompany(
                self,
                act,
                lambda: self.engine.intake.ingest(
                    [path], project=project, progress=act.show, cancelled=act.is_stopped
                ),
            )
            if report.nothing_read:
                raise SourceError(report.nothing_read)
            self._show_read(report)

        await self.choose(
            "Read a file or folder",
            paths_at,
            then,
            text=text,
            hint="type a path, such as ~/notes/, or choose below",
            whole=True,
        )

    def _show_read(self, report: WaveReport) -> None:
        """Show the new candidates of a reading, and say what it read."""
        self._load_again()
        stopped = "Stopped. " if report.state == "interrupted" else ""
        self.say(
            f"{stopped}Read {count(report.files, 'file')}, {report.unchanged:,} unchanged: "
            f"{count(report.new, 'new candidate')}"
            + (f" - {kit_keys.SHOW_HISTORY.key} takes it back" if report.new else ".")
        )
        self.look_for_sessions()

    @unless(_no_project)
    async def action_let_read(self) -> None:
        """Ask which reader may read the sessions that none has read, or stop it."""
        project = self.project
        if self.reader.reads:
            self.reader.stop()
            return
        assert project is not None
        offers = self.reader.offers or await to_thread(find_offers, self.engine, project)
        if not offers:
            unread = await to_thread(self.engine.reader_log.unread, project)
            raise SourceError(NOBODY if unread else ALL_READ)

        from reviewer.promotion.lists.reader_log import MAX_OFFERED  # late: as the readers

        every = offers[0].sessions + offers[0].beyond
        shown: list[Offer] = []

        def find(text: str) -> Sequence[Option] | str:
            number = int(text) if text.strip().isdecimal() else None
            if number is not None and not 1 <= number <= every:
                return f"There are {every:,} sessions to read."
            shown[:] = [each.of(number) if number else each for each in offers]
            return [
                Option(
                    str(at),
                    display_line(each.reader.title),
                    f"{each.sessions:,} of {every:,}, {each.price}",
                )
                for at, each in enumerate(shown)
                if number or text.casefold() in each.reader.title.casefold()
            ]

        async def then(option: Option) -> None:
            try:
                self.reader.begin(self.engine.path, project, shown[int(option.key)])
            except OSError as error:
                raise SourceError(f"The reader cannot be started: {error.strerror}.") from error
            self.status.recover()  # from the error of the last reading

        title = f"Let an agent read: {kit_keys.CHOOSE.key} starts"
        limit = f"; in one go up to {MAX_OFFERED:,} tokens" if offers[0].beyond else ""
        await self.choose(title, find, then, hint=f"or type how many of the newest{limit}")

    def show_reversed(self, undone: Undone) -> None:
        """Go to the first row changed by an undo or redo, or on to the next waiting row."""
        model = self.model
        at = model.index_of(undone.ids)
        model.reread(undone.ids)
        if at is None or model.row(at) is None:
            self._load_again(undone.ids)
            return
        self.list.move_to(at if model.waiting(at) else model.after_decision(at))
        self._show_again()

    # editing

    @on(RowList.Opened)
    async def _double_clicked(self) -> None:
        await self.perform(keys.EDIT)

    @unless(_cannot_reword)
    async def action_edit(self) -> None:
        # Late: the first page does not need them.
        from reviewer.promotion.waves.findings import words_to_reword

        row = self.model.under_cursor
        memory_id, seen, alone = row.id, self._as_seen(row), row.id in self._opened

        async def save(text: str) -> tuple[Done, str]:
            done = await self.write(
                lambda: self.engine.triage.edit(memory_id, text, alone=alone, seen=seen)
            )
            return done, await to_thread(lacking, self.engine, memory_id, self.host.glyphs)

        await self.edit_text(
            TextEdit(
                key=memory_id,
                title=f"Edit #{memory_id}",
                original=row.content,
                start=words_to_reword(row.content) if "reword" in row.flags else None,
                drafts=self.engine.drafts,
                save=save,
                saved=lambda saved: self._after_decision(saved[0], saved[0].ids, saved[1]),
                again=keys.EDIT,
                verb=self._with_alike(keys.PROMOTE.title, [row]),
                beside=(self.evidence,) if self.evidence.current is not None else (),
            )
        )

    def draft_changed(self, key: int) -> None:
        self.follow()

    @unless(_no_draft)
    def action_discard_draft(self) -> None:
        memory_id = self.model.under_cursor.id
        self.engine.drafts.discard(memory_id)
        self.draft_changed(memory_id)
        self.say(f"Draft of #{memory_id} discarded; {keys.EDIT.key} starts from the original.")

    # other rows and orders

    @property
    def filter_text(self) -> str:
        return self.query_asked.filter

    def check_filter(self, text: str) -> None:
        self.engine.queue.check(structs.replace(self.query_asked, filter=text))

    def run_filter(self, text: str, *, here: int | None) -> None:
        query = structs.replace(self.query_asked, filter=text)
        first = FIRST_PAGE if text else None
        self._load(query, first=first, here=() if here is None else [here])

    async def action_status(self) -> None:
        async def then(option: Option) -> None:
            self.show_status(option.key)

        await self.choose(
            "Show",
            [Option(status, title) for status, title in TITLES.items()],
            then,
            current=self.query_asked.status,
        )

    def step_back(self) -> bool:
        """Close the cluster that was opened last."""
        at = self.model.index_of([*self.model.leader_of.values()][-1:])
        if at is None:
            return False
        self._close_cluster(at)
        return True

    def leave_last(self) -> None:
        """Go back to the waiting rows, stop the reader, and clear the line above the rows."""
        if self.query_asked.status != "waiting":
            self.show_status("waiting")
        elif self.reader.reads:
            self.reader.stop()
        elif not self.reader.put_away():
            super().leave_last()

    def show_status(self, status: str) -> None:
        self._load(structs.replace(self.query_asked, status=status))

    # clusters

    @unless(_no_cluster)
    async def action_expand(self) -> None:
        if self.model.is_open(self.model.cursor):
            self.action_collapse()
            return
        leader = self.model.ids[self.model.cursor]
        members = await to_thread(self.engine.queue.members, leader)
        index = self.model.index_of([leader])
        if index is None:
            raise ConflictError(f"#{leader} has left the list.")
        waiting = [member.id for member in members if member.status == "candidate"]
        self.model.open_cluster(index, waiting)
        self.list.rows_changed()
        self.show_footer()
        self.say("Each of these rows is now decided by itself.")

    @unless(_no_cluster)
    def action_collapse(self) -> None:
        self._close_cluster(self.model.cursor)

    def _close_cluster(self, at: int) -> None:
        self.model.close_cluster(at)
        self.list.rows_changed()
        self.say_marked(none="")
        self.cursor_rest.moved()

    # looking

    @unless(_no_row)
    def action_next_place(self) -> None:
        self.evidence.go(1)

    @unless(_no_row)
    def action_previous_place(self) -> None:
        self.evidence.go(-1)

    def _current_evidence(self) -> EvidenceView:
        """The evidence on the screen. Raises SourceError for a memory written by hand."""
        memory_id, evidence = self.model.under_cursor.id, self.evidence.current
        if self._detail is None or self._detail.view.id != memory_id:  # typed ahead
            evidence = next(iter(self.engine.queue.evidence(memory_id)), None)
        if evidence is None:
            raise SourceError(f"#{memory_id} was written by hand: it has no source file.")
        return evidence

    @unless(_no_row)
    def action_open_source(self) -> None:
        self.host.open_source(self._current_evidence())

    @unless(_no_row)
    def action_open_session(self) -> None:
        self.host.open_session(self._current_evidence())

    @unless(_no_row)
    def action_copy(self) -> None:
        row = self.model.under_cursor
        self.copy_text(row.content, f"Copied #{row.id} ({len(row.content):,} characters).")


def _named(ids: Sequence[int]) -> str:
    return f"#{ids[0]}" if len(ids) == 1 else count(len(ids), "row")


def empty_lines(
    query: QueueQuery, counts: Counts | None, here: SessionsHere | None
) -> tuple[str, ...]:
    """The text of an empty list; `here`: the sessions on this machine."""
    if query.filter:
        nothing, clears = nothing_matches(query.filter)
        others = f" Decided ones: {keys.STATUS.key}" if query.status == "waiting" else ""
        return nothing, f"{clears}{others}"
    if query.status != "waiting":
        return ("Nothing here.", f"{kit_keys.BACK.key} goes back to the waiting rows.")
    lines = ["Nothing is waiting."]
    if counts is not None:
        if decided := counts.promoted + counts.rejected:
            lines = ["All clear: nothing is waiting."] if not counts.beyond_cap else lines
            lines.append(f"{decided:,} decided so far; {keys.STATUS.key} shows them.")
        if counts.beyond_cap:
            more = count(counts.beyond_cap, "candidate")
            lines.append(f"{more} held back: {keys.QUEUE_MORE.key} queues them.")
    if here is not None:
        lines.append(here.sentence)
    reads = keys.READ_SESSIONS.key
    if here is not None and (here.sessions > here.unread or here.elsewhere):
        lines.append(f"{keys.FINDINGS.key} lists what you refused and what failed.")
    return (*lines, f"{reads} looks for sessions to read, {keys.READ_FILE.key} reads other files.")
