"""A context as a chain of commits: how each is treated when the context is compressed."""

from __future__ import annotations

from array import array
from asyncio import to_thread
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.timer import Timer
from textual.widget import Widget

from reviewer.engine import Engine
from reviewer.errors import FilterError, ReviewerError
from reviewer.text.display import display_line
from reviewer.text.token_numbers import read_tokens
from reviewer.tui.commits import keys
from reviewer.tui.commits.model import (
    Chain,
    CommitsModel,
    Criteria,
    Shown,
    as_typed,
    changed_commits,
    decode_draft,
    encode_draft,
    read_chain,
    read_commit,
)
from reviewer.tui.commits.panes import (
    Balance,
    CommitList,
    OutlookLine,
    commit_title,
    imported_words,
    outlook_wordings,
    survival_blocks,
    text_blocks,
    unmeasured_wordings,
)
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import runs
from reviewer.tui.kit.contexts import (
    HASH_CHARACTERS,
    context_words,
    cost_options,
    match_spans,
)
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.screen import ListScreen, TextEdit
from reviewer.tui.kit.text import Span, count, fit, short_ids
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.places import keep_context, load_commit
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.commits.values import CommitView, ContextView, Imported, PatternCheck, TokenTotals
    from reviewer.compression.fit import Outlook, Reach
    from reviewer.promotion.history import Undone
    from reviewer.tui.commits.retention_form import CheckedPatterns, RetentionForm
    from reviewer.tui.kit.choice_pane import Option

TOTALS_SECONDS = 0.12
OUTLOOK_SECONDS = 0.6
"""Pause after a change before the totals and the outlook are read."""
TARGET_SECONDS = 0.3
"""Pause in typing before a number of tokens is measured."""
UNASKED_TOKENS = 400_000
"""Tokens above which a context is measured only on request: it takes seconds."""
MANY = 500
"""Number of commits from which an act shows its progress."""
CHANGES_READ = 10_000
REMEMBERED = 1_000
"""Commits of an act that are remembered, to go back to when it is undone."""
TITLE_CELLS, NAME_CELLS = 8, 12
"""Cells of the rule around a title, and the least cells of a context's name."""
FORGET = "forget"
NO_CONTEXT = 0
"""An id that no context has: a query with it only parses the filter."""
UNNAMED_PROJECT = "default"
"""The project of an import outside a git work tree, when the screen shows all projects."""

NO_CONTEXTS = "No contexts yet. A context is a transcript as a chain of commits."


