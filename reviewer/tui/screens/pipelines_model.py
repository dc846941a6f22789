"""The rows of a pipeline: its nodes in walking order, with the edges that leave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from reviewer.engine import Pipeline, PipelineNode, Stop, Way


class NodeState(Struct, frozen=True):
    """How a node stands in a run: its latest outcome, how often it ran, what it does now."""

    outcome: str = ""
    word: str = ""
    runs: int = 0
    now: str = ""
    """`runs` or `asks` while the run is in this node, else empty."""


class NodeRow(NamedTuple):
    """A node. `way` is how it is entered, None where nothing leads to it."""

    node: PipelineNode
    way: Way | None
    reachable: bool


class EdgeRow(NamedTuple):
    """An edge, below the node that it leaves. `back`: it returns to an earlier node."""

    way: Way
    back: bool


Row = NodeRow | EdgeRow


class Graph(Struct, frozen=True):
    """A pipeline with its walk and all ways into its nodes."""

    pipeline: Pipeline
    stops: Sequence[Stop]
    ways: Mapping[int, Way]
    """By the index of the edge."""
    into: Mapping[str, tuple[Way, ...]]


class PipelinesModel:
    """Rows with a cursor. Whatever changes, the cursor stays on its node or edge."""

    def __init__(self) -> None:
        self.graph: Graph | None = None
        self.rows: list[Row] = []
        self.cursor = 0
        self.all_edges = False
        self.states: dict[str, NodeState] = {}

    def load(self, graph: Graph | None) -> None:
        """Show another pipeline, or the same one read again."""
        here = self._key()
        self.graph = graph
        self._make_rows(here)

    def show_edges(self, every: bool) -> None:
        """Make every edge a row, or only those of nodes with several."""
        here = self._key()
        self.all_edges = every
        self._make_rows(here)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    @property
    def node(self) -> PipelineNode | None:
        """The node that the row under the cursor is about: of an edge its target."""
        row = self.current
        return None if row is None else row.node if isinstance(row, NodeRow) else row.way.node

    def index_of(self, node: str) -> int | None:
        """The row of a node."""
        return next(
            (
                at
                for at, row in enumerate(self.rows)
                if isinstance(row, NodeRow) and row.node.name == node
            ),
            None,
        )

    def _make_rows(self, here: tuple[str, int] | None) -> None:
        self.rows = []
        if self.graph is not None:
            for stop in self.graph.stops:
                into = self.graph.into.get(stop.node.name, ())
                self.rows.append(NodeRow(stop.node, into[0] if into else None, stop.reachable))
                if self.all_edges or len(stop.edges) > 1:
                    self.rows += [
                        EdgeRow(self.graph.ways[edge.index], edge.index in stop.back)
                        for edge in stop.edges
                    ]
        self.cursor = max(min(self.cursor, len(self.rows) - 1), 0)
        if here is not None:
            keys = [key_of(row) for row in self.rows]
            if here in keys:
                self.cursor = keys.index(here)
            elif (here[0], -1) in keys:
                self.cursor = keys.index((here[0], -1))

    def _key(self) -> tuple[str, int] | None:
        return None if self.current is None else key_of(self.current)


def key_of(row: Row) -> tuple[str, int]:
    """What a row is recognised by: the node's name, and which of its outgoing edges (-1: none)."""
    if isinstance(row, NodeRow):
        return row.node.name, -1
    edge = row.way.edge
    assert edge is not None
    return edge.source, edge.index
