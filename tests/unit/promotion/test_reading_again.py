"""Reading a file again: what is known counts, what is worded differently waits beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from reviewer.engine import Engine
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.extract import Event, Extractor
from reviewer.sources.records import Record
from tests.unit.promotion.graph import dump, ids
from tests.unit.sources.builders import put

NOTE = """\
# Kiosk

We decided to keep the drawer closed until the card terminal has answered.

## Printers

We prefer thermal paper without BPA for all printers.
"""


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return put(tmp_path, "kiosk.md", NOTE)


def newer(monkeypatch: pytest.MonkeyPatch, reword: Callable[[str], str]) -> None:
    """An extractor of a later version, which words everything differently."""
    older = Extractor.feed

    def judged(self: Extractor, record: Record) -> Iterator[Event]:
        for each in older(self, record):
            if isinstance(each, Candidate):
                each = msgspec.structs.replace(
                    each, content=reword(each.content), extractor_version="9.9.9"
                )
            yield each

    monkeypatch.setattr(Extractor, "feed", judged)


def test_what_is_known_counts_once_more_and_stays_as_it_is(engine: Engine, note: Path) -> None:
    engine.intake.ingest([note], project="acme")
    found = ids(engine)
    engine.triage.promote(found[:1])
    engine.triage.reject(found[1:2])
    before = [engine.queue.candidate(n) for n in found]
    report = engine.intake.ingest([note], project="acme", again=True)
    after = [engine.queue.candidate(n) for n in found]
    assert (report.new, report.repeated) == (0, len(found))
    assert ids(engine) == found
    counted = {"seen", "refs", "last_seen"}
    for old, new in zip(before, after, strict=True):
        for field in set(old.__struct_fields__) - counted:
            assert getattr(old, field) == getattr(new, field)
        assert (new.seen + new.refs) == (old.seen + old.refs) + 1
    assert after[0].refs == before[0].refs + 1


def test_a_newer_extractor_stands_beside_the_old_candidate(
    engine: Engine, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.intake.ingest([note], project="acme")
    memories = ids(engine, "kind:memory")
    before = [engine.queue.candidate(n) for n in memories]
    evidence = dump(engine, "evidence")
    newer(monkeypatch, lambda words: f"In short: {words} - as of the newer rules of the kiosk")
    report = engine.intake.ingest([note], project="acme", again=True)
    assert report.new == len(memories) > 0
    assert [engine.queue.candidate(n).content for n in memories] == [b.content for b in before]
    for old in before:
        now = engine.queue.candidate(old.id)
        for field in set(old.__struct_fields__) - {"members"}:
            assert getattr(now, field) == getattr(old, field), field
    fresh = set(ids(engine, "kind:memory")) - set(memories)
    assert {engine.queue.candidate(n).extractor_version for n in fresh} == {"9.9.9"}
    assert {engine.queue.candidate(n).status for n in fresh} == {"candidate"}
    assert dump(engine, "evidence")[: len(evidence)] == evidence
