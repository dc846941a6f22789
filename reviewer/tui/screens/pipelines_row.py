"""The row under the cursor of the Pipelines screen: the ways into its node, what the node gets.

The cursor moves first; what the node gets is read in a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.text.display import display_line
from reviewer.tui.kit.text import count
from reviewer.tui.resting import Resting
from reviewer.tui.screens.pipelines_files import read_handed
from reviewer.tui.screens.pipelines_model import EdgeRow, NodeRow
from reviewer.tui.screens.pipelines_values import Handed

if TYPE_CHECKING:
    from reviewer.engine import Way
    from reviewer.tui.screens.pipelines import PipelinesScreen


class RowReading:
    """Reads for the panes beside the list of a `PipelinesScreen`."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.handed: Handed | None = None
        self.way_number = 0
        """Which of the ways into the node is explained."""
        self._resting = Resting(screen, self.show)

    def follow(self) -> None:
        """The cursor moved: show its way at once, or while skimming when it rests."""
        self.way_number = 0
        self._resting.moved()

    def show(self) -> None:
        """Draw the way, and read what the node gets."""
        self._screen.showing.draw_way()
        self.read_handed()

    def ways(self) -> Sequence[Way]:
        """The ways into the node of the row; of an edge's row the edge alone."""
        row, graph = self._screen.model.current, self._screen.model.graph
        if row is None or graph is None:
            return ()
        if isinstance(row, EdgeRow):
            return (row.way,)
        return graph.into.get(row.node.name, ())

    def way(self) -> Way | None:
        """The way that is explained."""
        ways = self.ways()
        return ways[self.way_number % len(ways)] if ways else None

    def next_way(self) -> None:
        """Explain the next way into the node."""
        self.way_number = (self.way_number + 1) % max(len(self.ways()), 1)
        way = self.way()
        if way is not None and way.edge is not None:
            self._screen.say(
                f"Entered from {display_line(way.edge.source)}: way {self.way_number + 1} of "
                f"{count(len(self.ways()), 'way')}."
            )
        self.show()

    def switch_edges(self) -> None:
        """Every edge as a row, or only where a node has several."""
        model = self._screen.model
        model.show_edges(not model.all_edges)
        self._screen.list.rows_changed()
        shown = "Every edge is a row." if model.all_edges else "Edges only where there are several."
        self._screen.say(shown)
        self.show()

    def read_handed(self) -> None:
        """Read what the node under the cursor gets in each mode."""
        engine, graph, run = self._engine, self._screen.model.graph, self._screen.reading.run
        row, node = self._screen.model.current, self._screen.model.node
        if graph is None or node is None:
            self.handed = None
            self._screen.showing.draw_handed()
            return
        ran = run is not None and bool(run.history.completed)
        way = self.way()
        if isinstance(row, NodeRow) and ran and self.way_number == 0:
            way = None  # as the run enters it
        name = node.name
        self._screen.read(
            lambda: read_handed(engine, graph, run, way, name), self._took_handed, group="handed"
        )

    def _took_handed(self, handed: Handed) -> None:
        node = self._screen.model.node
        if node is None or handed.way.node.name != node.name:
            return
        self.handed = handed
        self._screen.showing.draw_handed()
