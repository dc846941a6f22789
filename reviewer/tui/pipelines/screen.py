"""A pipeline in walking order; for each node its entry, its input, and its runs."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.message import Message

from reviewer.engine import Engine
from reviewer.errors import ConflictError
from reviewer.pipelines.values import RunHistory
from reviewer.projects import default_project
from reviewer.resources import sample_data_folder
from reviewer.text.display import display_line
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.screen import ListScreen
from reviewer.tui.kit.text import Run, TextBlock, count, cut, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.pipelines import keys
from reviewer.tui.pipelines.model import (
    MODES,
    EdgeRow,
    Graph,
    NodeInput,
    NodeRow,
    NodeState,
    PipelinesModel,
    RunShown,
    pipelines_below,
    read_graph,
    read_node_input,
    read_run,
)
from reviewer.tui.pipelines.panes import (
    ANSWER,
    PipelineList,
    answer_blocks,
    entry_blocks,
    entry_title,
    preamble_blocks,
    preamble_title,
    shown_text,
)
from reviewer.tui.pipelines.run import BackgroundRun
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.pipelines.events import StageQuestion
    from reviewer.pipelines.resolve import NodeEntry
    from reviewer.pipelines.run_store import RunView
    from reviewer.pipelines.service import RunOptions, StageTurn
    from reviewer.settings import Settings

NAME_CELLS = 24
LOADING = "Still loading, try again."
NO_PROJECT = "default"
"""The project of a run that was started outside of any project."""
FREE_TEXT = "\x00free"


class RunMoved(Message):
    """The run in the background has made progress."""


class PipelinesScreen(ListScreen, pane=keys.PIPELINES):
    """Nodes and edges on the left; on the right how a node is entered, over its input."""

    tab = "pipelines"

    def __init__(self, engine: Engine, project: str | None) -> None:
        self.graph = PipelinesModel()
        self.entry_pane = TextPane(id="entry")
        self.input_pane = TextPane(id="node-input")
        rows = PipelineList(self.graph, id="stops")
        panes = [self.entry_pane, self.input_pane]
        super().__init__(engine, project, rows, panes, title="Pipelines")
        self.path: Path | None = None
        self.loaded = False
        self.trouble = ""
        """Why the file cannot be read as a pipeline."""
        self.below: Sequence[Path] = ()
        """Pipelines below the working folder."""
        self.past_runs: Sequence[RunView] = ()
        self.run: RunShown | None = None
        """The run that is shown."""
        self.node_input: NodeInput | None = None
        """The input of the node under the cursor."""
        self.view = ""
        """The chosen mode, or `answer`; empty for the mode that resolves."""
        self.use_model: bool | None = None
        """Whether the model of the settings answers; None until a person decides."""
        self.allow_tools = False
        self._settings: Settings | None = None
        self._file_changed_at = 0.0
        self._foreign_version = engine.foreign_version()
        self._listener = lambda: self.post_message(RunMoved())
        self._read_for: tuple[str, int, StageQuestion | None] = ("", -1, None)
        """The run, its stages and the question for which it was read last."""
        self._run_at = ""
        """The node of the run when it was looked at last; empty before."""

    def on_mount(self) -> None:
        self._draw()
        background = self.background
        if background is not None:
            self._listen(background)
            self._run_moved()

    def on_unmount(self) -> None:
        """A run continues without the screen."""
        background = self.background
        if background is not None and background.listener is self._listener:
            background.listener = None

    # reading the file

    def reload(self) -> None:
        """Show the running pipeline, else the last one that ran here, else the only one below."""
        if self.path is not None:
            self._open(self.path, self.run_id)
            return
        engine, project = self.engine, self.project
        background = self.background
        running = background.path if background is not None and background.running else None
        here = Path.cwd()

        def work() -> tuple[Sequence[RunView], Sequence[Path], Path | None]:
            past = engine.pipelines.runs(project)
            below = pipelines_below(here)
            ran = (Path(run.path) for run in past if Path(run.path).is_file())
            ran_here = next((path for path in ran if path.is_relative_to(here)), None)
            return past, below, running or ran_here or (below[0] if len(below) == 1 else None)

        def then(found: tuple[Sequence[RunView], Sequence[Path], Path | None]) -> None:
            self.past_runs, self.below, path = found
            if path is None:
                self.loaded = True
                self._draw()
                self.call_later(self.action_pipeline_choose)
            else:
                self._open(path)

        self.read(work, then, group="graph")

    def _open(self, path: Path, run: str | None = None, say: str = "") -> None:
        """Show a pipeline with the run named, or with its latest."""
        engine = self.engine
        if path != self.path:
            self.view, self.allow_tools = "", False
            self.unzoom()
            self.status.say("")  # the sentence is about another file
        self.path = path

        def work() -> tuple[Graph, RunShown | None, Sequence[RunView], float]:
            changed = _changed_at(path)
            graph = read_graph(path)
            past = engine.pipelines.runs()
            mine = [view for view in past if Path(view.path) == path.absolute()]
            view = next((each for each in mine if run in (None, each.run_id)), None)
            return graph, read_run(engine, view) if view else None, past, changed

        def then(found: tuple[Graph, RunShown | None, Sequence[RunView], float]) -> None:
            graph, shown, self.past_runs, self._file_changed_at = found
            self.loaded, self.trouble = True, ""
            self.graph.load(graph)
            self._show_run(shown)
            if say:
                self.say(say)
            if self.background is not None:
                self._run_moved()  # what happened while another file was shown

        def failed(sentence: str) -> None:
            self.loaded, self.trouble = True, sentence
            self.run = self.node_input = None
            self._file_changed_at = _changed_at(path)
            self.graph.load(None)
            self.graph.states = {}
            self._draw()
            self.say_trouble(sentence)

        self.read(work, then, group="graph", failed=failed)

    def watch_store(self) -> None:
        """Notice that the file was changed, or that another program has run a stage."""
        if not self.is_active or self.overlay is not None or self.path is None:
            return
        version = self.engine.foreign_version()
        if _changed_at(self.path) != self._file_changed_at:
            name = display_line(self.path.name)
            self.allow_tools = False  # it was about the commands as they were
            self._open(self.path, self.run_id, f"{name} has changed and was read again.")
        elif version != self._foreign_version and not self.run_in_progress:
            self._open(self.path, self.run_id)
        self._foreign_version = version

    # reading the run

    @property
    def run_id(self) -> str | None:
        return self.run.view.run_id if self.run is not None else None

    def _read_run(self, run_id: str, say: str = "") -> None:
        engine, path = self.engine, self.path

        def work() -> tuple[RunShown, Sequence[RunView]]:
            return read_run(engine, engine.pipelines.run(run_id)), engine.pipelines.runs()

        def then(found: tuple[RunShown, Sequence[RunView]]) -> None:
            shown, self.past_runs = found
            if path == self.path:
                self._show_run(shown)
            if say:
                self.say(say)

        self.read(work, then, group="run")

    def _show_run(self, run: RunShown | None) -> None:
        self.run = run
        self._foreign_version = self.engine.foreign_version()
        self._show_states()
        self._draw()
        self._read_input()
        if run is not None and run.trouble:
            self.say_trouble(run.trouble)

    def _show_states(self) -> None:
        """Show the state of each node, with the present activity of the run."""
        states = dict(self.run.states) if self.run is not None else {}
        background = self.background
        if background is not None and background.running and self.shows_background:
            for node, outcome in background.ended.items():
                states[node] = NodeState(outcome, outcome, states.get(node, NodeState()).runs + 1)
            question = background.question
            for node in () if background.pausing else {*background.active.values()}:
                before = states.get(node, NodeState())
                now = "asks" if question is not None and question.node == node else "runs"
                degraded = background.degraded and node == background.node
                mode = background.mode if degraded else ""
                states[node] = msgspec.structs.replace(before, now=now, degraded_to=mode)
        self.graph.states = states
        self.list.refresh()

    # reading the node under the cursor

    def follow(self) -> None:
        self._draw_way()
        self._read_input()

    def entry(self) -> NodeEntry | None:
        """How the node or edge under the cursor is entered."""
        row, graph = self.graph.current, self.graph.graph
        if row is None or graph is None:
            return None
        if isinstance(row, EdgeRow):
            return row.entry
        return next(iter(graph.into.get(row.node.name, ())), None)

    def _read_input(self) -> None:
        """Read the input of the node under the cursor in each mode."""
        graph, run = self.graph.graph, self.run
        row, node = self.graph.current, self.graph.node
        if graph is None or node is None:
            self.node_input = None
            self._draw_input()
            return
        ran = run is not None and bool(run.history.completed)
        entry = self.entry()
        if isinstance(row, NodeRow) and ran:
            entry = None  # use the mode in which the run enters it
        name = node.name

        def then(node_input: NodeInput) -> None:
            node = self.graph.node
            if node is not None and node_input.entry.node.name == node.name:
                self.node_input = node_input
                self._draw_input()

        self.read(lambda: read_node_input(graph, run, entry, name), then, group="node_input")

    # drawing

    def _draw(self) -> None:
        self.list.empty = self._empty()
        self.show_empty(empty=not self.graph.rows and self.overlay is None)
        self.list.rows_changed()
        self._draw_title()
        self._draw_way()
        self._draw_input()
        self.show_footer()

    def _empty(self) -> tuple[str, ...]:
        if not self.loaded:
            return ("Loading ...",)
        if self.trouble:
            return (
                self.trouble,
                f"{shared.OPEN_EDITOR.key} opens it in your editor, "
                f"{self.key_of(keys.CHOOSE)} chooses another.",
            )
        if self.graph.graph is not None:
            return ("This pipeline has no nodes.",)
        below = len(self.below)
        nearby = f"{count(below, 'DOT file')} below this folder" if below else "an example too"
        return (
            "No pipeline is open. A pipeline is a series of stages, and what each one gets.",
            f"{keys.ENTER.key} chooses one ({nearby}).",
        )

    def _draw_title(self) -> None:
        """Which pipeline, how large, the state of its run, who answers."""
        graph, signs = self.graph.graph, glyphs(self.app)
        if graph is None:
            entitle(self.list, "Pipelines")
            return
        parts = [count(len(graph.pipeline.nodes), "node")]
        words = self.progress_words()
        if words:
            parts.insert(0, words)
        elif self.run is not None:
            parts.append(f"run {self.run.view.state}")
        if self.use_model:
            parts.append(display_line(self.answered_by))
        if self.allow_tools:
            parts.append("tools allowed")
        if graph.pipeline.warnings:
            parts.append(f"{signs.attention} {len(graph.pipeline.warnings)}")
        name = self.path.name if self.path is not None else graph.pipeline.name
        entitle(self.list, cut(name, NAME_CELLS, signs.ellipsis), f" {signs.dot} ".join(parts))

    def _draw_way(self) -> None:
        """How the node under the cursor is entered, and the rules that decided it."""
        graph, node, signs = self.graph.graph, self.graph.node, glyphs(self.app)
        if graph is None or node is None:
            self.entry_pane.show([], title="")
            return
        from reviewer.pipelines.resolve import entry_after

        entry = self.entry() or entry_after(graph.pipeline, RunHistory(""), node.name)
        stop = next((each for each in graph.stops if each.node.name == node.name), None)
        onwards = [graph.entries[edge.index] for edge in (stop.edges if stop else ())]
        lines = {node.line, entry.edge.line if entry.edge is not None else node.line}
        remarks = [each for each in graph.pipeline.warnings if each.line in lines]
        self.entry_pane.show(
            entry_blocks(entry, stop, onwards, self.graph.states.get(node.name), remarks, signs),
            title=entry_title(entry, signs),
        )

    @property
    def mode(self) -> str:
        """The view below: a mode, or `answer`."""
        return self.view or (self.node_input.entry.fidelity.value if self.node_input else MODES[2])

    def _draw_input(self, *, from_start: bool = False) -> None:
        """The node's input in the chosen mode, or its last answer."""
        pane, node_input, node, signs = (
            self.input_pane,
            self.node_input,
            self.graph.node,
            glyphs(self.app),
        )
        if node_input is None or node is None:
            pane.show([], title="")
            return
        keep = not from_start and node_input.entry.node.name == node.name
        background = self.background
        question = background.question if background is not None else None
        if question is not None and question.node == node.name and question.about and not self.view:
            pane.show(
                [TextBlock(question.about, first=(Run(" "),))],
                title=f"What {node.name} is asked about",
                hint=mode_hint(),
                keep_scroll=keep,
            )
            return
        if self.mode == ANSWER:
            self._draw_answer(keep_scroll=keep)
            return
        blocks = preamble_blocks(self.mode, node_input, signs)
        title = preamble_title(self.mode, node_input, signs, chosen=bool(self.view))
        pane.show(blocks, title=title, hint=mode_hint(), keep_scroll=keep)

    def _draw_answer(self, *, keep_scroll: bool = True) -> None:
        """The node's last answer, or the one that is arriving."""
        node_input, node, background = self.node_input, self.graph.node, self.background
        if self.mode != ANSWER or node_input is None or node is None:
            return
        arriving = ""
        if background is not None and background.running and background.node == node.name:
            arriving = background.answer or "..."
        title = f"{node.name} answers" if arriving else f"The last answer of {node.name}"
        self.input_pane.show(
            answer_blocks(node_input, arriving),
            title=title,
            hint=mode_hint(),
            keep_scroll=keep_scroll,
        )

    # why a key cannot be used now

    def no_pipeline(self) -> str | None:
        if not self.loaded:
            return LOADING
        if self.graph.graph is None:
            return f"No pipeline is open: {keys.ENTER.key} chooses one."
        return None

    def no_node(self) -> str | None:
        none = (
            None
            if self.graph.node
            else f"The pipeline has no nodes: {shared.OPEN_EDITOR.key} opens it in an editor."
        )
        return self.no_pipeline() or none

    def _under_way(self) -> str:
        background = self.background
        return (background.run_id if background is not None else "") or "A run"

    def already_running(self) -> str | None:
        if self.run_in_progress:
            return f"{self._under_way()} is in progress: {keys.CANCEL.key} cancels it."
        return self.no_pipeline()

    def cannot_step(self) -> str | None:
        background = self.background
        if background is not None and background.running:
            if background.question is not None:
                return f"The run is asking something: {keys.ENTER.key} answers."
            if not background.pausing:
                return f"{self._under_way()} is not stepping: {keys.CANCEL.key} cancels it."
        return self.no_pipeline()

    def cannot_run(self) -> str | None:
        background = self.background
        if background is not None and background.running and background.pausing:
            return None
        return self.already_running()

    def not_running(self) -> str | None:
        background = self.background
        if background is None or not background.running:
            return f"Nothing is running: {keys.RUN.key} runs the pipeline."
        if background.cancelling:
            return f"{self._under_way()} was cancelled and ends as soon as its stage lets it."
        return None

    def cannot_resume(self) -> str | None:
        if self.run_in_progress or self.graph.graph is None:
            return self.already_running()
        if self.run is None:
            return (
                f"No run of this pipeline is shown: {keys.RUN.key} runs "
                f"it, {self.key_of(keys.PAST_RUNS)} shows past runs."
            )
        if not self.run.view.can_resume:
            return (
                f"{self.run_id} has reached its exit; there is nothing "
                f"left: {keys.RUN.key} runs it again."
            )
        return None

    def no_past_runs(self) -> str | None:
        none = f"Nothing has run yet: {keys.RUN.key} runs the pipeline that is shown."
        return None if self.past_runs else none

    def no_conversation(self) -> str | None:
        if self.run is None or not self.run.turns:
            return f"No run with a conversation is shown: {keys.RUN.key} runs the pipeline."
        return None

    def no_text(self) -> str | None:
        return self.no_node() or (None if self.copied_text else "There is no text to copy.")

    def no_model(self) -> str | None:
        if self.run_in_progress:
            return f"{self._under_way()} is in progress: what answers it cannot be changed."
        if not self._read_settings().model.base_url:
            return (
                "No model is set up: write [model] base_url and name into the settings,"
                " see reviewer config show."
            )
        return None

    # running

    @property
    def background(self) -> BackgroundRun | None:
        """The run that this program started last, until its end has been shown."""
        run = self.host.background_run
        return run if isinstance(run, BackgroundRun) else None

    @property
    def run_in_progress(self) -> bool:
        """Whether a run of this program is still in progress."""
        return self.background is not None and self.background.running

    @property
    def shows_background(self) -> bool:
        """Whether the run in the background is on the screen."""
        background = self.background
        if background is None:
            return False
        return background.path == self.path or background.run_id == self.run_id

    @unless(cannot_run)
    async def action_pipeline_run(self) -> None:
        """Run from the start, or run the rest while stepping."""
        background = self.background
        if background is not None and background.running and background.pausing:
            background.proceed(stepping=False)
            self.say(f"Running the rest: {keys.CANCEL.key} cancels it.")
            return
        await self._start(stepping=False)

    @unless(cannot_step)
    async def action_pipeline_step(self) -> None:
        """Run one stage, and wait before the next."""
        background = self.background
        if background is not None and background.running and background.pausing:
            background.proceed(stepping=True)
            return
        await self._start(stepping=True)

    async def _start(self, *, stepping: bool) -> None:
        if self.path is None:
            return
        options = await to_thread(self._options, model=bool(self.use_model))
        background = BackgroundRun(self.engine, self.path.absolute(), stepping=stepping)
        self._take(background)
        background.start(self.project or default_project() or NO_PROJECT, options)
        self.say(f"One stage at a time: {keys.STEP.key} continues." if stepping else "Running ...")

    @unless(cannot_resume)
    async def action_pipeline_resume(self) -> None:
        run_id = self.run_id
        if run_id is None or self.path is None:
            return
        model = self.use_model
        if model is None:
            model = not await to_thread(self.engine.pipelines.is_offline, run_id)
        options = await to_thread(self._options, model=model)
        background = BackgroundRun(self.engine, self.path, stepping=False)
        background.run_id = run_id
        self._take(background)
        background.resume(run_id, options)
        self.say(f"Continuing {run_id} ...")

    def _take(self, background: BackgroundRun) -> None:
        self.host.background_run = background
        self._read_for = ("", -1, None)
        self._run_at = ""
        self._listen(background)

    def _listen(self, background: BackgroundRun) -> None:
        background.listener = self._listener

    @unless(not_running)
    def action_pipeline_cancel(self) -> None:
        """End the run in an orderly way."""
        if self.background is not None:
            self.background.cancel()
            self.say(
                f"Cancelled: the run ends as soon as its stage lets it, {keys.RESUME.key} resumes."
            )

    @on(RowList.Opened)
    async def action_pipeline_enter(self) -> None:
        """Answer the run's question, read the text below, or choose a pipeline without one."""
        question = self.background.question if self.background is not None else None
        if question is not None:
            await self._ask(question)
        elif self.graph.graph is None:
            await self.action_pipeline_choose()
        else:
            self.read_pane(self.input_pane)

    def title_of(self, action: Action) -> str:
        """`answer` only while the run has a question."""
        asked = self.background is not None and self.background.question is not None
        return "read" if action is keys.ENTER and not asked else super().title_of(action)

    async def _ask(self, question: StageQuestion) -> None:
        """Offer the choices of a question; free text where it is allowed."""
        options = [
            Option(choice.key, f"{choice.key}  {choice.label}", f"leads to {choice.target}")
            for choice in question.choices
        ]
        background, typed = self.background, ""

        def narrow(text: str) -> None:
            nonlocal typed
            typed = text
            words = text.strip().casefold()
            fitting = [one for one in options if words in f"{one.name} {one.detail}".casefold()]
            fitting.sort(key=lambda one: one.key.casefold() != words)  # the exact key comes first
            free = [Option(FREE_TEXT, f'answer "{text}"')] if question.freeform and text else []
            self.offer([*free, *fitting])

        async def then(option: Option) -> None:
            if background is None:
                raise ConflictError("The run has ended: nothing was answered.")
            background.reply(question, typed if option.key == FREE_TEXT else option.key)
            self.say("Answered.")

        detail = "type your answer" if question.freeform else f"{shared.CHOOSE.key} chooses a line"
        title = display_line(question.text) or question.node
        await self.choose(title, options, then, narrow=narrow, hint=detail)

    @on(RunMoved)
    def _run_moved(self) -> None:
        """Show the progress of the run. Raises unexpected exceptions of its thread."""
        background = self.background
        if background is None:
            return
        background.seen()
        question = background.question  # the thread of the run may replace it
        if background.defect is not None:
            raise background.defect
        if not self.shows_background:
            return
        self._move_cursor_with(background)
        self._show_states()
        if background.error:
            self.say_trouble(_with_key(background.error))
            self.host.background_run = None
        elif background.done is not None:
            self._read_run(background.run_id, _end_sentence(background))
            self.host.background_run = None
        elif question is not None:
            self.say(
                f"{display_line(question.text)} - {keys.ENTER.key} answers{_remark(background)}"
            )
            self._read_run_for(background, question)
        elif background.run_id and background.stages != self._stages_shown(background):
            self._read_run_for(background, None)
        self._draw_title()
        self._draw_answer()
        self.show_footer()

    def _read_run_for(self, background: BackgroundRun, question: StageQuestion | None) -> None:
        """Read the run once for its present stage: pieces of an answer, which may come faster than
        it is read, must not begin that again.
        """
        wanted = (background.run_id, background.stages, question)
        if wanted != self._read_for:
            self._read_for = wanted
            self._read_run(background.run_id)

    def _stages_shown(self, background: BackgroundRun) -> int:
        if self.run is None or self.run_id != background.run_id:
            return -1
        return len(self.run.history.completed)

    def _move_cursor_with(self, background: BackgroundRun) -> None:
        """The cursor goes with the run, unless a person has moved it elsewhere."""
        name, here = background.next if background.pausing else background.node, self.graph.node
        index = self.graph.index_of(name) if name else None
        if index is None or name == self._run_at:
            return
        stays = here is not None and here.name == self._run_at
        if stays or not self._run_at:
            self.list.move_to(index)
        self._run_at = name

    def progress_words(self) -> str:
        """The progress of the run for the title: `implement runs, stage 4`; empty for none."""
        background = self.background
        if background is None or not background.running or not self.shows_background:
            return ""
        if background.cancelling:
            return "cancelled, ending"
        question = background.question
        if question is not None:
            return f"{display_line(question.node)} asks"
        if background.pausing:
            return f"waits after {count(background.stages, 'stage')}"
        if not background.node:
            return "starting"
        return f"{display_line(background.node)} runs, stage {background.stages + 1}"

    # the engine, and its permissions

    def _read_settings(self) -> Settings:
        if self._settings is None:
            from reviewer.settings import load_settings

            self._settings = load_settings()
        return self._settings

    @property
    def answered_by(self) -> str:
        """The name of the engine, for the title."""
        if self.use_model:
            return self._read_settings().model.name or "the model"
        return "offline stand-in"

    @unless(no_model)
    def action_pipeline_engine(self) -> None:
        """Let the model answer, or the stand-in again."""
        self.use_model = not self.use_model
        self.say(f"The next run is answered by: {display_line(self.answered_by)}.")
        self._draw_title()

    @unless(already_running)
    def action_pipeline_tools(self) -> None:
        """Allow shell commands for this pipeline, or forbid them."""
        self.allow_tools = not self.allow_tools
        allowed = (
            "Runs of this pipeline may run its shell commands with your "
            f"rights: {keys.ALLOW_TOOLS.key} forbids it."
        )
        self.say(allowed if self.allow_tools else "Shell commands are refused.")
        self._draw_title()

    def _options(self, *, model: bool) -> RunOptions:
        """The options of a run. Reads the settings, so call it in a thread.

        Raises ModelError when a model is selected and none is set up.
        """
        from reviewer.llm.open_model import open_model
        from reviewer.llm.open_model import open_other_models as open_other_models
        from reviewer.pipelines.service import RunOptions

        settings = self._read_settings()
        as_read = self.path is not None and _changed_at(self.path) == self._file_changed_at
        return RunOptions(
            model=open_model(settings) if model else None,
            models=open_other_models(settings) if model else {},
            context_tokens=settings.model.context_tokens,
            allow_tools=self.allow_tools and as_read,
        )

    @unless(no_conversation)
    async def action_pipeline_context(self) -> None:
        """Open the conversation as a context: the thread of this node, or all of it."""
        if self.run is None:
            return
        node = self.graph.node
        thread = _latest_thread(self.run.turns, node.name if node is not None else "")
        run_id = self.run.view.run_id
        done = await to_thread(self.engine.pipelines.import_conversation, run_id, thread)
        what = f"the thread {thread}" if thread else "all stages"
        self.say(f"Opened {what} as the context {done.context.name}.")
        number = done.context.id
        self.app.call_later(lambda: self.host.open_context(number))

    # choosing a pipeline, a file, a run

    async def action_pipeline_choose(self) -> None:
        """Choose among those that have run, latest first, and those below this folder."""
        here = Path.cwd()
        below = await to_thread(pipelines_below, here)
        options: dict[str, Option] = {}
        for run in self.past_runs:
            if run.path not in options and await to_thread(Path(run.path).is_file):
                detail = f"ran {moment(run.started_at)}, {run.state}, {run.path}"
                options[run.path] = Option(run.path, Path(run.path).name, detail)
        for path in below:
            parent = str(path.relative_to(here).parent)
            detail = "" if parent == "." else parent
            options.setdefault(str(path), Option(str(path), path.name, detail))
        for path in await to_thread(pipelines_below, sample_data_folder()):
            options.setdefault(str(path), Option(str(path), path.name, "an example"))

        async def then(option: Option) -> None:
            self._open(Path(option.key))

        await self.choose("Pipelines", list(options.values()), then)

    @unless(no_past_runs)
    async def action_pipeline_runs(self) -> None:
        """Choose a past run; those of the present pipeline come first."""
        path, past = self.path, list(self.past_runs)
        mine = [run for run in past if path is not None and Path(run.path) == path.absolute()]
        others = [run for run in past if run not in mine]
        by_id = {run.run_id: run for run in past}

        async def then(option: Option) -> None:
            run = by_id[option.key]
            if await to_thread(Path(run.path).is_file):
                self._open(Path(run.path), run.run_id)
                return
            self._open(Path(run.folder) / "pipeline.dot", run.run_id)
            self.say(f"{display_line(run.path)} is gone.", bad=True)

        options = [
            Option(
                run.run_id,
                moment(run.started_at),
                f"{run.name}, {run.state} at {run.current_node}, {run.run_id}",
            )
            for run in [*mine, *others]
        ]
        await self.choose("Past runs", options, then)

    # looking

    @unless(no_pipeline)
    def action_refresh(self) -> None:
        if self.path is not None:
            self._open(self.path, self.run_id, "Read again.")

    def _show_view(self, view: str) -> None:
        """Show a mode; choosing it again returns to the resolved mode."""
        self.view = "" if self.view == view else view
        self._draw_input(from_start=True)

    @unless(no_node)
    def action_view_full(self) -> None:
        self._show_view(MODES[0])

    @unless(no_node)
    def action_view_truncate(self) -> None:
        self._show_view(MODES[1])

    @unless(no_node)
    def action_view_compact(self) -> None:
        self._show_view(MODES[2])

    @unless(no_node)
    def action_view_low(self) -> None:
        self._show_view(MODES[3])

    @unless(no_node)
    def action_view_medium(self) -> None:
        self._show_view(MODES[4])

    @unless(no_node)
    def action_view_high(self) -> None:
        self._show_view(MODES[5])

    @unless(no_node)
    def action_view_said(self) -> None:
        self._show_view(ANSWER)

    def action_back(self) -> None:
        """Leave the chosen mode after everything else."""
        if self.view and self.zoomed is None and self.focused is self.list:
            self._show_view(self.view)
        else:
            super().action_back()

    def _line(self) -> int:
        row, node = self.graph.current, self.graph.node
        if isinstance(row, EdgeRow) and row.entry.edge is not None:
            return row.entry.edge.line
        return node.line if node is not None else 0

    @unless(no_node)
    def action_open_source(self) -> None:
        self.host.open_line(str(self.path), self._line())

    def action_open_editor(self) -> None:
        if self.path is None:
            self.say(f"No pipeline is open: {keys.ENTER.key} chooses one.")
        else:
            self.edit_file(str(self.path), self._line())
            self.watch_store()

    @property
    def copied_text(self) -> str:
        return shown_text(self.mode, self.node_input) if self.node_input is not None else ""

    @unless(no_text)
    def action_copy(self) -> None:
        text = self.copied_text
        self.copy_text(text, f"Copied {self.mode} ({len(text):,} characters).")


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0  # the file no longer exists: reading it reports that


