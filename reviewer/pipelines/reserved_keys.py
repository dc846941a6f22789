"""Keys of a run's context that only the run itself sets: what a person answered, what a command
printed, how a stage ended. A model that could set them could overrule the person.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_FAMILIES = ("human", "tool")
"""`human.gate.label`, `tool.exit_code`, and all that is below these names."""
_KEYS = ("toolstdout", "outcome", "goal", "laststage", "preferredlabel")
"""`tool_stdout` and so on, as `_parts` spells them."""
_DECORATION = re.compile(r"[^\w.]|_")
_SHOWN = 5
_LONGEST = 60


def without_reserved(updates: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The updates that a model may make, and a sentence about those that it may not (or "")."""
    taken = {key: value for key, value in updates.items() if not _is_reserved(key, value)}
    dropped = [" ".join(key.split())[:_LONGEST] for key in updates if key not in taken]
    if not dropped:
        return taken, ""
    more = f" and {len(dropped) - _SHOWN} more" if len(dropped) > _SHOWN else ""
    return taken, (
        f"The answer may not set {', '.join(dropped[:_SHOWN])}{more} in the context: only the run "
        "itself does."
    )


def _is_reserved(key: str, value: Any) -> bool:
    """Whether a key, or one inside of its value, could be looked up as a reserved one."""
    waiting = [(_parts(key), value)]
    while waiting:
        parts, inner = waiting.pop()
        if parts:
            if parts[0] in _FAMILIES or parts in ([each] for each in _KEYS):
                return True
        elif isinstance(inner, Mapping):  # {"context": {"human": ...}}
            waiting += [(_parts(str(name)), each) for name, each in inner.items()]
    return False


def _parts(key: str) -> list[str]:
    """The names of a key (`context.a.b` -> a, b), however it is written: letters and digits only,
    in small letters.
    """
    plain = _DECORATION.sub("", unicodedata.normalize("NFKC", key).casefold())
    parts = [part for part in plain.split(".") if part]
    while parts and parts[0] == "context":
        parts.pop(0)
    return parts
