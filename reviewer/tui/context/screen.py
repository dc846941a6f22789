"""A session as a context: its turns, what must survive of them, and a level for each segment.

Where no session was opened yet, the sessions that were read are listed, newest first.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import structs
from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult

from reviewer.commits.search import parse_filter
from reviewer.commits.values import Pattern, Priority
from reviewer.compression.chosen_levels import ChosenLevel
from reviewer.compression.fit import UnreachableError
from reviewer.compression.plan import Applied, CompressionPlan, LevelChoice, Preview, SegmentPreview
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.compression.retention import criteria
from reviewer.compression.span_marks import CommitSpan as MarkedSpan
from reviewer.compression.values import BY_HAND, OFFLINE, Level
from reviewer.engine import Engine
from reviewer.errors import ConflictError, FilterError, ReviewerError
from reviewer.promotion.decisions.history import Undone
from reviewer.text.display import display_line
from reviewer.text.token_numbers import read_tokens
from reviewer.tui.context import keys
from reviewer.tui.context.model import (
    LEVEL_NAMES,
    Checked,
    ContextModel,
    ContextRead,
    ContextRow,
    doubts,
    read_context,
)
from reviewer.tui.context.panes import (
    ChecksLine,
    RowsList,
    SummaryPane,
    summary_blocks,
    with_open_markers,
)
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.running import RunningAct
from reviewer.tui.kit.screen import ListScreen
from reviewer.tui.kit.text import Run, TextBlock, count, cut, moment, short_ids
from reviewer.tui.kit.text_edit import TextEdit
from reviewer.tui.places import keep_context, load_commit, load_context
from reviewer.tui.queue.keys import READ_SESSIONS
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.commits.values import CommitView, ContextView, ImportResult

MAX_SESSIONS = 500
MAX_NAMED = 8
"""Segments that a message names."""
REQUEST_CELLS = 60
FEWEST_NAME = 8
"""Cells of the session's name in the title."""
ONLY_A_MODEL = "none of these turns has it, so only a model can follow it"
UNNAMED_PROJECT = "default"
SHOWS_ORIGINAL = f"Applied: {keys.OPEN.key} shows the original turns."
READING = ("Reading ...",)
LEVEL_KEYS = " ".join(each.keys for each in keys.LEVELS[1:])
CHANGED = "The context changed meanwhile: it was read again, and what you chose is kept."


