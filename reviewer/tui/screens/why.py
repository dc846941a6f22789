"""Why do I know this? Every step from a row of the queue down to the line in the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.tui.editor import open_in_editor
from reviewer.tui.kit.bars import FooterBar, StatusBar
from reviewer.tui.kit.text import count
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.screens.moving import Moving
from reviewer.tui.screens.places import evidence_at, open_place
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.why_text import places_of, step_blocks

if TYPE_CHECKING:
    from reviewer.engine import Step


class StepsPane(TextPane, inherit_bindings=False):
    """The steps; their keys are the screen's."""

    BINDINGS: ClassVar[list[BindingType]] = []


class WhyScreen(Moving, ReadingScreen, inherit_bindings=False):
    """The provenance of one memory, entity or conflict."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("why")]
    AUTO_FOCUS = "#steps"

    def __init__(self, engine: Engine, number: int) -> None:
        super().__init__()
        self._engine = engine
        self._number = number
        self._steps: tuple[Step, ...] = ()
        self._at = 0

    def compose(self) -> ComposeResult:
        """The steps, status and keys."""
        yield StepsPane(title=f"Why do I know #{self._number}?", id="steps")
        yield StatusBar(id="status")
        yield FooterBar(id="footer")

    def on_mount(self) -> None:
        """Read in a worker."""
        self.show_keys("why")
        self.read(lambda: self._engine.provenance.of(self._number), self._took)

    @property
    def pane(self) -> StepsPane:
        """What scrolls."""
        return self.query_one(StepsPane)

    @property
    def looking(self) -> WhyScreen:
        """Where the registry finds what the keys run."""
        return self

    def _took(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps
        self._draw(first=True)

    def _draw(self, *, first: bool = False) -> None:
        places = places_of(self._steps)
        chosen = places[self._at] if places else None
        signs = glyphs(self.app)
        title = f"Why do I know #{self._number}?"
        if len(places) > 1:
            title += f" {signs.rule} {self._at + 1} of {count(len(places), 'place')}"
        self.pane.show(
            step_blocks(self._steps, signs, chosen, self.pane.size.width),
            title=title,
            hints=(f"[ ] place {signs.dot} o open at line", "o open") if places else (),
            reveal=None if first or chosen is None else 2 * chosen,
        )

    def next_place(self) -> None:
        """The next line that it rests on."""
        self._step(1)

    def previous_place(self) -> None:
        """The line before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        if 0 <= self._at + step < len(places_of(self._steps)):
            self._at += step
            self._draw()
        else:
            self.say("There is no other place in this direction.")

    def _chosen(self) -> Step:
        places = places_of(self._steps)
        if not places:
            raise SourceError(f"#{self._number} was written by hand: it has no source file.")
        return self._steps[places[self._at]]

    def open_source(self) -> None:
        """Show the file at the line."""
        step = self._chosen()
        evidence = evidence_at(self._engine, self._number, self._at, step)
        open_place(self, self._engine, evidence)

    def open_editor(self) -> None:
        """Open the file at the line in the user's editor."""
        step = self._chosen()
        path = str(Path(step.path or "").expanduser())
        self.say(open_in_editor(self.app, path, (step.line or 0) + 1))

    def leave(self) -> None:
        """Back to the queue."""
        self.dismiss()
