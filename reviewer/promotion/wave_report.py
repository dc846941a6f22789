"""How far a wave is, and what it did: plain values that a face can show."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Progress(Struct, frozen=True):
    """How far a wave is. Totals are those known so far."""

    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    path: str
    records: int
    candidates: int


class WaveReport(Struct, frozen=True):
    """What a wave did. `skipped` are lines that hold nothing said, `records` what was read.

    `new` candidates were queued, `near` of them behind a row that says nearly the same;
    `repeated` were known already; `over_cap` wait in the report. `kept_out` counts records by the
    reason why extraction did not look at them, `passed_over` files by the reason why they were not
    read, `dropped` statements by the reason why they were not proposed.
    """

    wave: int
    project: str
    state: str
    files: int
    unchanged: int
    bytes: int
    records: int
    fresh: int
    skipped: int
    new: int
    repeated: int
    near: int
    over_cap: int
    over_cap_left: int
    masked: int
    kept_out: dict[str, int]
    skipped_by: dict[str, int]
    passed_over: dict[str, int]
    dropped: dict[str, int]
    rules: dict[str, int]
    errors: int
    report_folder: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The report as one flat object."""
        return {name: getattr(self, name) for name in self.__struct_fields__}
