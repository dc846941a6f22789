"""Starts, resumes and lists runs; what a run said, as conversations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import ReviewerError
from reviewer.llm.model import ChatModel
from reviewer.pipelines.checkpoint import (
    Checkpoint,
    fingerprint,
    history_of,
    read_checkpoint,
    require_same_pipeline,
    write_checkpoint,
)
from reviewer.pipelines.dot import parse_dot, read_pipeline
from reviewer.pipelines.handlers import Hands, is_model_stage, taken_in
from reviewer.pipelines.handlers_stand_in import StandIn
from reviewer.pipelines.preamble import build_preamble
from reviewer.pipelines.run_check import listed, require_answers, require_runnable, start_of
from reviewer.pipelines.run_errors import RunError
from reviewer.pipelines.run_events import Ask, Event, RunDone, RunStarted, Watch
from reviewer.pipelines.run_files import RunCard, RunFolder
from reviewer.pipelines.run_live import LiveRun, LiveRuns
from reviewer.pipelines.run_store import RunStore
from reviewer.pipelines.runner import Course, Runner
from reviewer.pipelines.runner_attempts import Pace
from reviewer.pipelines.tool_seal import (
    changed_sentence,
    changed_tools,
    lost_secrets_sentence,
    seal_tools,
)
from reviewer.pipelines.values import Pipeline, RunHistory
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger

CONTEXT_TOKENS = 8_192
LEAST_STEPS = 1_000
STEPS_A_NODE = 4


class RunOptions(Struct, frozen=True):
    """How to run.

    Without a `model` the offline stand-in answers; `models` are others by name, for the nodes that
    name one. `context_tokens`: what the model takes, prompt
    and answer together. `answers`: in advance, by node, used in order. `context`: what a run
    begins with. `max_steps`: stages at most (None: as the run was started with, else 1,000, or
    four for each node where that is more). `allow_changed_tools`: a resume may run other shell
    commands than those that the run was started with. `wait`: a question waits for `answer` from
    another thread; else the run pauses when `ask` does not answer.
    """

    model: ChatModel | None = None
    models: dict[str, ChatModel] = {}
    context_tokens: int = CONTEXT_TOKENS
    answers: dict[str, list[str]] = {}
    context: dict[str, str] = {}
    allow_tools: bool = False
    allow_changed_tools: bool = False
    max_steps: int | None = None
    run_dir: Path | None = None
    wait: bool = False


class KeptTurn(Struct, frozen=True):
    """What a stage was asked and answered. `thread` is empty for a session of its own."""

    step: int
    node: str
    thread: str
    prompt: str
    answer: str


class Runs:
    """The runs of a store."""

    def __init__(
        self, database: Database, ledger: Ledger, clock: Clock, *, pace: Pace | None = None
    ) -> None:
        self.store = RunStore(database, ledger, clock)
        self.live = LiveRuns()
        self._clock = clock
        self._pace = pace or Pace()

    def start(
        self,
        path: Path,
        project: str,
        options: RunOptions | None = None,
        *,
        ask: Ask | None = None,
        watch: Watch | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RunDone:
        """Run the pipeline of a file until it ends or pauses.

        Raises RunError when it cannot start, DotError when the file is no pipeline.
        """
        options = options or RunOptions()
        path = path.absolute()
        pipeline = read_pipeline(path)
        require_runnable(pipeline, allow_tools=options.allow_tools)
        require_answers(pipeline, options.answers)
        run_id = self.store.new_id(pipeline.name)
        folder = RunFolder((options.run_dir or self.store.new_folder(run_id)).absolute())
        now, first = iso(self._clock()), start_of(pipeline)
        card = RunCard(
            run_id,
            str(path),
            pipeline.name,
            project,
            _name(options),
            now,
            _limit(options, pipeline),
        )
        folder.create(card, taken_in(path.read_bytes().decode("utf-8", "replace")))
        with folder.held():
            checkpoint = Checkpoint(
                run_id=run_id,
                pipeline=fingerprint(pipeline),
                pipeline_name=pipeline.name,
                timestamp=now,
                current_node="",
                completed_nodes=[],
                node_retries={},
                context={key: taken_in(value) for key, value in options.context.items()},
                logs=[],
                next_node=first,
                tools=seal_tools(pipeline),
            )
            write_checkpoint(folder.checkpoint, checkpoint)
            self.store.register(
                run_id,
                project=project,
                path=path,
                name=pipeline.name,
                folder=folder.path,
                node=first,
            )
            callbacks = _Callbacks(ask, watch, cancelled)
            return self._go(pipeline, checkpoint, folder, options, callbacks, resumed=False)

    def resume(
        self,
        which: str,
        options: RunOptions | None = None,
        *,
        ask: Ask | None = None,
        watch: Watch | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RunDone:
        """Go on with a run: its id, its folder, or its pipeline file (then the latest run of it).

        By id or folder it goes on with what the pipeline said when it began, whatever the file
        says now; a file has to say the same as then. Shell commands that may not be those that the
        run was started with are refused, unless `allow_changed_tools` confirms them.

        Raises RunError, CheckpointError, UnknownIdError.
        """
        options = options or RunOptions()
        found = self._to_resume(which)
        folder, pipeline, card = found.folder, found.pipeline, found.folder.card()
        require_runnable(pipeline, allow_tools=options.allow_tools)
        require_answers(pipeline, options.answers)
        with folder.held():
            checkpoint = read_checkpoint(folder.checkpoint)
            require_same_pipeline(checkpoint, pipeline)
            known = self.store.knows(card.run_id)
            if known and self.store.get(card.run_id).state == "done":
                raise RunError(
                    f"The run {card.run_id} has reached its exit; there is nothing left."
                )
            checkpoint = self._with_allowed_tools(checkpoint, found, which, options)
            if known:
                self.store.change(card.run_id, "running", checkpoint.next_node)
            else:
                self.store.register(
                    card.run_id,
                    project=card.project,
                    path=Path(card.path),
                    name=card.name,
                    folder=folder.path,
                    node=checkpoint.next_node,
                )
            callbacks = _Callbacks(ask, watch, cancelled)
            return self._go(
                pipeline, checkpoint, folder, options, callbacks, resumed=True, note=found.note
            )

    def is_offline(self, which: str) -> bool:
        """Whether a run to resume was answered by the offline stand-in."""
        return self._to_resume(which).folder.card().engine == StandIn.name

    def pipeline(self, run_id: str) -> Pipeline:
        """The pipeline that a run began with. Raises UnknownIdError, RunError."""
        return _kept_pipeline(RunFolder(Path(self.store.get(run_id).folder)))

    def checkpoint(self, run_id: str) -> Checkpoint:
        """Where a run stands. Raises UnknownIdError, CheckpointError."""
        return read_checkpoint(RunFolder(Path(self.store.get(run_id).folder)).checkpoint)

    def history(self, run_id: str) -> RunHistory:
        """A run as preambles tell it. Raises UnknownIdError, CheckpointError."""
        return history_of(self.checkpoint(run_id), self.pipeline(run_id))

    def conversation(self, run_id: str, thread: str | None = None) -> tuple[KeptTurn, ...]:
        """What was asked and answered in a thread, or in all stages, in order.

        Raises UnknownIdError, CheckpointError, and RunError when the run has no such thread.
        """
        folder = RunFolder(Path(self.store.get(run_id).folder))
        logs = read_checkpoint(folder.checkpoint).logs
        threads = sorted({entry.thread for entry in logs if entry.thread})
        if thread is not None and thread not in threads:
            names = ", ".join(threads) or "none"
            raise RunError(f"The run {run_id} has no thread {thread}. Its threads: {names}.")
        turns = (
            KeptTurn(
                entry.step,
                entry.node,
                entry.thread,
                folder.text(entry.folder, "prompt.md"),
                folder.text(entry.folder, "response.md"),
            )
            for entry in logs
            if thread is None or entry.thread == thread
        )
        return tuple(turn for turn in turns if turn.answer)

    def _with_allowed_tools(
        self, checkpoint: Checkpoint, found: _Found, which: str, options: RunOptions
    ) -> Checkpoint:
        """The checkpoint with the seal of the commands that may run now. Raises RunError."""
        card, pipeline = found.folder.card(), found.pipeline
        seal = checkpoint.tools if self._keeps(card.run_id, found.folder) else None
        changed = changed_tools(seal, pipeline)
        if not changed:
            return checkpoint
        if found.source == found.folder.dot and (
            lost := lost_secrets_sentence(changed, Path(card.path), which)
        ):
            raise RunError(lost)
        if not options.allow_changed_tools:
            raise RunError(changed_sentence(changed, found.source, Path(card.path).parent, which))
        sealed = msgspec.structs.replace(checkpoint, tools=seal_tools(pipeline))
        write_checkpoint(found.folder.checkpoint, sealed)
        return sealed

    def _keeps(self, run_id: str, folder: RunFolder) -> bool:
        """Whether the store knows a folder as that of the run."""
        if not self.store.knows(run_id):
            return False
        return Path(self.store.get(run_id).folder).resolve() == folder.path.resolve()

    def _to_resume(self, which: str) -> _Found:
        path = Path(which)
        if path.is_file():
            view = self.store.latest_of(path.absolute())
            if view is None:
                raise RunError(f"No run of {path} can go on. See: reviewer pipeline runs")
            return _Found(RunFolder(Path(view.folder)), read_pipeline(path), path)
        kept = path.absolute() if path.is_dir() else Path(self.store.get(which).folder)
        return _as_it_began(RunFolder(kept))

    def _go(
        self,
        pipeline: Pipeline,
        checkpoint: Checkpoint,
        folder: RunFolder,
        options: RunOptions,
        callbacks: _Callbacks,
        *,
        resumed: bool,
        note: str = "",
    ) -> RunDone:
        """Walk, and keep the outcome in the store. The folder is held by the caller."""
        from reviewer.text.tokens import counter  # late: most runs fit without counting

        run_id, watch = checkpoint.run_id, callbacks.watch or _nobody_watches
        card = folder.card()
        with self.live.open(run_id) as live:
            hands = Hands(
                model=options.model or StandIn(),
                count=lambda text: counter().count(text),
                context_tokens=options.context_tokens,
                folder=Path(card.path).parent,
                watch=watch,
                cancelled=_either(live, callbacks.cancelled),
                ask=callbacks.ask or (live.ask if options.wait else None),
                answers={name: list(given) for name, given in options.answers.items()},
                models=options.models if options.model else {},
            )
            course = Course(
                folder,
                hands,
                _preamble_text,
                self._clock,
                self._pace,
                _limit(options, pipeline, card.max_steps),
            )
            stages = len(checkpoint.logs)
            note = " ".join(filter(None, (note, _unknown_models(pipeline, options))))
            watch(RunStarted(run_id, pipeline.name, str(folder.path), _name(options), stages, note))
            done = Runner(pipeline, course).run(checkpoint, resumed=resumed)
        self.store.change(run_id, done.state, done.node)
        watch(done)
        return done


class _Callbacks(Struct, frozen=True):
    ask: Ask | None
    watch: Watch | None
    cancelled: Callable[[], bool] | None


class _Found(Struct, frozen=True):
    """A run to go on with: its folder, its pipeline, and the file that this was read from."""

    folder: RunFolder
    pipeline: Pipeline
    source: Path
    note: str = ""


def _preamble_text(mode: str, pipeline: Pipeline, checkpoint: Checkpoint, node: str) -> str:
    return build_preamble(mode, pipeline, history_of(checkpoint, pipeline), node).text


def _kept_pipeline(folder: RunFolder) -> Pipeline:
    card = folder.card()
    return msgspec.structs.replace(parse_dot(folder.dot_text(), folder.dot), name=card.name)


def _as_it_began(folder: RunFolder) -> _Found:
    """The pipeline of the file while it says the same as the copy that the run keeps (where secrets
    are masked), else that copy, with a remark.
    """
    kept, path = _kept_pipeline(folder), Path(folder.card().path)
    try:
        now = read_pipeline(path)
    except ReviewerError:
        now = None  # gone, or no pipeline any more: the remark says so
    if now is not None and fingerprint(now) == fingerprint(kept):
        return _Found(folder, now, path)
    note = f"{path} has changed or gone since; the run goes on with the copy it began with."
    return _Found(folder, kept, folder.dot, note)


def _either(live: LiveRun, cancelled: Callable[[], bool] | None) -> Callable[[], bool]:
    if cancelled is None:
        return live.cancelled
    return lambda: live.cancelled() or cancelled()


def _name(options: RunOptions) -> str:
    return (options.model or StandIn()).name


def _unknown_models(pipeline: Pipeline, options: RunOptions) -> str:
    """Which nodes name a model that is not there, and what answers instead; empty for none."""
    if options.model is None:
        return ""
    known = {options.model.name, *options.models}
    nodes = [
        f"{node.name} ({node.llm_model})"
        for node in pipeline.nodes.values()
        if is_model_stage(node) and node.llm_model and node.llm_model not in known
    ]
    if not nodes:
        return ""
    return (
        f"{options.model.name} answers also for {listed(nodes)}: the settings do not know the "
        "models that these nodes name. Add them to others under [model]."
    )


def _limit(options: RunOptions, pipeline: Pipeline, before: int | None = None) -> int:
    """Stages at most: as asked, as the run was started with, or by the size of the pipeline."""
    asked = options.max_steps if options.max_steps is not None else before
    return max(LEAST_STEPS, STEPS_A_NODE * len(pipeline.nodes)) if asked is None else asked


def _nobody_watches(_: Event) -> None:
    return None
