"""Drawing on the Pipelines screen: the title, how a node is entered and what it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.text.display import display_line
from reviewer.tui.kit.text import count, fit
from reviewer.tui.screens.pipelines_modes import ALL, SAID
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.pipeline_columns import columns
from reviewer.tui.widgets.pipeline_text import (
    before_words,
    preamble_blocks,
    preamble_title,
    said_blocks,
    way_blocks,
    way_title,
)

if TYPE_CHECKING:
    from reviewer.engine import RunHistory
    from reviewer.tui.screens.pipelines import PipelinesScreen

TITLE_CELLS, NAME_CELLS = 8, 12
HINTS = ("1-6 mode  0 all  7 said  y copy", "1-6 mode  0 all", "1-6 mode")


class PipelinesShowing:
    """Draws what a `PipelinesScreen` has read."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._model = screen.model

    def draw_all(self) -> None:
        """Draw everything that was read."""
        self.draw_empty()
        self._screen.list.rows_changed()
        self.draw_title()
        self.draw_way()
        self.draw_handed()
        self._screen.show_footer()

    def draw_empty(self) -> None:
        """Leave the panes out where the list has nothing to show, and let it say why."""
        screen = self._screen
        screen.list.empty = self._empty()
        empty = not self._model.rows and not screen.busy
        if empty != screen.has_class("-empty"):
            screen.set_class(empty, "-empty")
            screen.lay_out()

    def _empty(self) -> tuple[str, ...]:
        """What the list says where it has nothing to show."""
        reading = self._screen.reading
        if not reading.was_read:
            return ("Reading ...",)
        if reading.trouble:
            return (reading.trouble, "E opens it in your editor, C chooses another.")
        if self._model.graph is not None:
            return ("This pipeline has no nodes.",)
        below = len(reading.below)
        nearby = f"{count(below, 'DOT file')} below this folder" if below else "an example too"
        return (
            "No pipeline is open: stages, and what each one gets.",
            f"C chooses one ({nearby}), I opens a file.",
        )

    def draw_title(self) -> None:
        """Which pipeline, how large, how its run stands, who answers."""
        graph, path = self._model.graph, self._screen.reading.path
        rule, signs = self._screen.title_rule, glyphs(self._screen.app)
        if graph is None:
            rule.show("Pipelines")
            return
        detail = f" {signs.dot} ".join(self._title_parts())
        room = max(rule.size.width - len(detail) - TITLE_CELLS, NAME_CELLS)
        name = path.name if path is not None else graph.pipeline.name
        rule.show(fit(display_line(name), room, signs.ellipsis), detail)

    def _title_parts(self) -> list[str]:
        graph, run, answering = self._model.graph, self._screen.reading.run, self._screen.answering
        assert graph is not None
        parts = [count(len(graph.pipeline.nodes), "node")]
        words = self._screen.following.words()
        if words:
            parts.insert(0, words)
        elif run is not None:
            parts.append(f"run {run.view.state}")
        if answering.with_model:
            parts.append(display_line(answering.answered_by))
        if answering.allow_tools:
            parts.append("tools allowed")
        remarks = len(graph.pipeline.warnings)
        if remarks:
            parts.append(f"{glyphs(self._screen.app).stale} {remarks}")
        return parts

    def draw_way(self) -> None:
        """How the row under the cursor is entered, and why so."""
        screen, graph, node = self._screen, self._model.graph, self._model.node
        row, signs = screen.row, glyphs(screen.app)
        if graph is None or node is None:
            screen.way.show([], title="")
            return
        way = row.way() or screen.engine.pipelines.rules.way_of_run(
            graph.pipeline, nothing_ran(), node.name
        )
        stop = next((each for each in graph.stops if each.node.name == node.name), None)
        onwards = [graph.ways[edge.index] for edge in (stop.edges if stop else ())]
        lines = {node.line, way.edge.line if way.edge is not None else node.line}
        remarks = [each for each in graph.pipeline.warnings if each.line in lines]
        ways = len(row.ways())
        number = row.way_number % ways + 1 if ways else 0
        hints = (f"way {number} of {ways}, n next", f"{number} of {ways}") if ways > 1 else ()
        screen.way.show(
            way_blocks(way, stop, onwards, self._model.states.get(node.name), remarks, signs),
            title=way_title(way, signs),
            hints=hints,
        )

    def draw_handed(self, *, anew: bool = False) -> None:
        """What the node gets, in the mode that is looked at. `anew` scrolls to the beginning."""
        pane, handed, modes = self._screen.handed, self._screen.row.handed, self._screen.modes
        node, signs = self._model.node, glyphs(self._screen.app)
        if handed is None or node is None:
            pane.show([], title="")
            return
        keep = not anew and handed.way.node.name == node.name
        mode = modes.mode
        if mode == SAID:
            self.draw_said(keep_scroll=keep)
            return
        if mode == ALL:
            blocks = columns(handed, max(pane.size.width - 1, 20), pane.room, signs)
            title = f"Six modes {signs.dot} {before_words(handed)}"
        else:
            blocks = preamble_blocks(mode, handed, signs)
            title = preamble_title(mode, handed, signs, chosen=bool(modes.view))
        pane.show(blocks, title=title, hints=HINTS, keep_scroll=keep)

    def draw_said(self, *, keep_scroll: bool = True) -> None:
        """What the node said; while it runs, what arrives."""
        screen, handed, node = self._screen, self._screen.row.handed, self._model.node
        if screen.modes.mode != SAID or handed is None or node is None:
            return
        course = screen.running.course
        live = ""
        if course is not None and course.running and course.node == node.name:
            live = course.answer or "..."
        title = f"{node.name} answers" if live else f"What {node.name} said"
        screen.handed.show(
            said_blocks(handed, live), title=title, hints=HINTS, keep_scroll=keep_scroll
        )


def nothing_ran() -> RunHistory:
    """The history of a pipeline that has never run."""
    from reviewer.engine import RunHistory

    return RunHistory("")
