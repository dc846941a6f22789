"""How large a regular expression becomes when it is compiled, counted before that is tried.

The compiler writes counted repeats out: `((a{500}){500}){500}` is nineteen characters and needs
all the memory of a machine, without a moment at which a time limit could end it.
"""

from __future__ import annotations

import re

LARGEST = 200_000
"""Elements that an expression may come to: some sixty megabytes."""

_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]?|(?P<open>\()|(?P<close>\))"
    r"|(?P<repeat>\{(?P<least>\d*)(?:,(?P<most>\d*))?\})|[*+?]|.",
    re.DOTALL,
)


def written_out(expression: str) -> int:
    """How many elements an expression has with its counted repeats written out, roughly."""
    sizes = [0]
    last = 0
    for token in _TOKEN.finditer(expression):
        if token["open"]:
            sizes[-1] += last
            sizes.append(0)
            last = 0
        elif token["close"]:
            last += sizes.pop() if len(sizes) > 1 else 0
        elif token["repeat"]:
            counts = [int(count[:9]) for count in (token["least"], token["most"]) if count]
            last *= max(counts, default=1) or 1
        elif token.group() not in "*+?":
            sizes[-1] += last
            last = 1
    return sum(sizes) + last
