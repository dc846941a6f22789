"""What was chosen on the Compress screen, kept while other screens are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from reviewer.compressing import Choice
    from reviewer.tui.compress_model import Answered


@dataclass
class Kept:
    """Of one context: choices by the commits they are for, what a model wrote, and the target."""

    chosen: dict[tuple[int, ...], Choice] = field(default_factory=dict)
    answers: dict[Answered, tuple[str, str]] = field(default_factory=dict)
    target: int | None = None
    engine: Literal["offline", "model"] = "offline"
