"""Measurements and log lines of every compression (`docs/design.md`, "Levels and anchors")."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.compression.values import CompressedSegment, FidelityValidation
from reviewer.errors import StoreError
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.stored_text import masked_text

METRIC = "Agents.Compression.Summarization"

log = logging.getLogger("reviewer.compression")
log.addHandler(logging.NullHandler())


class SegmentCompressed(Struct, frozen=True):
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


class Measures:
    """Collects figures until `flush`, because previews must not write.

    Their table is not part of the ledger: it only counts.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[tuple[str, str, str, float]] = []

    def record(self, event: SegmentCompressed) -> None:
        """Add the figures of an event: milliseconds, ratio, tokens of the model, fidelity."""
        at, done = iso(self._clock()), event.compressed
        level = done.level.name.title()
        figures = [
            (at, f"{METRIC}.Duration", level, event.seconds * 1000),
            (at, f"{METRIC}.CompressionRatio", level, done.compression_ratio),
        ]
        if event.fidelity.checked:
            figures.append((at, f"{METRIC}.FidelityScore", level, event.fidelity.overall_score))
        if event.model_tokens:
            engine = masked_text(done.engine)
            figures.append((at, f"{METRIC}.LlmTokens", engine, event.model_tokens))
        with self._lock:
            self._waiting += figures

    def flush(self) -> None:
        """Write the collected figures; if the store cannot be written, log the loss."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        store = self._database
        if not waiting:
            return
        insert = "INSERT INTO measurement (at, name, label, value) VALUES (?, ?, ?, ?)"
        try:
            with (
                store.write_lock,
                failures_as_sentences(store.path, writing=True),
                store.writer,  # commits or rolls back
            ):
                store.writer.execute("BEGIN IMMEDIATE")
                # If the store was replaced, SQLite would write into the log of the new file.
                store.require_in_place()
                store.writer.executemany(insert, waiting)
        except StoreError as problem:
            log.warning("[COMP:SUM] %d figures are not kept: %s", len(waiting), problem)

    def summary(self) -> tuple[MeasureSummary, ...]:
        """Every metric by label, after a flush. Raises StoreError."""
        self.flush()
        with failures_as_sentences(self._database.path):
            rows = self._database.query(
                "SELECT name, label, count(*), sum(value), avg(value), min(value), max(value)"
                " FROM measurement GROUP BY name, label ORDER BY name, label"
            )
        return tuple(MeasureSummary(*row) for row in rows)
