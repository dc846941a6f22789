"""A session as a context: its turns, the parts of them that must survive, and a level for each
segment. Until a session is opened, the sessions that were read are listed, newest first.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import structs
from rich.cells import cell_len
from textual import on

from reviewer.commits.criteria import check_patterns, parse_patterns
from reviewer.commits.rows import chat_messages
from reviewer.commits.search import parse_filter
from reviewer.commits.values import Pattern, Priority
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.chosen_levels import ChosenLevel
from reviewer.compression.fit import UnreachableError
from reviewer.compression.plan import Applied, CompressionPlan, LevelChoice, Preview, SegmentPreview
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.compression.values import OFFLINE, Level, Lost, SegmentTurn
from reviewer.engine import Engine
from reviewer.errors import ConflictError, ReviewerError
from reviewer.promotion.decisions.history import Undone
from reviewer.promotion.lists.source_view import SessionRead
from reviewer.text.display import display_line
from reviewer.text.token_numbers import read_target
from reviewer.tui.context import keys
from reviewer.tui.context.model import (
    LEVEL_NAMES,
    ContextModel,
    ContextRow,
    ContextSnapshot,
    Entered,
    doubts,
    findings,
    read_context,
)
from reviewer.tui.context.panes import (
    RowsList,
    levels_named,
    loss_blocks,
    summary_block,
)
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.list_screen import ListScreen, nothing_matches
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.running import RunningAct
from reviewer.tui.kit.screen import to_undo
from reviewer.tui.kit.text import MARGIN, TextBlock, count, cut, moment, short_ids
from reviewer.tui.kit.text_edit import TextEdit
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.places import kept
from reviewer.tui.queue.keys import READ_SESSIONS
from reviewer.tui.theme import Glyphs, glyphs

if TYPE_CHECKING:
    from reviewer.commits.values import CommitView, ContextView

MAX_SESSIONS = 500
REQUEST_CELLS = 60
FEW = 3
"""Lines of losses that need no pane of half the height."""
END_CELLS = 40
"""Cells for what follows a title in a message of two lines."""
FEWEST_NAME = 8
"""Cells of the session's name in the title."""
REGEX_SIGNS = frozenset("\\.*+?|^$()[]{}")
ONLY_A_MODEL = "none of these turns has it, so only a model can follow it"
READING = ("Reading ...",)
LEVELS = dict(zip(keys.LEVELS, Level, strict=True))
PRIORITIES = {
    keys.PIN: Priority.PINNED,
    keys.IMPORTANT: Priority.IMPORTANT,
    keys.LEAVE_OUT: Priority.SKIP,
}
NO_LONGER = {
    Priority.PINNED: "pinned",
    Priority.IMPORTANT: "important",
    Priority.SKIP: "skipped",
}
LEVEL_KEYS = " ".join(each.keys for each in keys.LEVELS[1:])
CHANGED = "The context changed meanwhile: it was read again, and what you chose is kept."


