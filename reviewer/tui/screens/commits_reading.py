"""Reading for the Commits screen: contexts, the chain, the commit under the cursor, totals.

The cursor moves first. Every read runs in a worker; a later one of its sort makes it void.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct
from textual.timer import Timer

from reviewer.errors import ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.context_place import keep_context, load_commit, load_context
from reviewer.tui.screens import commits_outlook
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.commit_marks import match_spans
from reviewer.tui.widgets.commit_text import (
    PATTERNS_SHOWN,
    commit_title,
    survival_blocks,
    text_blocks,
)
from reviewer.tui.widgets.phrases import count
from reviewer.tui.widgets.text_layout import Span, fit

if TYPE_CHECKING:
    from reviewer.engine import (
        CommitView,
        ContextView,
        Outlook,
        PatternCheck,
        Reach,
        TokenTotals,
    )
    from reviewer.tui.screens.commits import CommitsScreen

SKIM_SECONDS = 0.4
"""Moves that come faster than this are skimming: the panes then wait until the cursor rests."""
REST_SECONDS = 0.16
TOTALS_SECONDS = 0.12
OUTLOOK_SECONDS = 0.6
"""So long nothing is written before it is asked what would be left."""
TITLE_CELLS, NAME_CELLS = 8, 12
"""What the rule around a title takes; so much of a context's name is shown at least."""
EMPTY = (
    "No context yet: a transcript as a chain of commits.",
    "I imports one here; in a shell: reviewer context import FILE",
)


class Shown(Struct, frozen=True):
    """Everything about the commit under the cursor."""

    view: CommitView
    checks: tuple[PatternCheck, ...] = ()
    matches: tuple[Span, ...] = ()
    anchors: tuple[Span, ...] = ()
    draft: bool = False


class Chain(Struct, frozen=True):
    """A context as it was read."""

    context: ContextView
    contexts: Sequence[ContextView]
    totals: TokenTotals
    filter: str
    ids: array[int]
    version: int


