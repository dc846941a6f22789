"""Writes the summaries of one run, by a model as long as it works, else offline."""

from __future__ import annotations

import threading
from collections.abc import Callable

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
        try:
            found = self._ask(segment, anchors, level, options)
            if isinstance(found, CompressedSegment):
                return found
            written = self.summarizer.offline.compress(segment, anchors, level, options)
        except RetryExhaustedError as refused:
            why = f"{segment.id}: {refused.diagnosis}"
            raise RetryExhaustedError(why, refused.attempts, refused.last) from refused
        note = "; ".join(filter(None, (written.note, f"offline, because {found}")))
        return structs.replace(written, note=note)

    def _ask(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
    ) -> CompressedSegment | str:
        """The summary of the engine, or why there is none, as part of a sentence."""
        if self._gave_up is not None and level is not Level.FULL:
            return f"the model failed: {self._gave_up}"
        try:
            found = self.summarizer.compress(segment, anchors, level, options, self._cancelled)
        except RetryExhaustedError as refused:
            if self._alone or self.summarizer.engine.deterministic:
                raise
            self._answered()
            return f"the model's summary was refused: {refused.diagnosis}"
        except CancelledError:
            raise
        except ModelError as failure:
            self._failed(failure)
            return f"the model failed: {failure}"
        if level is not Level.FULL and not found.answered_before:
            self._answered()
        return found

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
