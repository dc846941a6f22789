"""Fills `$goal`, `{{goal}}` and keys of the run's context into a prompt; leaves the rest alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reviewer.pipelines.conditions import as_text

_NAME = r"[A-Za-z_]\w*(?:\.\w+)*"
_MARK = re.compile(
    rf"\{{\{{\s*(?:context\.)?(?P<braces>{_NAME})\s*\}}\}}|\$\{{(?P<both>{_NAME})\}}|\$(?P<dollar>{_NAME})"
)


def fill_template(prompt: str, goal: str, context: Mapping[str, Any]) -> str:
    """The prompt with `$key`, `${key}` and `{{key}}` replaced where `key` is `goal` or a key of the
    context. Shell variables, awk programs and braces of JSON stay as they are, and what is filled
    in is not looked at again.
    """
    known = {**context, "goal": goal}

    def value(found: re.Match[str]) -> str:
        name = found["braces"] or found["both"]
        if name is not None:
            return as_text(known[name]) if name in known else found[0]
        name, rest = found["dollar"], ""
        while name not in known and "." in name:  # "$goal.Then": the sentence goes on
            name, _, last = name.rpartition(".")
            rest = f".{last}{rest}"
        return as_text(known[name]) + rest if name in known else found[0]

    return _MARK.sub(value, prompt)