class CommitsReading:
    """Fills the list and the panes of a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.was_read = False
        """The contexts were read at least once."""
        self.contexts: Sequence[ContextView] = ()
        self.context: ContextView | None = None
        self.totals: TokenTotals | None = None
        self.filter = ""
        self.asked_filter = ""
        """What was asked for last; `filter` is what the list shows."""
        self.shown: Shown | None = None
        self._moved_at = 0.0
        self._rest: Timer | None = None
        self.target: int | None = None
        """Tokens that a person would like the context to have at most."""
        self._outlook_rest: Timer | None = None
        self._totals_rest: Timer | None = None
        self._kept_place: tuple[int, int | None] | None = None
        self._version = self._engine.foreign_version()

    # contexts

    def open_latest(self) -> None:
        """Show the context that was left last, else the one that changed last."""
        self._read_chain(load_context(self._engine.path, self._screen.project), None)

    def open(self, context: int, here: int | None = None) -> None:
        """Show a context, the cursor on a commit of it, or where it was left."""
        self.asked_filter = ""
        self._read_chain(context, here)

    def next_context(self) -> None:
        """Show the context after this one."""
        ids = [each.id for each in self.contexts]
        if self.context is None or not ids:
            return
        self.keep_place()
        at = ids.index(self.context.id) if self.context.id in ids else -1
        self.open(ids[(at + 1) % len(ids)])

    def refresh(self) -> None:
        """Read everything again; the cursor stays on its commit."""
        self.read_again(said="The context was read again.")

    def read_again(self, here: int | None = None, said: str = "") -> None:
        """Read the context again; the cursor stays on its commit, or goes to `here`."""
        number = self.context.id if self.context is not None else None
        self._read_chain(number, here, said)

    def ask(self, text: str, here: int | None = None) -> None:
        """Show the commits that another filter lets through."""
        from reviewer.engine import CommitQuery

        self.asked_filter = text
        context, engine = self.context, self._engine
        if context is None:
            return
        query = CommitQuery(context.id, text)
        self._screen.read(
            lambda: engine.contexts.ids(query),
            lambda ids: self._took_ids(text, ids, here),
            group="chain",
        )

    def _took_ids(self, text: str, ids: array[int], here: int | None) -> None:
        screen = self._screen
        self.filter = text
        if not screen.filtering.invalid:
            screen.status.recover()
        screen.model.load(ids, here, filtered=bool(text))
        self._show_list()
        self.read_commit()

    def _read_chain(self, wanted: int | None, here: int | None, said: str = "") -> None:
        from reviewer.engine import CommitQuery

        engine, project, text = self._engine, self._screen.project, self.asked_filter
        version = engine.foreign_version()

        def work() -> Chain | None:
            found = engine.contexts.all(project)
            if not found:
                return None
            context = next((each for each in found if each.id == wanted), found[0])
            ids = engine.contexts.ids(CommitQuery(context.id, text))
            totals = engine.contexts.totals(context.id)
            return Chain(context, found, totals, text, ids, version)

        self._screen.read(work, lambda chain: self._took(chain, here, said), group="chain")

    def _took(self, chain: Chain | None, here: int | None, said: str) -> None:
        screen, model = self._screen, self._screen.model
        self.was_read = True
        screen.status.recover()
        if said:
            screen.say(said)
        if chain is None:
            self.contexts, self.context, self.totals = (), None, None
            model.load(array("q"))
        else:
            if self.context is None or self.context.id != chain.context.id:
                model.clear_marks()
                self.target = None
                screen.outlook_line.show(())
                here = (
                    here if here is not None else load_commit(self._engine.path, chain.context.id)
                )
            self.contexts, self.context = chain.contexts, chain.context
            self.totals, self._version = chain.totals, chain.version
            model.load(chain.ids, here, filtered=bool(chain.filter))
            screen.list.last_position = max(chain.context.commits - 1, 0)
        self.filter = chain.filter if chain is not None else ""
        screen.set_class(self.context is None and not screen.busy, "-empty")
        screen.balance.show(self.totals)
        self._show_list()
        self.keep_place()
        self.read_commit()
        self.read_outlook()

    def _show_list(self) -> None:
        screen = self._screen
        screen.list.empty = self._empty()
        screen.list.rows_changed()
        self.show_title()
        screen.filtering.settle()
        screen.show_footer()

    def _empty(self) -> tuple[str, ...]:
        if self.context is None:
            return EMPTY
        if self.filter:
            return (f"Nothing matches / {display_line(self.filter)}", "escape clears the filter.")
        return ("This context has no commits.",)

    def show_title(self) -> None:
        """The title above the list: which context, how much it holds, through which filter."""
        context = self.context
        if context is None:
            self._screen.title_rule.show("Commits")
            return
        signs = glyphs(self._screen.app)
        tokens = f"{context.tokens:,} tok"
        detail = f" {signs.dot} ".join((count(context.commits, "commit"), tokens))
        if self.filter:
            detail = f"/ {display_line(self.filter)} {signs.dot} {detail}"
        room = max(self._screen.title_rule.size.width - len(detail) - TITLE_CELLS, NAME_CELLS)
        self._screen.title_rule.show(fit(display_line(context.name), room, signs.ellipsis), detail)

    # the commit

    def follow(self) -> None:
        """The cursor moved: show its commit at once, or while skimming when it rests."""
        now = monotonic()
        skimming = now - self._moved_at < SKIM_SECONDS
        self._moved_at = now
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        if skimming:
            self._rest = self._screen.set_timer(REST_SECONDS, self.read_commit)
        else:
            self.read_commit()

    def read_commit(self) -> None:
        """Read the commit under the cursor, check its patterns, find what must survive."""
        number, engine = self._screen.model.current_id, self._engine
        if number is None:
            self.shown = None
            self._screen.text.show([], title="")
            self._screen.survival.show([], title="Must survive")
            return

        def work() -> Shown:
            view = engine.contexts.commit(number)
            checks = engine.contexts.check(view.retention.patterns[:PATTERNS_SHOWN], view.text)
            return Shown(
                view,
                checks,
                match_spans(checks, view.text),
                commits_outlook.anchor_spans(engine, view),
                number in engine.retention_drafts.ids(),
            )

        self._screen.read(work, self._took_commit, group="commit")

    def _took_commit(self, shown: Shown) -> None:
        if shown.view.row.id != self._screen.model.current_id or self._screen.busy == "retain":
            return  # the cursor went on, or a form is about another commit
        same = self.shown is not None and self.shown.view.row.id == shown.view.row.id
        self.shown = shown
        self.draw(keep_scroll=same)

    def show_only(self, view: CommitView) -> None:
        """Show a commit as it is, whatever the cursor is on, until a commit is read again."""
        self.shown = Shown(view)
        self.draw(keep_scroll=False)

    def draw(self, *, keep_scroll: bool = True, matches: Sequence[Span] | None = None) -> None:
        """Draw the commit and what must survive of it; `matches` are those of a form."""
        shown, screen = self.shown, self._screen
        if shown is None:
            return
        signs = glyphs(screen.app)
        marks = shown.matches if matches is None else matches
        screen.text.show(
            text_blocks(shown.view, shown.anchors, marks),
            title=commit_title(shown.view, signs),
            keep_scroll=keep_scroll,
        )
        screen.survival.show(
            survival_blocks(shown.view, shown.checks, signs, draft=shown.draft),
            title="Must survive",
            hints=("r what must survive, p i n S priority", "r retain"),
            keep_scroll=keep_scroll,
        )

    @property
    def has_line(self) -> bool:
        """Whether the commit under the cursor names its line of the transcript."""
        shown = self.shown
        if shown is None or shown.view.row.id != self._screen.model.current_id:
            return self.context is not None and self.context.source_path is not None
        return shown.view.source_line is not None

    def current_view(self) -> CommitView:
        """The commit under the cursor in full. Raises ReviewerError when there is none."""
        number, shown = self._screen.model.current_id, self.shown
        if number is None:
            raise ReviewerError("There is no commit under the cursor.")
        if shown is not None and shown.view.row.id == number:
            return shown.view
        return self._engine.contexts.commit(number)

    # what would be left

    def read_outlook(self) -> None:
        """Ask what would be left of the context, once nothing else was written for a moment."""
        if self._outlook_rest is not None:
            self._outlook_rest.stop()
        context, line = self.context, self._screen.outlook_line
        if context is None:
            line.show(())
        elif context.tokens > commits_outlook.UNASKED_TOKENS and self.target is None:
            line.show(commits_outlook.too_large(context.tokens))
        else:
            self._outlook_rest = self._screen.set_timer(OUTLOOK_SECONDS, self._measure)

    def _measure(self) -> None:
        context, engine, target = self.context, self._engine, self.target
        if context is None:
            return
        number = context.id
        self._screen.read(
            lambda: commits_outlook.measure(engine, number, target),
            lambda found: self._took_outlook(*found),
            group="outlook",
        )

    def _took_outlook(self, outlook: Outlook, reach: Reach | None) -> None:
        signs = glyphs(self._screen.app)
        self._screen.outlook_line.show(commits_outlook.wordings(outlook, reach, signs))

    def go_to(self, commit: int) -> None:
        """Put the cursor on a commit of this context; a filter that hides it is cleared."""
        at = self._screen.model.index_of([commit])
        if at is not None:
            self._screen.list.move_to(at)
        else:
            self.ask("", commit)

    # what is written

    def wrote(self, commits: Collection[int]) -> None:
        """This screen has written about some commits: their rows are read again, the list stays.

        Totals follow when nothing else was written for a moment.
        """
        self._screen.model.forget(commits)
        self._screen.list.redraw_commits(commits)
        self._version = self._engine.foreign_version()
        if self._totals_rest is not None:
            self._totals_rest.stop()
        self._totals_rest = self._screen.set_timer(TOTALS_SECONDS, self._read_totals)
        self.read_commit()
        self.read_outlook()

    def _read_totals(self) -> None:
        context, engine = self.context, self._engine
        if context is not None:
            number = context.id
            self._screen.read(
                lambda: (engine.contexts.get(number), engine.contexts.totals(number)),
                lambda found: self._took_totals(*found),
                group="totals",
            )

    def _took_totals(self, context: ContextView, totals: TokenTotals) -> None:
        if self.context is not None and context.id == self.context.id:
            self.context, self.totals = context, totals
            self.show_title()
            self._screen.balance.show(totals)

    def watch(self) -> None:
        """Notice what others wrote, keep the place. Draws nothing when nothing is."""
        self.keep_place()
        screen = self._screen
        if not screen.is_active or screen.busy:
            return
        version = self._engine.foreign_version()
        if version != self._version:
            self._version = version
            self.read_again()

    # the place

    def keep_place(self) -> None:
        """Remember the context and the commit under the cursor."""
        if self.context is None:
            return
        screen = self._screen
        place = (self.context.id, screen.model.current_id)
        if place == self._kept_place:
            return
        self._kept_place = place
        try:
            keep_context(self._engine.path, screen.project, *place)
        except OSError as error:
            screen.say(f"The place cannot be remembered: {error.strerror}.", bad=True)