class ContextScreen(ListScreen, pane=keys.CONTEXT):
    """Segments and their turns; below, the segment under the cursor at its level."""

    tab = "context"
    FILTER_HINT: ClassVar[str] = "words  role:user  priority:important  tokens>500  -word"

    def __init__(self, engine: Engine, project: str | None, context: int | None = None) -> None:
        """`context`: the one to open; else the one that was open last."""
        self.data = ContextModel()
        self.rows = RowsList(self.data, id="rows")
        self.rows.empty = READING
        self.summary = SummaryPane()
        self.checks = ChecksLine()
        super().__init__(engine, project, self.rows, [self.summary], title="Context")
        self.context: ContextView | None = None
        self._wanted = context
        self._read = False
        self._version: object = None
        self._writes = False
        """A preview is being written."""
        self._opened: ContextRow | None = None
        """The row whose summary shows the original in place of its marker."""

    def compose_right(self) -> ComposeResult:
        yield self.summary
        yield self.checks

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_whole)

    def on_descendant_focus(self) -> None:
        super().on_descendant_focus()
        self.set_class(self.summary.has_focus, "-reading")

    # why a key cannot be used now

    def _no_context(self) -> str | None:
        if not self._read:
            return "Still reading, try again."
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
            return f"This is skipped: {self.key_of(keys.LEAVE_OUT)} takes it in again."
        return None if self.data.choice(row) else "A pinned turn is always sent whole."

    # sessions

    def reload(self) -> None:
        """Open the session of last time; later, read again what others changed."""
        if not self._read:
            wanted = self._wanted or load_context(self.engine.path, self.project)
            self.read(lambda: self._find(wanted), self._found, group="context")
        elif self.context is not None:
            number, known = self.context.id, (self._version, self.data.chosen)
            self.read(
                lambda: (
                    self.engine.contexts.changed(number),
                    self.engine.compression.levels.get(number),
                ),
                lambda now: None if now == known else self.open_context(number, CHANGED),
                group="watch",
            )

    def _find(self, wanted: int | None) -> ContextRead | None:
        """The wanted context, else the one that changed last; None without any."""
        known = [each.id for each in self.engine.contexts.all(self.project)]
        if not known:
            return None
        return read_context(self.engine, wanted if wanted in known else known[0])

    def _found(self, found: ContextRead | None) -> None:
        self._read = True
        if found is not None:
            self._show(found)
        else:
            self._show_nothing()
            self.call_later(self.action_choose_context)

    def _show_nothing(self) -> None:
        self.context = None
        self.data.clear()
        key = self.key_of(keys.OPEN)
        self.rows.empty = ("No session is open.", f"{key} lists those that were read.")
        self.show_empty(empty=True)
        self.rows.rows_changed()
        entitle(self.rows, "Context")

    def watch_store(self) -> None:
        if self.overlay is None and self.question is None and self.host.running is None:
            super().watch_store()

    def action_refresh(self) -> None:
        """Read everything again, and write every preview again."""
        self.data.forget_previews()
        if self.context is not None:
            self.open_context(self.context.id, "Read again.")

    async def action_choose_context(self) -> None:
        """Choose among the sessions that were opened and those that were read."""
        found = await to_thread(self._sessions)
        if not found:
            queue, reads = self.key_of(shared.SHOW_QUEUE), self.key_of(READ_SESSIONS)
            self.say(f"No session was read yet: {queue}, then {reads} reads them.")
            return

        async def then(option: Option) -> None:
            if option.key.isdigit():
                self.open_context(int(option.key))
            else:
                self._import(Path(option.key))

        here = str(self.context.id) if self.context is not None else ""
        await self.choose("Sessions", found, then, current=here, whole=True)

    def _sessions(self) -> list[Option]:
        """Opened sessions, and those that were read and not opened yet; the newest first."""
        contexts = self.engine.contexts.all(self.project)
        requests = self.engine.contexts.first_requests()
        opened = {each.source_path for each in contexts}
        found = []
        for each in contexts:
            request, last = requests.get(each.id, ("", ""))
            folder = Path(each.source_path or "").parent.name
            size = _file_size(each.source_path)
            found.append((last, str(each.id), request, size, each.name, folder))
        for read in self.engine.sources.sessions(self.project):
            if read.path not in opened:
                path = Path(read.path)
                name, folder = path.stem, path.parent.name
                found.append((read.last, read.path, read.request, read.size, name, folder))
        found.sort(key=lambda each: each[0], reverse=True)
        found = found[:MAX_SESSIONS]
        return [_session_option(*each) for each in found]

    def _import(self, path: Path) -> None:
        """Import a transcript in a thread and open it."""
        from reviewer.projects import default_project

        project = self.project or default_project() or UNNAMED_PROJECT
        self.say(f"Opening {display_line(path.name)} ...")

        def work() -> ImportResult:
            return self.engine.contexts.import_file(path, project=project)

        def then(done: ImportResult) -> None:
            if done.act:
                self.note_act(done.act)
            self.open_context(done.context.id, f"Opened {count(done.commits, 'turn')}.")

        self.read(work, then, group="import")

    def open_context(self, number: int, sentence: str = "", here: int | None = None) -> None:
        """Show a context; the cursor goes to the commit `here`, or stays on its own."""
        self._keep_place()
        self.note_version()

        def then(found: ContextRead) -> None:
            self._show(found, here)
            if sentence:
                self.say(sentence)

        words = self.data.words if self.context and self.context.id == number else ""
        self.read(lambda: read_context(self.engine, number, words), then, group="context")

    def _show(self, found: ContextRead, here: int | None = None) -> None:
        other = self.context is None or self.context.id != found.context.id
        if other and here is None:
            here = load_commit(self.engine.path, found.context.id)
            self.data.words = ""
            self.data.clear()
        if found.version != self._version or other:
            self.data.forget_previews()
        self.context, self._version = found.context, found.version
        opened = self.host.opened_segments.setdefault(found.context.id, set())
        self.data.load(found, opened, here)
        nothing = "No turn matches." if self.data.words else "This session has no turns."
        self.rows.empty = (found.trouble or nothing,)
        self._stop_previews()
        self.show_empty(empty=not self.data.commits)
        self.rows.rows_changed()
        self._keep_place()
        self.follow()

    def keep_now(self) -> None:
        """Remember the session and the row, and the text being typed."""
        super().keep_now()
        self._keep_place()

    def _keep_place(self) -> None:
        if self.context is None or self.engine.read_only:
            return
        try:
            keep_context(self.engine.path, self.project, self.context.id, self.data.first_commit)
        except OSError as error:
            self.say(f"The place cannot be remembered: {error.strerror}.", bad=True)

    def on_unmount(self) -> None:
        self._stop_previews()
        self._keep_place()

    # the filter

    @property
    def filter_text(self) -> str:
        return self.data.words

    def filter_problem(self, text: str) -> str:
        try:
            parse_filter(text)
        except FilterError as error:
            return str(error)
        return ""

    def run_filter(self, text: str, *, here: int | None) -> None:
        """Show only the turns that a filter finds, below their segments."""
        if self.context is not None:
            number, self.data.words = self.context.id, text
            self.read(lambda: read_context(self.engine, number, text), self._show, group="context")

    # the row under the cursor

    def follow(self) -> None:
        """Show the row under the cursor, and ask for the previews that are missing."""
        self._opened = None
        chosen = self.data.chosen_for(self.data.row)
        if self.data.look and (chosen is None or chosen.sources != self.data.look[0]):
            self.data.look = None
        self._draw()
        if not self._writes:
            self._write_next()

    def _write_next(self) -> None:
        """Write the preview that is wanted most, one at a time; each begins the next."""
        wanted = self.data.wanted()
        self._writes = bool(wanted)
        if not wanted:
            return
        choice = wanted[0]
        key, plan = self.data.key(choice), self.data.plan_of(choice)
        at = self.data.place(choice)

        def work() -> Checked | None:
            try:
                return self._preview(plan)
            except ConflictError:
                return None

        def then(found: Checked | None) -> None:
            if found is not None:
                self.data.put_preview(choice, found)
                self._written(at)
            elif self.context is not None:
                self._writes = False
                self.open_context(self.context.id, CHANGED)

        def failed(sentence: str) -> None:
            self.data.troubles[key] = sentence
            self._written(at)

        self.read(work, then, group="previews", failed=failed)

    def _written(self, at: int) -> None:
        self._redraw(at)
        self._write_next()

    def _stop_previews(self) -> None:
        """What is being written is not wanted any more."""
        self.void("previews")
        self._writes = False

    def _preview(self, plan: CompressionPlan, watch: Watch | None = None) -> Checked:
        """The preview of a plan of one segment with its criteria checked, in a thread."""
        return self._checked(self.engine.compression.preview(plan, watch).segments[0])

    def _checked(self, found: SegmentPreview) -> Checked:
        asked = criteria(found.segment).patterns
        return Checked(found, self.engine.contexts.check(asked, found.compressed.content))

    def _redraw(self, at: int) -> None:
        self.rows.refresh()
        row = self.data.row
        if row is not None and row.segment == at and not self.cursor_rest.waiting:
            self._draw()
        else:
            self._show_whole()

    def _show_whole(self) -> None:
        if self.context is None:
            return
        signs, after = glyphs(self.app), self.data.after()
        words = f"{'' if after.exact else '~'}{after.tokens:,}"
        if target := self.data.target:
            words += f" of {target:,}" + (f" {signs.attention}" if after.tokens > target else "")
        whole = f"{self.data.original:,} tokens {signs.arrow} {words}"
        counted = f"{count(len(self.data.commits), 'turn')} {signs.dot} {whole}"
        if cell_len(counted) + FEWEST_NAME + 7 <= self.rows.size.width:
            whole = counted
        room = max(self.rows.size.width - cell_len(whole) - 7, FEWEST_NAME)
        name = display_line(short_ids(self.context.name, signs.ellipsis))
        entitle(self.rows, cut(name, room, signs.ellipsis), whole)

    def _draw(self) -> None:
        """Draw the panes for the row under the cursor."""
        self._show_whole()
        data, row, signs = self.data, self.data.row, glyphs(self.app)
        if row is None or row == self._opened:
            return
        title, choice = data.numbered_title(row), data.choice(row)
        if row.commit is not None or choice is None:
            self.summary.name_levels()
            self.checks.show(None)
            if row.commit is not None:
                self._read_turn(row.commit.id, title)
            return
        if data.priority(row) is Priority.SKIP:
            self.summary.name_levels()
            self.checks.show(None)
            self._say_in_summary(self._no_segment() or "", title)
            return
        figures = []
        for level in Level:
            found = data.shown(data.at_level(choice, level))
            tokens = f"{found.preview.tokens:,}" if found else signs.ellipsis
            if level is Level.FULL:
                tokens = f"{data.segments[row.segment or 0].tokens:,}"
            figures.append(f"{LEVEL_NAMES[level]} {tokens}")
        self.summary.name_levels(figures, choice.level)
        found = data.shown(choice)
        if found is None:
            self._say_in_summary(data.trouble(choice) or "Being written ...", title)
            self.checks.show(None)
            return
        lost = data.lost_by(row.segment or 0)
        blocks = summary_blocks(found, signs)
        if data.applied_summary(row) is not None:
            blocks = [TextBlock(SHOWS_ORIGINAL, "dim", first=(Run(" "),)), TextBlock(""), *blocks]
        self.summary.show(blocks, title=title)
        self.checks.show(found, data.why_full(choice), lost)

    def _say_in_summary(self, words: str, title: str) -> None:
        self.summary.show([TextBlock(words, "dim", first=(Run(" "),))], title=title)

    def _read_turn(self, number: int, title: str) -> None:
        def then(view: CommitView) -> None:
            row = self.data.row
            if row is not None and row.commit is not None and row.commit.id == number:
                text = view.text
                blocks = []
                if view.row.type == "summary":
                    text = with_open_markers(text, glyphs(self.app))
                    blocks = [TextBlock(SHOWS_ORIGINAL, "dim", first=(Run(" "),)), TextBlock("")]
                blocks.append(
                    TextBlock(text, "text", first=(Run(" "),), rest=(Run(" "),), limit=64_000)
                )
                patterns = view.retention.patterns
                for each in patterns:
                    blocks.append(
                        TextBlock(f"must survive: {each.text}", "accent", first=(Run(" "),))
                    )
                if view.retention.instructions:
                    words = f"must survive: {view.retention.instructions}"
                    blocks.append(TextBlock(words, "accent", first=(Run(" "),)))
                if applied := self.data.applied.get(number):
                    words = f"loses: {f' {glyphs(self.app).dot} '.join(applied.loses) or 'nothing'}"
                    blocks.append(TextBlock(words, "dim", first=(Run(" "),)))
                self.summary.show(blocks, title=title)

        self.read(lambda: self.engine.contexts.commit(number), then, group="turn")

    # levels

    async def _put_levels(
        self, levels: Sequence[ChosenLevel], words: str, here: int | None = None
    ) -> None:
        """Choose levels, as one act; `here` is the turn that undo goes back to."""
        if self.context is None:
            return
        number, name = self.context.id, self.context.name
        title = f"{words} in {name}"
        act = await to_thread(self.engine.compression.levels.put, number, levels, title)
        if act:
            self._note(act, words, here)
            self.say(f"{words} - {self.key_of(shared.UNDO)} to undo")
        self.note_version()
        self.data.look = None
        self.data.take(levels)
        self.rows.refresh()
        self.follow()

    @unless(_no_segment)
    async def action_level_full(self) -> None:
        await self._choose_level(Level.FULL)

    @unless(_no_segment)
    async def action_level_detailed(self) -> None:
        await self._choose_level(Level.DETAILED)

    @unless(_no_segment)
    async def action_level_brief(self) -> None:
        await self._choose_level(Level.BRIEF)

    @unless(_no_segment)
    async def action_level_tags(self) -> None:
        await self._choose_level(Level.TAGS)

    async def _choose_level(self, level: Level) -> None:
        """Look at a level; the one that is shown already is chosen."""
        data, choice = self.data, self.data.choice(self.data.row)
        if choice is None:
            return
        words = f"{LEVEL_NAMES[level]} for segment {data.number(data.place(choice))}"
        if level is choice.level:
            await self._put_levels(data.with_own(choice), words)
        else:
            data.look = choice.sources, level
            self.say(f"{words}: {self.key_of(keys.LEVELS[level])} again chooses it.")
            self.follow()

    @unless(_no_plan)
    async def action_fit_target(self) -> None:
        """Type a number of tokens, for which levels are chosen that pass, or one level for all."""
        levels = {LEVEL_NAMES[level].lower(): level for level in Level}

        def problem(text: str) -> str:
            known = read_tokens(text) or text.lower() in levels
            return "" if known else f"Type a number of tokens, such as 8k, or {', '.join(levels)}."

        async def then(text: str) -> None:
            if tokens := read_tokens(text):
                await self._fit(tokens)
            else:
                level = levels[text.lower()]
                said = f"{LEVEL_NAMES[level]} for all segments"
                await self._put_levels(self.data.with_all(level), said)

        title = f"Fit a budget: now {self.data.after().tokens:,}"
        hint = "tokens, such as 8k, or a level for all: brief"
        await self.ask_text(title, then, hint=hint, problem=problem)

    async def _fit(self, target: int) -> None:
        if self.context is None:
            return
        number, compression, own = self.context.id, self.engine.compression, self.data.own
        act = RunningAct("Choosing levels")

        def work() -> tuple[CompressionPlan, Preview, list[Checked], str]:
            watch, trouble = _watch(act), ""
            try:
                plan = compression.fit(
                    number, target, engine=OFFLINE, watch=watch, anyway=True, own=own
                )
            except UnreachableError as problem:
                plan, trouble = problem.smallest, f"{problem} "
            preview = compression.preview(plan, watch)
            return plan, preview, [self._checked(each) for each in preview.segments], trouble

        plan, preview, checked, trouble = await self.host.accompany(self, act, work)
        self.data.keep_previews(plan, checked)
        await self._put_levels(
            self.data.with_levels(plan.choices, target), f"Levels for {target:,} tokens"
        )
        apply, doubtful = self.key_of(keys.APPLY), len(doubts(preview.segments))
        stay = f" Your {count(len(own), 'own level')} {'stays' if len(own) == 1 else 'stay'}."
        asks = (
            f" {count(doubtful, 'summary does', 'summaries do')} not pass the checks"
            f" ({glyphs(self.app).attention}): it asks about those first."
        )
        short = preview.shortened
        numbers = ", ".join(each.removeprefix("s") for each in short[:MAX_NAMED])
        said = f"What you said is shortened in {count(len(short), 'segment')}: {numbers}."
        said = said if short else "All that you said is kept."
        self.say(
            f"{trouble or f'{preview.tokens_after:,} of {target:,} tokens: '}{apply} applies it."
            f" {said}{asks if doubtful else ''}{stay if own else ''}",
            bad=bool(trouble),
        )

    @unless(_no_context)
    async def action_apply_levels(self) -> None:
        """Replace the segments with their summaries; what does not pass is asked about.

        The level that a segment is looked at counts as chosen.
        """
        looked = self.data.choice(self.data.row)
        if looked is not None and looked != self.data.chosen_for(self.data.row):
            await self._choose_level(looked.level)
        plan, chosen = self.data.plan, self.data.compressed()
        if plan is None or self.context is None:
            raise ReviewerError(self.rows.empty[0])
        if not chosen:
            raise ReviewerError(
                f"Every segment is Full: {LEVEL_KEYS} choose a level, {keys.FIT.key} fits a budget."
            )
        number, compression = self.context.id, self.engine.compression
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
        after = preview.tokens_after
        options = [
            Option("all", "Yes, apply all", f"{after:,} tokens"),
            Option("some", "Leave those Full, apply the others", f"{after + grown:,} tokens"),
            Option("none", "No, leave it"),
        ]
        if not any(each.level for each in whole.choices):
            del options[1]
        name, first = next(iter(doubtful.items()))
        why = "; ".join(first.faults) or "it does not pass"
        more = f", and {len(doubtful) - 1:,} more" if len(doubtful) > 1 else ""

        async def then(option: Option) -> None:
            if option.key == "none":
                self.say("Nothing was changed.")
            else:
                await self._apply(number, preview.plan if option.key == "all" else whole)

        await self.choose(f"Segment {name.removeprefix('s')}: {why}{more}", options, then)

    async def _apply(self, number: int, plan: CompressionPlan) -> None:
        act = RunningAct("Applying")

        def work() -> Applied:
            return self.engine.compression.apply(number, plan, expected_head=plan.head)

        done = await self.host.accompany(self, act, work)
        words = f"Compressed {done.tokens_before:,} to {done.tokens_after:,} tokens"
        self._note(done.act, words)
        for choice in plan.choices:
            if choice.sources:
                self.engine.summary_drafts.discard(choice.sources[0])
        self.open_context(number, f"{words} - {self.key_of(shared.UNDO)} to undo")

    # priorities and what must survive

    @unless(_no_row)
    async def action_pin(self) -> None:
        await self._set_priority(Priority.PINNED)

    @unless(_no_row)
    async def action_make_important(self) -> None:
        await self._set_priority(Priority.IMPORTANT)

    @unless(_no_row)
    async def action_make_skip(self) -> None:
        await self._set_priority(Priority.SKIP)

    async def _set_priority(self, priority: Priority) -> None:
        """Give the row a priority, or take it back."""
        row = self.data.row
        if row is None:
            return
        commits, before = self.data.acted_on(row), self.data.priority(row)
        wanted = Priority.NORMAL if before is priority else priority
        which = "" if wanted is Priority.PINNED else self._segment_named(row)
        done = await self.write(lambda: self.engine.contexts.annotate(commits, priority=wanted))
        self._annotated(which + done.title, commits[0], done.act)

    def _segment_named(self, row: ContextRow) -> str:
        """The number of the segment that an act on a row is about, before the words of the act."""
        is_segment = row.commit is None and row.segment is not None
        return f"Segment {self.data.number(row.segment or 0)}: " if is_segment else ""

    def _note(self, act: int, words: str, here: int | None = None) -> None:
        """Remember an act of this session, and the turn that undo goes back to."""
        self.note_act(act, words)
        if self.context is not None:
            self.host.acts_at[act] = (self.context.id, here or self.data.first_commit or 0)

    def _annotated(self, words: str, commit: int, act: int, remark: str = "") -> None:
        """Say what became of some turns, and show them again."""
        if self.context is None:
            return
        undo = ""
        if act:
            self._note(act, words, commit)
            undo = f" - {self.key_of(shared.UNDO)} to undo"
        self.open_context(self.context.id, f"{display_line(words)}{remark}{undo}", commit)

    @unless(_no_row)
    async def action_retain(self) -> None:
        """Type what must survive: the turns of the row that have it get the criterion."""
        row = self.data.row
        if row is None:
            return
        commits = self.data.acted_on(row)
        contexts = self.engine.contexts
        views = await to_thread(lambda: [contexts.commit(each) for each in commits])
        typed, which = "", self._segment_named(row)

        def offers(text: str) -> list[Option]:
            named = [Option("words", "In words, for the model", text)]
            for mode, title in (("substring", "This text"), ("regex", "This regular expression")):
                found = len(_matching(self.engine, views, text, mode))
                if found:
                    named.insert(-1, Option(mode, title, f"in {count(found, 'turn')}: {text}"))
            if len(named) == 1:
                named = [structs.replace(named[0], detail=f"in none of these turns: {text}")]
            return named

        def narrow(text: str) -> None:
            nonlocal typed
            typed = text.strip()
            wanted = typed
            if wanted:
                self.offer_from(lambda: offers(wanted))
            else:
                self.offer([])

        async def then(option: Option) -> None:
            text, targets, remark = typed, list(commits), ""
            if option.key == "words":
                if not _matching(self.engine, views, text, "substring"):
                    remark = f"; {ONLY_A_MODEL}"
                done = await self.write(lambda: contexts.annotate(targets, retain=text))
            else:
                targets = _matching(self.engine, views, text, option.key)
                kind = "retain_match" if option.key == "substring" else "retain_regex"
                given: dict[str, Any] = {kind: [text]}
                done = await self.write(lambda: contexts.annotate(targets, adds=True, **given))
            self._annotated(which + done.title, targets[0], done.act, remark)

        await self.choose(
            "Must survive",
            [],
            then,
            narrow=narrow,
            hint="a text, a regular expression, or a wish in your own words",
            nothing="Type it, then choose how it is kept.",
        )

    @unless(_no_row)
    async def action_retain_nothing(self) -> None:
        """Drop the criteria of the row."""
        row = self.data.row
        if row is not None:
            commits = self.data.acted_on(row)
            which = self._segment_named(row)
            done = await self.write(lambda: self.engine.contexts.annotate(commits, clear=True))
            self._annotated(which + done.title, commits[0], done.act)

    @unless(_no_segment)
    async def action_pin_lost(self) -> None:
        """Choose a loss of this level; it is kept verbatim in every summary from now on."""
        choice = self.data.choice(self.data.row)
        found = self.data.shown(choice) if choice is not None else None
        lost = found.preview.fidelity.lost_to_show if found is not None else ()
        if found is None or not lost:
            raise ReviewerError("This level loses nothing here.")
        segment, anchors = found.preview.segment, found.preview.compressed.anchors
        types = {(each.turn, each.start, each.end): each.type for each in anchors}

        async def then(option: Option) -> None:
            from reviewer.compression.anchor_types import AnchorType

            each = lost[int(option.key)]
            commit = segment.turns[each.turn].commit
            if commit is None:
                raise ReviewerError("This text is not part of a turn.")
            kind = types.get((each.turn, each.start, each.end), AnchorType.CRITICAL_FACT)
            span = MarkedSpan(commit, each.start, each.end, kind)
            act = await to_thread(self.engine.compression.marks.mark, span)
            self._annotated(f"Must survive: {option.name}", commit, act)

        options = [
            Option(str(at), " ".join(each.text.split()), each.kind) for at, each in enumerate(lost)
        ]
        await self.choose("Keep", options, then)

    @property
    def place(self) -> str:
        if self.context is None:
            return super().place
        return f"{super().place}, {short_ids(self.context.name, glyphs(self.app).ellipsis)}"

    def show_reversed(self, undone: Undone) -> None:
        """Go to the session and the row that an undo or redo changed."""
        here = self.context.id if self.context is not None else 0
        number, commit = self.host.acts_at.get(undone.target, (here, None))
        if number:
            self.read(
                lambda: any(each.id == number for each in self.engine.contexts.all(self.project)),
                lambda there: (
                    self.open_context(number, here=commit) if there else self._show_nothing()
                ),
                group="context",
            )

    # texts by hand and by a model

    @unless(_no_segment)
    async def action_edit_text(self) -> None:
        """Write the summary of the segment under the cursor."""
        choice = self.data.choice(self.data.row)
        if choice is None or choice.level is Level.FULL:
            raise ReviewerError(f"Full is the original: {LEVEL_KEYS} choose a level.")
        if (found := self.data.shown(choice)) is not None:
            await self._edit_summary(choice, found.preview)

    async def _edit_summary(self, choice: LevelChoice, preview: SegmentPreview) -> None:
        words = f"Text of segment {self.data.number(self.data.place(choice))}"

        async def save(text: str) -> None:
            by_hand = self.data.at_level(choice, choice.level)
            plan = self.data.plan_of(by_hand).with_text(choice.segment, text)
            found = await to_thread(self._preview, plan)
            if found.preview.failures:
                missing = "; ".join(each.message for each in found.preview.failures)
                raise ReviewerError(f"Missing: {missing}")
            content = found.preview.compressed.content
            written = structs.replace(choice, content=content, engine=BY_HAND, written="")
            self.data.put_preview(written, found)
            await self._put_levels(self.data.with_own(written), words, choice.sources[0])

        await self.edit_text(
            TextEdit(
                key=choice.sources[0],
                title=f"{LEVEL_NAMES[choice.level]} of this segment",
                original=preview.compressed.content,
                drafts=self.engine.summary_drafts,
                save=save,
                saved=lambda _: self.say(
                    f"{words} is yours: {self.key_of(keys.APPLY)} applies it."
                ),
                again=keys.EDIT,
                empty=f"A summary needs words: {self.key_of(keys.FULL)} leaves the segment whole.",
                remark=lambda text: (f"{len(text):,} characters", not text.strip()),
            )
        )

    @unless(_no_segment)
    async def action_write_segment(self) -> None:
        """Let the model write the segment under the cursor."""
        choice = self.data.choice(self.data.row)
        if choice is None or choice.level is Level.FULL:
            raise ReviewerError(f"Full is the original: {LEVEL_KEYS} choose a level for the model.")
        await self._ask([choice])

    @unless(_no_plan)
    async def action_write_all(self) -> None:
        """Let the model write every segment that is not Full, at a cost that is named first."""
        choices = [each for each in self.data.compressed() if not each.content]
        if not choices:
            raise ReviewerError(f"Every segment is Full, or has its text: {LEVEL_KEYS} choose.")
        tokens = sum(self.data.segments[self.data.place(each)].tokens for each in choices)
        segments = count(len(choices), "segment")
        await self.confirm(
            f"Ask the model for {segments}",
            f"send about {tokens:,} tokens",
            "leave it",
            lambda: self._ask(choices),
        )

    async def _ask(self, choices: Sequence[LevelChoice]) -> None:
        """One segment after the other; what was written is kept when it is stopped."""
        act = RunningAct("Asking the model", len(choices))
        plans = [self.data.plan_of(each, engine="model") for each in choices]
        written: list[tuple[LevelChoice, Checked]] = []

        def work() -> None:
            for done, (choice, plan) in enumerate(zip(choices, plans, strict=True)):
                if act.watch(done):
                    return
                watch = Watch(lambda done=done: act.watch(done))  # type: ignore[misc]
                written.append((choice, self._preview(plan, watch)))

        try:
            await self.host.accompany(self, act, work)
        finally:
            changed = []
            for choice, found in written:
                text = found.preview.compressed
                fresh = structs.replace(
                    choice, content=text.content, engine=text.engine, written=text.written
                )
                self.data.put_preview(fresh, found)
                changed.append(fresh)
            if changed:
                await self._put_levels(self.data.with_own(*changed), "Texts of the model")
        self.say(
            f"The model wrote {count(len(written), 'segment')}: {self.key_of(keys.APPLY)} applies."
        )

    # looking

    @on(RowList.Opened)
    async def action_open_row(self) -> None:
        """Show the turns of the segment, or hide them; of an applied summary, the original; without
        a session, choose one.
        """
        row = self.data.row
        if row is None:
            await self.action_choose_context()
        elif self._opened is not None:
            self.follow()
        elif (summary := self.data.applied_summary(row)) is not None:
            await self._show_original(row, summary)
        else:
            self.data.toggle(row)
            self.rows.rows_changed()
            self.follow()

    async def _show_original(self, row: ContextRow, summary: int) -> None:
        """Show the original of an applied summary."""
        text = await to_thread(self.engine.compression.original, summary)
        self._opened = row
        bar = (Run(f"{glyphs(self.app).bar} ", "accent"),)
        title = f"The original of {self.data.numbered_title(row)}"
        self.summary.show([TextBlock(text, first=bar, rest=bar)], title=title)
        self.say(f"The original: {keys.OPEN.key} or {shared.BACK.key} closes it.")

    def action_back(self) -> None:
        """Close the original first."""
        if self._opened is not None:
            self.follow()
        else:
            super().action_back()

    @unless(_no_row)
    async def action_open_source(self) -> None:
        """Show the source at the line of the turn."""
        number, path = self.data.first_commit, self.context.source_path if self.context else None
        view = await to_thread(self.engine.contexts.commit, number) if number else None
        if view is None or path is None or view.source_line is None:
            raise ReviewerError("This turn has no source line: it was not read from a file.")
        self.host.open_line(path, view.source_line)

    @unless(_no_row)
    async def action_copy(self) -> None:
        """Copy the summary, or the text of the turn."""
        row, choice = self.data.row, self.data.choice(self.data.row)
        found = self.data.shown(choice) if choice is not None else None
        if row is not None and row.commit is None and found is not None:
            text = found.preview.compressed.content
        elif row is not None and (number := self.data.first_commit) is not None:
            text = (await to_thread(self.engine.contexts.commit, number)).text
        else:
            return
        self.copy_text(text, f"Copied {len(text):,} characters.")

    @unless(_no_context)
    def action_hand_over(self) -> None:
        """Show the hand-over of the whole session, from its originals."""
        if self.context is not None:
            number, compression = self.context.id, self.engine.compression
            name = f"the session {self.context.name}"
            self.host.open_handover(lambda: (name, compression.original_turns(number)))


