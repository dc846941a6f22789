"""Long runs of one or a few characters, which no reader needs in full and which slow down
patterns.
"""

from __future__ import annotations

import re

LONGEST = 200
"""Repetitions to keep."""

_RUN = re.compile(rf"(.{{1,8}}?)\1{{{LONGEST},}}|\s{{{LONGEST},}}", re.DOTALL)


def without_long_runs(text: str) -> str:
    """The text with longer runs cut to LONGEST repetitions, in linear time."""
    if len(text) <= LONGEST:
        return text
    return _RUN.sub(_shortened, text)


def _shortened(match: re.Match[str]) -> str:
    if match[1] is not None:
        return match[1] * LONGEST
    return match[0][:LONGEST]
