"""The small protocol that both engines speak: who writes the text of a level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from reviewer.compression.retention import Asked
from reviewer.compression.values import AnchorPoint, Level, Segment, SummarizationOptions


class WritingTask(Struct, frozen=True):
    """What is to be written."""

    segment: Segment
    """Its SKIP turns are empty."""
    level: Level
    anchors: tuple[AnchorPoint, ...]
    """What must stand in it verbatim, what matters most first."""
    max_tokens: int
    """The text should not be longer."""
    options: SummarizationOptions
    asked: tuple[Asked, ...] = ()
    """Retention criteria that it will be checked against."""
    care: bool = False
    """Whether some turns are IMPORTANT without saying what must survive."""
    cancelled: Callable[[], bool] | None = None
    on_text: Callable[[str], None] | None = None
    on_attempt: Callable[[int], None] | None = None
    """Gets the number of each attempt, from 1, before its text."""


class Written(Struct, frozen=True):
    """What an engine wrote. `model_tokens`: prompt and answer together, over all attempts."""

    text: str
    engine: str
    model_tokens: int = 0
    attempts: int = 1


class Writer(Protocol):
    """An engine: writes the text of a level, and knows nothing of markers or Key Points."""

    @property
    def name(self) -> str:
        """What outputs call it: `offline`, or the model's name."""
        ...

    @property
    def rewrites(self) -> bool:
        """Whether asking again for another length costs next to nothing."""
        ...

    def write(self, task: WritingTask) -> Written:
        """The text. Raises ModelError, CancelledError, RetryExhaustedError."""
        ...
