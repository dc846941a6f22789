"""The state of a run, written after every stage and read by a resume."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from reviewer.pipelines.events import RunError
from reviewer.pipelines.forks import Fork
from reviewer.pipelines.run_folder import CHECKPOINT, RunFolder
from reviewer.pipelines.values import Pipeline, RunHistory, Stage


class Checkpoint(Struct, frozen=True):
    """Everything needed to continue a run. `current_node` is the last finished node; `next_node`,
    empty at the end of the run, is reached by the edge `next_edge`. `pipeline` is the SHA-256 of
    the original file; `engine` is who answered; `fork` is the branches in progress.
    """

    run_id: str
    pipeline: str
    timestamp: str
    current_node: str
    completed_nodes: list[str]
    node_retries: dict[str, int]
    context: dict[str, Any]
    logs: list[Stage]
    next_node: str
    next_edge: int | None = None
    engine: str = ""
    max_steps: int | None = None
    fork: Fork | None = None

    @property
    def visible(self) -> list[Stage]:
        """The stages visible to the next one; in a branch, without other branches."""
        return self.logs if self.fork is None else self.fork.visible(self.logs)


def write_checkpoint(folder: RunFolder, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint. Raises RunError."""
    folder.write(CHECKPOINT, msgspec.json.encode(checkpoint))


def read_checkpoint(folder: RunFolder) -> Checkpoint:
    """The checkpoint of a run. Raises RunError if it is missing or damaged."""
    try:
        return msgspec.json.decode(folder.read(CHECKPOINT), type=Checkpoint)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise RunError(
            f"The checkpoint {folder.path / CHECKPOINT} is damaged ({problem}): the run cannot "
            "continue. Start again: reviewer pipeline run FILE"
        ) from problem


def require_fit(checkpoint: Checkpoint, folder: RunFolder, pipeline: Pipeline) -> None:
    """Raise RunError if the checkpoint does not belong to this pipeline."""
    nodes = {checkpoint.next_node, *(stage.node for stage in checkpoint.logs)} - {""}
    edges = {checkpoint.next_edge}
    if checkpoint.fork is not None:
        nodes |= {checkpoint.fork.node, checkpoint.fork.join}
        edges |= {checkpoint.fork.into_join, *checkpoint.fork.edges}
    known = {None, *range(len(pipeline.edges))}
    if not nodes or not nodes <= pipeline.nodes.keys() or not edges <= known:
        raise RunError(
            f"The checkpoint {folder.path / CHECKPOINT} does not belong to the pipeline "
            f"{pipeline.name}. "
            "Start again: reviewer pipeline run FILE"
        )


def history_of(checkpoint: Checkpoint, pipeline: Pipeline) -> RunHistory:
    """The history for the preamble of the next stage. Retries: node -> (done, allowed)."""
    retries = {
        name: (done, pipeline.nodes[name].max_retries if name in pipeline.nodes else done)
        for name, done in checkpoint.node_retries.items()
    }
    return RunHistory(checkpoint.run_id, tuple(checkpoint.visible), checkpoint.context, retries)
