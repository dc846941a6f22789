"""`engine.pipelines`: starts, resumes and lists runs, and reads their conversations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import ReviewerError
from reviewer.pipelines.commands import command_of
from reviewer.pipelines.dot import parse_dot, pipeline_text
from reviewer.pipelines.events import (
    RunDone,
    RunError,
    RunStarted,
)
from reviewer.pipelines.handlers import clean_text, is_model_stage, require_answers
from reviewer.pipelines.options import RunOptions, StandIn
from reviewer.pipelines.preamble import masked
from reviewer.pipelines.run_folder import (
    PIPELINE,
    PROMPT,
    RESPONSE,
    Checkpoint,
    RunFolder,
    history_of,
    require_fit,
)
from reviewer.pipelines.run_store import RunStore, RunView
from reviewer.pipelines.runner import Runner, Timing
from reviewer.pipelines.values import Handler, Pipeline, RunHistory
from reviewer.pipelines.walk import nodes_with
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import some_of
from reviewer.text.placeholder import MASK

_SHOWN = 5
_REFUSED = (
    "empty", "no-name", "no-start", "two-starts", "no-exit", "condition", "unsupported-handler",
    "no-command",
)  # fmt: skip
"""Remarks of `lint.py` that prevent a run."""


class StageTurn(Struct, frozen=True):
    """The prompt and answer of a stage. `thread` is empty without a shared session."""

    step: int
    node: str
    thread: str
    prompt: str
    answer: str


class Pipelines:
    """The runs of pipelines.

    A run blocks the thread that starts or resumes it.
    """

    def __init__(
        self, database: Database, ledger: Ledger, clock: Clock, *, timing: Timing | None = None
    ) -> None:
        self._clock = clock
        self._store = RunStore(database, ledger, clock)
        self._timing = timing or Timing()

    def start_run(self, path: Path, project: str, options: RunOptions | None = None) -> RunDone:
        """Run the pipeline of a file until it ends or pauses; blocks.

        Raises RunError if it cannot start, DotError if the file is not a pipeline.
        """
        options = options or RunOptions()
        path = path.absolute()
        text = pipeline_text(path)
        pipeline = parse_dot(text, path)
        _require_runnable(pipeline, options)
        _require_plain_names(pipeline, options.context)
        folder = RunFolder(self._store.new_folder(pipeline.name))
        folder.write(PIPELINE, clean_text(text).encode("utf-8", "replace"))
        checkpoint = Checkpoint(
            run_id=folder.path.name,
            pipeline=_hash(text),
            timestamp=iso(self._clock()),
            current_node="",
            completed_nodes=[],
            node_retries={},
            context={key: clean_text(value) for key, value in options.context.items()},
            logs=[],
            next_node=nodes_with(pipeline, Handler.START)[0],
            engine=options.answering("").name,
            max_steps=options.max_steps,
        )
        with folder.locked():
            folder.write_checkpoint(checkpoint)
            self._store.register(project, path, pipeline.name, folder.path, checkpoint.next_node)
            return self._go(pipeline, path, folder, checkpoint, options)

    def resume_run(self, which: str, options: RunOptions | None = None) -> RunDone:
        """Resume a run by its id, or the latest of a pipeline file; blocks.

        By id, the run continues with its original pipeline, whatever the file contains now; a file
        must be unchanged. Raises RunError, UnknownIdError.
        """
        options = options or RunOptions()
        view = self._to_resume(which)
        folder = _folder(view)
        with folder.locked():
            checkpoint = folder.checkpoint()
            pipeline, note = _as_it_began(view, checkpoint, by_file=Path(which).is_file())
            require_fit(checkpoint, folder, pipeline)
            _require_runnable(pipeline, options)
            if view.state == "done":
                raise RunError(f"The run {view.run_id} has already reached its exit.")
            self._store.change(view.run_id, "running", checkpoint.next_node)
            return self._go(
                pipeline, Path(view.path), folder, checkpoint, options, resumed=True, note=note
            )

    def _go(
        self,
        pipeline: Pipeline,
        path: Path,
        folder: RunFolder,
        checkpoint: Checkpoint,
        options: RunOptions,
        *,
        resumed: bool = False,
        note: str = "",
    ) -> RunDone:
        """Run, and record the outcome in the store. The caller has locked the folder."""
        runner = Runner(
            pipeline,
            folder,
            path.parent,
            checkpoint,
            options,
            clock=self._clock,
            timing=self._timing,
            resumed=resumed,
        )
        options.watch(
            RunStarted(
                checkpoint.run_id,
                pipeline.name,
                str(folder.path),
                options.answering("").name,
                len(checkpoint.logs),
                " ".join(filter(None, (note, _unknown_models(pipeline, options)))),
            )
        )
        done = runner.run()
        self._store.change(checkpoint.run_id, done.state, done.node)
        options.watch(done)
        return done

    def runs(self, project: str | None = None) -> list[RunView]:
        """The runs of the store, newest first."""
        return self._store.all(project)

    def run(self, run_id: str) -> RunView:
        """A run by its id or a unique prefix of it. Raises UnknownIdError."""
        return self._store.get(run_id)

    def is_offline(self, which: str) -> bool:
        """Whether the offline stand-in answered a run to resume."""
        return _folder(self._to_resume(which)).checkpoint().engine == StandIn.name

    def pipeline_of(self, run_id: str) -> Pipeline:
        """The copy of a run's original pipeline. Raises UnknownIdError, RunError."""
        return _copy(self._store.get(run_id))

    def checkpoint(self, run_id: str) -> Checkpoint:
        """The latest checkpoint of a run. Raises UnknownIdError, RunError."""
        return _folder(self._store.get(run_id)).checkpoint()

    def history_of(self, run_id: str) -> RunHistory:
        """The history of a run for preambles. Raises UnknownIdError, RunError."""
        return history_of(self.checkpoint(run_id), self.pipeline_of(run_id))

    def conversation(self, run_id: str) -> tuple[StageTurn, ...]:
        """The prompts and answers of all stages, in order. Raises what `checkpoint` raises, and
        RunError.
        """
        folder = _folder(self._store.get(run_id))
        turns = (
            StageTurn(
                stage.step,
                stage.node,
                stage.thread,
                folder.text(stage, PROMPT),
                folder.text(stage, RESPONSE),
            )
            for stage in folder.checkpoint().logs
        )
        return tuple(turn for turn in turns if turn.answer)

    def _to_resume(self, which: str) -> RunView:
        path = Path(which)
        return self._store.latest_of(path.absolute()) if path.is_file() else self.run(which)


