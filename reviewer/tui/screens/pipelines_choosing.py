"""Choosing on the Pipelines screen: a pipeline, a file by its path, a run, an answer."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.resources import sample_data_folder
from reviewer.text.display import display_line
from reviewer.tui.kit.choice_pane import ChoicePane, Option
from reviewer.tui.kit.paths import path_options
from reviewer.tui.kit.text import moment
from reviewer.tui.screens.pipelines_files import pipelines_below

if TYPE_CHECKING:
    from reviewer.engine import Question, RunView
    from reviewer.tui.screens.pipelines import PipelinesScreen

Then = Callable[[Option], Awaitable[None]]
FREE_TEXT = "\x00free"


class PipelineChoosing:
    """The chooser of a `PipelinesScreen`."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._pane: ChoicePane | None = None
        self._then: Then | None = None

    async def ask(
        self,
        title: str,
        detail: str,
        options: Sequence[Option],
        then: Then,
        *,
        narrow: Callable[[str], None] | None = None,
        text: str = "",
    ) -> None:
        """Ask for one of some options and go on with it; `text` stands in the field already."""
        screen = self._screen
        if self._pane is None:
            self._pane = ChoicePane(id="choice")
            await screen.query_one("#right").mount(self._pane)
        self._then = then
        screen.panes.unzoom()
        screen.show_choice(True)
        self._pane.ask(title, detail, options, narrow=narrow)
        if text:
            self._pane.field.fill(text)

    def offer(self, options: Sequence[Option]) -> None:
        """Offer other options."""
        if self._pane is not None and self._screen.busy:
            self._pane.offer(options)

    async def chosen(self, option: Option) -> None:
        """Go on with what was chosen; an error is a sentence and leaves everything as it was."""
        then, self._then = self._then, None
        self._screen.show_choice(False)
        if then is not None:
            await self._screen.patiently(lambda: then(option))

    def close(self) -> None:
        """Put the chooser away."""
        self._then = None
        self._screen.show_choice(False)

    # pipelines

    async def ask_pipeline(self) -> None:
        """Ask for a pipeline: those that ran latest first, then those below this folder."""
        reading = self._screen.reading
        below = await to_thread(pipelines_below, Path.cwd())
        options: dict[str, Option] = {}
        for run in reading.runs:
            if run.path not in options and await to_thread(Path(run.path).is_file):
                detail = f"ran {moment(run.started_at)}, {run.state}, {run.path}"
                options[run.path] = Option(run.path, Path(run.path).name, detail)
        here = Path.cwd()
        for path in below:
            detail = str(path.relative_to(here).parent)
            options.setdefault(
                str(path), Option(str(path), path.name, "" if detail == "." else detail)
            )
        for path in await to_thread(pipelines_below, sample_data_folder()):
            options.setdefault(str(path), Option(str(path), path.name, "an example"))

        async def then(option: Option) -> None:
            self._screen.reading.open(Path(option.key))

        await self.ask("Pipelines", "I opens any file", list(options.values()), then)

    async def ask_path(self) -> None:
        """Ask for a file; what is typed is completed from the folder."""
        path = self._screen.reading.path
        start = path.parent if path is not None else Path.cwd()

        def narrow(text: str) -> None:
            meant = typed_path(text)
            self._screen.read(lambda: path_options(meant), self.offer, group="paths")

        async def then(option: Option) -> None:
            chosen = Path(option.key).expanduser()
            if await to_thread(chosen.is_dir):
                await ask_in(f"{option.key}/")
            else:
                self._screen.reading.open(chosen)

        async def ask_in(text: str) -> None:
            options = await to_thread(path_options, text)
            detail = "type the path of a DOT file; enter opens a folder"
            await self.ask("Open a pipeline", detail, options, then, narrow=narrow, text=text)

        await ask_in(f"{start}/")

    # runs

    async def ask_run(self) -> None:
        """Ask for a past run, those of the pipeline that is shown first."""
        path = self._screen.reading.path
        runs = list(self._screen.reading.runs)
        mine = [run for run in runs if path is not None and Path(run.path) == path.absolute()]
        others = [run for run in runs if run not in mine]
        by_id = {run.run_id: run for run in runs}

        async def then(option: Option) -> None:
            run = by_id[option.key]
            if await to_thread(Path(run.path).is_file):
                self._screen.reading.open(Path(run.path), run.run_id)
                return
            self._screen.reading.open(Path(run.folder) / "pipeline.dot", run.run_id)
            self._screen.say(f"{display_line(run.path)} is gone.", bad=True)

        options = [
            Option(run.run_id, moment(run.started_at), run_words(run)) for run in [*mine, *others]
        ]
        await self.ask("Past runs", "newest first, of this pipeline first", options, then)

    # a question of the run

    async def ask_answer(self, question: Question) -> None:
        """Ask what the run asks; the choices lead on, free text goes where it is allowed."""
        options = [
            Option(choice.key, f"{choice.key}  {choice.label}", f"leads to {choice.target}")
            for choice in question.choices
        ]

        def narrow(text: str) -> None:
            words = text.strip().casefold()
            fitting = [one for one in options if words in f"{one.name} {one.detail}".casefold()]
            fitting.sort(key=lambda one: one.key.casefold() != words)  # the key itself first
            free = [Option(FREE_TEXT, f'answer "{text}"')] if question.freeform and text else []
            self.offer([*free, *fitting])

        async def then(option: Option) -> None:
            assert self._pane is not None
            typed = self._pane.field.value
            self._screen.running.reply(typed if option.key == FREE_TEXT else option.key)

        detail = "type your answer" if question.freeform else "enter takes a line"
        title = display_line(question.text) or question.node
        await self.ask(title, detail, options, then, narrow=narrow)


def typed_path(text: str) -> str:
    """A path that was typed or pasted behind the folder that stood there: `/a//b` means `/b`."""
    for begin in ("//", "/~"):
        before, found, rest = text.rpartition(begin)
        if found and (before or begin == "/~"):
            return begin[1] + rest
    return text


def run_words(run: RunView) -> str:
    """`release, done at done, 20260214-102205-release`."""
    return f"{run.name}, {run.state} at {run.current_node}, {run.run_id}"
