"""The filter of the Packet screen: typed below the list, answered while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.tui.widgets.filter_bar import FilterBar

if TYPE_CHECKING:
    from reviewer.tui.screens.packet import PacketScreen

HINT = "words  state:title  in:tasks  -word"


class PacketFilter:
    """Opens and clears the filter of a `PacketScreen`."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen
        self._bar: FilterBar | None = None

    @property
    def focused(self) -> bool:
        """Whether keys go into the field."""
        return self._bar is not None and self._bar.field.has_focus

    async def open(self) -> None:
        """Show the field and type into it."""
        if self._bar is None:
            self._bar = FilterBar(self)
            self._bar.field.placeholder = HINT
            await self._screen.query_one("#left").mount(self._bar)
        self._bar.add_class("-open")
        self._screen.set_focus(self._bar.field, scroll_visible=False)

    def typed(self, text: str) -> None:
        """Show what matches."""
        self._screen.model.filter_by(text)
        self._screen.draw_list()

    def keep(self) -> None:
        """Back to the list, with the filter."""
        if self._bar is not None:
            self._bar.set_class(bool(self._bar.field.value.strip()), "-open")
        self._screen.list.focus(scroll_visible=False)

    def clear(self) -> None:
        """Back to the list, without a filter."""
        if self._bar is not None:
            self._bar.field.value = ""
            self._bar.remove_class("-open")
        self.typed("")
        self._screen.list.focus(scroll_visible=False)
