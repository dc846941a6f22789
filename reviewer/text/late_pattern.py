"""Regular expressions that are compiled when they are first used.

Compiling the rules that find secrets takes 30 ms of CPU time, a third of a short command, and most
texts need few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """Stands for a compiled pattern; each of its methods is looked up once."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        compiled: re.Pattern[Any] = re.compile(*self._source)
        found = getattr(compiled, name)
        for each in ("match", "search", "fullmatch", "finditer", "sub"):
            setattr(self, each, getattr(compiled, each))
        return found


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern that is compiled at its first use. A wrong one raises re.error only then."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))
