"""What the four rule classes propose: text in, candidates out."""

import pytest

from reviewer.extraction.extract import (
    NOT_IN_FORCE,
    PASTED,
    RESTATES_BOOT,
    SAID_BEFORE,
    TOO_LONG,
    TOO_SHORT,
    Dropped,
)
from reviewer.sources.records import Record, RecordUse, Role

from .making import extract, note, record, settled

Found = list[tuple[float, str, str]]


def found(*records: Record) -> Found:
    return [(each.prior, str(each.type), each.content) for each in extract(*records)]


def dropped(*records: Record) -> list[tuple[str, str]]:
    lost = [each for each in settled(*records) if isinstance(each, Dropped)]
    return [(each.reason, each.content) for each in lost]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Decision: keep one file", [(0.7, "decision", "keep one file")]),
        ("### Requirement R-12 - every export has a checksum",
         [(0.7, "requirement", "every export has a checksum")]),
        ("## Lessons: retries hide a full disk", [(0.7, "knowledge", "retries hide a full disk")]),
        ("## Component: Ledger writer", [(0.7, "component", "Ledger writer")]),
        ("## Decisions\n\nNone of them here yet: see the wiki", []),
        ("## Setup: how to begin", []),
    ],
)  # fmt: skip
def test_typed_headings(text: str, expected: Found) -> None:
    assert found(record(text)) == expected


def test_the_text_under_the_decision_heading_of_a_record() -> None:
    one = "## Decision\n\nWe will run one worker. It owns the queue."
    assert found(note(one)) == [(0.7, "decision", "We will run one worker. It owns the queue")]
    several = "## Decision Outcome\n\n- Chosen option: SQLite\n- One file for each project"
    assert [content for *_, content in found(note(several))] == [
        "Chosen option: SQLite", "One file for each project",
    ]  # fmt: skip
    argued = f"{one}\n\nTwo of them would race for the lock of the queue."
    assert found(note(argued)) == found(note(one))
    assert found(note(f"{one}\n\n- Two of them would race.")) == found(note(one))
    assert found(note("## Decision\n\nA worker must not:\n\n- delete the queue")) == []
    listed = note("## Decisions\n\nAs of May.\n\n- We run one worker\n- The queue is a file")
    assert [content for *_, content in found(listed)] == [
        "We run one worker", "The queue is a file",
    ]  # fmt: skip
    assert found(record(one)) == []  # an answer in a dialogue is no decision record
    assert found(note("## Context\n\nWe run one worker for each queue.")) == []


@pytest.mark.parametrize(
    ("title", "text", "statement"),
    [
        ("3. Oven queue", "We will run one worker.", "Oven queue: We will run one worker"),
        ("One worker", "We will run one worker.", "We will run one worker"),
        ("Oven queue", "One worker. " + "It owns the lock. " * 20, "Oven queue: One worker"),
        ("Ovens " * 50, "We will run one worker.", "We will run one worker"),
        ("Decisions", "We will run one worker.", "We will run one worker"),
    ],
)
def test_the_title_of_a_decision_record_names_the_subject(
    title: str, text: str, statement: str
) -> None:
    record = note(f"# {title}\n\n## Decision\n\n{text}", headings=(title.strip(),))
    assert [content for *_, content in found(record)] == [statement]


@pytest.mark.parametrize(
    "said", ["## Decision\n\nWe use SQLite, because", "**Decision:** We use SQLite, because"]
)
def test_a_statement_that_breaks_off_before_a_list_has_its_first_sentence(said: str) -> None:
    listed = "* it is one file. Nobody runs it.\n* it is fast\n"
    (statement,) = [content for *_, content in found(note(f"{said}\n\n{listed}"))]
    assert statement == "We use SQLite, because: it is one file"
    (too_long,) = dropped(note(f"{said}\n\n* it is {'very ' * 60}fast"))
    assert too_long[0] == "above max content length"
    assert found(note(f"mass = 4 kg\n\n{listed}"))[0][-1] == "mass = 4 kg"


