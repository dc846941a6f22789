"""The notice for a terminal that is too small for the screens."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen

LEAST = Size(40, 10)


def is_too_small(size: Size) -> bool:
    return 0 < size.width < LEAST.width or 0 < size.height < LEAST.height


class TooSmall(ModalScreen[None]):
    """Lies over everything, which stays as it is; ctrl+q leaves."""

    DEFAULT_CSS = "TooSmall { background: $background; }"

    @property
    def sentence(self) -> str:
        size = self.app.size
        return (
            f"This terminal is too small: {size.width} x {size.height}. reviewer needs"
            f" {LEAST.width} x {LEAST.height}; reviewer --plain needs none. ctrl+q leaves."
        )

    def render(self) -> Content:
        return Content(self.sentence)