def _end_sentence(background: BackgroundRun) -> str:
    """How a run ended, with the key that continues it."""
    done = background.done
    if done is None:
        return ""
    ways = {
        "done": "",
        "waiting": f" - {keys.RESUME.key} resumes",
        "cancelled": f" - {keys.RESUME.key} resumes",
    }
    way = ways.get(done.state, f" - {keys.RESUME.key} continues it")
    return f"{display_line(done.message)}{way}{_remark(background)}"


def _remark(background: BackgroundRun) -> str:
    """A remark about the run's answers, to append to a sentence."""
    return f" - {display_line(background.remark)}" if background.remark else ""


def _with_key(sentence: str) -> str:
    """An error of the engine; where it names a flag the key of this screen comes first."""
    hint = (
        f"{keys.ALLOW_TOOLS.key} allows shell commands: "
        if "with --allow-tools" in sentence
        else ""
    )
    return hint + display_line(sentence)


def _latest_thread(turns: Sequence[StageTurn], node: str) -> str | None:
    """The thread of a node's last turn; None where it has none."""
    threads = [turn.thread for turn in turns if turn.node == node]
    return next((thread for thread in reversed(threads) if thread), None)


def mode_hint() -> str:
    """The keys of the text below the graph."""
    modes = f"{keys.MODE_FULL.key} to {keys.MODE_HIGH.key} mode"
    return f"{modes}, {keys.MODE_ANSWER.key} answer"
