"""Reading for the State screen: the list, and the fact under the cursor with its provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reviewer.engine import QueueRow, SourceState
from reviewer.text.display import display_line
from reviewer.tui.evidence.steps import places_of, step_blocks
from reviewer.tui.kit.text import count
from reviewer.tui.resting import Resting
from reviewer.tui.state_model import states_with
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.state_text import state_blocks, state_title
from reviewer.tui.widgets.structure_text import Extras

if TYPE_CHECKING:
    from reviewer.engine import CandidateView, Holding, StateView, Step
    from reviewer.tui.screens.state import StateScreen

EARLIER_SHOWN = 3
EMPTY = (
    "Trusted state (L3): values that only you write by hand.",
    "n writes one; what you promote (F2) stands below them.",
)


@dataclass(frozen=True)
class Shown:
    """Everything about the fact under the cursor."""

    key: tuple[bool, int]
    steps: tuple[Step, ...]
    values: tuple[StateView, ...] = ()
    """Of a key: what holds, then earlier values, newest first."""
    view: CandidateView | None = None
    extras: Extras = field(default_factory=Extras)
    wordings: tuple[tuple[str, str], ...] = ()
    state: SourceState = SourceState.UNKNOWN

    @property
    def related(self) -> list[tuple[int, str]]:
        """What the fact leads on to: id, and how."""
        entity = self.extras.entity
        if entity is None:
            return []
        found = [
            (each.target_id, f"{each.kind.replace('_', ' ')} {each.target}")
            for each in entity.relations
            if each.target_id is not None
        ]
        found += [(number, "is contradicted in conflict") for number in self.extras.open_conflicts]
        if entity.graduated_from is not None:
            found.append((entity.graduated_from, "was graduated from memory"))
        return found


class StateReading:
    """Fills the list and the panes of a `StateScreen`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.search = ""
        self.shown: Shown | None = None
        self.whole_history = False
        self.place = 0
        """Which of the lines that the fact rests on is chosen."""
        self._states: list[StateView] = []
        self._resting = Resting(screen, self.read_fact)
        self._version = self._engine.foreign_version()

    # the list

    def refresh(self) -> None:
        """Read everything again; the cursor stays on its fact."""
        self.read_list()

    def read_list(
        self,
        *,
        here: tuple[bool, int] | None = None,
        state: tuple[str, str] | None = None,
    ) -> None:
        """Read the list; the cursor goes to a fact, or to a key (project, key) of state."""
        self._version = self._engine.foreign_version()
        engine, project, search = self._engine, self._screen.project, self.search

        def work() -> tuple[list[StateView], tuple[Holding, ...]]:
            states = engine.state.all(project)
            return states, engine.holdings.groups(project, filter=search)

        def took(found: tuple[list[StateView], tuple[Holding, ...]]) -> None:
            self._took_list(*found, here=here, state=state)

        self._screen.read(work, took, group="list")

    def _took_list(
        self,
        states: list[StateView],
        holdings: tuple[Holding, ...],
        *,
        here: tuple[bool, int] | None,
        state: tuple[str, str] | None,
    ) -> None:
        screen, model = self._screen, self._screen.model
        self._states = states
        model.load(states_with(states, self.search), holdings)
        index = model.index_of(*here) if here else None
        if state is not None:
            index = model.index_of_state(*state)
        if index is not None:
            model.cursor = index
        empty = not model.total
        screen.set_class(empty and not self.search and not screen.busy, "-empty")
        screen.list.empty = (
            (f"Nothing matches / {display_line(self.search)}", "escape clears the search.")
            if self.search
            else EMPTY
        )
        screen.list.remark = "" if states or empty else "no trusted state yet: n writes some"
        screen.list.model_changed()
        self.show_title()
        self.read_fact()

    def show_title(self) -> None:
        """The title above the list."""
        search = f"/ {display_line(self.search)}" if self.search else ""
        self._screen.title_rule.show("What holds", search)

    def watch(self) -> None:
        """Notice what others wrote. Draws nothing when nothing is."""
        if self._screen.is_active and not self._screen.busy:
            version = self._engine.foreign_version()
            if version != self._version:
                self.read_list()

    # the fact

    @property
    def kind(self) -> str:
        """`state`, `entity` or `memory`; empty when nothing is under the cursor."""
        model = self._screen.model
        head = model.head_above(model.cursor)
        if head is None or model.current is None:
            return ""
        return {"L3": "state", "L2": "entity", "L1": "memory"}[head.layer]

    def follow(self) -> None:
        """The cursor moved: show the fact at once, or while skimming when it rests."""
        self._resting.moved()

    def read_fact(self) -> None:
        """Read the fact under the cursor with its provenance."""
        screen = self._screen
        key, row = screen.model.current_key, screen.model.current
        if key is None or row is None:
            self.shown = None
            screen.fact.show_nothing("")
            screen.why.show([], title="Why do I know this?")
            return
        kind = self.kind
        if not isinstance(row, QueueRow):
            project, name = row.project, row.key
            screen.read(lambda: self._read_state(key, project, name), self._took_fact, group="fact")
        else:
            screen.read(lambda: self._read_memory(key, kind), self._took_fact, group="fact")

    def _read_state(self, key: tuple[bool, int], project: str, name: str) -> Shown:
        values = tuple(self._engine.state.get(project, name))
        return Shown(key, self._engine.provenance.of_state(values[0]), values)

    def _read_memory(self, key: tuple[bool, int], kind: str) -> Shown:
        engine, number = self._engine, key[1]
        view = engine.queue.candidate(number)
        extras = Extras()
        if kind == "entity":
            extras = Extras(
                entity=engine.entities.get(number),
                open_conflicts=tuple(engine.conflicts.of(number)),
            )
        return Shown(
            key,
            engine.provenance.of(number),
            view=view,
            extras=extras,
            wordings=tuple(engine.queue.wordings(number)) if view.edited else (),
            state=engine.sources.state(number),
        )

    def _took_fact(self, shown: Shown) -> None:
        if shown.key != self._screen.model.current_key:
            return
        if self.shown is None or self.shown.key != shown.key:
            self.place = 0
        same = self.shown is not None and self.shown.key == shown.key
        self.shown = shown
        self.draw(keep_scroll=same)

    def draw(self, *, keep_scroll: bool = True) -> None:
        """Draw the fact and why it is known."""
        screen, shown = self._screen, self.shown
        if shown is None:
            return
        signs = glyphs(screen.app)
        most = 1_000 if self.whole_history else EARLIER_SHOWN
        if shown.view is not None:
            screen.fact.show_candidate(
                shown.view,
                now=self._engine.clock(),
                wordings=shown.wordings,
                state=shown.state,
                extras=shown.extras,
                wordings_shown=most,
                keep_scroll=keep_scroll,
            )
        else:
            screen.fact.show(
                state_blocks(shown.values, signs, most, now=self._engine.clock()),
                title=state_title(shown.values[0]),
                hints=("e new value, x unset",),
                keep_scroll=keep_scroll,
            )
        self.draw_why(keep_scroll=keep_scroll)

    def draw_why(self, *, keep_scroll: bool = True) -> None:
        """Draw the steps; the chosen place carries the bar and is in sight."""
        screen, shown = self._screen, self.shown
        if shown is None:
            return
        signs = glyphs(screen.app)
        places = places_of(shown.steps)
        chosen = places[min(self.place, len(places) - 1)] if places else None
        title = "Why do I know this?"
        if len(places) > 1:
            title += f" {signs.rule} {self.place + 1} of {count(len(places), 'place')}"
        screen.why.show(
            step_blocks(shown.steps, signs, chosen, screen.why.size.width),
            title=title,
            hints=("o open at line, E in editor", "o open") if places else (),
            reveal=None if chosen is None or not keep_scroll else 2 * chosen,
        )

    def toggle_earlier(self) -> None:
        """All earlier values or wordings, or the last three."""
        self.whole_history = not self.whole_history
        shown = self.shown
        total = max(len(shown.values) - 1, len(shown.wordings), 0) if shown else 0
        self.draw()
        noun = "value" if shown and shown.values else "wording"
        if not total:
            self._screen.say(f"There is no earlier {noun}.")
        else:
            how = "all" if self.whole_history else f"the last {min(EARLIER_SHOWN, total)} of"
            self._screen.say(f"Shown: {how} {count(total, f'earlier {noun}')}.")

    def go_to(self, number: int) -> bool:
        """Put the cursor on a memory or entity; False when it is not in the list."""
        index = self._screen.model.index_of(False, number)
        if index is None:
            return False
        self._screen.list.move_to(index)
        return True