class CommitsScreen(ListScreen, pane=keys.COMMITS):
    """The chain on the left; the commit under the cursor over its retention rules."""

    tab = "commits"
    FILTER_HINT = "words  priority:pinned  role:user  tokens>500  -word"

    def __init__(self, engine: Engine, project: str | None = None) -> None:
        self.commits = CommitsModel(lambda ids: engine.contexts.rows(ids))
        self.rows = CommitList(self.commits, id="commits")
        self.text = TextPane(id="commit-text")
        self.survival = TextPane(title="Must survive", id="survival")
        self.balance = Balance(id="balance")
        self.outlook_line = OutlookLine(id="outlook")
        super().__init__(
            engine,
            project,
            self.rows,
            [self.text, self.survival],
            title="Commits",
            model=self.commits,
        )
        self.context: ContextView | None = None
        self.contexts: Sequence[ContextView] = ()
        self.target: int | None = None
        """The target number of tokens for the context."""
        self._was_read = False
        self._wanted: tuple[int, int | None] | None = None
        """The context that is being opened and the commit for its cursor, until it is shown."""
        self._filter = ""
        """The filter of the latest request."""
        self._shown: Shown | None = None
        self._form: RetentionForm | None = None
        self._importing = ""
        """The name of the file that is being imported."""
        self._commits_of: dict[int, tuple[int, ...]] = {}
        """The commits that acts of this screen changed, by act."""
        self._question = 0
        """Counts the questions of the chooser, so that late options go to their own question."""
        self._kept_place: tuple[int, int | None] | None = None
        self._totals_timer: Timer | None = None
        self._outlook_timer: Timer | None = None
        self._target_timer: Timer | None = None

    def compose_below(self) -> Iterable[Widget]:
        yield self.balance
        yield self.outlook_line

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_title)

    def on_unmount(self) -> None:
        """Save the place for when the screen is opened again."""
        self._keep_place()

    # reasons why a key cannot be used now

    def _no_context(self) -> str | None:
        if not self._was_read:
            return "The context is still being read: try again."
        if self.context is None:
            return f"There is no context yet: {keys.IMPORT.key} imports a transcript."
        return None

    def _no_commit(self) -> str | None:
        if reason := self._no_context():
            return reason
        return None if self.commits.current_id is not None else "The list is empty."

    def _not_one_commit(self) -> str | None:
        if (reason := self._no_commit()) or not self.commits.has_marks:
            return reason
        return f"A text is edited one commit at a time: {shared.BACK.key} clears the marks."

    def _no_other_context(self) -> str | None:
        if len(self.contexts) == 1:
            return f"This is the only context: {keys.IMPORT.key} imports another transcript."
        return self._no_context()

    def _no_source(self) -> str | None:
        if reason := self._no_commit():
            return reason
        shown, row = self._shown, self.commits.current
        unknown = shown is None or shown.view.row.id != self.commits.current_id
        no_line = not unknown and shown is not None and shown.view.source_line is None
        if row is not None and (no_line or self.context is None or not self.context.source_path):
            return _no_line(row.hash)
        return None

    def _imports(self) -> str | None:
        return f"{self._importing} is still being imported." if self._importing else None

    # the chain

    def reload(self) -> None:
        """Read the context again, or the one shown last; the cursor stays."""
        self._read_chain()

    @runs(shared.REFRESH)
    def refresh_rows(self) -> None:
        self.note_version()
        self._read_chain(message="The context was read again.")

    def open_context(self, context: int, here: int | None = None) -> None:
        """Show a context, with the cursor on a commit of it or on its last place."""
        self._keep_place()
        self._filter = ""
        self._read_chain(context, here)

    def _read_chain(
        self, context: int | None = None, here: int | None = None, message: str = ""
    ) -> None:
        engine, project, text = self.engine, self.project, self._filter
        if context is not None:
            self._wanted = context, here
        elif self._wanted is not None:  # it must not be lost to the context that is still shown
            context, here = self._wanted[0], self._wanted[1] if here is None else here
        wanted = self.context.id if context is None and self.context is not None else context

        def then(chain: Chain | None) -> None:
            self._wanted = None
            self._show_chain(chain, here, message)

        def failed(sentence: str) -> None:
            self._wanted = None
            self.say_trouble(sentence)

        self.read(
            lambda: read_chain(engine, project, wanted, text), then, group="chain", failed=failed
        )

    def _show_chain(self, chain: Chain | None, here: int | None, message: str) -> None:
        self._was_read = True
        self.status.recover()
        if message:
            self.say(message)
        other = self.context is None or chain is None or self.context.id != chain.context.id
        if chain is None:
            self.contexts, self.context = (), None
            self.commits.load(array("q"))
        else:
            if other:
                self.commits.clear_marks()
                if here is None:
                    here = load_commit(self.engine.path, chain.context.id)
            self.contexts, self.context = chain.contexts, chain.context
            self.commits.load(chain.ids, here, filtered=bool(chain.filter))
            self.rows.highest_id = max(chain.ids, default=0)
        self.show_empty(empty=self.context is None and self.overlay is None)
        self._show_list()
        self._keep_place()
        self.follow()
        if other:
            self.target = None
            self.outlook_line.show(())
        self.balance.show(chain.totals if chain is not None else None)
        self._read_outlook_soon()

    def _show_list(self) -> None:
        self.rows.empty = self._empty_list()
        self.rows.rows_changed()
        self._show_title()
        self.show_footer()
        bar = self.filter_bar
        if bar is not None and not bar.focused:
            bar.show(self._filter)

    def _empty_list(self) -> tuple[str, ...]:
        if self.context is None:
            way = f"{keys.IMPORT.key} imports one here; in a shell: reviewer context import FILE"
            return NO_CONTEXTS, way
        if self._filter:
            return (
                f"Nothing matches / {display_line(self._filter)}",
                f"{shared.BACK.key} clears the filter.",
            )
        return ("This context has no commits.",)

    def _show_title(self) -> None:
        """The name of the context, its size, and the filter."""
        context = self.context
        if context is None:
            self.title_rule.show("Commits")
            return
        signs = glyphs(self.app)
        tokens = f"{context.tokens:,} tok"
        detail = f" {signs.dot} ".join((count(context.commits, "commit"), tokens))
        if self._filter:
            detail = f"/ {display_line(self._filter)} {signs.dot} {detail}"
        room = max(self.title_rule.size.width - len(detail) - TITLE_CELLS, NAME_CELLS)
        name = short_ids(display_line(context.name), signs.ellipsis)
        self.title_rule.show(fit(name, room, signs.ellipsis), detail)
        self.title_rule.name_columns(
            f"priority {signs.dot} who {signs.dot} tokens", f"who {signs.dot} tokens", "tokens"
        )

    def watch_store(self) -> None:
        """Show changes by others, unless an overlay is about a row; keep the place."""
        self._keep_place()
        if self.overlay is None:
            super().watch_store()

    def _keep_place(self) -> None:
        if self.context is None or self.engine.read_only:
            return
        place = (self.context.id, self.commits.current_id)
        if place == self._kept_place:
            return
        self._kept_place = place
        try:
            keep_context(self.engine.path, self.project, *place)
        except OSError as error:
            self.say(f"The place cannot be remembered: {error.strerror}.", bad=True)

    # the filter

    @property
    def filter_text(self) -> str:
        return self._filter

    @runs(shared.FILTER, unless=_no_context)
    async def open_filter(self) -> None:
        await super().open_filter()

    def filter_problem(self, text: str) -> str:
        from reviewer.commits.values import CommitQuery

        try:
            self.engine.contexts.ids(CommitQuery(NO_CONTEXT, text))
        except FilterError as error:
            return str(error)
        return ""

    def run_filter(self, text: str, *, here: int | None) -> None:
        from reviewer.commits.values import CommitQuery

        context, engine = self.context, self.engine
        if context is None:
            return
        self._filter = text
        if self._wanted is not None:
            self._read_chain()
            return
        if here is None:
            here = self.row_before_filter  # a longer filter may let it through again
        query = CommitQuery(context.id, text)
        self.read(
            lambda: engine.contexts.ids(query),
            lambda ids: self._show_ids(ids, here),
            group="chain",
        )

    def _show_ids(self, ids: array[int], here: int | None) -> None:
        if not self.filter_invalid:
            self.status.recover()
        self.commits.load(ids, here, filtered=bool(self._filter))
        self._show_list()
        self.cursor_rest.moved()

    # the commit under the cursor

    def follow(self) -> None:
        """Read the commit, check its patterns, find its anchors."""
        number, engine = self.commits.current_id, self.engine
        if number is None:
            self._shown = None
            self.text.show([], title="")
            self.survival.show([], title="Must survive")
            return
        self.read(lambda: read_commit(engine, number), self._show_commit, group="commit")

    def _show_commit(self, shown: Shown) -> None:
        if shown.view.row.id != self.commits.current_id or self._form_open:
            return  # the cursor has moved, or the form is about another commit
        same = self._shown is not None and self._shown.view.row.id == shown.view.row.id
        self._shown = shown
        self._draw_commit(keep_scroll=same)

    def _draw_commit(
        self, *, keep_scroll: bool = True, matches: tuple[Span, ...] | None = None
    ) -> None:
        """Draw the commit; `matches` are those of the form."""
        shown = self._shown
        if shown is None:
            return
        signs = glyphs(self.app)
        self.text.show(
            text_blocks(shown, shown.matches if matches is None else matches),
            title=commit_title(shown.view, signs),
            keep_scroll=keep_scroll,
        )
        self.survival.show(
            survival_blocks(shown, signs),
            hints=(
                f"{keys.RETAIN.key} what must survive, {keys.PIN.key} {keys.IMPORTANT.key} "
                f"{keys.NORMAL.key} {keys.SKIP.key} priority",
                f"{keys.RETAIN.key} retain",
            ),
            keep_scroll=keep_scroll,
        )

    def _current_view(self) -> CommitView:
        """The commit under the cursor. Raises ReviewerError without one."""
        number, shown = self.commits.current_id, self._shown
        if number is None:
            raise ReviewerError("There is no commit under the cursor.")
        if shown is not None and shown.view.row.id == number:
            return shown.view
        return self.engine.contexts.commit(number)

    # priorities

    @runs(keys.PIN, unless=_no_commit)
    async def pin(self) -> None:
        await self._set_priority("pinned")

    @runs(keys.IMPORTANT, unless=_no_commit)
    async def important(self) -> None:
        await self._set_priority("important")

    @runs(keys.NORMAL, unless=_no_commit)
    async def normal(self) -> None:
        await self._set_priority("normal")

    @runs(keys.SKIP, unless=_no_commit)
    async def skip(self) -> None:
        await self._set_priority("skip")

    async def _set_priority(self, priority: str) -> None:
        """One act on the marked commits, or on the one under the cursor, which stays there."""
        ids, row = self.commits.targets(), self.commits.current
        alone = row is not None and ids == [row.id]
        if row is not None and alone and row.annotated and row.priority == priority:
            self.commits.clear_marks()
            self.rows.refresh()
            self.say(f"{_short(row.hash)} is {priority} already.")
            return
        done = await self.write(
            lambda: self.engine.contexts.annotate(ids, priority=priority),
            "Annotating" if len(ids) >= MANY else "",
            len(ids),
        )
        self._show_written(done.act, done.title, ids, done.warnings)

    def _show_written(
        self, act: int, title: str, commits: Sequence[int], warnings: Sequence[str] = ()
    ) -> None:
        """Show the result of an act; marks are cleared. `act` 0: there was no change.

        The rows are read again, and the list stays as it is: a row that no longer passes the filter
        remains until the list is read again. Totals follow after a pause.
        """
        if act:
            self._commits_of[act] = tuple(commits[:REMEMBERED])
        changed = {*commits, *self.commits.marked()}
        self.commits.clear_marks()
        self.commits.forget(changed)
        back = "" if act == 0 else f" - {shared.UNDO.key} to undo"
        remark = "".join(f" {display_line(each)}" for each in warnings[:1])
        end = "." if remark and not back else ""
        self.say(f"{display_line(title)}{back}{end}{f' -{remark}' if remark else ''}")
        self.rows.redraw_commits(changed)
        self.show_footer()
        self.note_version()
        self.follow()
        self._read_totals_soon()

    def show_reversed(self, undone: Undone) -> None:
        """Read again, and go to a changed commit, even in another context."""
        self.note_version()
        engine, remembered = self.engine, self._commits_of.get(undone.target, ())

        def work() -> tuple[list[int], CommitView | None]:
            touched = list(remembered)
            if not touched:
                touched = changed_commits(engine.history.changes(undone.act, limit=CHANGES_READ))
            return touched, engine.contexts.commit(touched[0]) if touched else None

        self.read(work, lambda found: self._go_to_reversed(*found), group="undone")

    def _go_to_reversed(self, touched: Sequence[int], first: CommitView | None) -> None:
        at = self.commits.index_of(touched)
        if at is not None:
            self.rows.move_to(at)
            self._read_chain(here=self.commits.ids[at])
        elif first is None:
            self._read_chain()
        elif self.context is not None and first.context == self.context.id:
            self._read_chain(here=touched[0])
            self.say(f"{self.status.text} (not in this list)")
        else:
            self.open_context(first.context, touched[0])

    # retention rules

    @property
    def _form_open(self) -> bool:
        return self._form is not None and self.overlay is self._form

    def _form_is_about(self, commits: Sequence[int]) -> bool:
        form = self._form
        return form is not None and self._form_open and form.commits == tuple(commits)

    @runs(keys.RETAIN, unless=_no_commit)
    async def retain(self) -> None:
        """Open the form for the marked commits, or for the one under the cursor.

        A draft is kept under the first of them.
        """
        from reviewer.tui.commits.retention_form import RetentionForm

        commits, current = self.commits.targets(), self.commits.current_id
        alone = len(commits) == 1
        subject = current if current in commits else commits[0]
        contexts = self.engine.contexts
        shown = await to_thread(read_commit, self.engine, subject)
        draft, trouble = await to_thread(self._retention_draft, commits[0])
        if self._form is None:
            self._form = RetentionForm(id="retain")
        await self.show_overlay(self._form, beside=[self.text], first=True)
        self._shown, view = shown, shown.view
        self._draw_commit(keep_scroll=False)
        which = _short(view.row.hash)
        title = which if alone else f"{len(commits):,} marked commits, looked for in {which}"
        self._form.begin(commits, title, as_typed(view.retention) if alone else Criteria(), draft)
        with_criteria = 0
        if not alone:
            rows = await to_thread(contexts.rows, commits)
            with_criteria = sum(1 for row in rows if row.criteria)
        if trouble:
            self.say(trouble, bad=True)
        elif with_criteria:
            self.say(
                f"{with_criteria:,} of them {'has' if with_criteria == 1 else 'have'} criteria:"
                " a field that you leave empty keeps them, one that you fill replaces them."
            )
        elif draft is not None:
            self.say(f"This is your draft for {self._named(commits)}.")
        else:
            self.say(
                f"One pattern a line. {keys.SWITCH_MODE.key}: text or "
                f"regex; {shared.SAVE_FORM.key} saves."
            )

    def _retention_draft(self, commit: int) -> tuple[Criteria | None, str]:
        """The draft for a commit, or why it cannot be read."""
        kept = self.engine.retention_drafts.load(commit)
        if kept is None:
            return None, ""
        try:
            return decode_draft(kept), ""
        except msgspec.MsgspecError as problem:
            words = display_line(str(problem))
            return None, f"The draft cannot be read, so you see what was saved last: {words}."

    def _named(self, commits: Sequence[int]) -> str:
        if len(commits) > 1 or self._shown is None:
            return count(len(commits), "commit")
        return _short(self._shown.view.row.hash)

    def on_checked_patterns_checks_wanted(self, message: CheckedPatterns.ChecksWanted) -> None:
        """Check patterns against the commit on the screen."""
        from reviewer.commits.values import Pattern

        message.stop()
        shown, engine = self._shown, self.engine
        if shown is not None:
            text, asked = shown.view.text, [Pattern(*each) for each in message.patterns]
            self.read(
                lambda: engine.contexts.check(asked, text),
                lambda checks: self._checked(shown, checks),
                group="checks",
            )

    def _checked(self, shown: Shown, checks: Sequence[PatternCheck]) -> None:
        form = self._form
        if form is None or shown is not self._shown or not self._form_open:
            return  # the form may be about another commit by now
        form.checked.show_checks(checks)
        known, text = form.checked.checks, shown.view.text
        self.read(lambda: match_spans(known, text), self._mark_matches, group="marks")

    def _mark_matches(self, matches: tuple[Span, ...]) -> None:
        if self._form_open:
            self._draw_commit(matches=matches)

    async def on_retention_form_saved(self, message: RetentionForm.Saved) -> None:
        message.stop()
        await self.patiently(
            lambda: self._save_criteria(message.commits, message.criteria, changed=message.changed)
        )

    async def _save_criteria(
        self, commits: Sequence[int], criteria: Criteria, *, changed: bool
    ) -> None:
        """Write the criteria as one act; on failure the form stays open and shows why.

        The form shows all criteria of one commit, so they are replaced. Of several commits it shows
        none, so an empty field leaves them unchanged.
        """
        if not changed:
            self._leave_form(commits, criteria, changed=False)
            return
        alone, contexts = len(commits) == 1, self.engine.contexts
        texts, regexes = criteria.texts("substring"), criteria.texts("regex")
        keeps_patterns = not alone and not criteria.patterns
        try:
            done = await self.write(
                lambda: contexts.annotate(
                    commits,
                    retain=criteria.instructions or None,
                    retain_match=None if keeps_patterns else texts,
                    retain_regex=regexes,
                    clear=alone,
                    reason=criteria.reason,
                ),
                "Annotating" if len(commits) >= MANY else "",
                len(commits),
            )
        except ReviewerError:
            self.engine.retention_drafts.save(commits[0], encode_draft(criteria))
            raise
        self.engine.retention_drafts.discard(commits[0])
        if self._form_is_about(commits):
            self.close_overlay()
        self._show_written(done.act, done.title, commits, done.warnings)

    async def on_retention_form_left(self, message: RetentionForm.Left) -> None:
        message.stop()
        await self.patiently(
            lambda: self._leave_form(message.commits, message.criteria, changed=message.changed)
        )

    def _leave_form(self, commits: Sequence[int], criteria: Criteria, *, changed: bool) -> None:
        """Keep a draft. Raises StoreError when that fails; the form then stays open."""
        drafts = self.engine.retention_drafts
        if changed:
            drafts.save(commits[0], encode_draft(criteria))
        else:
            drafts.discard(commits[0])
        which = self._named(commits)
        self.close_overlay()
        if changed:
            self.say(f"The draft for {which} is kept: {keys.RETAIN.key} continues it.")
        else:
            self.say(f"{which}: left unchanged.")
        self.follow()

    async def on_retention_form_draft_changed(self, message: RetentionForm.DraftChanged) -> None:
        message.stop()
        if not self._form_is_about(message.commits):
            return  # it was saved or left, which decided about the draft
        await self.patiently(
            lambda: self.engine.retention_drafts.save(
                message.commits[0], encode_draft(message.criteria)
            )
        )

    def keep_now(self) -> None:
        """Save the text being typed, and the place."""
        super().keep_now()
        form = self._form
        if form is not None and self._form_open and form.changed:
            self.engine.retention_drafts.save(form.commits[0], encode_draft(form.criteria))
        self._keep_place()

    # editing

    @runs(keys.EDIT, unless=_not_one_commit)
    async def edit(self) -> None:
        """Edit the text of the commit under the cursor; the original is kept."""
        view = await to_thread(self._current_view)
        number, which = view.row.id, _short(view.row.hash)

        async def save(content: str) -> bool:
            if content == view.text:
                return False
            await to_thread(self.engine.contexts.edit, number, content)
            return True

        def saved(written: bool) -> None:
            if not written:
                self.say(f"{which} reads so already: nothing was written.")
                return
            following = self.engine.history.next_undo()
            act = following[0] if following is not None else 0
            self.host.made_on[act] = self.tab
            self._show_written(act, f"Edited {which}", [number])

        self.say(
            f"Editing {which}: {shared.SAVE_EDIT.key} saves it, "
            f"{shared.LEAVE_EDIT.key} keeps it as a draft."
        )
        await self.edit_text(
            TextEdit(
                key=number,
                title=f"Edit {which}",
                original=view.text if view.original is None else view.original,
                start=view.text,
                drafts=self.engine.edit_drafts,
                save=save,
                saved=saved,
                again=keys.EDIT,
                empty=f"A commit needs words: {keys.SKIP.key} leaves it out instead, "
                f"{shared.LEAVE_EDIT.key} leaves the edit.",
                remark=lambda text: (f"{len(text):,} characters", not text),
            )
        )

    # looking

    @on(RowList.Opened)
    @runs(keys.READ, unless=_no_commit)
    def read_commit(self) -> None:
        """Fill the screen with the text, or show all panes again."""
        self.read_pane(self.text)

    async def _source_line(self) -> tuple[str, int]:
        """The file and 0-based line of the commit under the cursor. Raises ReviewerError."""
        view = await to_thread(self._current_view)
        path = self.context.source_path if self.context is not None else None
        if path is None or view.source_line is None:
            raise ReviewerError(_no_line(view.row.hash))
        return path, view.source_line

    @runs(shared.OPEN_SOURCE, unless=_no_source)
    async def open_source(self) -> None:
        self.host.open_line(*await self._source_line())

    @runs(shared.OPEN_EDITOR, unless=_no_source)
    async def open_editor(self) -> None:
        self.edit_file(*await self._source_line())

    @runs(shared.COPY, unless=_no_commit)
    async def copy(self) -> None:
        view = await to_thread(self._current_view)
        self.copy_text(
            view.text, f"Copied {_short(view.row.hash)} ({len(view.text):,} characters)."
        )

    @runs(keys.COMPRESS_FROM, unless=_no_commit)
    def compress_from(self) -> None:
        """Show the Compress screen from the commit under the cursor on."""
        number = self.commits.current_id
        if number is not None:
            self._keep_place()  # the other screen shows the context that was left last
            self.host.open_compress(number)

    # choosing a context

    @runs(keys.NEXT_CONTEXT, unless=_no_other_context)
    def next_context(self) -> None:
        ids, context = [each.id for each in self.contexts], self.context
        if context is not None and ids:
            here = self._wanted[0] if self._wanted is not None else context.id
            at = ids.index(here) if here in ids else -1
            self.open_context(ids[(at + 1) % len(ids)])

    @runs(keys.CONTEXTS, unless=_no_context)
    async def choose_context(self) -> None:
        """Choose among all contexts; the present one comes last."""
        from reviewer.tui.kit.choice_pane import Option

        here, with_project = self.context, self.project is None
        options = [
            Option(str(each.id), f"{each.name}   {context_words(each, with_project=with_project)}")
            for each in self.contexts
            if here is None or each.id != here.id
        ]
        if here is not None:
            options.append(Option(str(here.id), f"{here.name}   is shown now"))

        async def then(option: Option) -> None:
            self.open_context(int(option.key))

        self._question += 1
        await self.choose("Contexts", "changed latest first", options, then)

    # importing

    @runs(keys.IMPORT, unless=_imports)
    async def import_context(self) -> None:
        """Choose a file; typed paths are completed."""
        from reviewer.tui.kit.paths import path_options, typed_path

        self._question += 1
        question = self._question

        def narrow(text: str) -> None:
            path = typed_path(text)
            self.read(
                lambda: path_options(path),
                lambda found: self._offer(question, found),
                group="paths",
            )

        async def then(option: Option) -> None:
            path = Path(option.key).expanduser()
            if await to_thread(path.is_dir):
                await ask_in(f"{option.key}/")
            else:
                self._import(path)

        async def ask_in(text: str) -> None:
            options = await to_thread(path_options, text)
            detail = f"type the path of a transcript; {shared.CHOOSE.key} opens a folder"
            await self.choose("Import", detail, options, then, narrow=narrow, text=text)

        await ask_in(f"{await to_thread(self._import_folder)}/")

    def _import_folder(self) -> Path:
        """The folder of the context on the screen, else the working folder."""
        source = self.context.source_path if self.context is not None else None
        folder = Path(source).parent if source is not None else Path.cwd()
        return folder if folder.is_dir() else Path.cwd()

    def _offer(self, question: int, options: Sequence[Option]) -> None:
        """Show other options, unless another question is open by now."""
        if question == self._question:
            self.offer(options)

    def _import(self, path: Path) -> None:
        """Import in a thread; the screen can be used meanwhile."""
        engine, project = self.engine, self._import_project()
        self._importing = display_line(path.name)
        self.say(f"Importing {self._importing} into {display_line(project)} ...")
        self.read(
            lambda: engine.contexts.import_file(path, project=project),
            self._imported,
            group="import",
            failed=self._not_imported,
        )

    def _import_project(self) -> str:
        """The project of the screen, else of the context, else of the working folder."""
        if self.project is not None:
            return self.project
        if self.context is not None:
            return self.context.project
        from reviewer.projects import default_project

        return default_project() or UNNAMED_PROJECT

    def _imported(self, done: Imported) -> None:
        self._importing = ""
        self.note_version()
        self.open_context(done.context.id)
        self.say(imported_words(done))

    def _not_imported(self, sentence: str) -> None:
        self._importing = ""
        self.say_trouble(sentence)

    # tokens

    def _read_totals_soon(self) -> None:
        """Read the totals and the outlook after a pause."""
        if self._totals_timer is not None:
            self._totals_timer.stop()
        self._totals_timer = self.set_timer(TOTALS_SECONDS, self._read_totals)
        self._read_outlook_soon()

    def _read_totals(self) -> None:
        if self.context is None:
            return
        number, contexts = self.context.id, self.engine.contexts
        self.read(
            lambda: (contexts.get(number), contexts.totals(number)),
            lambda found: self._show_totals(*found),
            group="totals",
        )

    def _show_totals(self, context: ContextView, totals: TokenTotals) -> None:
        if self.context is not None and context.id == self.context.id:
            self.context = context
            self._show_title()
            self.balance.show(totals)

    def _read_outlook_soon(self) -> None:
        if self._outlook_timer is not None:
            self._outlook_timer.stop()
        if self.context is None:
            self.outlook_line.show(())
        elif self.context.tokens > UNASKED_TOKENS and self.target is None:
            self.outlook_line.show(unmeasured_wordings(self.context.tokens))
        else:
            self._outlook_timer = self.set_timer(OUTLOOK_SECONDS, self._read_outlook)

    def _read_outlook(self) -> None:
        if self.context is None:
            return
        number, target, compression = self.context.id, self.target, self.engine.compression

        def work() -> tuple[Outlook, Reach | None]:
            outlook = compression.outlook(number)
            return outlook, None if target is None else compression.reach(number, target)

        def then(found: tuple[Outlook, Reach | None]) -> None:
            context = self.context
            if context is not None and (context.id, self.target) == (number, target):
                self.outlook_line.show(outlook_wordings(*found, glyphs(self.app)))

        self.read(work, then, group="outlook", one_at_a_time=True)

    @runs(keys.WHAT_FITS, unless=_no_commit)
    async def what_fits(self) -> None:
        """Ask for a number of tokens and list the commits that need most."""
        from reviewer.tui.kit.choice_pane import Option

        context, engine, signs = self.context, self.engine, glyphs(self.app)
        if context is None:
            return
        number, wanted = context.id, self.target
        self._question += 1
        question = self._question

        def work(target: int) -> tuple[Reach, list[Option]]:
            reach = engine.compression.reach(number, target)
            rows = engine.contexts.rows([cost.commit for cost in reach.costly])
            return reach, cost_options(reach, {row.id: row.first_line for row in rows}, signs)

        def measure(target: int) -> None:
            if question == self._question and self.overlay is not None:
                self.say("Measuring the context ...")
                self.read(lambda: work(target), lambda found: take(target, *found), group="target")

        def take(target: int, reach: Reach, options: list[Option]) -> None:
            asked = question == self._question and self.overlay is not None
            if asked and target == wanted:  # another number may have been typed meanwhile
                self.offer(options)
                self.say(reach.message)

        def narrow(text: str) -> None:
            nonlocal wanted
            wanted = target = read_tokens(text)
            if self._target_timer is not None:
                self._target_timer.stop()
            if target is None:
                forget = Option(FORGET, "no number", f"{shared.CHOOSE.key} forgets the one before")
                number = Option("", "a number", "such as 8000 or 8k")
                self.offer([number] if text else [forget] if self.target is not None else [])
                return
            self.offer([Option("", f"{target:,}", f"{shared.CHOOSE.key} sets it as the target")])
            self._target_timer = self.set_timer(TARGET_SECONDS, lambda: measure(target))

        async def then(option: Option) -> None:
            if wanted is None and option.key != FORGET:
                self.say("Nothing was changed: type a number of tokens, such as 8000 or 8k.")
                return
            self.target = wanted
            self._read_outlook_soon()
            if option.key not in ("", FORGET):
                self._go_to(int(option.key))
                pinned = option.detail.startswith("pinned")
                hint = (
                    f"{keys.NORMAL.key} lets it be compressed"
                    if pinned
                    else f"{keys.RETAIN.key} sets what must survive of it"
                )
                self.say(f"This is in the way: {hint}, {keys.SKIP.key} leaves it out.")

        await self.choose(
            "What would fit?",
            f"in how many tokens? now {context.tokens:,}",
            [],
            then,
            narrow=narrow,
            hint="such as 8000 or 8k",
            nothing="The pins and anchors that need most are listed here.",
            text="" if wanted is None else str(wanted),
            replace=True,
        )

    def _go_to(self, commit: int) -> None:
        """Put the cursor on a commit of this context; a filter that hides it is cleared."""
        at = self.commits.index_of([commit])
        if at is not None:
            self.rows.move_to(at)
        else:
            self.run_filter("", here=commit)


def _short(commit: str) -> str:
    """The first characters of a hash, for display."""
    return commit[:HASH_CHARACTERS]


def _no_line(commit: str) -> str:
    return f"{_short(commit)} has no source line: it was not imported from a file."
