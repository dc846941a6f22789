"""Writes summaries with a model or offline: if a model fails, the offline engine writes."""

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


class Patience:
    """Whether a failed model is called again, over the segments of one run."""

    def __init__(self, segments: int = TRIES, *, raises: bool = True) -> None:
        """`segments`: the number of segments for the model. `raises`: a model that does not work at
        all ends the run.
        """
        self._tries = min(TRIES, segments)
        self._raises = raises
        self._lock = threading.Lock()
        self._in_a_row = 0
        self.gave_up: ModelError | None = None
        """The failure after which the model is no longer called."""

    def succeeded(self) -> None:
        with self._lock:
            self._in_a_row, self._raises = 0, False

    def failed(self, failure: ModelError) -> None:
        """Count a failure. Raises it if retrying makes no sense and nothing would be lost."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= self._tries:
                if self._raises:
                    raise failure
                self.gave_up = failure


class SummaryWriter:
    """Writes one summary after the other. Safe from several threads."""

    def __init__(
        self,
        summarizer: Summarizer,
        patience: Patience | None = None,
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """`patience`: by default, a model that does not work is given up without an error."""
        self.summarizer = summarizer
        self._patience = patience or Patience(raises=False)
        self._cancelled = cancelled

    def write(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
        *,
        alone: bool = False,
    ) -> CompressedSegment:
        """A new summary. If a model fails, the offline engine writes it, with a note.

        `alone`: no other segment is written, so nothing would be lost and a refusal is raised.
        Raises CancelledError, TemplateError, and the exceptions of the engine if a model does not
        work at all.
        """
        why = f"the model failed: {self._patience.gave_up}"
        if level is Level.FULL or self._patience.gave_up is None:
            try:
                found = self.summarizer.compress(segment, anchors, level, options, self._cancelled)
                if level is not Level.FULL and not found.answered_before:
                    self._patience.succeeded()
                return found
            except RetryExhaustedError as refused:
                if alone or self.summarizer.engine.deterministic:
                    raise _named(segment, refused) from refused
                self._patience.succeeded()  # it answers
                why = f"the model's summary was refused: {refused.diagnosis}"
            except CancelledError:
                raise
            except ModelError as failure:
                self._patience.failed(failure)
                why = f"the model failed: {failure}"
        try:
            offline = self.summarizer.offline.compress(segment, anchors, level, options)
        except RetryExhaustedError as refused:
            raise _named(segment, refused) from refused
        note = "; ".join(filter(None, (offline.note, f"offline, because {why}")))
        return structs.replace(offline, note=note)


def _named(segment: Segment, refused: RetryExhaustedError[Any]) -> RetryExhaustedError[Any]:
    return RetryExhaustedError(f"{segment.id}: {refused.diagnosis}", refused.attempts, refused.last)
