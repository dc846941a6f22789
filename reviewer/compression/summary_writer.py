"""Writes the summaries of one run, by a model as long as it works, else offline."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec import structs

from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    Level,
    Segment,
    SummarizationOptions,
)
from reviewer.llm.model import CancelledError, ModelError
from reviewer.llm.steering import RetryExhaustedError

TRIES = 2
"""Consecutive failures after which a model is no longer called."""


class SummaryWriter:
    """Writes one summary after the other. Safe from several threads.

    `segments`: the summaries that the run needs of a model. If it has written none of them when it
    is given up, its failure is raised; of a single one also a refusal. None: nothing is raised.
    """

    def __init__(
        self,
        summarizer: Summarizer,
        segments: int | None = None,
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.summarizer = summarizer
        self._cancelled = cancelled
        self._alone = segments == 1
        self._raises = segments is not None
        self._tries = TRIES if segments is None else min(TRIES, segments)
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._gave_up: ModelError | None = None

    def write(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
    ) -> CompressedSegment:
        """A new summary. If a model fails, the offline engine writes it, with a note.

        Raises CancelledError, TemplateError, RetryExhaustedError if the criteria cannot be met,
        and the failure of a model as described above.
        """
        asked = (segment, anchors, level, options)
        try:
            if self._gave_up is not None and level is not Level.FULL:
                raise self._gave_up
            found = self.summarizer.compress(*asked, self._cancelled)
        except RetryExhaustedError as refused:
            if self._alone or self.summarizer.engine.deterministic:
                raise _named(segment, refused) from refused
            self._answered()
            why = f"the model's summary was refused: {refused.diagnosis}"
        except CancelledError:
            raise
        except ModelError as failure:
            if failure is not self._gave_up:
                self._failed(failure)
            why = f"the model failed: {failure}"
        else:
            if level is not Level.FULL and not found.answered_before:
                self._answered()
            return found
        try:
            written = self.summarizer.offline.compress(*asked)
        except RetryExhaustedError as refused:
            raise _named(segment, refused) from refused
        note = "; ".join(filter(None, (written.note, f"offline, because {why}")))
        return structs.replace(written, note=note)

    def _answered(self) -> None:
        with self._lock:
            self._in_a_row, self._raises = 0, False

    def _failed(self, failure: ModelError) -> None:
        """Count a failure; raises the one after which the model is given up, if nothing is lost."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= self._tries:
                if self._raises:
                    raise failure
                self._gave_up = failure


def _named(segment: Segment, refused: RetryExhaustedError[Any]) -> RetryExhaustedError[Any]:
    why = f"{segment.id}: {refused.diagnosis}"
    return RetryExhaustedError(why, refused.attempts, refused.last)
