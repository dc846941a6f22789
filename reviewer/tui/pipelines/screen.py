"""The Pipelines screen: a pipeline in walking order, the entry and input of each node, and runs."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs
from textual import on
from textual.message import Message

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.projects import project_here
from reviewer.resources import sample_data_folder
from reviewer.system import working_folder
from reviewer.text.display import display_line
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.list_screen import ListScreen
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.text import MARGIN, TextBlock, count, cut, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.pipelines import keys
from reviewer.tui.pipelines.model import (
    VIEWS,
    Graph,
    NodeInput,
    NodeState,
    RunShown,
    pipelines_below,
    read_graph,
    read_input,
    read_run,
)
from reviewer.tui.pipelines.panes import NodeList, entry_blocks, run_blocks, what_runs
from reviewer.tui.pipelines.run import BackgroundRun
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.pipelines.events import RunDone, StageQuestion
    from reviewer.pipelines.options import RunOptions
    from reviewer.pipelines.run_store import RunView
    from reviewer.pipelines.values import Pipeline

NAME_CELLS = 24


class RunMoved(Message):
    """The background run has made progress."""


class PipelinesScreen(ListScreen, pane=keys.PIPELINES):
    """Nodes on the left; on the right the entries into a node, above its input."""

    tab = "pipelines"

    def __init__(self, engine: Engine, project: str | None) -> None:
        self.nodes = NodeList(id="nodes")
        self.entry_pane = TextPane(id="entry")
        self.input_pane = TextPane(id="node-input")
        panes = [self.entry_pane, self.input_pane]
        super().__init__(engine, project, self.nodes, panes, title="Pipelines")
        self.nodes.empty = ("Loading ...",)
        self.path: Path | None = None
        self.graph: Graph | None = None
        self.past_runs: Sequence[RunView] = ()
        self.run: RunShown | None = None
        """The run on the screen."""
        self.node_input: NodeInput | None = None
        """The input of the node under the cursor."""
        self.view = ""
        """The chosen mode, or `answer`; empty for the resolved mode."""
        self._file_changed_at = 0.0
        self._listener = lambda: self.post_message(RunMoved())
        self._announced: StageQuestion | None = None

    def on_screen_resume(self) -> None:
        if self.background is not None:
            self.background.listener = self._listener
            self.post_message(RunMoved())

    def on_screen_suspend(self) -> None:
        """Detach from the run, which continues."""
        if self.background is not None:
            self.background.listener = None

    # reading

    def reload(self) -> None:
        """Show the running pipeline, else the last one run here, else the only one below."""
        if self.path is not None:
            self._open(self.path, self.run_id)
            return
        engine, project, here = self.engine, self.project, working_folder()
        running = self.background.path if self.background is not None else None

        def work() -> tuple[Sequence[RunView], Sequence[Path], Path | None]:
            past, below = engine.pipelines.runs(project), list(pipelines_below(here))
            ran = (Path(run.path) for run in past if Path(run.path).is_file())
            ran_here = next((path for path in ran if path.is_relative_to(here)), None)
            return past, below, running or ran_here or (below[0] if len(below) == 1 else None)

        def then(found: tuple[Sequence[RunView], Sequence[Path], Path | None]) -> None:
            self.past_runs, below, path = found
            if path is not None:
                self._open(path)
                return
            nearby = f"{count(len(below), 'DOT file')} below this folder" if below else "an example"
            self._show_graph(
                None,
                "No pipeline is open. A pipeline is a series of stages, each with an input.",
                f"{keys.ENTER.key} chooses one ({nearby}).",
            )
            self.call_later(self.action_pipeline_choose)

        self.read(work, then, group="graph")

    def _open(self, path: Path, run: str | None = None, say: str = "") -> None:
        """Show a pipeline with the given run, or its latest."""
        engine = self.engine
        if path != self.path:
            self.view = ""
            self.zoomed = None
            self.status.say("")  # the last message is about another file
        self.path = path
        self._file_changed_at = _changed_at(path)
        background = self.background

        def work() -> tuple[Graph, RunShown | None, Sequence[RunView], bool]:
            ended = background is not None and not background.running  # before its stages are read
            past = engine.pipelines.runs()
            mine = (view for view in past if Path(view.path) == path.absolute())
            view = next((each for each in past if each.run_id == run), None) or next(mine, None)
            return read_graph(path), read_run(engine, view) if view else None, past, ended

        def then(found: tuple[Graph, RunShown | None, Sequence[RunView], bool]) -> None:
            graph, shown, self.past_runs, ended = found
            self._show_graph(graph, "This pipeline has no nodes.")
            self._show_run(shown, say)
            self._tell_run(ended=ended and background is self.background)

        def failed(sentence: str) -> None:
            editor, other = shared.OPEN_EDITOR.key, keys.CHOOSE.key
            way = f"{editor} opens it in your editor, {other} chooses another."
            self._show_graph(None, sentence, way)
            self._show_run(None)
            self.say_trouble(sentence)
            self._tell_run(ended=background is not None and not background.running)

        self.read(work, then, group="graph", failed=failed)

    def _show_graph(self, graph: Graph | None, *empty: str) -> None:
        self.graph, self.nodes.empty = graph, empty
        self.nodes.show(graph)
        self.show_empty(empty=not self.nodes.rows)

    def watch_store(self) -> None:
        """Reload if the file has changed or another program has run a stage."""
        if not self.is_active or self.path is None:
            return
        if _changed_at(self.path) != self._file_changed_at:
            name = display_line(self.path.name)
            self._open(self.path, self.run_id, f"{name} has changed and was reloaded.")
        elif self.background is None:
            super().watch_store()

    @property
    def run_id(self) -> str | None:
        return self.run.view.run_id if self.run is not None else None

    def _show_run(self, run: RunShown | None, say: str = "") -> None:
        self.run = run
        self.note_version()
        states = dict(run.states) if run is not None else {}
        if question := self._question:
            states[question.node] = structs.replace(
                states.get(question.node, NodeState()), now="asks"
            )
        self.nodes.states = states
        self.nodes.refresh()
        self._draw_title()
        self.follow()
        if run is not None and run.trouble:
            self.say_trouble(run.trouble)
        elif say:
            self.say(say)

    # drawing

    def follow(self) -> None:
        """Show the entries into the node under the cursor, and read its input."""
        graph, stop, signs = self.graph, self.nodes.current, glyphs(self.app)
        self.show_footer()
        self.void("node_input")  # of the node before, or from before a question
        if graph is None or stop is None:
            self.node_input = None
            self.entry_pane.show([], title="")
            self.input_pane.show([], title="")
            return
        state = self.nodes.states.get(stop.node.name, NodeState())
        blocks = list(entry_blocks(graph, stop, state, signs))
        self.entry_pane.show(blocks, title=stop.node.name)
        run, name, view = self.run, stop.node.name, self.view
        question = self._question
        if question is not None and question.node == name and question.about and not view:
            self.node_input = None
            about = [TextBlock(question.about, first=MARGIN)]
            self.input_pane.show(about, title=f"What {name} is asked about")
            return
        self.read(lambda: read_input(graph, run, name, view), self._show_input, group="node_input")

    def _show_input(self, found: NodeInput) -> None:
        before, self.node_input = self.node_input, found
        same = before is not None and before.entry.node.name == found.entry.node.name
        blocks = [TextBlock(found.remark, "dim", first=MARGIN), TextBlock("")]
        self.input_pane.show(
            [*blocks, TextBlock(found.text, first=MARGIN)],
            title=found.title,
            hint=f"{keys.LESS.key} {keys.MORE.key} mode",
            keep_scroll=same and before is not None and before.mode == found.mode,
        )

    def _draw_title(self) -> None:
        if self.graph is None or self.path is None:
            entitle(self.nodes, "Pipelines")
            return
        signs, pipeline = glyphs(self.app), self.graph.pipeline
        parts = [self.run_words(), count(len(pipeline.nodes), "node")]
        if pipeline.warnings:
            parts.append(f"{signs.attention} {len(pipeline.warnings)}")
        name = cut(display_line(self.path.name), NAME_CELLS, signs.ellipsis)
        entitle(self.nodes, name, f" {signs.dot} ".join(filter(None, parts)))

    def run_words(self) -> str:
        """The state of the run for the title: `run done`, `implement runs, stage 4`."""
        if self.run is None or self.run.view.state != "running":
            return f"run {self.run.view.state}" if self.run is not None else ""
        if self._shown_background is not None and self._shown_background.cancelling:
            return "cancelled, ending"
        node = display_line(self.run.view.current_node)
        stage = self.run.stages + 1
        return f"{node} asks" if self._question else f"{node} runs, stage {stage}"

    # why a key cannot run now

    def no_node(self) -> str | None:
        if self.graph is None:
            return f"No pipeline is open: {keys.ENTER.key} chooses one."
        edit = f"The pipeline has no nodes: {shared.OPEN_EDITOR.key} opens it in an editor."
        return None if self.nodes.rows else edit

    def already_running(self) -> str | None:
        if self.background is not None and self.background.running:
            name = self.background.run_id or "A run"
            return f"{name} is in progress: {keys.CANCEL.key} cancels it."
        return self.no_node()

    def not_running(self) -> str | None:
        if self.background is None or not self.background.running:
            return f"Nothing is running: {keys.RUN.key} runs the pipeline."
        if self.background.cancelling:
            return "The run is cancelled and will stop when its stage allows."
        return None

    def cannot_resume(self) -> str | None:
        if reason := self.already_running():
            return reason
        if self.run is None:
            past = keys.CHOOSE.key
            return f"No run on the screen: {keys.RUN.key} runs it, {past} has past runs."
        if not self.run.view.can_resume:
            again = f"{keys.RUN.key} runs it again."
            return f"{self.run_id} has reached its exit: {again}"
        return None

    def no_text(self) -> str | None:
        text = self.node_input.text if self.node_input is not None else ""
        return self.no_node() or (None if text else "No text to copy.")

    # running

    @property
    def background(self) -> BackgroundRun | None:
        """The last run started by this program, until its result has been shown."""
        return self.host.background_run

    @property
    def _shown_background(self) -> BackgroundRun | None:
        """The background run, if it is on the screen."""
        background = self.background
        return background if background is not None and background.path == self.path else None

    @property
    def _question(self) -> StageQuestion | None:
        """The open question of the run on the screen."""
        return self._shown_background.question if self._shown_background is not None else None

    @unless(already_running)
    async def action_pipeline_run(self) -> None:
        if self.path is not None and self.graph is not None:
            project = self.project or project_here()
            start = partial(self.engine.pipelines.start_run, self.path, project)
            await self._ask_who("Run", self.graph.pipeline, BackgroundRun(self.path), start)

    @unless(cannot_resume)
    async def action_pipeline_resume(self) -> None:
        if self.path is not None and self.run_id is not None:
            pipelines, run = self.engine.pipelines, BackgroundRun(self.path, self.run_id)
            pipeline = await to_thread(pipelines.pipeline_of, run.run_id)
            await self._ask_who("Resume", pipeline, run, partial(pipelines.resume_run, run.run_id))

    async def _ask_who(
        self, verb: str, pipeline: Pipeline, run: BackgroundRun, go: Callable[[RunOptions], RunDone]
    ) -> None:
        """Ask whether to run, and who answers, with what would run in the pane below."""
        from reviewer.pipelines.options import options_from
        from reviewer.settings import load_settings

        settings, asked_about = await to_thread(load_settings), self._file_changed_at
        name = display_line(pipeline.name)
        stages, commands = what_runs(pipeline)

        async def chosen(option: Option) -> None:
            if option.key == "no":
                self.say("Not run.")
                return
            if _changed_at(run.path) != asked_about:  # the permission was for other content
                raise ConflictError(f"{run.path.name} has changed in the meantime: not run.")
            asks_model = option.key == "model"
            options = await to_thread(lambda: options_from(settings, asks_model=asks_model))
            self.host.background_run, run.listener = run, self._listener
            run.start(go, structs.replace(options, allow_tools=bool(commands)))
            self.say(f"{name} is running ...")

        amount = count(len(stages), "prompt")
        if commands:
            amount += f", {count(len(commands), 'command')} with your rights"
        options = [
            Option("no", "No", "nothing runs, nothing is written"),
            Option("offline", "Yes, the offline stand-in answers", amount),
        ]
        model = settings.model.name or " ".join(settings.model.command)
        if settings.model.base_url or settings.model.command:
            options.append(Option("model", f"Yes, {model} answers", amount))
        self.void("node_input")
        pane, blocks = self.input_pane, run_blocks(stages, commands, settings.model.others)
        pane.show(list(blocks), title="What runs if you say yes")
        await self.choose(
            f"{verb} {name}? Its effects cannot be undone", options, chosen, pane=pane
        )

    def left_question(self) -> None:
        """Show the input of the node again."""
        self.follow()

    @unless(not_running)
    def action_pipeline_cancel(self) -> None:
        if self.background is not None:
            self.background.cancel()
            self.say(
                f"Cancelled: the run stops when its stage allows, {keys.RESUME.key} resumes it."
            )

    @on(RowList.Opened)
    async def action_pipeline_enter(self) -> None:
        if self._question is not None:
            await self._ask(self._question)
        elif self.graph is None:
            await self.action_pipeline_choose()
        else:
            self.read_pane(self.input_pane)

    def title_of(self, action: Action) -> str:
        """The title of an action; `answer` only while the run has a question."""
        reads = action is keys.ENTER and self._question is None
        return "read" if reads else super().title_of(action)

    async def _ask(self, question: StageQuestion) -> None:
        """Offer the choices of a question."""
        options = [
            Option(choice.key, f"{choice.key}  {choice.label}", f"leads to {choice.target}")
            for choice in question.choices
        ]
        background = self.background

        async def then(option: Option) -> None:
            if background is None:
                raise ConflictError("The run has ended: no answer was given.")
            background.reply(question, option.key)
            self.say("Answered.")

        title = display_line(question.text) or question.node
        await self.choose(title, options, then, hint=f"{shared.CHOOSE.key} chooses a line")

    @on(RunMoved)
    def _run_moved(self) -> None:
        if (background := self._shown_background) is not None:
            self._open(background.path, background.run_id)

    def _tell_run(self, *, ended: bool) -> None:
        """Show the question of the background run, or its result if it had `ended` before it was
        read. Raises unexpected exceptions of its thread.
        """
        background, question = self._shown_background, self._question
        if background is None:
            return
        if ended:
            self.host.background_run = None
        if background.defect is not None:
            raise background.defect
        if ended and background.error:
            self.say_trouble(display_line(background.error))
        elif ended and (done := background.done) is not None:
            way = "" if done.state == "done" else f" - {keys.RESUME.key} resumes"
            self.say(f"{display_line(done.message)}{way}")
        elif question is not None and question is not self._announced:
            self._announced = question
            self.nodes.go_to(question.node)
            self.say(f"{display_line(question.text)} - {keys.ENTER.key} answers")
        self.show_footer()

    # choosing a pipeline, a run, a mode

    async def action_pipeline_choose(self) -> None:
        here, past = working_folder(), {run.run_id: run for run in self.past_runs}

        def options() -> list[Option]:
            found = {
                str(path): str(path.relative_to(here).parent) for path in pipelines_below(here)
            }
            for path in pipelines_below(sample_data_folder()):
                found.setdefault(str(path), "an example")
            files = [Option(path, Path(path).name, words) for path, words in found.items()]
            runs = [
                Option(
                    key,
                    f"run of {moment(run.started_at)}",
                    f"{run.state} at {run.current_node}, {run.path}",
                )
                for key, run in past.items()
            ]
            return [*files, *runs]

        async def then(option: Option) -> None:
            run = past.get(option.key)
            if run is None:
                self._open(Path(option.key))
            elif await to_thread(Path(run.path).is_file):
                self._open(Path(run.path), run.run_id)
            else:
                gone = f"{display_line(run.path)} is gone: this is the run's own copy."
                self._open(Path(run.folder) / "pipeline.dot", run.run_id, gone)

        await self.choose("Pipelines and runs", await to_thread(options), then)

    @unless(no_node)
    def action_pipeline_less(self) -> None:
        self._show_view(-1)

    @unless(no_node)
    def action_pipeline_more(self) -> None:
        self._show_view(1)

    def _show_view(self, step: int) -> None:
        shown = self.view or (self.node_input.mode if self.node_input is not None else VIEWS[0])
        at = VIEWS.index(shown) + step
        if not 0 <= at < len(VIEWS):
            self.say("No shorter mode." if step < 0 else "Nothing after the last answer.")
            return
        self.view = VIEWS[at]
        self.follow()

    def step_back(self) -> bool:
        """Reset the chosen mode."""
        chosen, self.view = bool(self.view), ""
        if chosen:
            self.follow()
        return chosen

    # the file

    @unless(no_node)
    def action_open_source(self) -> None:
        stop = self.nodes.current
        self.host.open_line(str(self.path), stop.node.line if stop is not None else 0)

    def action_open_editor(self) -> None:
        if self.path is None:
            self.say(f"No pipeline is open: {keys.ENTER.key} chooses one.")
        else:
            stop = self.nodes.current
            self.edit_file(str(self.path), stop.node.line if stop is not None else 0)
            self.watch_store()

    @unless(no_text)
    def action_copy(self) -> None:
        if (found := self.node_input) is not None:
            self.copy_text(found.text, f"Copied {found.mode} ({len(found.text):,} characters).")


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0  # the file is gone; reading it will report that
