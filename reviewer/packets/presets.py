"""How much text each agent accepts from a hook at the start of a session."""

from __future__ import annotations

import re

from msgspec import Struct

from reviewer.text.token_numbers import read_tokens


class Preset(Struct, frozen=True):
    """Limits below the size at which an agent cuts a text or moves it to a file."""

    chars: int
    tokens: int


PRESETS = {
    "claude-code": Preset(9_500, 8_000),  # more than 10,000 characters become a file
    "codex": Preset(9_500, 2_400),  # more than about 2,500 tokens become a file
    "copilot": Preset(15_000, 8_000),  # the longest text seen uncut
    "cursor": Preset(9_500, 8_000),  # up to 10,000 characters are inline
    "gemini": Preset(30_000, 8_000),  # the longest text seen uncut
}
"""By agent."""


class Limits(Struct, frozen=True):
    """The limits of a packet. `tokens`: None for the default; `chars`: None for no limit. `agent`:
    the preset's name; empty for limits given as numbers.
    """

    tokens: int | None = None
    chars: int | None = None
    agent: str = ""


_NUMBER = r"\d[\d.,_]*\s*[kKmM]?"
_LIMITS = re.compile(
    rf"(?P<tokens>{_NUMBER})?(?:\s*tokens?)?[\s,;+]*"
    rf"(?:(?P<chars>{_NUMBER})\s*char(?:acter)?s?)?"
)


def read_limits(text: str) -> Limits | None:
    """The limits in a text: `8k`, `8,000 9500 chars`, `10,000 characters`, or the name of an agent;
    None if it is something else.
    """
    text = text.strip()
    if (preset := PRESETS.get(text.lower())) is not None:
        return Limits(preset.tokens, preset.chars, text.lower())
    found = _LIMITS.fullmatch(text)
    if found is None or not text:
        return None
    given = found.group("tokens", "chars")
    tokens, chars = (read_tokens(each or "") for each in given)
    are_numbers = given.count(None) == (tokens, chars).count(None)
    return Limits(tokens, chars) if are_numbers else None