class ContextScreen(ListScreen, pane=keys.CONTEXT):
    """Segments and their turns; below, the segment under the cursor at its level."""

    tab = "context"
    FILTER_HINT: ClassVar[str] = "words  role:user  priority:important  tokens>500  -word"

    def __init__(self, engine: Engine, project: str | None) -> None:
        self.data = ContextModel()
        self.rows = RowsList(self.data, id="rows")
        self.rows.empty = READING
        self.summary = TextPane(id="summary")
        self.losses = TextPane(id="losses")
        panes = [self.summary, self.losses]
        super().__init__(engine, project, self.rows, panes, title="Context")
        self._read = False
        self._acts_at: dict[int, tuple[int, int]] = {}
        """Acts of this screen -> the context and turn they changed."""
        self._writes = False
        """A preview is being written."""

    @property
    def context(self) -> ContextView | None:
        """The one that is open."""
        return self.data.snapshot.context

    @property
    def opened(self) -> ContextView:
        """The one that is open. Raises ReviewerError without one."""
        if self.context is None:
            raise ReviewerError(self._no_context() or "")
        return self.context

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def on_screen_suspend(self) -> None:
        """Write no previews meanwhile."""
        self.void("previews")
        self._writes = False

    def on_screen_resume(self) -> None:
        if self._read and not self._writes:
            self._write_next()

    def on_descendant_focus(self) -> None:
        super().on_descendant_focus()
        self.set_class(self.focused in self.panes, "-reading")

    # why a key cannot be used now

    def _no_context(self) -> str | None:
        return None if self.context is not None else "Open a session first."

    def _no_row(self) -> str | None:
        return self._no_context() or (None if self.data.row else "There are no turns.")

    def _no_plan(self) -> str | None:
        return self._no_row() or (self.rows.empty[0] if self.data.plan is None else None)

    def _no_segment(self) -> str | None:
        row = self.data.row
        if (reason := self._no_plan()) or row is None:
            return reason
        if row.commit is None and self.data.priority(row) is Priority.SKIP:
            return f"This is skipped: {keys.LEAVE_OUT.key} takes it in again."
        return None if self.data.choice(row) else "A pinned turn is always sent whole."

    def _method(self, action: Action) -> Callable[[], object]:
        """The levels share a method, and the priorities."""
        if (level := LEVELS.get(action)) is not None:
            return partial(self._choose_level, level)
        if (priority := PRIORITIES.get(action)) is not None:
            return partial(self._set_priority, priority)
        return super()._method(action)

    def offers(self, action: Action) -> bool:
        return self.context is not None or action in (keys.OPEN, shared.MENU)

    def title_of(self, action: Action) -> str:
        lists = action is keys.OPEN and self.context is None
        return "sessions" if lists else super().title_of(action)

    # sessions

    def reload(self) -> None:
        """Open the session of last time; later, read again what others changed."""
        if self.context is None:
            self.read(self._read_last, self._show_last, group="rows")
        else:
            number, known = self.context.id, (self.data.snapshot.version, self.data.chosen)
            self.read(
                lambda: (
                    self.engine.contexts.changed(number),
                    self.engine.compression.levels.get(number),
                ),
                lambda now: None if now == known else self.open_context(number, CHANGED),
                group="watch",
            )

    def _read_last(self) -> ContextSnapshot | None:
        """The context opened last, else the one changed last; None if there are none."""
        known = [each.id for each in self.engine.contexts.all(self.project)]
        last = kept(self.engine.path).get(f"context of {self.project or ''}")
        number = next((each for each in known if each == last), known[0] if known else None)
        return read_context(self.engine, number) if number is not None else None

    def _show_last(self, found: ContextSnapshot | None) -> None:
        if found is not None:
            self._show(found)
        elif not self._read:
            self._show_nothing()
            self.call_later(self.action_choose_context)
        self._read = True

    def come_back(self) -> None:
        if self.context is None:
            self._read = False
            self.reload()

    def _show_nothing(self) -> None:
        self.data.clear()
        key = keys.OPEN.key
        self.rows.empty = (f"No session is open: {key} lists those that were read.",)
        self.show_empty(empty=True)
        self.rows.rows_changed()
        entitle(self.rows, "Context")
        self.show_footer()

    def watch_store(self) -> None:
        if self.editing is None and self.question is None and self.host.running is None:
            super().watch_store()

    async def action_choose_context(self) -> None:
        found = await to_thread(self._sessions)
        if not found:
            queue, reads = shared.SHOW_QUEUE.key, READ_SESSIONS.key
            self.rows.empty = (f"No session was read yet: {queue}, then {reads} reads them.",)
            self.rows.refresh()
            return

        async def then(option: Option) -> None:
            if option.key.isdigit():
                self.open_context(int(option.key))
            else:
                self._import(Path(option.key))

        here = str(self.context.id) if self.context is not None else ""
        await self.choose(
            "Sessions: last turn, agent, your turns", found, then, current=here, whole=True
        )

    def _sessions(self) -> list[Option]:
        """Opened sessions, and those that were read and not opened yet; the newest first."""
        read = {each.path: each for each in self.engine.sources.sessions(self.project)}
        requests, found = self.engine.contexts.first_requests(), []
        for each in self.engine.contexts.all(self.project):
            request, last = requests.get(each.id, ("", ""))
            path = each.source_path or ""
            known = read.pop(path, None) or SessionRead(path, last, request)
            found.append((str(each.id), each.name, known))
        found += [(path, Path(path).stem, each) for path, each in read.items()]
        found.sort(key=lambda each: each[2].path)
        found.sort(key=lambda each: each[2].last, reverse=True)
        signs = self.host.glyphs
        return [_session_option(*each, signs) for each in found[:MAX_SESSIONS]]

    def _import(self, path: Path) -> None:
        from reviewer.projects import project_here

        project = self.project or project_here()
        self.say(f"Opening {display_line(path.name)} ...")

        def work() -> ContextSnapshot:
            done = self.engine.contexts.import_file(path, project=project)
            return read_context(self.engine, done.context.id)

        def then(found: ContextSnapshot) -> None:
            self._keep_place()
            self.note_version()
            self._show(found)
            turns, segments = len(found.messages), count(len(found.segments), "segment")
            self.say(f"Opened {count(turns, 'turn')} of yours in {segments}.")

        self.read(work, then, group="import")

    def open_context(self, number: int, sentence: str = "", here: int | None = None) -> None:
        """Show a context; the cursor goes to the commit `here`, or stays on its own."""
        self._keep_place()
        self.note_version()

        def then(found: ContextSnapshot) -> None:
            self._show(found, here)
            if sentence:
                self.say(sentence)

        words = self.data.words if self.context and self.context.id == number else ""
        self.read(
            lambda: read_context(self.engine, number, words),
            then,
            group="rows",
            failed=self._gone,
        )

    def _gone(self, sentence: str) -> None:
        self._show_nothing()
        self.say_trouble(sentence)

    def _show(self, found: ContextSnapshot, here: int | None = None) -> None:
        context = found.context
        if context is None:
            return
        if self.context is None or self.context.id != context.id:
            last = kept(self.engine.path).get(f"commit of {context.id}")
            here = last if here is None and isinstance(last, int) else here
            self.data.words = ""
            self.data.clear()
        if found.version != self.data.snapshot.version:
            self.data.previews.clear()
        self.data.load(found, here)
        self.rows.empty = (found.trouble or "This session has no turns.",)
        if self.data.words and not found.trouble:
            self.rows.empty = nothing_matches(self.data.words)
        self.void("previews")  # the summary being written is no longer wanted
        self._writes = False
        self.show_empty(empty=not self.data.snapshot.commits)
        self.show_footer()
        self.rows.rows_changed()
        self._keep_place()
        self.follow()

    def keep_now(self) -> None:
        """Remember the session and the row, and the text being typed."""
        super().keep_now()
        self._keep_place()

    def _keep_place(self) -> None:
        if self.context is not None:
            place = {f"context of {self.project or ''}": self.context.id}
            if (commit := self.data.first_commit) is not None:
                place[f"commit of {self.context.id}"] = commit
            self.keep_for_next_run(place)

    # the filter

    @property
    def filter_text(self) -> str:
        return self.data.words

    def check_filter(self, text: str) -> None:
        parse_filter(text)

    def run_filter(self, text: str, *, here: int | None) -> None:
        if self.context is not None:
            number = self.context.id
            self.data.filter_by(text)
            self.read(lambda: read_context(self.engine, number, text), self._show, group="rows")

    def step_back(self) -> bool:
        """Hide the turns unfolded last, or leave the level being viewed."""
        stepped = self.data.step_back()
        if stepped:
            self.say("")
            self.rows.rows_changed()
            self.follow()
        return stepped

    # the row under the cursor

    def follow(self) -> None:
        """Show the row under the cursor, and ask for the previews that are missing."""
        chosen = self.data.chosen_for(self.data.row)
        if self.data.look and (chosen is None or chosen.sources != self.data.look.sources):
            self.data.look = None
        self._draw()
        if not self._writes:
            self._write_next()

    def _write_next(self) -> None:
        """Write the most urgent preview, one at a time; each starts the next."""
        wanted = self.data.wanted()
        self._writes = bool(wanted)
        if not wanted:
            return
        choice = wanted[0]
        plan, at = self.data.plan_of(choice), self.data.index_of(choice.segment)

        def work() -> SegmentPreview | str | None:
            try:
                return self._preview(plan)
            except ConflictError:
                return None
            except ReviewerError as problem:
                return str(problem)

        def then(found: SegmentPreview | str | None) -> None:
            row = self.data.row
            if found is None:
                self._writes = False
                if self.context is not None:
                    self.open_context(self.context.id)
                return
            self.data.put_preview(choice, found)
            self.rows.refresh()
            if row is not None and row.segment == at and not self.cursor_rest.waiting:
                self._draw()
            else:
                self._show_whole()
            self._write_next()

        self.read(work, then, group="previews")

    def _preview(self, plan: CompressionPlan, watch: Watch | None = None) -> SegmentPreview:
        """The preview of a plan of one segment, in a thread."""
        return self.engine.compression.preview(plan, watch).segments[0]

    def _show_whole(self) -> None:
        if self.context is None:
            return
        signs, changes = glyphs(self.app), self.data.changes()
        sent, original = self.data.snapshot.sent, self.data.original
        whole = f"{sent:,} tokens"
        if changes:
            after, target = self.data.after(), self.data.target
            whole += f" {signs.arrow} {signs.ellipsis if after is None else f'{after:,}'}"
            if target:
                over = after is not None and after > target
                whole += f" of {target:,}" + f" {signs.attention}" * over
        elif sent != original:
            whole += f", whole {original:,}"
        room = max(self.rows.size.width - cell_len(whole) - 7, FEWEST_NAME)
        name = display_line(short_ids(self.context.name, signs.ellipsis))
        entitle(self.rows, cut(name, room, signs.ellipsis), whole)
        ways = f"{keys.APPLY.key} applies this, then {shared.COPY.key} copies it"
        remark = ways if self.data.look or changes else f"{keys.FIT.key} fits a budget"
        if any(map(self.data.needs_a_look, self.data.rows)):
            next_one = f"{shared.NEXT_PLACE.key} next {signs.attention}"
            remark = f"{next_one} {signs.dot} {remark}"
        if remark != self.rows.remark:
            self.rows.remark = remark
            self.rows.redraw_foot()

    def _draw(self) -> None:
        self._show_whole()
        data, row, signs = self.data, self.data.row, glyphs(self.app)
        if row is None:
            if self.filter_text:
                self._fill([], "", [], "")
            return
        if row.commit is not None:
            self._read_turn(row.commit.id)
            return
        choice = data.choice(row)
        found = data.shown(choice) if choice is not None else None
        if found is None or choice is None or data.priority(row) is Priority.SKIP:
            words = self._no_segment() or (choice and data.trouble(choice)) or "Being written ..."
            self._fill([_line(words)], self._levels(row), [], "")
            return
        lost = () if found.kept else data.fidelity(found).loses
        title = f"lost: {(not found.kept and found.fidelity.lost_counts) or 'nothing'}"
        results = findings(found, data.why_full(choice))
        sent = data.shown(data.at_level(choice, Level.FULL)) if found.kept else None
        block = summary_block((sent or found).compressed.content)
        self._fill([block], self._levels(row), loss_blocks(results, lost, signs), title)

    def _fill(
        self, blocks: Sequence[TextBlock], levels: str, losses: Sequence[TextBlock], title: str
    ) -> None:
        row = self.data.row
        named = self.data.title(row) if row is not None else ""
        room = max(self.summary.size.width - cell_len(levels) - 7, 0) if levels else cell_len(named)
        named = cut(display_line(named), room, glyphs(self.app).ellipsis) if room > 7 else ""
        self.summary.show(blocks, title=named or levels, hint=levels if named else "")
        self.losses.show(losses, title=title)
        self.set_class(len(losses) < FEW, "-few")

    def _levels(self, row: ContextRow) -> str:
        """The tokens of a segment at each level; one may be applied."""
        data, choice, signs = self.data, self.data.choice(row), glyphs(self.app)
        if choice is None or row.segment is None or data.priority(row) is Priority.SKIP:
            return ""
        figures = []
        for level in Level:
            at_level = data.at_level(choice, level)
            size = data.size(at_level)
            tokens = signs.ellipsis if size is None else f"{size:,}"
            applied = "applied " if data.is_applied(at_level) else ""
            figures.append(f"{applied}{LEVEL_NAMES[level]} {tokens}")
        found = data.shown(choice)
        chosen = Level.FULL if found is not None and found.kept else choice.level
        return levels_named(figures, chosen, self.summary.size.width - 4, signs)

    def _read_turn(self, number: int) -> None:
        def then(view: CommitView) -> None:
            row = self.data.row
            if row is None or row.commit is None or row.commit.id != number:
                return
            blocks = [TextBlock(view.text, first=MARGIN, limit=64_000)]
            asked = [each.text for each in view.retention.patterns]
            asked += [view.retention.instructions] if view.retention.instructions else []
            lines = [TextBlock(each, "accent", first=MARGIN) for each in asked]
            pin, survive = keys.PIN.key, keys.SURVIVE.key
            ways = f"{pin} always sends this turn whole; {survive} names what must survive of it."
            if view.row.priority is Priority.PINNED:
                ways = f"Always sent whole; {pin} makes it normal again."
            self._fill(blocks, "", lines or [_line(ways)], "must survive")

        self.read(lambda: self.engine.contexts.commit(number), then, group="turn")

    # levels

    async def _put_levels(
        self, levels: Sequence[ChosenLevel], words: str, here: int | None = None
    ) -> None:
        """Choose levels, as one act; undo goes back to the turn `here`."""
        number, name = self.opened.id, self.opened.name
        title = f"{words} in {name}"
        act = await to_thread(self.engine.compression.levels.put, number, levels, title)
        if act:
            self._note(act, words, here)
        self.say(f"{words}{to_undo(act)}" if act else f"Already so: {words}.")
        self.note_version()
        self.data.look = None
        self.data.take(levels)
        self.rows.refresh()
        self.follow()

    @unless(_no_segment)
    async def _choose_level(self, level: Level) -> None:
        """View a level; if it is already being viewed, choose it."""
        data, chosen = self.data, self.data.chosen_for(self.data.row)
        looked = data.choice(data.row)
        if chosen is None or looked is None:
            return
        named = data.named(chosen.segment)
        words = f"{LEVEL_NAMES[level]} for {named}"
        if level is chosen.level and data.is_applied(chosen):
            again = structs.replace(chosen, content=None, engine="")
            await self._put_levels(data.with_own(again), f"{words}, written again")
        elif level is chosen.level:
            data.look = None
            self.follow()
            found = data.shown(chosen)
            kept = found.kept.rstrip(".") if found is not None else ""
            is_so = f"stays Full: {kept}" if kept else f"is {LEVEL_NAMES[level]} already"
            self.say(f"{named} {is_so}.")
        elif level is looked.level:
            await self._put_levels(data.with_own(looked), words)
        else:
            data.look = Entered(chosen.sources, level)
            self.follow()
            key = keys.LEVELS[level].key
            self.say(f"Preview of {LEVEL_NAMES[level]}; {key} again to use it.", passing=True)

    @unless(_no_plan)
    async def action_fit_target(self) -> None:
        """Type a number of tokens or a share, to choose levels that fit and pass the checks, or one
        level for all segments."""
        whole = self.data.original
        levels = {LEVEL_NAMES[level].lower(): level for level in Level}

        def problem(text: str) -> str:
            if read_target(text, whole) or text.lower() in levels:
                return ""
            return f"Type a number of tokens, such as 8k, a share, 25%, or {', '.join(levels)}."

        async def then(text: str) -> None:
            if tokens := read_target(text, whole):
                await self._fit(tokens)
            else:
                level = levels[text.lower()]
                said = f"{LEVEL_NAMES[level]} for all segments"
                await self._put_levels(self.data.with_all(level), said)

        after = self.data.after()
        title = "Fit a budget" if after is None else f"Fit a budget: now {after:,}"
        hint = "tokens, such as 8k or 25%, or a level for all: brief"
        await self.ask_text(title, then, hint=hint, problem=problem)

    async def _fit(self, target: int) -> None:
        number, compression, own = self.opened.id, self.engine.compression, self.data.own
        act = RunningAct("Summaries tried")

        def work() -> tuple[CompressionPlan, Preview, str]:
            watch, trouble = _watch(act), ""
            try:
                plan = compression.fit(
                    number, target, engine=OFFLINE, watch=watch, anyway=True, own=own
                )
            except UnreachableError as problem:
                plan, trouble = problem.smallest, f"{problem} "
            return plan, compression.preview(plan, watch), trouble

        plan, preview, trouble = await self.host.accompany(self, act, work)
        for choice, each in zip(plan.choices, preview.segments, strict=True):
            self.data.put_preview(choice, each)
        await self._put_levels(
            self.data.with_levels(plan.choices, target),
            f"Fitted to {preview.tokens_after:,} tokens",
        )
        apply, doubtful = keys.APPLY.key, doubts(preview.segments)
        said = f"{trouble or f'{preview.tokens_after:,} of {target:,} tokens: '}{apply} applies it."
        if not all(each.is_full for each in preview.segments):
            said += f" It loses {preview.loses}."
        if short := preview.shortened:
            said += f" What you said is shortened in {count(len(short), 'segment')}."
        else:
            said += " Every sentence of yours is kept."
        if doubtful:
            said += f" {_failing(doubtful)}: {apply} asks first."
        if short or doubtful:
            sign = glyphs(self.app).attention
            said += f" {shared.NEXT_PLACE.key} goes to the next {sign}"
        if own:
            said += f" Your {count(len(own), 'own level')} {'stays' if len(own) == 1 else 'stay'}."
        self.say(said, bad=bool(trouble))

    @unless(_no_plan)
    def action_next_place(self) -> None:
        self._go_to_marked(1)

    @unless(_no_plan)
    def action_previous_place(self) -> None:
        self._go_to_marked(-1)

    def _go_to_marked(self, step: int) -> None:
        at = self.data.next_to_look_at(step)
        if at is None:
            where = "below" if step > 0 else "above"
            self.say(
                f"No place {where} is marked {glyphs(self.app).attention}.",
                passing=True,
            )
        else:
            self.rows.move_to(at)

    @unless(_no_context)
    async def action_apply_levels(self) -> None:
        """Replace the segments with their summaries, after a question about failing ones. A level
        being viewed counts as chosen.
        """
        looked = self.data.choice(self.data.row)
        if looked is not None and looked != self.data.chosen_for(self.data.row):
            await self._choose_level(looked.level)
        plan, chosen = self.data.plan, self.data.changes()
        if plan is None:
            raise ReviewerError(self.rows.empty[0])
        if not chosen:
            raise ReviewerError(
                f"No level was chosen: {LEVEL_KEYS} choose one, {keys.FIT.key} fits a budget."
            )
        number, compression = self.opened.id, self.engine.compression
        act = RunningAct("Checking the summaries")
        preview = await self.host.accompany(
            self, act, lambda: compression.preview(plan, _watch(act))
        )
        doubtful = {each.segment.id: each for each in doubts(preview.segments)}
        if not doubtful:
            await self._apply(number, preview.plan)
            return
        whole = structs.replace(
            preview.plan,
            choices=tuple(
                self.data.at_level(each, Level.FULL) if each.segment in doubtful else each
                for each in preview.plan.choices
            ),
        )
        grown = sum(each.segment.tokens - each.tokens for each in doubtful.values())
        after, target = preview.tokens_after, self.data.target
        rest = "the others" if any(each.level for each in whole.choices) else "nothing"
        options = [
            Option("rest", f"Leave those Full, apply {rest}", _size(after + grown, target)),
            Option("all", "Apply those too", _size(after, target)),
        ]
        segment, first = next(iter(doubtful.items()))

        async def then(option: Option) -> None:
            if option.key == "all":
                await self._apply(number, preview.plan)
            elif rest == "nothing":
                self.say("Nothing was changed.")
            else:
                await self._apply(number, whole)

        which = f"the first of {len(doubtful):,}: " if len(doubtful) > 1 else ""
        hint = f"{which}{'; '.join(first.faults)}: {self.data.named(segment)}"
        title = _failing(doubtful)
        await self.choose(title, options, then, hint=hint)

    async def _apply(self, number: int, plan: CompressionPlan) -> None:
        act = RunningAct("Applying")

        def work() -> Applied:
            return self.engine.compression.apply(plan)

        done = await self.host.accompany(self, act, work)
        verb = "Compressed" if done.segments else "Restored"
        words = f"{verb} {done.tokens_before:,} to {done.tokens_after:,} tokens"
        self._note(done.act, words)
        words += f": {shared.COPY.key} copies the result, to paste into a new session"
        self.zoomed = None
        self.set_focus(self.rows)  # whose copy is the whole session
        for choice in plan.choices:
            if choice.sources:
                self.engine.summary_drafts.discard(choice.sources[0])
        self.say(f"{words}{to_undo(done.act)}")  # reading it again takes a while
        self.open_context(number)

    # priorities and what must survive

    @unless(_no_row)
    async def _set_priority(self, priority: Priority) -> None:
        """Give the row a priority, or take it back. In a segment, only the person's turns are
        pinned or made important; skip applies to all of it.
        """
        row = self.data.row
        if row is None:
            return
        data, skips = self.data, priority is Priority.SKIP
        commits = data.acted_on(row) if skips else data.said_in(row)
        before = data.priority_of(commits)
        wanted = Priority.NORMAL if before is priority else priority
        yours = all(each in data.snapshot.messages for each in commits)
        said = f" (your {data.turns(commits)})" if yours and not skips else ""
        done = await self.write(lambda: self.engine.contexts.annotate(commits, priority=wanted))
        was = NO_LONGER.get(before) if wanted is priority else None
        remark = f", no longer {was}" if was else ""
        self._annotated(f"{done.title}{said}", commits[0], done.act, remark)

    def _note(self, act: int, words: str, here: int | None = None) -> None:
        """Remember an act of this session, and the turn that undo goes back to."""
        self.note_act(act, words)
        if self.context is not None:
            self._acts_at[act] = (self.context.id, here or self.data.first_commit or 0)

    def _annotated(self, words: str, commit: int, act: int, remark: str = "") -> None:
        """Report the new priority or criterion of some turns, and show them again."""
        if act:
            self._note(act, words, commit)
        shown = cut(display_line(words), 2 * self.size.width - END_CELLS, glyphs(self.app).ellipsis)
        said = f"{shown}{remark}{to_undo(act)}"
        self.open_context(self.opened.id, said, commit)

    @unless(_no_row)
    async def action_retain(self) -> None:
        """Choose a loss that must survive, or type a text: the turns of the row that contain it get
        the criterion.
        """
        row = self.data.row
        if row is None:
            return
        commits, contexts = self.data.retaining(row), self.engine.contexts
        views = await to_thread(lambda: [contexts.commit(each) for each in commits])
        choice, known = self.data.choice(row), []
        preview = self.data.shown(choice) if choice is not None and row.commit is None else None
        lost = self.data.fidelity(preview).lost_to_show if preview and not preview.kept else ()
        if row.commit is not None and row.commit.priority is not Priority.PINNED:
            known.append(Option("pin", "This whole turn", "always sent whole"))
        known += [Option(f"lost {at}", each.line) for at, each in enumerate(lost) if each.end]
        if any(each.retention for each in views):
            known.append(Option("nothing", "No longer", "take back what must survive of this"))

        def find(text: str) -> Sequence[Option] | str:
            if not (text := text.strip()):
                return known or "Type it, then choose how it is kept."
            ways = []
            if turns := len(_matching(views, text, "substring")):
                ways.append(Option(f"substring {text}", "This text", f"in {count(turns, 'turn')}"))
            where = "" if ways else "in none of these turns: "
            ways.append(Option(f"words {text}", "In words, for the model", f"{where}{text}"))
            if not REGEX_SIGNS.isdisjoint(text):
                ways.append(Option(f"regex {text}", "This regular expression", text))
            return ways + [each for each in known if text.casefold() in each.name.casefold()]

        async def then(option: Option) -> None:
            mode, _, text = option.key.partition(" ")
            if mode == "pin":
                await self._set_priority(Priority.PINNED)
            elif mode == "lost" and preview is not None:
                await self._keep(preview, lost[int(text)])
            else:
                await self._retain(views, mode, text)

        hint = "a text, a regular expression, or a wish in your own words"
        await self.choose("Must survive", find, then, hint=hint)

    async def _retain(self, views: Sequence[CommitView], mode: str, text: str) -> None:
        """Give a criterion to the turns that contain it, or take back all criteria."""
        contexts, targets = self.engine.contexts, [each.row.id for each in views]
        having = await to_thread(_matching, views, text, mode) if text else []
        given: dict[str, Any] = {"clear": True}
        remark = ""
        if mode == "words":
            given = {"retain": text}
            remark = "" if having else f"; {ONLY_A_MODEL}"
        elif text:
            if not having:
                raise ReviewerError(f"No turn here matches: {text}")
            targets = having
            given = {"retain_match" if mode == "substring" else "retain_regex": [text]}
            given["adds"] = True
        done = await self.write(lambda: contexts.annotate(targets, **given))
        self._annotated(done.title, targets[0], done.act, remark)

    async def _keep(self, preview: SegmentPreview, lost: Lost) -> None:
        """Keep a loss verbatim in every summary from now on."""
        anchors, commit = preview.compressed.anchors, preview.segment.turns[lost.turn].commit
        if commit is None:
            raise ReviewerError("This text is not part of a turn.")
        places = {(each.turn, each.start, each.end): each.type for each in anchors}
        kind = places.get((lost.turn, lost.start, lost.end), AnchorType.CRITICAL_FACT)
        pin = self.engine.compression.pin
        act = await to_thread(pin, commit, lost.start, lost.end, kind)
        self._annotated(f"Must survive: {lost.line}", commit, act)

    @property
    def place(self) -> str:
        if self.context is None:
            return super().place
        return f"{super().place}, {short_ids(self.context.name, glyphs(self.app).ellipsis)}"

    def show_reversed(self, undone: Undone) -> None:
        """Go to the session and the row that an undo or redo changed."""
        here = self.context.id if self.context is not None else 0
        number, commit = self._acts_at.get(undone.target, (here, None))
        if number:
            self.open_context(number, here=commit)

    # texts by hand and by a model

    @unless(_no_segment)
    async def action_edit_text(self) -> None:
        choice = self.data.choice(self.data.row)
        if choice is None or choice.level is Level.FULL:
            raise ReviewerError(f"Full is the original: {LEVEL_KEYS} choose a level.")
        if (shown := self.data.shown(choice)) is None:
            raise ReviewerError("Being written, try again.")
        words = f"Text of {self.data.named(choice.segment)}"

        async def save(text: str) -> None:
            by_hand = self.data.at_level(choice, choice.level)
            plan = self.data.plan_of(by_hand).with_text(choice.segment, text)
            found = await to_thread(self._preview, plan)
            if found.failures:
                missing = "; ".join(each.message for each in found.failures)
                raise ReviewerError(f"Missing: {missing}")
            await self._put_texts([(choice, found)], words, choice.sources[0])

        await self.edit_text(
            TextEdit(
                key=choice.sources[0],
                title=f"{LEVEL_NAMES[choice.level]} of this segment",
                original=shown.compressed.content,
                drafts=self.engine.summary_drafts,
                save=save,
                saved=lambda _: self.say(f"{words} is yours: {keys.APPLY.key} applies it."),
                again=keys.EDIT,
                empty=f"A summary needs words: {keys.FULL.key} leaves this segment whole.",
                remark=lambda text: (f"{len(text):,} characters", not text.strip()),
            )
        )

    @unless(_no_plan)
    async def action_ask_model(self) -> None:
        here = self.data.choice(self.data.row)
        every = [each for each in self.data.changes() if each.level and not each.content]
        offers = {f"All that are not Full: {count(len(every), 'segment')}": every} if every else {}
        if here is not None and here.level is not Level.FULL:
            offers = {"This segment": [here], **offers}
        if not offers:
            raise ReviewerError(f"Every segment is Full, or has its text: {LEVEL_KEYS} choose.")

        async def then(option: Option) -> None:
            await self._ask(offers[option.key])

        tokens = {each.id: each.tokens for each in self.data.snapshot.segments}
        options = [
            Option(name, name, f"sends about {sum(tokens[each.segment] for each in some):,} tokens")
            for name, some in offers.items()
        ]
        await self.choose("Ask the model", options, then)

    async def _ask(self, choices: Sequence[LevelChoice]) -> None:
        """One segment after the other; summaries already written are kept if it is stopped."""
        act = RunningAct("Asking the model", len(choices))
        plans = [self.data.plan_of(each, engine="model") for each in choices]
        written: list[tuple[LevelChoice, SegmentPreview]] = []

        def work() -> None:
            for done, (choice, plan) in enumerate(zip(choices, plans, strict=True)):
                if act.watch(done):
                    return
                watch = Watch(lambda done=done: act.watch(done))  # type: ignore[misc]
                written.append((choice, self._preview(plan, watch)))

        try:
            await self.host.accompany(self, act, work)
        finally:
            if written:
                await self._put_texts(written, "Texts of the model")
        self.say(f"The model wrote {count(len(written), 'segment')}: {keys.APPLY.key} applies.")

    async def _put_texts(
        self,
        written: Sequence[tuple[LevelChoice, SegmentPreview]],
        words: str,
        here: int | None = None,
    ) -> None:
        """Choose texts not written by the offline engine."""
        changed = []
        for choice, found in written:
            text = found.compressed
            changed.append(
                structs.replace(
                    choice, content=text.content, engine=text.engine, written=text.written
                )
            )
            self.data.put_preview(changed[-1], found)
        await self._put_levels(self.data.with_own(*changed), words, here)

    # looking

    @on(RowList.Opened)
    async def action_open_row(self) -> None:
        """Show the turns of the segment, or hide them; read an applied summary; without a session,
        choose one.
        """
        row = self.data.row
        if row is None:
            await self.action_choose_context()
        elif self.data.applied_summary(row) is not None:
            self.read_pane(self.summary)
        else:
            self.data.toggle(row)
            self.rows.rows_changed()
            self.follow()

    @unless(_no_row)
    async def action_open_source(self) -> None:
        """Show the source at the line of the turn, or of the first turn of an applied summary."""
        number, path = self.data.first_commit, self.context.source_path if self.context else None
        view = await to_thread(self._original, number) if number else None
        if view is None or path is None or view.source_line is None:
            raise ReviewerError("This turn has no source line: it was not read from a file.")
        self.host.open_line(path, view.source_line)

    def _original(self, number: int) -> CommitView:
        """A turn; for a summary, the first turn that it replaced."""
        contexts = self.engine.contexts
        view = contexts.commit(number)
        while view.summary_of:
            view = contexts.commit(contexts.resolve(view.summary_of[0], view.context))
        return view

    @unless(_no_row)
    async def action_copy(self) -> None:
        """Copy the session as an agent gets it; in a pane of text, the summary or turn shown."""
        if self.focused is self.rows and self.context is not None:
            sent = await to_thread(self.engine.contexts.compile, self.context.id)
            text = "\n\n".join(f"{each['role']}: {each['content']}" for each in chat_messages(sent))
            tokens = sum(each.tokens for each in sent)
            words = f"Copied the whole session: {tokens:,} tokens"
            if self.data.changes():
                words += f", without the levels you chose: {keys.APPLY.key} applies them"
            self.copy_text(text, f"{words}.")
            return
        row, choice = self.data.row, self.data.choice(self.data.row)
        found = self.data.shown(choice) if choice is not None else None
        if row is not None and row.commit is None and found is not None:
            text, what = found.compressed.content, "segment"
        else:
            what = "turn"
            text = (await to_thread(self.engine.contexts.commit, self.data.first_commit or 0)).text
        self.copy_text(text, f"Copied this {what}: {len(text):,} characters.")

    @unless(_no_context)
    def action_hand_over(self) -> None:
        """Show the hand-over of the whole session, from its originals."""
        context = self.opened

        def read() -> tuple[str, Sequence[SegmentTurn]]:
            turns = self.engine.compression.original_turns(context.id)
            return f"the session {context.name}", turns

        self.host.open_handover(read)


