from pathlib import Path

import pytest

from reviewer.extraction.extract import extract
from reviewer.extraction.passages import passages, wording
from reviewer.extraction.rejections import NARRATION, TOO_LONG
from reviewer.sources.open import open_source
from tests.unit.extraction.making import SETTING, record


def contents(text: str) -> list[str]:
    return [p.content for p in passages(record(text), lambda *_: None)]


def dropped(text: str) -> list[tuple[str, str]]:
    heard: list[tuple[str, str]] = []
    list(passages(record(text), lambda reason, content, *_: heard.append((reason, content))))
    return heard


def test_every_word_of_a_passage_is_in_its_span() -> None:
    text = "**Cause**: the _lock_ survives a crash.\n\n- Items stay\n  whole here"
    for passage in passages(record(text), lambda *_: None):
        assert passage.content == wording(text[passage.start : passage.end])


def test_a_sentence_that_depends_on_the_one_before_is_joined_to_it() -> None:
    text = "The exporter writes the header twice when a shard is empty. This breaks the importer."
    assert contents(text) == [text.rstrip(".")]


def test_self_contained_sentences_stay_apart() -> None:
    first = "The exporter writes the header twice whenever a shard turns out to be empty"
    second = "Importing needs a lock file in the folder that holds every one of the shards"
    assert contents(f"{first}. {second}.") == [first, second]


def test_sentences_of_different_paragraphs_are_never_joined() -> None:
    text = "The exporter writes the header twice.\n\nThis breaks the importer."
    assert len(contents(text)) == 2


def test_a_line_with_a_colon_goes_with_the_first_item_it_announces() -> None:
    text = "The exporter changed twice:\n- it skips empty shards\n- it writes a checksum"
    assert contents(text) == [
        "The exporter changed twice: - it skips empty shards",
        "it writes a checksum",
    ]


def test_code_tables_quotes_and_traces_are_not_passages() -> None:
    text = (
        "```\nThe loader reads keys.\n```\n| The loader | reads keys |\n> The loader reads keys.\n"
        "ERROR: The loader reads keys.\n    The loader reads keys."
    )
    assert contents(text) == []


def test_narration_is_cut_off_before_the_finding_it_leads_to() -> None:
    text = "Let me check the loader - it already reads every key before the first call returns."
    assert contents(text) == ["it already reads every key before the first call returns"]


def test_narration_is_dropped_and_never_joined_over() -> None:
    text = "The loader reads keys. Let me run the tests. It reads them twice."
    assert contents(text) == ["The loader reads keys", "It reads them twice"]
    assert dropped(text) == [(NARRATION, "Let me run the tests")]


def test_a_sentence_above_280_characters_is_cut_at_a_clause() -> None:
    clause = "the loader reads every key of the file before it returns anything to its caller"
    text = f"{clause}; {clause}; {clause}; {clause}."
    found = contents(text)
    assert len(found) == 2
    assert all(len(content) <= 280 and content.endswith("caller") for content in found)


def test_a_long_sentence_without_a_clause_is_dropped_with_its_reason() -> None:
    text = "word " * 80
    assert contents(text) == []
    assert [reason for reason, _ in dropped(text)] == [TOO_LONG]


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("## [2026-02-19-143000] Keep one worker a queue", "Keep one worker a queue"),
        ("# 7. Keep one worker a queue", "Keep one worker a queue"),
        ("# ADR-007: Keep one worker a queue", "Keep one worker a queue"),
        ("# 0007 - Keep one worker a queue", "Keep one worker a queue"),
        ("# 3 workers keep the queue short", "3 workers keep the queue short"),
    ],
)
def test_a_title_loses_its_number_and_date(head: str, title: str) -> None:
    assert contents(head) == [title]


@pytest.mark.parametrize(
    ("line", "type_", "content"),
    [
        ("- [Decision] The ledger keeps one writer", "project", "The ledger keeps one writer"),
        ("- [Preference] Short branches, always", "preference", "Short branches, always"),
        ("- **Decision**: one queue a tenant", "project", "one queue a tenant"),
        ("- Root cause: a stale lock in `x()`", "knowledge", "Root cause: a stale lock in `x()`"),
    ],
)
def test_a_label_that_only_names_the_type_is_not_part_of_the_fact(
    tmp_path: Path, line: str, type_: str, content: str
) -> None:
    path = tmp_path / "notes.md"
    path.write_text(f"# Notes\n\n## Decision\n\nText first.\n\n## Points\n\n{line}\n")
    found = {candidate.content: candidate for candidate in extract(open_source(path), SETTING)}
    candidate = found[content]
    assert candidate.type == type_
    span = candidate.record.text[candidate.span_start : candidate.span_end]
    assert span.replace("**", "").endswith(content)
