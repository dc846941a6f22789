"""The checkpoint of a run, written after every stage: what a resume goes on from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.pipelines.events import CheckpointError
from reviewer.pipelines.run_folder import RunFolder, read_run_file, write_run_file
from reviewer.pipelines.values import Pipeline, RunHistory, Stage


class Checkpoint(Struct, frozen=True):
    """Everything that a run needs to go on. `current_node` ended last; `next_node`, empty at the
    end of the run, is reached by the edge `next_edge`. `pipeline` is the fingerprint.
    """

    run_id: str
    pipeline: str
    pipeline_name: str
    timestamp: str
    current_node: str
    completed_nodes: list[str]
    node_retries: dict[str, int]
    context: dict[str, Any]
    logs: list[Stage]
    next_node: str
    next_edge: int | None = None
    version: int = 1
    seal: str = ""

    @property
    def finished(self) -> bool:
        """Whether no stage follows."""
        return not self.next_node


def write_checkpoint(folder: RunFolder, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint; a crash leaves the old one or the new one.

    Raises RunError when it cannot be written.
    """
    sealed = msgspec.structs.replace(checkpoint, seal=_seal(folder, checkpoint))
    write_run_file(folder.checkpoint, msgspec.json.encode(sealed))


def _seal(folder: RunFolder, checkpoint: Checkpoint) -> str:
    return folder.seal(msgspec.json.encode(msgspec.structs.replace(checkpoint, seal="")))


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file. Raises CheckpointError when it is missing or damaged, RunError when
    its folder belongs to another user.
    """
    try:
        data = read_run_file(path)
    except OSError as problem:
        raise CheckpointError(
            f"The checkpoint {path} cannot be read: {problem.strerror}."
        ) from problem
    try:
        return msgspec.json.decode(data, type=Checkpoint)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise CheckpointError(
            f"The checkpoint {path} is cut or damaged ({problem}): the run cannot go on from it. "
            "Start again: reviewer pipeline run FILE"
        ) from problem


def fingerprint(pipeline: Pipeline) -> str:
    """SHA-256 (hex) of a pipeline without its layout, comments and remarks.

    Secrets are masked first, because they are masked in the copy that a run keeps.
    """
    from reviewer.text.secrets import mask  # late: its patterns take a while

    nodes = [msgspec.structs.replace(node, line=0) for _, node in sorted(pipeline.nodes.items())]
    edges = [msgspec.structs.replace(edge, line=0) for edge in pipeline.edges]
    content = (
        pipeline.name,
        pipeline.goal,
        nodes,
        edges,
        pipeline.default_fidelity,
        pipeline.default_thread_id,
        pipeline.attributes,
    )
    text = msgspec.json.encode(content, order="deterministic").decode()
    return hashlib.sha256(mask(text).text.encode()).hexdigest()


def require_own(checkpoint: Checkpoint, folder: RunFolder, pipeline: Pipeline) -> None:
    """Raise CheckpointError unless the run has written the checkpoint, with this pipeline."""
    if checkpoint.seal != _seal(folder, checkpoint):
        raise CheckpointError(
            f"The checkpoint {folder.checkpoint} is not as the run has written it: somebody has "
            "edited or replaced it. Start again: reviewer pipeline run FILE"
        )
    if checkpoint.pipeline == fingerprint(pipeline):
        return
    raise CheckpointError(
        f"The pipeline {pipeline.name} has changed since run {checkpoint.run_id} began. Go on with "
        f"the copy that it began with: reviewer pipeline resume {checkpoint.run_id}"
    )


def history_of(checkpoint: Checkpoint, pipeline: Pipeline) -> RunHistory:
    """The run as preambles see it."""
    return RunHistory(
        checkpoint.run_id,
        tuple(checkpoint.logs),
        checkpoint.context,
        retries_of(checkpoint, pipeline),
    )


def retries_of(checkpoint: Checkpoint, pipeline: Pipeline) -> dict[str, tuple[int, int]]:
    """Further attempts by node: how many there were, and how many are allowed."""
    return {
        name: (done, pipeline.nodes[name].max_retries if name in pipeline.nodes else done)
        for name, done in checkpoint.node_retries.items()
    }
