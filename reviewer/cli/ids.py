"""Ids as people type them: `412` or `#412`."""

from __future__ import annotations

from typing import Any

import click

HIGHEST = 2**63 - 1


class Number(click.ParamType[int]):
    """A row's number, with or without the hash sign that messages write before it."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number that was typed; a usage error for anything else."""
        digits = str(value).removeprefix("#")
        if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:20]) <= HIGHEST):
            self.fail(f"{value!r} is no id; an id is a number such as 412", param, ctx)
        return int(digits)


MEMORY_ID = Number()
ACT_ID = Number()
WAVE = Number()