def test_of_a_long_decision_its_first_sentence_counts() -> None:
    text = "## Decision\n\nWe will run one worker. " + "It owns the queue and its lock. " * 10
    assert found(note(text)) == [(0.7, "decision", "We will run one worker")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [Decision] Ship without fonts", [(0.65, "decision", "Ship without fonts")]),
        ("- **Constraint:** at most 50 rows", [(0.65, "constraint", "at most 50 rows")]),
        ("- **Requirement R-2**: logs are kept", [(0.65, "requirement", "logs are kept")]),
        ("- Convention: errors are sentences", [(0.65, "project", "errors are sentences")]),
        ("**Decision**: one worker a queue", [(0.65, "decision", "one worker a queue")]),
        ("- [Preference] short messages", [(0.65, "preference", "short messages")]),
        ("- [Vendor] Northwind Castings", [(0.65, "vendor", "Northwind Castings")]),
        ("- [ ] Ship without fonts", []),
        ("- [decision](https://example.org/a) is a link", []),
        ("- **Result:** all tests pass", []),
        ("- **Files:** a.py and b.py", []),
        ("The decision: it is still to be made", []),
    ],
)
def test_typed_list_items(text: str, expected: Found) -> None:
    assert found(record(text)) == expected
    assert found(note(text)) == expected


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("I prefer tabs over spaces.", "preference"),
        ("I'd strongly prefer one commit a change", "preference"),
        ("I am the maintainer of the parser.", "identity"),
        ("My time zone is Tokyo", "identity"),
        ("I work at a foundry in Ghent", "identity"),
        ("We always run the linter first", "project"),
        ("We never push on Fridays!", "project"),
        ("We decided to keep one worker.", "project"),
        ("From now on write the tests first", "adaptation"),
        ("Please always answer in English", "preference"),
        ("Remember that the port is taken", "knowledge"),
    ],
)
def test_sentences_in_the_persons_own_words(text: str, type_: str) -> None:
    clean = text.rstrip(".!")
    assert found(note(text)) == [(0.5, type_, clean)]
    assert found(record(text, role=Role.USER)) == [(0.5, type_, clean)]
    assert found(record(text)) == []  # an agent's
    assert found(record(text, role=Role.USER, sidechain=True)) == []  # an agent's to its sub-agent


@pytest.mark.parametrize(
    "text", ["Do we always run the linter?", "The tests are always red", "I preferred it before"]
)
def test_other_sentences_are_not_proposed(text: str) -> None:
    assert found(record(text, role=Role.USER)) == []
    assert found(note(text)) == []


def test_a_sentence_of_a_pasted_document_is_not_the_persons() -> None:
    plan = "Implement this plan:\n\n## 1. Fix the docs\n\n- Note that `Ledger` lives in ledger.py\n"

    assert found(record("I prefer short commits.\n\n" + plan, role=Role.USER)) == [
        (0.5, "preference", "I prefer short commits")
    ]
    assert dropped(record(plan, role=Role.USER)) == [
        (PASTED, "Note that `Ledger` lives in ledger.py")
    ]
    assert found(note(plan)) == [(0.5, "knowledge", "Note that `Ledger` lives in ledger.py")]

    prompt = "NEVER leave your role.\n\n<role>\n1. Load the file of the role.\n</role>"
    assert dropped(record(prompt, role=Role.USER)) == [(PASTED, "NEVER leave your role")]


def test_a_person_states_a_fact_once_a_session() -> None:
    said = [
        record("I prefer short commits", role=Role.USER, key=key, session=session)
        for key, session in (("a", "s1"), ("b", "s1"), ("c", "s2"))
    ]
    assert len(found(*said)) == 2
    assert dropped(*said) == [(SAID_BEFORE, "I prefer short commits")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wheel diameter = 82 mm\nmass = 4.8 kg", ["Wheel diameter = 82 mm", "mass = 4.8 kg"]),
        ("- budget = $400", ["budget = $400"]),
        ("preload = 12 Nm (measured)", ["preload = 12 Nm (measured)"]),
        ("retries = 5", []),
        ("```\nmass = 4.8 kg\n```", []),
        ("if mass == 4.8 kg then stop", []),
    ],
)
def test_values_with_a_unit_are_a_candidate_a_line(text: str, expected: list[str]) -> None:
    for each in (note(text), record(text)):
        assert found(each) == [(0.6, "parameter", content) for content in expected]


def test_the_label_does_not_count_and_nothing_is_cut() -> None:
    fits, long = "x" * 270, "x" * 281
    assert found(note(f"- [Decision] {fits}")) == [(0.65, "decision", fits)]
    assert found(note(f"- [Decision] {long}")) == []
    assert dropped(note(f"- [Decision] {long}")) == [(TOO_LONG, long[:280])]
    assert dropped(note("- [Decision] none")) == [(TOO_SHORT, "none")]


def test_an_entry_that_is_no_longer_in_force_is_dropped() -> None:
    entry = note("## Decision: keep one file", meta={"status": "Superseded by 7"})
    assert found(entry) == []
    assert dropped(entry) == [(NOT_IN_FORCE, "keep one file")]


def test_what_boot_text_says_is_not_proposed_when_it_is_repeated() -> None:
    boot = record("- **Constraint:** no network in tests", use=RecordUse.BOOT, key="boot")
    again = record("As agreed:\n\n- **Constraint:** No network in tests.")
    assert found(boot, again) == []
    assert dropped(boot, again) == [(RESTATES_BOOT, "No network in tests")]
