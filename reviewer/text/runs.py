"""Long runs of one sign or of a few, which no reader needs whole and patterns take long to pass."""

from __future__ import annotations

import re

LONGEST = 200
"""Repetitions that are kept."""

_RUN = re.compile(rf"(.{{1,8}}?)\1{{{LONGEST},}}|\s{{{LONGEST},}}", re.DOTALL)


def without_long_runs(text: str) -> str:
    """The text with every longer run cut to LONGEST repetitions, in linear time."""
    if len(text) <= LONGEST:
        return text
    return _RUN.sub(_shortened, text)


def _shortened(match: re.Match[str]) -> str:
    if match[1] is not None:
        return match[1] * LONGEST
    return match[0][:LONGEST]
