"""`engine.pipelines`: starts, resumes and lists runs, and reads their conversations."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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
    require_own,
    write_checkpoint,
)
from reviewer.pipelines.dot import parse_dot, pipeline_text, read_pipeline
from reviewer.pipelines.events import Ask, Event, RunDone, RunError, RunStarted, Watch
from reviewer.pipelines.handlers import (
    StageServices,
    StandIn,
    Timing,
    clean_text,
    command_of,
    is_model_stage,
)
from reviewer.pipelines.lint import listed
from reviewer.pipelines.run_folder import RunCard, RunFolder, write_run_file
from reviewer.pipelines.run_store import RunStore, RunView
from reviewer.pipelines.runner import (
    Runner,
    require_answers,
    require_plain_names,
    require_runnable,
)
from reviewer.pipelines.values import TOOL, Pipeline, RunHistory, plain_name
from reviewer.pipelines.walk import start_nodes
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.text.placeholder import MASK

if TYPE_CHECKING:
    from reviewer.commits.values import ImportResult

CONTEXT_TOKENS = 8_192
MIN_STEPS = 1_000
STEPS_A_NODE = 4


class RunOptions(Struct, frozen=True):
    """How to run.

    Without a `model` the offline stand-in answers; `models` are others by name, for nodes that name
    one. `context_tokens`: the size of the model's context, prompt and answer together. `answers`:
    given in advance, by node, used in order. `context`: what a run begins with. `max_steps`: the
    most stages (None: as the run was started with, else 1,000, or four for each node if that is
    more). A run pauses where `ask` does not answer a question.
    """

    model: ChatModel | None = None
    models: dict[str, ChatModel] = {}
    context_tokens: int = CONTEXT_TOKENS
    answers: dict[str, list[str]] = {}
    context: dict[str, str] = {}
    allow_tools: bool = False
    max_steps: int | None = None
    run_dir: Path | None = None


class StageTurn(Struct, frozen=True):
    """A prompt of a stage and its answer. `thread` is empty for a session of its own."""

    step: int
    node: str
    thread: str
    prompt: str
    answer: str


class Pipelines:
    """The runs of pipelines.

    A run blocks the thread that starts or resumes it, and calls its callbacks in that thread:
    `watch` with each event, `ask` with a question, `cancelled` to see whether to end.
    """

    def __init__(
        self, database: Database, ledger: Ledger, clock: Clock, *, timing: Timing | None = None
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._store = RunStore(database, ledger, clock)
        self._timing = timing or Timing()

    def start_run(
        self,
        path: Path,
        project: str,
        options: RunOptions | None = None,
        *,
        ask: Ask | None = None,
        watch: Watch | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RunDone:
        """Run the pipeline of a file until it ends or pauses; blocks.

        Raises RunError when it cannot start, DotError when the file is not a pipeline.
        """
        options = options or RunOptions()
        path = path.absolute()
        text = pipeline_text(path)
        pipeline = parse_dot(text, path)
        require_runnable(pipeline, allow_tools=options.allow_tools)
        require_answers(pipeline, options.answers)
        require_plain_names(pipeline, options.context)
        now, callbacks = iso(self._clock()), _Callbacks(ask, watch, cancelled)
        run_id, key = self._store.new_id(pipeline.name), secrets.token_hex(16)
        place = options.run_dir or self._store.folder_of(run_id)
        folder = RunFolder(place.absolute(), key)
        limit = _limit(options, pipeline)
        card = RunCard(run_id, str(path), pipeline.name, project, _name(options), now, limit)
        card = msgspec.structs.replace(card, seal=_seal(folder, card, pipeline))
        folder.create(card, clean_text(text))
        with folder.locked():
            checkpoint = _first_checkpoint(card, pipeline, options)
            write_checkpoint(folder, checkpoint)
            self._store.register(
                run_id,
                project=project,
                path=path,
                name=pipeline.name,
                folder=folder.path,
                node=checkpoint.next_node,
                key=key,
            )
            return self._go(pipeline, checkpoint, folder, options, callbacks, resumed=False)

    def resume_run(
        self,
        which: str,
        options: RunOptions | None = None,
        *,
        ask: Ask | None = None,
        watch: Watch | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RunDone:
        """Continue a run of this store: its id, its folder, or its pipeline file (its latest run);
        blocks.

        By id or folder, the pipeline is the one that the run began with, whatever the file says
        now; a file must still say the same.

        Raises RunError, CheckpointError, UnknownIdError.
        """
        options = options or RunOptions()
        found = self._to_resume(which)
        pipeline, card = found.pipeline, found.folder.card()
        view = self._store.get(card.run_id)
        folder = RunFolder(found.folder.path, self._store.key_of(view.run_id))
        require_runnable(pipeline, allow_tools=options.allow_tools)
        require_answers(pipeline, options.answers)
        with folder.locked():
            checkpoint = read_checkpoint(folder.checkpoint)
            require_own(checkpoint, folder, pipeline)
            if card.seal != _seal(folder, card, pipeline):
                raise RunError(
                    f"{folder.path / 'run.json'} or the shell commands are not as they were when "
                    f"the run began. Read {folder.dot}; to run it, start it anew: reviewer "
                    f"pipeline run {folder.dot} --allow-tools"
                )
            if view.state == "done":
                raise RunError(f"The run {view.run_id} has reached its exit; nothing is left.")
            self._store.change(view.run_id, "running", checkpoint.next_node)
            callbacks = _Callbacks(ask, watch, cancelled)
            return self._go(
                pipeline, checkpoint, folder, options, callbacks, resumed=True, note=found.note
            )

    def runs(self, project: str | None = None) -> list[RunView]:
        """The runs of the store, newest first."""
        return self._store.all(project)

    def run(self, run_id: str) -> RunView:
        """A run by its id or the beginning of it. Raises UnknownIdError."""
        return self._store.get(run_id)

    def is_offline(self, which: str) -> bool:
        """Whether a run to resume was answered by the offline stand-in."""
        return self._to_resume(which).folder.card().engine == StandIn.name

    def pipeline_of(self, run_id: str) -> Pipeline:
        """The pipeline that a run began with. Raises UnknownIdError, RunError."""
        return _kept_pipeline(RunFolder(Path(self._store.get(run_id).folder)))

    def checkpoint(self, run_id: str) -> Checkpoint:
        """The latest checkpoint of a run. Raises UnknownIdError, CheckpointError."""
        return read_checkpoint(RunFolder(Path(self._store.get(run_id).folder)).checkpoint)

    def history_of(self, run_id: str) -> RunHistory:
        """A run as preambles see it. Raises UnknownIdError, CheckpointError."""
        return history_of(self.checkpoint(run_id), self.pipeline_of(run_id))

    def conversation(self, run_id: str, thread: str | None = None) -> tuple[StageTurn, ...]:
        """The questions and answers in a thread, or in all stages, in order.

        Raises UnknownIdError, CheckpointError, and RunError when the run has no such thread.
        """
        folder = RunFolder(Path(self._store.get(run_id).folder))
        logs = read_checkpoint(folder.checkpoint).logs
        threads = sorted({entry.thread for entry in logs if entry.thread})
        if thread is not None and thread not in threads:
            names = ", ".join(threads) or "none"
            raise RunError(f"The run {run_id} has no thread {thread}. Its threads: {names}.")
        turns = (
            StageTurn(
                entry.step,
                entry.node,
                entry.thread,
                folder.text(entry, "prompt.md"),
                folder.text(entry, "response.md"),
            )
            for entry in logs
            if thread is None or entry.thread == thread
        )
        return tuple(turn for turn in turns if turn.answer)

    def import_conversation(
        self, run_id: str, thread: str | None = None, *, name: str | None = None
    ) -> ImportResult:
        """Open a thread of a run, or all its stages, as a context; again, it adds what is new.

        The commits of the context come from a chat file in the run's folder. Raises UnknownIdError,
        CheckpointError, and RunError when no stage has answered yet.
        """
        from reviewer.commits.contexts import Contexts  # late: it takes long, and runs do without

        view = self._store.get(run_id)
        turns = self.conversation(view.run_id, thread)
        if not turns:
            raise RunError(f"No stage of the run {view.run_id} has answered anything yet.")
        messages = [
            message
            for turn in turns
            for message in (
                {"role": "user", "content": turn.prompt},
                {"role": "assistant", "name": turn.node, "content": turn.answer},
            )
            if message["content"]
        ]
        path = Path(view.folder) / f"conversation-{plain_name(thread or 'all')}.json"
        write_run_file(path, msgspec.json.format(msgspec.json.encode(messages)))
        title = f"{view.run_id} {thread}" if thread else view.run_id
        return Contexts(self._database, self._ledger, self._clock).import_file(
            path, project=view.project, name=name or title
        )

    def _to_resume(self, which: str) -> _Found:
        path = Path(which)
        if path.is_file():
            view = self._store.latest_of(path.absolute())
            return _Found(RunFolder(Path(view.folder)), read_pipeline(path))
        kept = path.absolute() if path.is_dir() else Path(self._store.get(which).folder)
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
        """Run, and record the outcome in the store. The caller has locked the folder."""
        from reviewer.text.tokens import counter  # late: most runs fit without counting

        run_id, watch = checkpoint.run_id, callbacks.watch or _nobody_watches
        card = folder.card()
        services = StageServices(
            model=options.model or StandIn(),
            count=lambda text: counter().count(text),
            context_tokens=options.context_tokens,
            folder=Path(card.path).parent,
            watch=watch,
            cancelled=callbacks.cancelled or _never,
            ask=callbacks.ask,
            answers={name: list(given) for name, given in options.answers.items()},
            models=options.models if options.model else {},
        )
        runner = Runner(
            pipeline,
            folder,
            services,
            checkpoint,
            clock=self._clock,
            timing=self._timing,
            max_steps=_limit(options, pipeline, card.max_steps),
        )
        stages = len(checkpoint.logs)
        note = " ".join(filter(None, (note, _unknown_models(pipeline, options))))
        watch(RunStarted(run_id, pipeline.name, str(folder.path), _name(options), stages, note))
        done = runner.run(resumed=resumed)
        self._store.change(run_id, done.state, done.node)
        watch(done)
        return done


class _Callbacks(Struct, frozen=True):
    ask: Ask | None
    watch: Watch | None
    cancelled: Callable[[], bool] | None


class _Found(Struct, frozen=True):
    """A run to continue, and its pipeline."""

    folder: RunFolder
    pipeline: Pipeline
    note: str = ""


def _seal(folder: RunFolder, card: RunCard, pipeline: Pipeline) -> str:
    """The seal of a run's settings and of its shell commands with their secrets, which the copy of
    the pipeline has not.
    """
    nodes = sorted(pipeline.nodes.items())
    commands = [(name, command_of(node)) for name, node in nodes if node.handler == TOOL]
    plain = msgspec.structs.replace(card, seal="")
    return folder.seal(msgspec.json.encode((plain, commands)))


def _first_checkpoint(card: RunCard, pipeline: Pipeline, options: RunOptions) -> Checkpoint:
    return Checkpoint(
        run_id=card.run_id,
        pipeline=fingerprint(pipeline),
        pipeline_name=pipeline.name,
        timestamp=card.started_at,
        current_node="",
        completed_nodes=[],
        node_retries={},
        context={key: clean_text(value) for key, value in options.context.items()},
        logs=[],
        next_node=start_nodes(pipeline)[0],
    )


def _kept_pipeline(folder: RunFolder) -> Pipeline:
    card = folder.card()
    return msgspec.structs.replace(parse_dot(folder.dot_text(), folder.dot), name=card.name)


def _as_it_began(folder: RunFolder) -> _Found:
    """The pipeline of the original file if it still says the same as the copy in the run's folder,
    in which secrets are masked; else that copy, with a note. Raises RunError where a shell command
    of the copy lacks its secret.
    """
    kept, path = _kept_pipeline(folder), Path(folder.card().path)
    try:
        now = read_pipeline(path)
    except ReviewerError:
        now = None  # gone, or not a pipeline any more; the note says so
    if now is not None and fingerprint(now) == fingerprint(kept):
        return _Found(folder, now)
    masked = [node.name for node in kept.nodes.values() if MASK in command_of(node)]
    if masked:
        raise RunError(
            f"The shell command of {listed(masked)} has a secret in it, which the run's own copy "
            f"of the pipeline does not keep, and {path} has changed or gone since. Put that file "
            "back as it was, and resume again."
        )
    note = f"{path} has changed or gone since; the run goes on with the copy it began with."
    return _Found(folder, kept, note)


def _name(options: RunOptions) -> str:
    return (options.model or StandIn()).name


def _unknown_models(pipeline: Pipeline, options: RunOptions) -> str:
    """A sentence about nodes that name a model that the settings do not have; or empty."""
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
        f"{options.model.name} also answers for {listed(nodes)}: the settings do not know the "
        "models that these nodes name. Add them to others under [model]."
    )


def _limit(options: RunOptions, pipeline: Pipeline, before: int | None = None) -> int:
    """The most stages: as asked, else as the run was started with, else by size."""
    asked = options.max_steps if options.max_steps is not None else before
    return max(MIN_STEPS, STEPS_A_NODE * len(pipeline.nodes)) if asked is None else asked


def _nobody_watches(_: Event) -> None:
    return None


def _never() -> bool:
    return False
