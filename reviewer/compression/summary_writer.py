"""Writes summaries with a model or offline: where a model fails, the offline engine writes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from msgspec import structs

from reviewer.compression.engine import Callbacks
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    Level,
    Locked,
    Segment,
    SummarizationOptions,
)
from reviewer.llm.model import CancelledError, ModelError
from reviewer.llm.steering import RetryExhaustedError

TRIES = 2
"""Segments for which a model may fail before its first answer; then it does not work at all."""
FAILURES = 3
"""Failures in a row after which a model that has answered is not asked any more."""

_Found = TypeVar("_Found")


class Patience:
    """Whether a model that failed is asked again, over the segments of one run."""

    def __init__(self, segments: int, *, raises: bool = True) -> None:
        """`segments`: how many the model is asked for. `raises`: a model that does not work at all
        ends the run; otherwise it is asked no more.
        """
        self._tries = min(TRIES, segments)
        self._raises = raises
        self._lock = threading.Lock()
        self._answered = False
        self._in_a_row = 0
        self.gave_up: ModelError | None = None
        """The failure after which it is asked no more."""

    def succeeded(self) -> None:
        with self._lock:
            self._answered, self._in_a_row = True, 0

    def failed(self, failure: ModelError) -> None:
        """Count a failure. Raises it when there is nothing to wait for and nothing to lose."""
        with self._lock:
            self._in_a_row += 1
            if not self._answered and self._in_a_row >= self._tries:
                if self._raises:
                    raise failure
                self.gave_up = failure
            if self._answered and self._in_a_row >= FAILURES:
                self.gave_up = failure


class SummaryWriter:
    """Writes one summary after the other. Safe from several threads."""

    def __init__(
        self,
        summarizer: Summarizer,
        patience: Patience | None = None,
        *,
        cancelled: Callable[[], bool] | None = None,
        on_text: Callable[[str, str], None] | None = None,
        on_attempt: Callable[[str, int], None] | None = None,
    ) -> None:
        """`patience`: by default a model that does not work is asked no more, which is no error.
        `on_text` and `on_attempt`: see `Watch`.
        """
        self.summarizer = summarizer
        self._patience = patience or Patience(TRIES, raises=False)
        self._cancelled = cancelled
        self._on_text = on_text
        self._on_attempt = on_attempt

    def write(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
        *,
        alone: bool = False,
    ) -> CompressedSegment:
        """A new summary. Where a model fails, the offline engine writes it, with a note.

        `alone`: no other segment is written, so that there is nothing to lose and a refusal is
        raised. Raises CancelledError, TemplateError, and the exceptions of the engine when a model
        does not work at all.
        """
        callbacks = Callbacks(
            self._cancelled,
            partial(self._on_text, segment.id) if self._on_text else None,
            partial(self._on_attempt, segment.id) if self._on_attempt else None,
        )

        def ask() -> CompressedSegment:
            return self.summarizer.compress(segment, anchors, level, options, callbacks)

        if level is Level.FULL:
            return ask()
        found = self._asked(segment, ask, alone=alone)
        if not isinstance(found, str):
            self._note_answer(found)
            return found
        try:
            offline = self.summarizer.offline.compress(segment, anchors, level, options)
        except RetryExhaustedError as refused:
            raise _named(segment, refused) from refused
        return _noted(offline, found)

    def write_all_levels(
        self, segment: Segment, anchors: tuple[AnchorPoint, ...], options: SummarizationOptions
    ) -> dict[Level, CompressedSegment | Locked]:
        """A segment at all levels. Where a model fails, the offline engine writes, with a note.

        Raises CancelledError, and the exceptions of the engine when a model does not work at all.
        """

        callbacks = Callbacks(self._cancelled)

        def ask() -> dict[Level, CompressedSegment | Locked]:
            return self.summarizer.compress_all(segment, anchors, options, callbacks)

        found = self._asked(segment, ask)
        if not isinstance(found, str):
            for level, each in found.items():
                if level is not Level.FULL and not isinstance(each, Locked):
                    self._note_answer(each)
            return found
        return {
            level: each if isinstance(each, Locked) or level is Level.FULL else _noted(each, found)
            for level, each in self.summarizer.offline.compress_all(
                segment, anchors, options, callbacks
            ).items()
        }

    def _asked(
        self, segment: Segment, ask: Callable[[], _Found], *, alone: bool = False
    ) -> _Found | str:
        """What the engine writes, or why the offline engine has to write instead."""
        if self._patience.gave_up is not None:
            return f"the model failed: {self._patience.gave_up}"
        try:
            return ask()
        except RetryExhaustedError as refused:
            if alone or self.summarizer.engine.deterministic:
                raise _named(segment, refused) from refused
            self._patience.succeeded()  # it answers
            return f"the model's summary was refused: {refused.diagnosis}"
        except CancelledError:
            raise
        except ModelError as failure:
            self._patience.failed(failure)
            return f"the model failed: {failure}"

    def _note_answer(self, found: CompressedSegment) -> None:
        if not found.answered_before:
            self._patience.succeeded()


def _noted(found: CompressedSegment, why: str) -> CompressedSegment:
    """A summary of the offline engine, with a note why it is that."""
    note = f"offline, because {why}"
    return structs.replace(found, note="; ".join(filter(None, (found.note, note))))


def _named(segment: Segment, refused: RetryExhaustedError[Any]) -> RetryExhaustedError[Any]:
    return RetryExhaustedError(f"{segment.id}: {refused.diagnosis}", refused.attempts, refused.last)
