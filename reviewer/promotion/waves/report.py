"""The report of a wave: progress, counts, and the folder with the details."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from reviewer.errors import StoreError
from reviewer.files import FILE_MODE, open_own
from reviewer.promotion.lists.beyond_cap import DROPPED
from reviewer.sharing import make_report_folder
from reviewer.sources.walk import UNREADABLE_FOLDER
from reviewer.store.acts import AMONG, Act, listed
from reviewer.text.display import display_text, escaped_json


class WaveProgress(Struct, frozen=True):
    """The progress of a wave. Totals are those known so far."""

    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    path: str
    records: int
    candidates: int


class WaveReport(Struct, kw_only=True):
    """The outcome of a wave. `skipped`: lines without statements; `records`: those read.

    `new`: queued candidates; `repeated`: already known, `near`: known in other words; `over_cap`:
    left in the report. `kept_out`: records by the reason why extraction skipped them;
    `passed_over`: files by the reason why they were not read; `dropped`: statements by the reason
    why they were not proposed.
    """

    wave: int
    project: str
    state: str = "done"
    files: int = 0
    unchanged: int = 0
    bytes: int = 0
    records: int = 0
    fresh: int = 0
    skipped: int = 0
    new: int = 0
    repeated: int = 0
    near: int = 0
    over_cap: int = 0
    over_cap_left: int = 0
    """Those that can still be queued."""
    masked: int = 0
    kept_out: Counter[str] = msgspec.field(default_factory=Counter)
    skipped_by: Counter[str] = msgspec.field(default_factory=Counter)
    passed_over: Counter[str] = msgspec.field(default_factory=Counter)
    dropped: Counter[str] = msgspec.field(default_factory=Counter)
    rules: Counter[str] = msgspec.field(default_factory=Counter)
    sessions: int = 0
    """Sessions among the files that were read."""
    findings: int = 0
    """Findings in the files that were read."""
    again: tuple[str, ...] = ()
    """Findings that other sessions have too, costliest first."""
    retiring: int = 0
    """Active memories proposed for retirement."""
    errors: int = 0
    unread: int = 0
    """Files and folders that could not be read, although a person may have wanted them."""
    unread_named: int = 0
    """Those of them that the person named."""
    problems: list[str] = []
    """The first of them, as sentences."""
    report_folder: str = ""
    seconds: float = 0.0

    @property
    def unread_files(self) -> int:
        return self.unread - self.unread_folders

    @property
    def unread_folders(self) -> int:
        return sum(
            times
            for reason, times in self.passed_over.items()
            if reason.startswith(UNREADABLE_FOLDER)
        )

    @property
    def nothing_read(self) -> str:
        """Why no file was read; empty if one was, or none had changed."""
        if self.files or self.unchanged:
            return ""
        reasons = ", ".join(f"{times:,} x {why}" for why, times in self.passed_over.items())
        return f"Nothing could be read: {reasons}." if reasons else "There is nothing to read."

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


class ReportFolder:
    """Writes the four files of a wave, readable by the owner only.

    Raises StoreError if they cannot be written.
    """

    def __init__(self, store: Path, wave: int) -> None:
        self.path = store.with_name(f"{store.name}-waves") / str(wave)
        self._encoder = msgspec.json.Encoder()
        self.opened = time.monotonic()
        self.errors = 0
        """The number of logged cases of damage."""
        try:
            self._mode = make_report_folder(self.path, store)
            self._dropped = self._open(DROPPED)
            self._error_log = self._open("errors.log")
        except OSError as problem:
            raise StoreError(f"Cannot write the report {self.path}: {problem.strerror}.") from (
                problem
            )

    def drop(self, dropped: Struct) -> None:
        self._dropped.write(self._encoded(dropped) + b"\n")

    def error(self, text: str) -> None:
        self.errors += 1
        self.note(text)

    def note(self, text: str) -> None:
        """Log a file that was not read although it is not damaged."""
        line = display_text(text.replace("\n", " ").replace("\r", " "))
        self._error_log.write(line.encode("utf-8", "backslashreplace") + b"\n")

    def finish(self, act: Act, report: WaveReport, ids: Sequence[int], now: str) -> None:
        """Complete the report, write it with the rows that were queued, and end the wave."""
        report.errors, report.report_folder = self.errors, str(self.path)
        report.seconds = round(time.monotonic() - self.opened, 3)
        with self._open("candidates.ndjson") as file:
            file.writelines(self._encoded(row) + b"\n" for row in _queued(act, ids))
        with self._open("report.json") as file:
            file.write(msgspec.json.format(self._encoded(report.to_json()), indent=2) + b"\n")
        act.update(
            "wave",
            report.wave,
            state=report.state,
            ended_at=now,
            report_folder=report.report_folder,
            counts=msgspec.json.encode(report.to_json()).decode(),
        )
        self._close()

    def _encoded(self, value: object) -> bytes:
        """JSON that is readable in a terminal."""
        encoded = self._encoder.encode(value)
        return encoded if encoded.isascii() else escaped_json(encoded.decode()).encode()

    def __enter__(self) -> ReportFolder:
        return self

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        if raised is not None:
            self._close()

    def _close(self) -> None:
        self._dropped.close()
        self._error_log.close()

    def _open(self, name: str) -> BinaryIO:
        handle = open_own(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        if self._mode != FILE_MODE:
            os.fchmod(handle, self._mode)  # readable and writable for the group
        return os.fdopen(handle, "wb")


def _queued(act: Act, ids: Sequence[int]) -> list[dict[str, Any]]:
    """The lines of `candidates.ndjson`."""
    columns = (
        "id", "kind", "type", "content", "rule", "extractor_version", "confidence", "rank", "seen",
        "path", "line_start", "line_end", "record_id",
    )  # fmt: skip
    sql = (
        "SELECT m.id, m.kind, m.type, m.content, m.rule, m.extractor_version, m.confidence,"
        " m.rank, m.seen, s.path, r.line_start, r.line_end, r.key FROM memory m"
        " JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)"
        " JOIN record r ON r.id = e.record_id JOIN source s ON s.id = r.source_id"
        f" WHERE m.id {AMONG} ORDER BY m.id"
    )
    return [dict(zip(columns, row, strict=True)) for row in act.query(sql, (listed(ids),))]
