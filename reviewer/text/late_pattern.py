"""Regular expressions compiled at first use.

Compiling the secret rules takes 30 ms of CPU time, a third of a short command, and most texts need
few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """A proxy for a compiled pattern; looks up each method once."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        compiled: re.Pattern[Any] = re.compile(*self._source)
        found = getattr(compiled, name)
        for each in ("match", "search", "fullmatch", "finditer", "sub"):
            setattr(self, each, getattr(compiled, each))
        return found


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern compiled at first use; an invalid one raises re.error only then."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))
