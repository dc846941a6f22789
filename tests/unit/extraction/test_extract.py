from collections.abc import Iterator

import pytest

from reviewer.extraction.candidates import Candidate, MemoryType, Setting
from reviewer.extraction.extract import (
    NO_RULE,
    NOT_IN_FORCE,
    Dropped,
    cited_lines,
    extract,
    lines_before,
)
from reviewer.extraction.rejections import RESTATES_BOOT
from reviewer.extraction.rules import EXTRACTOR_VERSION
from reviewer.sources.records import Record, Role, Shape, Use
from tests.unit.extraction.making import NOW, SETTING, note, record

CAUSE = "The upload fails because the path of the bucket has a space in it."


def found(*records: Record) -> list[Candidate]:
    return list(extract(records, SETTING))


def test_a_candidate_explains_itself() -> None:
    told = record(f"Hello there. {CAUSE}")
    setting = Setting(path="docs/decisions/x.jsonl", now=NOW, updated=NOW)
    (one,) = extract([told], setting)
    assert one.content == CAUSE.rstrip(".")
    assert one.rule == "root_cause"
    assert one.type is MemoryType.KNOWLEDGE
    assert (one.prior, one.signal, one.freshness) == (0.5, 1.1, 1.05)
    assert one.confidence == 0.5775
    assert one.extractor_version == EXTRACTOR_VERSION
    assert told.text[one.span_start : one.span_end] == CAUSE
    assert 0 <= one.weight <= 1


def test_only_records_with_use_said_are_read() -> None:
    assert found(record(CAUSE))
    for use in Use:
        if use is not Use.MESSAGE:
            assert found(record(CAUSE, use=use)) == []


def test_a_sentence_that_restates_boot_text_is_dropped_with_that_reason() -> None:
    heard: list[Dropped] = []
    boot = record(f"# Rules\n\n- {CAUSE.upper()}", use=Use.BOOT)
    assert list(extract([boot, record(CAUSE)], SETTING, heard.append)) == []
    assert [(d.reason, d.content) for d in heard] == [(RESTATES_BOOT, CAUSE.rstrip("."))]


def test_boot_text_counts_as_known_only_after_it_was_read() -> None:
    assert len(found(record(CAUSE), record("Ok."), record(CAUSE, use=Use.BOOT))) == 1


def test_text_that_no_rule_matches_is_dropped_with_its_lines() -> None:
    heard: list[Dropped] = []
    told = record("It went quite nicely there", key="k9", line_start=7, line_end=8)
    assert list(extract([told], SETTING, heard.append)) == []
    (drop,) = heard
    assert (drop.reason, drop.record, drop.line_start, drop.line_end) == (NO_RULE, "k9", 7, 8)


def test_the_users_text_outweighs_the_agents() -> None:
    (agent,) = found(record(CAUSE))
    (person,) = found(record(CAUSE, role=Role.USER))
    assert person.weight > agent.weight


def test_the_last_reply_of_a_turn_outweighs_an_earlier_one() -> None:
    between, last = (
        item
        for item in found(
            record(CAUSE, key="a"), record(CAUSE, key="b"), record("go on", role=Role.USER)
        )
    )
    assert (between.record.key, last.record.key) == ("a", "b")
    assert last.weight > between.weight


def test_a_transcript_cites_the_records_lines() -> None:
    (one,) = found(record(f"Hello there.\n\n{CAUSE}", line_start=5, line_end=6))
    assert cited_lines(one) == (5, 6)


def test_a_note_cites_the_lines_of_the_statement() -> None:
    text = (
        "## Decision\n\nWe will keep one worker for each of the queues.\n\n"
        "The second worker starts only when\nthe first one is busy for a minute."
    )
    first, second = found(note(text, line_start=20, line_end=26))
    assert cited_lines(first) == (22, 23)
    assert cited_lines(second) == (24, 26)


def test_an_entry_of_a_decision_log_yields_its_decision() -> None:
    text = "**Status**: Accepted\n\n**Decision**: Keep times as UTC text in every table"
    (one,) = found(note(text, shape=Shape.ENTRY, headings=("Decisions", "Times")))
    assert (one.rule, one.prior) == ("decision_entry_line", 0.7)


def test_an_entrys_title_is_proposed_without_its_date() -> None:
    text = "## [2026-02-19] Keep times as UTC text in every table\n\n**Status**: Accepted"
    (one,) = found(note(text, shape=Shape.ENTRY, headings=("Decisions", text.splitlines()[0][3:])))
    assert (one.rule, one.content) == ("entry_title", "Keep times as UTC text in every table")


@pytest.mark.parametrize("status", ["Superseded by 12", "rejected", "Deprecated"])
def test_an_entry_no_longer_in_force_is_dropped_with_that_reason(status: str) -> None:
    heard: list[Dropped] = []
    told = note(
        "**Decision**: Keep times as local text", shape=Shape.ENTRY, meta={"status": status}
    )
    assert list(extract([told], SETTING, heard.append)) == []
    assert [drop.reason for drop in heard] == [NOT_IN_FORCE]


def test_records_are_taken_one_at_a_time() -> None:
    """A hundred records are never held at once: the first candidate comes before the third read."""
    read = 0

    def stream() -> Iterator[Record]:
        nonlocal read
        for number in range(100):
            read += 1
            yield record(CAUSE, key=str(number))

    next(extract(stream(), SETTING))
    assert read <= 2


@pytest.mark.parametrize("text", ["", "\n", "a\n\nb\nc", "word\n" * 900, "x" * 5000 + "\ny\n"])
def test_lines_before_counts_line_ends_in_short_and_long_texts(text: str) -> None:
    for place in {0, 1, len(text) // 2, max(len(text) - 1, 0), len(text), len(text) + 5}:
        assert lines_before(text, place) == text.count("\n", 0, place)
