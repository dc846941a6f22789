"""The tags around text given to an agent. Transcript readers skip the text between them, so that
memories are not learnt from their own use.
"""

OPENING = '<recalled-memory source="reviewer">'
CLOSING = "</recalled-memory>"

AGAIN = "Repeat the call to go on."
"""The end of a denied call's reason."""

_PAIRS = (
    (OPENING, CLOSING),
    ('&lt;recalled-memory source="reviewer"&gt;', "&lt;/recalled-memory&gt;"),
)
"""As escaped by Gemini CLI."""


def without_recalled(text: str) -> str:
    """A text without the memories handed to the agent in it."""
    for opening, closing in _PAIRS:
        while opening in text:
            before, _, rest = text.partition(opening)
            text = before + rest.partition(closing)[2]
    return text
