"""Where a row comes from: every step from a row of the queue down to the line in the file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.tui.evidence import keys
from reviewer.tui.evidence.steps import evidence_at, places_of, step_blocks
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import runs
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import count
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.promotion.provenance import Step


class StepsPane(TextPane, inherit_bindings=False, pane=shared.NO_KEYS):
    """The steps; the screen handles the keys."""

    BINDINGS: ClassVar[list[BindingType]] = []


class WhyScreen(TextScreen, pane=keys.WHY):
    """The provenance of one memory, entity or conflict."""

    AUTO_FOCUS = "#steps"

    def __init__(self, engine: Engine, number: int) -> None:
        super().__init__(engine)
        self._number = number
        self._steps: tuple[Step, ...] = ()
        self._at = 0

    def compose(self) -> ComposeResult:
        yield StepsPane(title=f"Where #{self._number} comes from", id="steps")
        yield self.status
        yield self.footer

    def on_mount(self) -> None:
        self.show_footer()
        self.read(lambda: self.engine.provenance.of(self._number), self._got_steps)

    def _got_steps(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps
        self._draw(first=True)

    def _draw(self, *, first: bool = False) -> None:
        places = places_of(self._steps)
        chosen = places[self._at] if places else None
        signs = glyphs(self.app)
        title = f"Where #{self._number} comes from"
        if len(places) > 1:
            title += f" {signs.rule} {self._at + 1} of {count(len(places), 'place')}"
        self.text.show(
            step_blocks(self._steps, signs, chosen, self.text.size.width),
            title=title,
            hints=self._hints() if places else (),
            reveal=None if first or chosen is None else 2 * chosen,
        )

    def _hints(self) -> tuple[str, ...]:
        opens = self.key_of(keys.SHOW_SOURCE)
        turns = f"{self.key_of(keys.PREVIOUS_PLACE)} {self.key_of(keys.NEXT_PLACE)} place"
        return f"{turns} {glyphs(self.app).dot} {opens} open at line", f"{opens} open"

    @runs(keys.NEXT_PLACE)
    def next_place(self) -> None:
        self._step(1)

    @runs(keys.PREVIOUS_PLACE)
    def previous_place(self) -> None:
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

    @runs(keys.SHOW_SOURCE)
    def show_source(self) -> None:
        """Show the file at the line."""
        step = self._chosen()
        self.host.open_source(evidence_at(self.engine, self._number, self._at, step))

    @runs(shared.OPEN_EDITOR)
    def open_editor(self) -> None:
        step = self._chosen()
        self.edit_file(os.path.expanduser(step.path or ""), step.line or 0)

    @runs(keys.CLOSE_WHY)
    def close_why(self) -> None:
        self.dismiss()
