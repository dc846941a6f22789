"""Choosing on the Commits screen: a context to show, a file to import, a size to reach."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.text.display import display_line
from reviewer.tui.kit.choice_pane import NARROW, NOTHING, ChoicePane, Option
from reviewer.tui.kit.text import count, moment
from reviewer.tui.screens import commits_outlook
from reviewer.tui.screens.commits_paths import path_options
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.engine import ContextView, Imported, Reach
    from reviewer.tui.screens.commits import CommitsScreen

PROJECT_WITHOUT_A_NAME = "default"
"""The project of what is imported outside a git work tree, when the screen shows all projects."""

REST_SECONDS = 0.3
"""After so long without a key the size that was typed is looked into."""

Then = Callable[[Option], Awaitable[None]]


class Choosing:
    """The chooser of a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._pane: ChoicePane | None = None
        self._then: Then | None = None
        self._question = 0
        self._rest: Timer | None = None
        self.importing = ""
        """Name of the file that is being imported."""

    async def ask(
        self,
        title: str,
        detail: str,
        options: Sequence[Option],
        then: Then,
        *,
        narrow: Callable[[str], None] | None = None,
        text: str = "",
        hint: str = NARROW,
        nothing: str = NOTHING,
    ) -> None:
        """Ask for one of some options and go on with it; `text` stands in the field already.

        `hint` and `nothing` are what is said while there is no text, and no option.
        """
        screen = self._screen
        self._question += 1
        if self._pane is None:
            self._pane = ChoicePane(id="choice")
            await screen.query_one("#right").mount(self._pane)
        self._then = then
        screen.looking.unzoom()
        screen.show_right("choosing")
        self._pane.ask(title, detail, options, narrow=narrow, hint=hint, nothing=nothing)
        if text:
            self._pane.field.fill(text)

    def _asks(self, question: int) -> bool:
        """Whether the chooser still asks what it asked under that number."""
        return question == self._question and self._screen.busy == "choose"

    def offer(self, question: int, options: Sequence[Option]) -> None:
        """Offer other options for a question, unless another one is asked by now."""
        if self._pane is not None and self._asks(question):
            self._pane.offer(options)

    async def chosen(self, option: Option) -> None:
        """Go on with what was chosen; an error is a sentence and leaves everything as it was."""
        then, self._then = self._then, None
        self._screen.show_panes()
        if then is not None:
            await self._screen.patiently(lambda: then(option))

    def close(self) -> None:
        """Put the chooser away."""
        self._then = None
        self._screen.show_panes()
        self._screen.say("Nothing was changed.")

    # contexts

    async def ask_context(self) -> None:
        """Ask which context to show, those that changed latest first."""
        here = self._screen.reading.context
        options = [
            Option(
                str(each.id),
                f"{each.name}   {context_words(each, all=self._screen.project is None)}",
            )
            for each in self._screen.reading.contexts
            if here is None or each.id != here.id
        ]
        if here is not None:
            options.append(Option(str(here.id), f"{here.name}   is shown now"))

        async def then(option: Option) -> None:
            self._screen.reading.keep_place()
            self._screen.reading.open(int(option.key))

        await self.ask("Contexts", "changed latest first", options, then)

    # a size to reach

    async def ask_target(self) -> None:
        """Ask how many tokens the context may have; what stands in the way is offered."""
        screen, reading, engine = self._screen, self._screen.reading, self._engine
        context, weighing = reading.context, screen.weighing
        if context is None:
            return
        number, wanted, question = context.id, weighing.target, self._question + 1

        def work(target: int) -> tuple[Reach, list[Option]]:
            reach = engine.compression.reach(number, target)
            rows = engine.contexts.rows([cost.commit for cost in reach.costly])
            lines = {row.id: row.first_line for row in rows}
            return reach, commits_outlook.cost_options(reach, lines, glyphs(screen.app))

        def measure() -> None:
            if wanted is not None and self._asks(question):
                target = wanted
                screen.say("Measuring the context ...")
                screen.read(lambda: work(target), lambda found: take(*found), group="target")

        def take(reach: Reach, options: list[Option]) -> None:
            if self._asks(question):
                self.offer(question, options)
                screen.say(reach.message)

        def narrow(text: str) -> None:
            nonlocal wanted
            wanted = commits_outlook.read_target(text)
            if self._rest is not None:
                self._rest.stop()
            if wanted is None:
                what = [Option("", "a number", "such as 8000 or 8k")]
                self.offer(question, what if text else [])
            else:
                self.offer(question, [Option("", f"{wanted:,}", "enter takes it as the target")])
                self._rest = screen.set_timer(REST_SECONDS, measure)

        async def then(option: Option) -> None:
            weighing.target = wanted
            weighing.read_outlook()
            if option.key:
                reading.go_to(int(option.key))
                pinned = option.detail.startswith("pinned")
                hint = "n lets it be compressed" if pinned else "r says what must survive of it"
                screen.say(f"This is in the way: {hint}, S leaves it out.")

        detail = f"how many tokens? now {context.tokens:,}"
        kept = "" if wanted is None else str(wanted)
        await self.ask(
            "What must I let go?",
            detail,
            [],
            then,
            narrow=narrow,
            text=kept,
            hint="such as 8000 or 8k",
            nothing="What stands in the way of that size is listed here.",
        )

    # import

    async def ask_path(self) -> None:
        """Ask for a file and import it; what is typed is completed from the folder."""
        start = str(await to_thread(self._start)) + "/"

        def narrow(text: str) -> None:
            asked = self._question
            self._screen.read(
                lambda: path_options(text), lambda found: self.offer(asked, found), group="paths"
            )

        async def then(option: Option) -> None:
            path = Path(option.key).expanduser()
            if await to_thread(path.is_dir):
                await self._ask_path_in(f"{option.key}/", narrow, then)
            else:
                self._import(path)

        await self._ask_path_in(start, narrow, then)

    async def _ask_path_in(self, text: str, narrow: Callable[[str], None], then: Then) -> None:
        options = await to_thread(path_options, text)
        detail = "type the file of a transcript; enter opens a folder"
        await self.ask("Import", detail, options, then, narrow=narrow, text=text)

    def _start(self) -> Path:
        """The folder to begin in: that of the transcript in sight, else the working folder."""
        context = self._screen.reading.context
        source = context.source_path if context is not None else None
        folder = Path(source).parent if source is not None else Path.cwd()
        return folder if folder.is_dir() else Path.cwd()

    def _import(self, path: Path) -> None:
        """Import in a worker; the screen goes on meanwhile."""
        screen, engine = self._screen, self._engine
        project = self._project()
        self.importing = display_line(path.name)

        def work() -> Imported:
            return engine.contexts.import_file(path, project=project)

        screen.say(f"Importing {self.importing} into {display_line(project)} ...")
        screen.read(work, self._imported, group="import", failed=self._not_imported)

    def _project(self) -> str:
        """The project of the screen, else of the context in sight, else of the working folder."""
        screen = self._screen
        if screen.project is not None:
            return screen.project
        if screen.reading.context is not None:
            return screen.reading.context.project
        from reviewer.engine import default_project

        return default_project() or PROJECT_WITHOUT_A_NAME

    def _imported(self, done: Imported) -> None:
        self.importing = ""
        context = done.context
        self._screen.reading.keep_place()
        self._screen.reading.open(context.id)
        self._screen.say(imported_words(done))

    def _not_imported(self, sentence: str) -> None:
        self.importing = ""
        self._screen.trouble(sentence)


def context_words(context: ContextView, *, all: bool) -> str:  # noqa: A002 - all projects
    """`214 commits, 48,120 tok, changed 2026-02-14 10:22`."""
    where = f"{context.project}: " if all else ""
    size = f"{count(context.commits, 'commit')}, {context.tokens:,} tok"
    return f"{where}{size}, changed {moment(context.changed_at)}"


def imported_words(done: Imported) -> str:
    """What an import brought, and what it passed over."""
    name = display_line(done.context.name)
    if not done.commits:
        return f"{name} holds all of that file already: nothing was added."
    words = f"{name}: {count(done.commits, 'commit')} imported"
    if done.skipped:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in done.skipped.items())
        words += f", passed over: {display_line(reasons)}"
    return f"{words} - F8 shows the act, x there takes it back"
