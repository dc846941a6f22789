"""Budget, pins and mutes, and two budgets side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.text.display import display_line
from reviewer.tui.kit.text import count
from reviewer.tui.screens.packet_model import FINE, HIGHEST, step_budget

if TYPE_CHECKING:
    from reviewer.tui.screens.packet import PacketScreen


class Budgeting:
    """What `<` `>`, `P`, `m`, `u` and `d` do on a `PacketScreen`."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen

    def less(self) -> None:
        """A step down."""
        self.set_to(step_budget(self._screen.reading.budget, -1))

    def more(self) -> None:
        """A step up."""
        self.set_to(step_budget(self._screen.reading.budget, 1))

    def less_fine(self) -> None:
        """A little down."""
        self.set_to(self._screen.reading.budget - FINE)

    def more_fine(self) -> None:
        """A little up."""
        self.set_to(self._screen.reading.budget + FINE)

    def set_to(self, budget: int) -> None:
        """Take a budget."""
        self._screen.reading.budget = max(0, min(budget, HIGHEST))
        self._screen.reading.again()

    def pin(self) -> None:
        """Put the item first, or no longer."""
        model = self._screen.model
        self._toggle(model.pinned, model.muted, ("Pinned", "No longer pinned"), "P")

    def mute(self) -> None:
        """Leave the item out, or no longer."""
        model = self._screen.model
        self._toggle(model.muted, model.pinned, ("Muted", "No longer muted"), "m")

    def _toggle(self, chosen: set[str], other: set[str], words: tuple[str, str], key: str) -> None:
        model = self._screen.model
        item = model.item
        if item is None:
            return
        title = display_line(item.title)
        if item.id in chosen:
            chosen.discard(item.id)
            sentence = f"{words[1]}: {title}"
        else:
            chosen.add(item.id)
            other.discard(item.id)
            sentence = f"{words[0]} for this packet, {key} takes that back: {title}"
        self._screen.reading.again()
        now = model.item
        if now is not None and now.id in model.pinned and now.state != "full":
            sentence = f"Pinned, but {now.why.partition(';')[0]}: {title}"
        self._screen.say(sentence)

    def clear(self) -> None:
        """Take back all pins and mutes."""
        model = self._screen.model
        number = len(model.pinned | model.muted)
        model.pinned.clear()
        model.muted.clear()
        self._screen.reading.again()
        self._screen.say(f"Took back {count(number, 'choice')}.")

    def compare(self) -> None:
        """Keep this budget beside the next, or show one again."""
        model = self._screen.model
        model.compare(model.kept is None)
        if model.kept is not None:
            self._screen.say(
                f"{model.kept.budget:,} tokens are kept: now < or > or b for the other budget."
            )
            self._screen.reading.budget = step_budget(model.kept.budget, 1)
            self._screen.reading.again()
        else:
            self._screen.say(f"One budget again: {self._screen.reading.budget:,} tokens.")
            self._screen.showing.draw_all()
