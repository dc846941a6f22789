"""The filter of the Packet screen: typed below the list, answered while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.tui.widgets.filter_bar import FilterBar

if TYPE_CHECKING:
    from reviewer.tui.screens.packet import PacketScreen

AT_ONCE = 2_000
"""Items that are looked through while a key is pressed."""
REST_SECONDS = 0.03
HINT = "words  state:title  in:tasks  -word"


class PacketFilter:
    """Opens and clears the filter of a `PacketScreen`."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen
        self._bar: FilterBar | None = None
        self._rest: Timer | None = None

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
        """Show what matches: at once, or in a long packet when the typing rests for a moment."""
        self._stop()
        packet = self._screen.model.packet
        if packet is not None and len(packet.items) > AT_ONCE:
            self._rest = self._screen.set_timer(REST_SECONDS, lambda: self._run(text))
        else:
            self._run(text)

    def _stop(self) -> None:
        if self._rest is not None:
            self._rest.stop()
            self._rest = None

    def _run(self, text: str) -> None:
        self._stop()
        if text != self._screen.model.filter:
            self._screen.model.filter_by(text)
            self._screen.showing.draw_list()

    def keep(self) -> None:
        """Back to the list, with the filter."""
        if self._bar is not None:
            self._run(self._bar.field.value)
            self._bar.set_class(bool(self._bar.field.value.strip()), "-open")
        self._screen.list.focus(scroll_visible=False)

    def clear(self) -> None:
        """Back to the list, without a filter."""
        if self._bar is not None:
            self._bar.field.value = ""
            self._bar.remove_class("-open")
        self._run("")
        self._screen.list.focus(scroll_visible=False)
