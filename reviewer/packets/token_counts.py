"""Token counts of the pieces of a packet.

A piece starts with a visible character and is followed by one or two line ends. The encodings
split after line ends, so the token count of a packet is exactly the sum over its pieces.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reviewer.text.for_agents import AgentText, as_markdown, masked_markdown

ESTIMATE = "estimate"
"""Name of the counter that takes four bytes for one token."""


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
    """Turns texts into pieces, and caches them. Loads the encoding with the first one."""

    def __init__(self, counting: str) -> None:
        """`counting`: the name of an encoding, or `estimate`."""
        self.name = counting
        self._count: Callable[[str], int] | None = estimate if counting == ESTIMATE else None
        self._pieces: dict[str, CountedText] = {}

    def piece(self, text: str) -> CountedText:
        """The piece of a text. Raises ReviewerError when the encoding is not installed."""
        found = self._pieces.get(text)
        if found is None:
            found = self._pieces[text] = self._counted(text)
        return found

    def _counted(self, text: str) -> CountedText:
        if self._count is None:
            from reviewer.text.tokens import counter  # late: loading an encoding takes 0.2 s

            self._count = counter(self.name).count
        count = self._count
        safe, masked = masked_markdown(text)
        last = safe.rpartition("\n")[2]
        gap = count(f"{last}\n\n") - count(f"{last}\n")
        return CountedText(safe, count(f"{safe}\n"), gap, masked)


def estimate(text: str) -> int:
    """A quarter of the number of bytes, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def safe_text(text: str) -> AgentText:
    """The text with secrets masked, control characters replaced, and safe Markdown."""
    return as_markdown(text)
