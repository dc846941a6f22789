"""Token counts of the pieces of a packet.

A piece starts with a visible character and is followed by one or two line ends. The encoding
splits after line ends, so the token count of a packet is exactly the sum over its pieces.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reviewer.text.for_agents import AgentText, masked_markdown
from reviewer.text.tokens import counter

ESTIMATE = "estimate"
"""The name of counts at four bytes a token."""


class CountedText(Struct, frozen=True):
    """A text without secrets and control characters, with its token counts.

    `tokens` counts the text and one line end, `gap` the empty line after it.
    """

    text: AgentText
    tokens: int
    gap: int
    masked: int = 0
    """Number of masked secrets."""

    @property
    def cost(self) -> int:
        """The most tokens that the piece can add to a packet."""
        return self.tokens + max(self.gap, 0)


class Measurer:
    """Turns texts into pieces, and caches them."""

    def __init__(self, *, estimated: bool = False) -> None:
        """`estimated`: four bytes are a token; the encoding is not loaded, which takes 0.2 s."""
        self.name = ESTIMATE if estimated else counter().name
        self._count: Callable[[str], int] = estimate if estimated else counter().count
        self._pieces: dict[str, CountedText] = {}

    def piece(self, text: str) -> CountedText:
        if text not in self._pieces:
            count = self._count
            safe, masked = masked_markdown(text)
            last = safe.rpartition("\n")[2]
            gap = count(f"{last}\n\n") - count(f"{last}\n")
            self._pieces[text] = CountedText(safe, count(f"{safe}\n"), gap, masked)
        return self._pieces[text]


def estimate(text: str) -> int:
    """A quarter of the number of bytes, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4
