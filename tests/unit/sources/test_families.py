"""For each family of agents: what the person typed, and what is harness, repetition or a tool's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from reviewer.sources.events import Call, Message, Outcome, Result, Speaker
from reviewer.sources.records import Record, RecordUse, Role
from reviewer.sources.rows import has_rows
from reviewer.sources.stream import read
from tests.unit.sources.builders import Scanned
from tests.unit.sources.families import FAMILIES, Family

each_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@each_family
def test_the_words_of_the_person_and_of_the_agent(family: Family, tmp_path: Path) -> None:
    scan = Scanned(family.write(tmp_path))
    records = list(scan)
    assert scan.format == family.format
    assert scan.errors == [] or family.format == "codex-app-server"
    said = [record for record in records if record.use is RecordUse.MESSAGE]
    assert [record.text for record in said if record.role is Role.USER] == family.person
    assert [record.text for record in said if record.role is Role.ASSISTANT] == family.agent
    for use, beginnings in family.kept_out.items():
        texts = [record.text for record in records if record.use.value == use]
        assert len(texts) == len(beginnings)
        assert all(text.startswith(start) for text, start in zip(texts, beginnings, strict=True))
    events = read(scan.path).kept()
    typed = [each for each in events if isinstance(each, Message)]
    assert [each.text for each in typed if each.speaker is Speaker.PERSON] == family.person


@each_family
def test_the_name_of_a_file_does_not_decide(family: Family, tmp_path: Path) -> None:
    path = family.write(tmp_path)
    if path.suffix != ".md":
        path = path.rename(path.with_suffix(".log"))
    events = read(path).kept()
    typed = [each for each in events if isinstance(each, Message)]
    assert [each.text for each in typed if each.speaker is Speaker.PERSON] == family.person


@each_family
def test_tool_calls_and_their_results(family: Family, tmp_path: Path) -> None:
    events = list(read(family.write(tmp_path)))
    calls = [event for event in events if isinstance(event, Call)]
    results = [event for event in events if isinstance(event, Result)]
    assert [(call.tool, call.text) for call in calls] == family.calls
    failed = (Outcome.FAILED, Outcome.REFUSED, Outcome.INTERRUPTED)
    assert [(each.tool, each.text, each.outcome in failed) for each in results] == family.results


@each_family
def test_records_keep_agent_model_folder_branch_and_a_key(family: Family, tmp_path: Path) -> None:
    records = list(Scanned(family.write(tmp_path)))
    assert {record.meta["agent"] for record in records} == {family.format}
    assert len({record.key for record in records}) == len(records)
    for name, value in (("cwd", family.cwd), ("gitBranch", family.branch), ("model", family.model)):
        found = {record.meta.get(name) for record in records}
        assert not value or value in found


@each_family
def test_events_and_records_are_at_their_places(family: Family, tmp_path: Path) -> None:
    path = family.write(tmp_path)
    data = path.read_bytes()
    for each in read(path).with_records():
        at = each if isinstance(each, Record) else each.origin
        if has_rows(path) or path.parent.name == "pj":
            assert at.byte_start == at.byte_end
            continue
        raw = data[at.byte_start : at.byte_end]
        assert hashlib.sha256(raw).hexdigest() == at.sha256
        assert data[: at.byte_start].count(b"\n") == at.line_start
        assert at.line_end == at.line_start + raw.count(b"\n") + 1


@each_family
def test_a_part_of_the_lines_can_be_read(family: Family, tmp_path: Path) -> None:
    path = family.write(tmp_path)
    records = list(Scanned(path))
    last = records[-1]
    only = list(Scanned(path, line_start=last.line_start))
    assert only[-1] == last
    assert all(record.line_start >= last.line_start for record in only)
    before = Scanned(path, line_end=last.line_start)
    assert all(record.line_end <= last.line_start for record in before)


@each_family
def test_records_are_those_that_stores_have(family: Family, tmp_path: Path) -> None:
    """A change of a key, a position or a text would queue again what was decided on: the hashes
    may change only with a migration.
    """
    folder = tmp_path / "yard" / "shop"  # keys of some formats have two folders in them
    folder.mkdir(parents=True)
    stored = json.loads(Path(__file__).with_name("stored_keys.json").read_text())
    name = next(name for name, each in FAMILIES.items() if each is family)
    told = "\n".join(
        f"{each.key} {each.line_start} {each.line_end} {each.byte_start} {each.byte_end}"
        f" {each.sha256} {each.role} {each.use} {each.session} {each.at} {each.text}"
        for each in Scanned(family.write(folder))
    )
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == stored[name]
