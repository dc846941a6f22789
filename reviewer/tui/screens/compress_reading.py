"""Reading for the Compress screen: the chosen context, its segments, and what others wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from reviewer.compressing import LAST_FULL, Level, Plan, Segment
from reviewer.errors import ReviewerError, UnknownIdError
from reviewer.tui.compress_kept import Kept
from reviewer.tui.context_place import keep_context, load_commit, load_context

if TYPE_CHECKING:
    from reviewer.engine import ContextView
    from reviewer.tui.screens.compress import CompressScreen

EMPTY = (
    "No context yet: a transcript as a chain of commits.",
    "F3, then I imports one; in a shell: reviewer context import FILE",
)
READING = ("Reading the context ...",)
LONG, FIRST_PART = 2_000, 200
"""Of a context of more commits, so many are cut into segments and shown before the others."""
CHANGED = "The context changed meanwhile: it was read again, and what you chose is kept."


class Found(Struct, frozen=True):
    """A context as it was read. `trouble` says why there is nothing to compress."""

    context: ContextView
    contexts: Sequence[ContextView]
    segments: tuple[Segment, ...]
    plan: Plan | None
    sent: int
    summaries: frozenset[int]
    """Commits that are summaries already."""
    drafts: frozenset[int]
    version: object
    start: int | None
    trouble: str = ""
    partial: bool = False
    """Only the first part of a long context; the rest is read next."""


class CompressReading:
    """Fills the model of a `CompressScreen`."""

    def __init__(self, screen: CompressScreen, start: int | None) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.start = start
        """The commit that the range begins at; None for the whole context."""
        self.was_read = False
        self.partial = False
        """The rest of a long context is still being read."""
        self.contexts: Sequence[ContextView] = ()
        self.context: ContextView | None = None
        self._version: object = None
        self._foreign = self._engine.foreign_version()

    def open_latest(self) -> None:
        """Show the context that was left last, else the one that changed last."""
        self._screen.list.empty = READING
        self._read(load_context(self._engine.path, self._screen.project), "")

    def open(self, context: int) -> None:
        """Show a context from its beginning."""
        self.start = None
        self._read(context, "")

    def next_context(self) -> None:
        """Show the context after this one."""
        ids = [each.id for each in self.contexts]
        if self.context is not None and ids:
            at = ids.index(self.context.id) if self.context.id in ids else -1
            self.open(ids[(at + 1) % len(ids)])

    def whole(self) -> None:
        """Show the whole context instead of a range."""
        self.start = None
        self.read_again("The whole context; c on the Commits screen begins at a commit.")

    def refresh(self) -> None:
        """Read everything again, and write every offline preview again."""
        self._version = None
        self.read_again("The context was read again.")

    def read_again(self, said: str = "") -> None:
        """Read the context again; the cursor stays on its commits."""
        self._read(self.context.id if self.context is not None else None, said)

    def wrote(self, said: str, *, all_full: bool = False) -> None:
        """This screen has written: read the context again, and keep the previews that still hold.

        `all_full`: what nothing is chosen for stays as it is, as after a compression.
        """
        number = self.context.id if self.context is not None else None
        self._read(number, said, all_full=all_full, own=True)

    def _read(
        self,
        wanted: int | None,
        said: str,
        *,
        all_full: bool = False,
        own: bool = False,
        whole: bool = False,
    ) -> None:
        """`whole`: a long context, too, is read to its end at once."""
        engine, project, start = self._engine, self._screen.project, self.start
        self._foreign = engine.foreign_version()

        known = self.context is not None and self.context.id == wanted and not self.partial

        def work() -> Found | None:
            contexts = engine.contexts.all(project)
            if not contexts:
                return None
            context = next((each for each in contexts if each.id == wanted), contexts[0])
            first = start if context.id == wanted or wanted is None else None
            long = context.commits > LONG and not known and not whole
            for begin in dict.fromkeys((first, None)):
                try:
                    return self._found(context, contexts, begin, long=long)
                except UnknownIdError:
                    if begin is None:
                        raise
            return None

        def take(found: Found | None) -> None:
            self._took(found, said, all_full=all_full, own=own)

        self._screen.read(work, take, group="context", in_turn=True)

    def _found(
        self,
        context: ContextView,
        contexts: Sequence[ContextView],
        start: int | None,
        *,
        long: bool,
    ) -> Found:
        """Everything about a context, in a worker. Raises UnknownIdError, StoreError."""
        from reviewer.engine import CommitQuery, Priority

        engine = self._engine
        version = engine.contexts.changed(context.id)
        totals = engine.contexts.totals(context.id)
        end = None
        if long:
            ids = engine.contexts.ids(CommitQuery(context.id))
            begin = ids.index(start) if start is not None and start in ids else 0
            end = ids[min(begin + FIRST_PART, len(ids)) - 1]
        compression = engine.compression
        segments = compression.segments(context.id, start=start, end=end)
        plan, trouble = None, ""
        try:
            plan = compression.plan(context.id, Level.FULL, start=start, end=end, engine="offline")
        except UnknownIdError:
            raise
        except ReviewerError as problem:
            trouble = str(problem)
        return Found(
            context,
            contexts,
            segments,
            plan,
            totals.total - totals.by_priority.get(Priority.SKIP, 0),
            frozenset(engine.contexts.ids(CommitQuery(context.id, "type:summary"))),
            frozenset(engine.summary_drafts.ids()),
            version,
            start,
            trouble,
            partial=end is not None,
        )

    def _took(self, found: Found | None, said: str, *, all_full: bool, own: bool) -> None:
        screen, model = self._screen, self._screen.model
        first_time = not self.was_read
        self.was_read = True
        screen.status.recover()
        if said:
            screen.say(said)
        if found is None:
            self.contexts, self.context = (), None
            model.clear()
            screen.list.empty = EMPTY
        else:
            other = self.context is None or self.context.id != found.context.id
            changed = found.version != self._version
            if other:
                self._leave_context()
                self._enter_context(found.context.id)
            self.contexts, self.context = found.contexts, found.context
            self._version, self.start = found.version, found.start
            screen.list.drafts = found.drafts
            plan = found.plan and first_plan(found, all_full=all_full)
            if changed and not other and not own:
                model.forget_all()
            model.load(found.segments, plan, found.sent)
            if other:
                model.go_to_commit(found.start or load_commit(self._engine.path, found.context.id))
            screen.list.empty = READING if found.partial else tuple(found.trouble.split(": ", 1))
            self.partial = found.partial
            if found.partial:
                self._read(found.context.id, said, all_full=all_full, own=True, whole=True)
        if first_time or said:
            screen.show_footer()
        screen.showing.read_done()

    # what is kept while other screens are shown

    def _enter_context(self, context: int) -> None:
        model = self._screen.model
        model.clear()
        kept = self._screen.kept.get(context)
        model.chosen = kept.chosen if kept is not None else {}
        model.answers = kept.answers if kept is not None else {}
        model.target = kept.target if kept is not None else None
        model.engine = kept.engine if kept is not None else "offline"

    def _leave_context(self) -> None:
        """Keep what was chosen, for when this context is shown again."""
        if self.context is not None:
            model = self._screen.model
            self._screen.kept[self.context.id] = Kept(
                dict(model.chosen), dict(model.answers), model.target, model.engine
            )

    def keep_place(self) -> None:
        """Remember the context, the segment under the cursor, and what was chosen."""
        if self.context is None:
            return
        self._leave_context()
        if self._engine.read_only:
            return
        segment = self._screen.model.current
        first = segment.turns[0].commit if segment is not None and segment.turns else None
        try:
            keep_context(self._engine.path, self._screen.project, self.context.id, first)
        except OSError as error:
            self._screen.say(f"The place cannot be remembered: {error.strerror}.", bad=True)

    # what others write

    def watch(self) -> None:
        """Notice what others wrote. Draws nothing when nothing is."""
        screen = self._screen
        if not screen.is_active or screen.busy or screen.running or self.context is None:
            return
        foreign = self._engine.foreign_version()
        if foreign == self._foreign:
            return
        self._foreign = foreign
        number, known = self.context.id, self._version
        engine = self._engine

        def take(version: object) -> None:
            if version != known:
                self.read_again(CHANGED)

        screen.read(lambda: engine.contexts.changed(number), take, group="watch")


def first_plan(found: Found, *, all_full: bool) -> Plan:
    """What is shown before anything was chosen: Brief, the newest segments and summaries Full."""
    assert found.plan is not None
    total = len(found.segments)
    newest = LAST_FULL if total > LAST_FULL and not found.partial else 0
    choices = []
    for number, choice in enumerate(found.plan.choices):
        stays = (
            all_full
            or number >= total - newest
            or not found.summaries.isdisjoint(choice.sources)
            or not found.segments[number].tokens
        )
        choices.append(structs.replace(choice, level=Level.FULL if stays else Level.BRIEF))
    return structs.replace(found.plan, choices=tuple(choices))
