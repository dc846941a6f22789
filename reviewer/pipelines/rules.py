"""What can be said of a pipeline without a store: for faces, which import no rule themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reviewer.errors import UnknownIdError
from reviewer.pipelines.history_thread import Carried, carried, way_of_run
from reviewer.pipelines.resolve import Way, way_through, ways
from reviewer.pipelines.values import (
    MODES,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    Preamble,
    RunHistory,
)
from reviewer.pipelines.walk import Stop, walk


class PipelineRules:
    """Pure functions under one name; `path` is the only thing that is read."""

    modes = MODES

    def read(self, path: Path) -> Pipeline:
        """The pipeline of a DOT file. Raises DotError with line and column, or ReviewerError."""
        from reviewer.pipelines.dot import read_pipeline

        return read_pipeline(path)

    def shown(self, pipeline: Pipeline) -> Pipeline:
        """The pipeline as it may be shown and handed out: its secrets are masked."""
        from reviewer.pipelines.showing import without_secrets

        return without_secrets(pipeline)

    def read_history(self, path: Path) -> RunHistory:
        """The run of a JSON file or of a run's folder. Raises HistoryError."""
        from reviewer.pipelines.history import read_history

        return read_history(path)

    def walk(self, pipeline: Pipeline) -> tuple[Stop, ...]:
        """All nodes in walking order with the edges that leave them."""
        return walk(pipeline)

    def ways(self, pipeline: Pipeline) -> Iterator[Way]:
        """Fidelity and thread of each edge's target, and the rules that decided."""
        return ways(pipeline)

    def way(self, pipeline: Pipeline, edge: PipelineEdge) -> Way:
        """Fidelity and thread of one edge's target."""
        return way_through(pipeline, edge, pipeline.nodes[edge.target])

    def way_of_run(self, pipeline: Pipeline, history: RunHistory, node: str) -> Way:
        """How `node` would be entered after a run. Raises UnknownIdError."""
        return way_of_run(pipeline, history, self.node(pipeline, node))

    def node(self, pipeline: Pipeline, name: str) -> PipelineNode:
        """The node of that name. Raises UnknownIdError with names that are near."""
        if name in pipeline.nodes:
            return pipeline.nodes[name]
        from difflib import get_close_matches

        near = get_close_matches(name, pipeline.nodes, n=3) or list(pipeline.nodes)[:8]
        hint = f" It has: {', '.join(near)}." if near else " It has none."
        raise UnknownIdError(f"{pipeline.name} has no node {name!r}.{hint}")

    def preamble(self, pipeline: Pipeline, mode: str, history: RunHistory, node: str) -> Preamble:
        """The text that a fresh session begins with. Raises UnknownIdError, ReviewerError."""
        from reviewer.pipelines.preamble import build_preamble

        return build_preamble(mode, pipeline, history, self.node(pipeline, node).name)

    def carried(self, pipeline: Pipeline, history: RunHistory, way: Way) -> Carried:
        """What the thread of `way` would carry in `full` mode, and a resume would lose."""
        return carried(pipeline, history, way)

    def tokens(self, text: str) -> int:
        """Tokens of a text, as ceilings count them."""
        from reviewer.text.tokens import counter

        return counter().count(text)
