"""Token counts as people write them: `8000`, `8,000`, `8k`, `1.2M`."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(\d[\d_,.]{0,14})\s*([kKmM]?)", re.ASCII)
_SHARE = re.compile(r"(\d{1,3})\s*(?:%|/\s*(\d{1,3}))", re.ASCII)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def read_tokens(text: str) -> int | None:
    """The token count in a text; None if there is none, or it is not a whole number."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    digits, unit = match[1].replace("_", ""), match[2].lower()
    digits = re.sub(r"[,.](?=\d{3}(\D|$))", "", digits) if not unit else digits.replace(",", ".")
    try:
        number = float(digits) * _UNITS[unit]
    except ValueError:
        return None
    whole = round(number)
    return whole if abs(number - whole) < 1e-6 else None


def read_target(text: str, whole: int) -> int | None:
    """The token count in a text, which may be a share of `whole`: `25%`, `1/4`; None as above."""
    share = _SHARE.fullmatch(text.strip())
    if share is None:
        return read_tokens(text)
    parts = int(share[2] or 100)
    return whole * int(share[1]) // parts if parts else None
