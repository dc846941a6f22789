"""A run at one moment, as a file that is whole or not there (context-fidelity.md, "Resume")."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.pipelines.run_errors import CheckpointError
from reviewer.pipelines.run_files import read_whole, write_whole
from reviewer.pipelines.tool_seal import ToolSeal
from reviewer.pipelines.values import Outcome, Pipeline, RunHistory, Stage, ToolCall

NOTES = 2_000
"""Characters of a stage's notes that a checkpoint keeps; its folder has all of them."""


class LogEntry(Struct, frozen=True, omit_defaults=True):
    """A stage that has ended. `thread` names the session that it had, empty for one of its own;
    `degraded`: a resume had lost that session. `folder` is below the run's.
    """

    step: int
    node: str
    handler: str
    at: str
    outcome: Outcome
    word: str
    fidelity: str
    notes: str = ""
    thread: str = ""
    degraded: bool = False
    preferred_label: str = ""
    tools: tuple[ToolCall, ...] = ()
    duration_s: float = 0.0
    attempts: int = 1
    folder: str = ""
    edge: int | None = None
    rule: str = ""
    remark: str = ""


class Checkpoint(Struct, frozen=True):
    """Everything that a run needs to go on. `current_node` is the last that ended; `next_node`,
    empty at the end of the run, is reached by the edge `next_edge`. `pipeline` is the fingerprint,
    `tools` the shell commands that were allowed (None: by a version that did not keep them).
    """

    run_id: str
    pipeline: str
    pipeline_name: str
    timestamp: str
    current_node: str
    completed_nodes: list[str]
    node_retries: dict[str, int]
    context: dict[str, Any]
    logs: list[LogEntry]
    next_node: str
    next_edge: int | None = None
    version: int = 1
    tools: ToolSeal | None = None

    @property
    def finished(self) -> bool:
        """Whether no stage follows."""
        return not self.next_node


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Checkpoint)


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Put the checkpoint in the place of the one before it; a crash leaves one of the two.

    Raises RunError when it cannot be written.
    """
    write_whole(path, _encoder.encode(checkpoint))


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint of a file. Raises CheckpointError when it is missing, cut or none, RunError
    when its folder belongs to another user.
    """
    try:
        data = read_whole(path)
    except OSError as problem:
        raise CheckpointError(
            f"The checkpoint {path} cannot be read: {problem.strerror}."
        ) from problem
    try:
        found = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise CheckpointError(
            f"The checkpoint {path} is cut or damaged ({problem}): the run cannot go on from it. "
            "Begin anew: reviewer pipeline run FILE"
        ) from problem
    if len(found.completed_nodes) != len(found.logs):
        raise CheckpointError(
            f"The checkpoint {path} is damaged: it names {len(found.completed_nodes)} completed "
            f"stages and tells of {len(found.logs)}. Begin anew: reviewer pipeline run FILE"
        )
    return found


def fingerprint(pipeline: Pipeline) -> str:
    """SHA-256 (hex) of what a pipeline says; layout, comments and lint remarks do not count.

    Secrets count as masked, because the copy that a run keeps has them masked.
    """
    from reviewer.text.secrets import mask  # late: its patterns take a while

    nodes = [msgspec.structs.replace(node, line=0) for _, node in sorted(pipeline.nodes.items())]
    edges = [msgspec.structs.replace(edge, line=0) for edge in pipeline.edges]
    said = (
        pipeline.name,
        pipeline.goal,
        nodes,
        edges,
        pipeline.default_fidelity,
        pipeline.default_thread_id,
        pipeline.attributes,
    )
    text = msgspec.json.encode(said, order="deterministic").decode()
    return hashlib.sha256(mask(text).text.encode()).hexdigest()


def require_same_pipeline(checkpoint: Checkpoint, pipeline: Pipeline) -> None:
    """Raise CheckpointError unless the checkpoint was made with this pipeline."""
    if checkpoint.pipeline == fingerprint(pipeline):
        if checkpoint.next_node and checkpoint.next_node not in pipeline.nodes:
            raise CheckpointError(
                f"The checkpoint of run {checkpoint.run_id} goes on at {checkpoint.next_node}, "
                f"which the pipeline {pipeline.name} does not have."
            )
        if not _fits(checkpoint, pipeline):
            raise CheckpointError(
                f"The checkpoint of run {checkpoint.run_id} is damaged: it names stages or edges "
                f"that the pipeline {pipeline.name} does not have."
            )
        return
    if checkpoint.pipeline_name != pipeline.name:
        raise CheckpointError(
            f"The checkpoint belongs to another pipeline: run {checkpoint.run_id} is of "
            f"{checkpoint.pipeline_name}, the file holds {pipeline.name}."
        )
    raise CheckpointError(
        f"The pipeline {pipeline.name} has changed since run {checkpoint.run_id} began. Go on with "
        f"the copy that it began with: reviewer pipeline resume {checkpoint.run_id}"
    )


def _fits(checkpoint: Checkpoint, pipeline: Pipeline) -> bool:
    edge, logs = checkpoint.next_edge, checkpoint.logs
    return (
        (edge is None or 0 <= edge < len(pipeline.edges))
        and all(entry.node in pipeline.nodes for entry in logs)
        and bool(logs or checkpoint.next_node)
    )


def history_of(checkpoint: Checkpoint, pipeline: Pipeline) -> RunHistory:
    """What preambles tell of a run."""
    return RunHistory(
        run_id=checkpoint.run_id,
        completed=tuple(
            Stage(entry.node, entry.outcome, entry.notes, entry.tools, entry.duration_s)
            for entry in checkpoint.logs
        ),
        context=checkpoint.context,
        retries={
            name: (done, pipeline.nodes[name].max_retries if name in pipeline.nodes else done)
            for name, done in checkpoint.node_retries.items()
        },
    )