def _file_size(path: str | None) -> int:
    """The bytes of a file; 0 where it is gone."""
    try:
        return Path(path).stat().st_size if path else 0
    except OSError:
        return 0


def _session_option(last: str, key: str, request: str, size: int, name: str, folder: str) -> Option:
    """A session by the time of its last turn, its size, its first request, name and folder."""
    words = cut(" ".join(request.split()), REQUEST_CELLS, "…")
    detail = "  ".join(filter(None, (words, short_ids(name, "…"), folder)))
    large = f"{-(-size // 1000):,} kB" if size else "–"
    return Option(key, f"{moment(last) or '–':16}  {large:>14}", detail)


def _watch(act: RunningAct) -> Watch:
    """Shows the progress of an act, and stops with it."""
    done = 0

    def progress(found: PreviewProgress) -> None:
        nonlocal done
        done = found.done
        act.total = found.total
        act.watch(done)

    return Watch(lambda: act.watch(done), on_progress=progress)


def _matching(engine: Engine, views: Sequence[CommitView], text: str, mode: str) -> list[int]:
    """The turns that a text or a regular expression is found in."""
    pattern = Pattern(text, "regex" if mode == "regex" else "substring")
    check: Callable[..., Sequence[object]] = engine.contexts.check
    found = []
    for view in views:
        (result,) = check([pattern], view.text)
        if getattr(result, "state", "") == "matches":
            found.append(view.row.id)
    return found