def _folder(view: RunView) -> RunFolder:
    return RunFolder(Path(view.folder))


def _copy(view: RunView) -> Pipeline:
    """The copy of the pipeline in a run's folder, with secrets masked. Raises RunError."""
    data = _folder(view).read(PIPELINE)
    return parse_dot(data.decode("utf-8", "replace"), Path(view.path))


def _as_it_began(view: RunView, checkpoint: Checkpoint, *, by_file: bool) -> tuple[Pipeline, str]:
    """The pipeline of the file if unchanged since the start; else the run's copy, with a note.

    Raises RunError if a secret is masked in a shell command of the copy, or if the run was named by
    the file.
    """
    path, text = Path(view.path), ""
    with suppress(ReviewerError):  # if it is gone, the note says so
        text = pipeline_text(path)
    if _hash(text) == checkpoint.pipeline:
        return parse_dot(text, path), ""
    if by_file:
        raise RunError(
            f"The pipeline {path} has changed since run {view.run_id} started. Resume with its "
            f"original: reviewer pipeline resume {view.run_id}"
        )
    copy = _copy(view)
    cut = [node.name for node in copy.nodes.values() if MASK in command_of(node)]
    if cut:
        raise RunError(
            f"The shell command of {some_of(cut)} contains a secret, which is masked in the run's "
            f"copy of the pipeline, and {path} has changed or is gone. Restore that file, then "
            "resume again."
        )
    return copy, f"{path} has changed or is gone; the run continues with its original."


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _require_runnable(pipeline: Pipeline, options: RunOptions) -> None:
    """Raise RunError with all problems that would stop a run halfway, or for invalid answers."""
    refused = _REFUSED if options.allow_tools else (*_REFUSED, "shell")
    problems = [str(remark) for remark in pipeline.warnings if remark.rule in refused]
    if problems:
        more = f" And {len(problems) - _SHOWN:,} more." if len(problems) > _SHOWN else ""
        said = " ".join(problems[:_SHOWN]) + more
        raise RunError(f"The pipeline {pipeline.name} cannot run. {said}")
    require_answers(pipeline, options.answers)


def _require_plain_names(pipeline: Pipeline, context: Iterable[str]) -> None:
    """Raise RunError for a name with a secret: names are used for folders and keys, which cannot be
    masked.
    """
    for name in (pipeline.name, *pipeline.nodes, *context):
        if (shown := masked(name)) != name:
            raise RunError(f"The name {shown} has a secret in it. Rename it.")


def _unknown_models(pipeline: Pipeline, options: RunOptions) -> str:
    """A sentence about nodes with a model that is not configured; empty if there are none."""
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
        f"{options.model.name} also answers for {some_of(nodes)}: the models of these nodes are "
        "not configured. Add them to others under [model]."
    )