def _line(words: str) -> TextBlock:
    return TextBlock(words, "dim", first=MARGIN)


def _failing(doubtful: Collection[object]) -> str:
    """`2 summaries fail the check against the original`."""
    fail = count(len(doubtful), "summary fails", "summaries fail")
    return f"{fail} the check against the original"


def _size(tokens: int, target: int) -> str:
    """`19,990 tokens`, `93 over 20,000`; a target of 0 is none."""
    over = tokens - target if target else 0
    return f"{over:,} over {target:,}" if over > 0 else f"{tokens:,} tokens"


def _session_option(key: str, name: str, session: SessionRead, signs: Glyphs) -> Option:
    """A session by the time of its last turn, its agent, the number of the person's messages, its
    first request, name and folder.
    """
    words = cut(
        " ".join(session.request.split()) or "(no first request)", REQUEST_CELLS, signs.ellipsis
    )
    folder = Path(session.path).parent.name
    detail = "  ".join(filter(None, (words, short_ids(name, signs.ellipsis), folder)))
    asked = f"{session.requests:,}" if session.requests else "-"
    when = moment(session.last) or "-"
    return Option(key, f"{when:16} {session.format[:11]:11} {asked:>5}", detail)


def _watch(act: RunningAct) -> Watch:
    """Shows the progress of an act, and stops with it."""
    done = 0

    def progress(found: PreviewProgress) -> None:
        nonlocal done
        done = found.done
        act.total = found.total
        act.watch(done)

    return Watch(lambda: act.watch(done), on_progress=progress)


def _matching(views: Sequence[CommitView], text: str, mode: str) -> list[int]:
    """The turns that contain a text or match a regular expression. Raises PatternError."""
    (pattern,) = parse_patterns([], [text]) if mode == "regex" else (Pattern(text, "substring"),)
    return [
        each.row.id for each in views if check_patterns([pattern], each.text)[0].state == "matches"
    ]
