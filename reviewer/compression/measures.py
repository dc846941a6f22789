"""Measurements and log lines of every compression (`docs/design.md`, "Levels and anchors")."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from msgspec import Struct

from reviewer.clock import iso
from reviewer.compression.values import CompressedSegment, FidelityValidation, Level
from reviewer.errors import StoreError
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.stored_text import masked_text

DURATION = "Agents.Compression.Summarization.Duration"
RATIO = "Agents.Compression.Summarization.CompressionRatio"
MODEL_TOKENS = "Agents.Compression.Summarization.LlmTokens"
FIDELITY = "Agents.Compression.Summarization.FidelityScore"

log = logging.getLogger("reviewer.compression")
log.addHandler(logging.NullHandler())


class SegmentCompressed(Struct, frozen=True):
    """A segment's compression to a level."""

    compressed: CompressedSegment
    seconds: float
    model_tokens: int
    fidelity: FidelityValidation


Publish = Callable[[SegmentCompressed], None]


class MeasureSummary(Struct, frozen=True, rename={"name": "metric"}):
    """All figures of a metric."""

    name: str
    label: str
    count: int
    total: float
    mean: float
    least: float
    most: float


def log_beginning(segment: str, level: Level) -> None:
    """The line at the start of a compression."""
    log.debug("[COMP:SUM] Compressing segment %s to level %s", segment, level.name.title())


def log_missing(count: int) -> None:
    """The line for anchors that have to be restored."""
    log.warning("[COMP:SUM] %d anchors missing, re-injecting", count)


def log_done(event: SegmentCompressed) -> None:
    """The lines at the end of a compression."""
    done = event.compressed
    log.info(
        "[COMP:SUM] Compressed %s: %d→%d tokens (ratio=%.1fx)",
        done.segment_id,
        done.original_token_count,
        done.token_count,
        done.compression_ratio,
    )
    if not event.fidelity.passes_threshold:
        log.warning(
            "[COMP:SUM] Fidelity score %.2f below threshold for %s",
            event.fidelity.overall_score,
            done.segment_id,
        )


class Measures:
    """Collects figures until `flush`, because previews must not write.

    Their table is not part of the ledger: it only counts.
    """

    def __init__(self, database: Database, clock: Callable[[], object]) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[tuple[str, str, str, float]] = []

    def record(self, event: SegmentCompressed) -> None:
        """Add the figures of an event: milliseconds, ratio, tokens of the model, fidelity."""
        at = iso(self._clock())  # type: ignore[arg-type]
        level = event.compressed.level.name.title()
        figures = [
            (at, DURATION, level, event.seconds * 1000),
            (at, RATIO, level, event.compressed.compression_ratio),
            (at, FIDELITY, level, event.fidelity.overall_score),
        ]
        if event.model_tokens:
            engine = masked_text(event.compressed.engine)
            figures.append((at, MODEL_TOKENS, engine, event.model_tokens))
        with self._lock:
            self._waiting += figures

    def flush(self) -> None:
        """Write the collected figures; if the store cannot be written, log the loss."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        if not waiting or self._database.read_only:
            return
        try:
            self._write(waiting)
        except StoreError as problem:
            log.warning("[COMP:SUM] %d figures are not kept: %s", len(waiting), problem)

    def _write(self, waiting: list[tuple[str, str, str, float]]) -> None:
        with (
            self._database.write_lock,
            failures_as_sentences(self._database.path, writing=True),
            self._database.writer,  # commits or rolls back
        ):
            self._database.writer.execute("BEGIN IMMEDIATE")
            # If the store was replaced, SQLite would write into the log of the new file.
            self._database.require_in_place()
            self._database.writer.executemany(
                "INSERT INTO measurement (at, name, label, value) VALUES (?, ?, ?, ?)",
                waiting,
            )

    def summary(self) -> tuple[MeasureSummary, ...]:
        """Every metric by label, after a flush. Raises StoreError."""
        self.flush()
        with failures_as_sentences(self._database.path):
            rows = (
                self._database.reader()
                .execute(
                    "SELECT name, label, count(*), sum(value), avg(value), min(value), max(value)"
                    " FROM measurement GROUP BY name, label ORDER BY name, label"
                )
                .fetchall()
            )
        return tuple(MeasureSummary(*row) for row in rows)
