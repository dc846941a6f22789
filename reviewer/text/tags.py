"""The tags around text that an agent is given. The readers of transcripts leave out what stands
between them, so that nothing is learnt from its own use.
"""

OPENING = '<recalled-memory source="reviewer">'
CLOSING = "</recalled-memory>"

AGAIN = "Repeat the call to go on."
"""How the reason of a denied call ends."""

_PAIRS = (
    (OPENING, CLOSING),
    ('&lt;recalled-memory source="reviewer"&gt;', "&lt;/recalled-memory&gt;"),
)
"""Gemini CLI escapes them."""


def without_recalled(text: str) -> str:
    """A text without the memories that were handed over in it."""
    for opening, closing in _PAIRS:
        while opening in text:
            before, _, rest = text.partition(opening)
            text = before + rest.partition(closing)[2]
    return text
