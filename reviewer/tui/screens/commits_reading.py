"""Reading for the Commits screen: contexts, the chain through a filter, what others wrote.

The cursor moves first. Every read runs in a worker; a later one of its sort makes it void.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.text.display import display_line
from reviewer.tui.context_place import keep_context, load_commit, load_context
from reviewer.tui.kit.text import count, fit
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.engine import (
        ContextView,
        TokenTotals,
    )
    from reviewer.tui.screens.commits import CommitsScreen

TITLE_CELLS, NAME_CELLS = 8, 12
"""What the rule around a title takes; so much of a context's name is shown at least."""
EMPTY = (
    "No context yet: a transcript as a chain of commits.",
    "I imports one here; in a shell: reviewer context import FILE",
)


class Chain(Struct, frozen=True):
    """A context as it was read."""

    context: ContextView
    contexts: Sequence[ContextView]
    totals: TokenTotals
    filter: str
    ids: array[int]
    version: int


class CommitsReading:
    """Fills the list of a `CommitsScreen`, and has the other parts read what follows from it."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.was_read = False
        """The contexts were read at least once."""
        self.contexts: Sequence[ContextView] = ()
        self.context: ContextView | None = None
        self.filter = ""
        self.asked_filter = ""
        """What was asked for last; `filter` is what the list shows."""
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
        self._screen.commit.follow()

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
        other = self.context is None or chain is None or self.context.id != chain.context.id
        if chain is None:
            self.contexts, self.context, self.filter = (), None, ""
            model.load(array("q"))
        else:
            if other:
                model.clear_marks()
                if here is None:
                    here = load_commit(self._engine.path, chain.context.id)
            self.contexts, self.context, self.filter = chain.contexts, chain.context, chain.filter
            self._version = chain.version
            model.load(chain.ids, here, filtered=bool(chain.filter))
            screen.list.last_number = max(chain.ids, default=0)
        screen.set_class(self.context is None and not screen.busy, "-empty")
        self._show_list()
        self.keep_place()
        screen.commit.read()
        screen.weighing.begin(chain.totals if chain is not None else None, other_context=other)

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
        self._screen.commit.read()
        self._screen.weighing.again()

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
        if self.context is None or self._engine.read_only:
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
