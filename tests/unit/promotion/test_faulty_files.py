"""Whatever one file of a wave does, the others are queued, it is named, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.promotion.waves.report import WaveReport
from reviewer.text.secrets import Masked, mask
from tests.unit.promotion.graph import contents
from tests.unit.promotion.session import session

WORD = "quagga"
"""Occurs in the faulty file only, and in its name."""

FILES = 9

MEMORY = """---
name: {name}
description: Look at {cause} when the {name} kiosk fails
metadata:
  type: feedback
---

Look at {cause} first when the {name} kiosk fails, and only then at its log.
"""

PROMOTION = "reviewer.promotion."
STAGES = {
    "recognised": "reviewer.sources.stream.recognised",
    "masked": f"{PROMOTION}rows.masked_records.mask",
    "judged": "reviewer.extraction.extract.Extractor.feed",
    "written": f"{PROMOTION}waves.record_writer.record_image",
    "proved": f"{PROMOTION}waves.candidate_collector.prove",
}
"""Where a file's content passes, in the order of a wave."""


def mentions(value: object) -> bool:
    """Whether the faulty file or a word of it is in a value; iterators are left alone."""
    if isinstance(value, bytes):
        return WORD.encode() in value
    if isinstance(value, Iterator):
        return False
    return WORD in repr(value)


@contextlib.contextmanager
def fault(stage: str, problem: Exception | Callable[[], None]) -> Iterator[None]:
    """Make a stage raise for the faulty file, or do something else before."""
    original: Callable[..., Any] = pkgutil.resolve_name(STAGES[stage])

    def failing(*arguments: Any, **options: Any) -> Any:
        if any(map(mentions, (*arguments, *options.values()))):
            if isinstance(problem, Exception):
                raise problem
            problem()
        return original(*arguments, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(STAGES[stage], failing)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name, rule, cause, decision in (
        ("aardvark", "the staging database", "an unsigned webhook", "receipts for ten years"),
        (WORD, "rotating the signing keys", "clock drift on the printer", "drawers closed"),
        ("zebra", "tagging a release", "two cron jobs at midnight", "prices in cents"),
    ):
        session(
            folder / f"{name}.jsonl",
            f"Always run `make {name}` before {rule}, otherwise the {name} checks fail.",
            f"The root cause was {cause}, which `{name}_send` never looked at.",
            name=name,
        )
        (folder / f"{name}.md").write_text(
            f"# Notes\n\n- [Decision] We decided to keep {decision} in the {name} kiosk.\n"
        )
        (folder / "memory").mkdir(exist_ok=True)
        (folder / "memory" / f"{name}.md").write_text(MEMORY.format(name=name, cause=cause))
    return folder


def ingest(engine: Engine, folder: Path) -> WaveReport:
    return engine.intake.ingest([folder], project="acme")


def queued(engine: Engine, word: str) -> list[str]:
    return [each for each in contents(engine) if word in each]


@pytest.mark.parametrize("stage", STAGES)
def test_the_others_are_queued_and_the_file_is_named(
    engine: Engine, folder: Path, stage: str
) -> None:
    for _ in range(2):  # the second wave does not fail at the same place
        with fault(stage, OverflowError("math range error")):
            report = ingest(engine, folder)
        assert report.state == "done"
        assert queued(engine, "aardvark")
        assert queued(engine, "zebra")
        log = Path(report.report_folder, "errors.log").read_text()
        assert WORD in log
        assert "OverflowError" in log
        assert report.unread_files >= 1
        assert report.files + report.unchanged + report.unread_files == FILES
    assert engine.history.verify().ok

    ingest(engine, folder)
    assert queued(engine, WORD)
    assert engine.history.verify().ok


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (MemoryError(), "it needs more memory than is available"),
        (KeyError("api_key=sk-live-4eC39HqLyjWDarjtT1zdp7dc"), "KeyError in "),
        (ValueError("no\n\x1b[31m" + "x" * 5000), "ValueError in "),
    ],
)
def test_the_reason_is_one_safe_line(
    engine: Engine, folder: Path, problem: Exception, reason: str
) -> None:
    with fault("recognised", problem):
        report = ingest(engine, folder)
    first = report.problems[0]
    assert f"{WORD}.jsonl cannot be read: {reason}" in first
    assert "4eC39HqLyjWDarjtT1zdp7dc" not in first
    assert len(first) < 500 + len(str(folder))
    lines = Path(report.report_folder, "errors.log").read_text().splitlines()
    assert len(lines) == 3  # one for each of the three files
    assert "\x1b" not in "".join(lines)


def breaking_off(at: str) -> Callable[[str], Masked]:
    def masked(text: str) -> Masked:
        if at in text:
            raise ValueError("it broke off")
        return mask(text)

    return masked


def test_a_file_that_breaks_off_midway_proposes_nothing_until_it_is_read_to_its_end(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = [f"Always run `make quagga{n}` before the deploy of part {n}." for n in range(300)]
    path = session(tmp_path / f"{WORD}.jsonl", *rules)
    with monkeypatch.context() as patched:
        patched.setattr(STAGES["masked"], breaking_off("quagga200`"))
        report = engine.intake.ingest([tmp_path], project="acme")
    assert report.records > 0
    assert report.files == 0
    assert queued(engine, WORD) == []
    assert report.problems[0].startswith(f"{path} cannot be read: ValueError in ")

    again = engine.intake.ingest([tmp_path], project="acme")
    assert again.fresh < again.records
    assert len(queued(engine, WORD)) > 10


def test_thousands_of_finds_in_one_session(engine: Engine, tmp_path: Path) -> None:
    session(tmp_path / "rich.jsonl", *(f"We always deploy v{n}." for n in range(2_600)))
    (tmp_path / "note.md").write_text("- [Decision] We decided to keep receipts for ten years.\n")
    for _ in range(2):
        report = engine.intake.ingest([tmp_path], project="acme")
        assert report.problems == []
        assert report.errors == 0
    assert queued(engine, "receipts")
    assert queued(engine, "deploy")


def test_a_file_from_the_far_future_is_read_once(engine: Engine, folder: Path) -> None:
    for path in folder.rglob(f"{WORD}.*"):
        os.utime(path, (1.1e10, 1.1e10))
    report = ingest(engine, folder)
    assert report.problems == []
    assert queued(engine, WORD)
    assert ingest(engine, folder).unchanged == report.files


def grow(path: Path) -> None:
    with path.open("a") as file:
        file.write(f"\nWe decided to paint every {WORD} kiosk green.\n" * 50)


@pytest.mark.parametrize("change", [grow, Path.unlink])
def test_a_file_that_changes_while_it_is_read(
    engine: Engine, folder: Path, change: Callable[[Path], object]
) -> None:
    changed = False

    def changing() -> None:
        nonlocal changed
        if not changed:
            changed = True
            for path in (folder / f"{WORD}.jsonl", folder / "memory" / f"{WORD}.md"):
                change(path)

    with fault("proved", changing):
        report = ingest(engine, folder)
    assert changed
    assert report.state == "done"
    assert queued(engine, "aardvark")
    assert queued(engine, "zebra")
    assert ingest(engine, folder).state == "done"
    assert engine.history.verify().ok
