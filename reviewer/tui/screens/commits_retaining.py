"""Writing what must survive, on the Commits screen: the form, its live checks, its drafts."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from reviewer.errors import ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.kit.text import count
from reviewer.tui.widgets.commit_form import Criteria, RetentionForm
from reviewer.tui.widgets.commit_marks import match_spans
from reviewer.tui.widgets.commit_row import SHORT

if TYPE_CHECKING:
    from reviewer.engine import PatternCheck, RetentionCriteria
    from reviewer.tui.kit.text import Span
    from reviewer.tui.screens.commits import CommitsScreen
    from reviewer.tui.widgets.commit_patterns import Mode


class Retaining:
    """Opens, checks, saves and leaves the form of a `CommitsScreen`.

    A draft is kept under the first of the commits that it is for.
    """

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._form: RetentionForm | None = None

    async def begin(self) -> None:
        """Write what must survive of the marked commits, or of the one under the cursor."""
        screen = self._screen
        commits, current = screen.marking.targets(), screen.model.current_id
        alone = len(commits) == 1
        subject = current if current in commits else commits[0]
        view = await to_thread(self._engine.contexts.commit, subject)
        draft, trouble = self._draft(commits[0])
        if self._form is None:
            self._form = RetentionForm(id="retain")
            await screen.query_one("#right").mount(self._form, before=0)
        screen.looking.unzoom()
        screen.show_right("retaining")
        screen.commit.show_only(view)
        which = view.row.hash[:SHORT]
        title = which if alone else f"{len(commits):,} marked commits, looked for in {which}"
        held = in_form(view.retention) if alone else Criteria()
        self._form.begin(commits, title, held, draft)
        if trouble:
            screen.say(trouble, bad=True)
        elif draft is not None:
            screen.say(f"The draft for {self._named(commits)} goes on where you left it.")
        else:
            screen.say("One pattern a line, ctrl+r switches text and regex; ctrl+s writes.")

    def check(self, patterns: Sequence[tuple[str, Mode]]) -> None:
        """Check patterns against the commit in sight, in a worker."""
        from reviewer.engine import Pattern

        shown = self._screen.commit.shown
        if shown is None:
            return
        text, engine = shown.view.text, self._engine
        asked = [Pattern(*each) for each in patterns]
        self._screen.read(lambda: engine.contexts.check(asked, text), self._checked, group="checks")

    def _checked(self, checks: Sequence[PatternCheck]) -> None:
        form, shown = self._form, self._screen.commit.shown
        if form is None or shown is None or self._screen.busy != "retain":
            return
        form.checking.show_checks(checks)
        known, text = form.checking.checks, shown.view.text
        self._screen.read(lambda: match_spans(known, text), self._mark, group="marks")

    def _mark(self, matches: tuple[Span, ...]) -> None:
        if self._screen.busy == "retain":
            self._screen.commit.draw(matches=matches)

    async def save(self, commits: Sequence[int], criteria: Criteria, *, changed: bool) -> None:
        """Write it as one act; when that fails the form stays and says why."""
        screen = self._screen
        if not changed:
            self.left(commits, criteria, changed=False)
            return
        texts = [text for text, mode in criteria.patterns if mode == "substring"]
        regexes = [text for text, mode in criteria.patterns if mode == "regex"]
        try:
            done = await to_thread(
                lambda: self._engine.contexts.annotate(
                    commits,
                    retain=criteria.instructions or None,
                    retain_match=texts,
                    retain_regex=regexes,
                    clear=True,
                    reason=criteria.reason,
                )
            )
        except ReviewerError as error:
            self._engine.retention_drafts.save(commits[0], encoded(criteria))
            screen.say(str(error), bad=True)
            return
        self._engine.retention_drafts.discard(commits[0])
        screen.show_panes()
        screen.acts.settle(done.act, done.title, commits, done.warnings)

    def left(self, commits: Sequence[int], criteria: Criteria, *, changed: bool) -> None:
        """Keep what was typed as a draft.

        Raises StoreError when that is not possible; the form stays open then.
        """
        screen, drafts = self._screen, self._engine.retention_drafts
        if changed:
            drafts.save(commits[0], encoded(criteria))
        else:
            drafts.discard(commits[0])
        screen.show_panes()
        which = self._named(commits)
        if changed:
            screen.say(f"The draft for {which} is kept: r goes on with it.")
        else:
            screen.say(f"Nothing was changed about {which}.")
        screen.commit.read()

    def _named(self, commits: Sequence[int]) -> str:
        shown = self._screen.commit.shown
        if len(commits) > 1 or shown is None:
            return count(len(commits), "commit")
        return shown.view.row.hash[:SHORT]

    def keep_draft(self, commits: Sequence[int], criteria: Criteria) -> None:
        """Keep what is typed while it is typed."""
        self._engine.retention_drafts.save(commits[0], encoded(criteria))

    def keep_now(self) -> None:
        """Keep what is being typed, before the program ends."""
        form = self._form
        if form is not None and self._screen.busy == "retain" and form.changed:
            self.keep_draft(form.commits, form.criteria)

    def _draft(self, commit: int) -> tuple[Criteria | None, str]:
        """The draft for a commit, and why it cannot be read."""
        kept = self._engine.retention_drafts.load(commit)
        if kept is None:
            return None, ""
        try:
            return msgspec.json.decode(kept, type=Criteria), ""
        except msgspec.MsgspecError as problem:
            return (
                None,
                f"The draft cannot be read, this is what holds: {display_line(str(problem))}.",
            )


def encoded(criteria: Criteria) -> str:
    """Criteria as a draft keeps them."""
    return msgspec.json.encode(criteria).decode()


def in_form(retention: RetentionCriteria) -> Criteria:
    """The criteria that hold, as the form shows them; a new reason is asked for each time.

    Whatever has line breaks becomes one line: in a regular expression they are written out.
    """
    patterns: list[tuple[str, Mode]] = []
    for pattern in retention.patterns:
        between = r"\n" if pattern.mode == "regex" else " "
        patterns.append((between.join(pattern.text.splitlines()), pattern.mode))
    words = " ".join((retention.instructions or "").splitlines())
    return Criteria(words.strip(), tuple(patterns))
