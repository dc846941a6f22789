"""What a person should know before promoting a candidate (`users.md`, Secrets and injection)."""

from __future__ import annotations

import re

from reviewer.sources.records import Role

MASKED = "secret"
INJECTION = "injection"

_MASK = "[masked "
"""How a masked secret begins (`text/secrets.py`)."""
_PLANTED = re.compile(
    r"\b(?:(?:ignore|disregard|forget|override) (?:all |any |the |your )*(?:previous|prior|above"
    r"|earlier|existing) (?:instructions?|messages?|rules?|prompts?)|you are now (?:an?|the) "
    r"|(?:reveal|print|repeat|send) (?:me )?(?:your|the) (?:system prompt|instructions|api keys?"
    r"|secrets?|credentials)|do not (?:tell|inform|mention (?:this|it) to) the user"
    r"|without (?:telling|asking|informing) the user|new instructions:)"
)
_CUES = (
    "instruction", "message", "rule", "prompt", "you are now", "api key", "secret", "credential",
    "the user",
)  # fmt: skip
"""One of these stands in everything that `_PLANTED` finds; looking for them first is cheap."""


def flags_of(content: str, role: Role) -> tuple[str, ...]:
    """MASKED where masked text is inside; INJECTION where it reads like an order planted in data.

    What the person typed is theirs to order, so it is never flagged as planted.
    """
    found = []
    if _MASK in content:
        found.append(MASKED)
    if role is not Role.USER:
        lower = content.lower()
        if any(map(lower.__contains__, _CUES)) and _PLANTED.search(lower):
            found.append(INJECTION)
    return tuple(found)
