"""Statements with proof wait once each, in the order in which a maintainer needs them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.extraction.candidates import MemoryType
from reviewer.promotion.queue_order import doubt
from reviewer.promotion.rows.statement_rows import Written
from reviewer.promotion.views import QueueQuery, QueueRow, RejectReason
from reviewer.proposing.proof import prove
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import Proposal, Proposer, Proved, Quote
from reviewer.sources.events import Speaker
from tests.stored import planted
from tests.unit.promotion.session import RULE, session

STATEMENT = "Releases are deployed by the release job only, never from a laptop."


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return session(tmp_path / "s1.jsonl")


def proposal(
    statement: str = STATEMENT,
    *quotes: tuple[int, str],
    kind: str = "instruction",
    speaker: Speaker = Speaker.PERSON,
    **more: Any,
) -> Proposal:
    return Proposal(
        **{
            "statement": statement,
            "type": MemoryType.PREFERENCE,
            "quotes": tuple(Quote(*each) for each in quotes or ((0, RULE),)),
            "speaker": speaker,
            "proposer": Proposer.MODEL,
            "rule": "model.test",
            "kind": kind,
            "confidence": 0.8,
            **more,
        }
    )


def add(engine: Engine, path: Path, *proposals: Proposal) -> Written:
    view = read_view(path)
    known = engine.proposals.known("acme").besides(path)
    proved = [Proved(path, each, prove(each, view, known=known)) for each in proposals]
    return engine.proposals.add("acme", proved, title=f"Proposed from {path.name}")


def waiting(engine: Engine, **query: Any) -> list[QueueRow]:
    return engine.queue.rows(engine.queue.ids(QueueQuery(project="acme", **query)))


def contents(rows: Sequence[QueueRow]) -> list[str]:
    return [row.content for row in rows]


def evidence(engine: Engine, number: int) -> list[tuple[str, str]]:
    return [
        (each.record.role, each.record.text[each.span_start : each.span_end])
        for each in engine.queue.evidence(number)
    ]


def test_a_statement_waits_with_its_proof_and_its_lines(engine: Engine, talk: Path) -> None:
    (number,) = add(engine, talk, proposal()).new
    found = engine.queue.candidate(number)
    assert found.content == STATEMENT.rstrip(".")
    assert (found.proposer, found.need) == ("model", "instruction")
    assert found.proof is not None
    assert found.proof.sound
    assert found.proof.quotes[0].text == RULE
    assert (found.prior, found.sessions, found.seen) == (0.8, 1, 1)
    assert evidence(engine, number) == [("user", RULE)]
    assert str(engine.sources.state(number)) == "same"
    assert engine.history.verify().problems == ()


def test_a_line_that_is_no_message_becomes_a_record(engine: Engine, talk: Path) -> None:
    engine.intake.ingest([talk], project="acme")
    quote = (3, "port 8080 is in use by the printer daemon")
    (number,) = add(
        engine, talk,
        proposal("The printer daemon uses port 8080, so tests take another port.", quote),
    ).new  # fmt: skip
    ((role, text),) = evidence(engine, number)
    assert (role, text) == ("tool", "port 8080 is in use by the printer daemon")
    found = engine.queue.candidate(number)
    assert found.source is not None
    assert (Path(found.source.path), found.source.line_start) == (talk, 3)
    assert found.first_seen.startswith("2026-02-14T10:00:03")  # the day of the line, not of the run
    assert str(engine.sources.state(number)) == "same"


def test_a_row_has_the_days_of_its_first_and_last_session_in_whatever_order_they_are_read(
    engine: Engine, tmp_path: Path
) -> None:
    late, early = session(tmp_path / "a.jsonl"), session(tmp_path / "b.jsonl", name="s2")
    early.write_text(early.read_text().replace("2026-02-14", "2026-01-10"))
    (number,) = add(engine, late, proposal()).new
    add(engine, early, proposal())
    found = engine.queue.candidate(number)
    assert (found.first_seen[:10], found.last_seen[:10]) == ("2026-01-10", "2026-02-14")


def test_a_statement_about_a_failure_belongs_to_the_moment_of_it(
    engine: Engine, talk: Path
) -> None:
    quote = (3, "port 8080 is in use by the printer daemon")
    (number,) = add(engine, talk, proposal("Tests take another port than 8080.", quote)).new
    assert list(map(str, engine.recall.moments(number))) == [
        "error error: port * is in use by the printer daemon"
    ]


def test_two_proposers_of_one_call_make_one_row(engine: Engine, talk: Path) -> None:
    added = add(engine, talk, proposal(), proposal(proposer=Proposer.NOTES, rule="notes.summary"))
    assert len(added.new) == 1
    assert engine.queue.candidate(next(iter(added.new))).seen == 1  # one place says it


def test_what_was_rejected_is_only_seen_again(engine: Engine, tmp_path: Path) -> None:
    one, two = session(tmp_path / "a.jsonl"), session(tmp_path / "b.jsonl", name="s2")
    (number,) = add(engine, one, proposal()).new
    engine.triage.reject([number], reason=RejectReason.WRONG)
    assert add(engine, two, proposal()).seen == [number]
    assert waiting(engine) == []
    assert engine.queue.candidate(number).seen == 2


def test_the_persons_words_come_first_then_what_recurred_then_by_need(
    engine: Engine, talk: Path, tmp_path: Path
) -> None:
    agent = Speaker.AGENT
    retries = proposal(
        "The webhook sender retries without a key.", (1, "webhook sender retries"),
        kind="trap", speaker=agent,
    )  # fmt: skip
    port = proposal(
        "The printer daemon uses port 8080.", (3, "port 8080 is in use by the printer daemon"),
        kind="environment", speaker=agent,
    )  # fmt: skip
    add(engine, talk, port, retries, proposal(kind="convention"))
    add(engine, session(tmp_path / "s2.jsonl", name="s2"), port)
    assert [row.need for row in waiting(engine)] == ["convention", "environment", "trap"]
    (trap,) = engine.queue.ids(QueueQuery("acme", filter="trap"))
    assert engine.queue.candidate(trap).need == "trap"


def test_an_excerpt_of_an_earlier_version_waits_once_a_reader_states_it(
    engine: Engine, talk: Path
) -> None:
    engine.intake.ingest([talk], project="acme")
    (excerpt,) = [row for row in waiting(engine) if "release job" in row.content]
    with planted(engine.path) as act:
        act.update("memory", excerpt.id, proposer="excerpt", excerpt=1)
    assert excerpt.id not in {row.id for row in waiting(engine)}
    assert add(engine, talk, proposal(excerpt.content)).unchanged == [excerpt.id]
    assert excerpt.id in {row.id for row in waiting(engine)}


def test_what_cannot_wait_is_left_out_with_the_reason(engine: Engine, talk: Path) -> None:
    unsaid = proposal(STATEMENT, (0, "Deploy from wherever you are."))
    added = add(engine, talk, proposal("Stop it"), proposal("long " * 60), unsaid)
    assert [each.reason for each in added.dropped] == [
        "shorter than 8 characters", "longer than 280 characters",
        "no quote of it is in the session",
    ]  # fmt: skip
    assert waiting(engine) == []


def test_a_secret_in_a_statement_is_masked(engine: Engine, talk: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    added = add(engine, talk, proposal(f"The release job reads the token {secret} at start."))
    found = engine.queue.candidate(next(iter(added.new)))
    assert secret not in found.content
    assert "secret" in found.flags


def test_at_most_fifty_wait_and_the_others_can_be_called_up(engine: Engine, tmp_path: Path) -> None:
    said = [f"The {name} service keeps its data in region {number}." for number, name in
            enumerate(f"{a}{b}" for a in "abcdefgh" for b in "lmnopqrs")]  # fmt: skip
    talk = session(tmp_path / "long.jsonl", *said)
    added = add(
        engine, talk,
        *(
            proposal(text, (number, text), kind="", confidence=0.8 if number < 60 else 0.4)
            for number, text in enumerate(said)
        ),
    )  # fmt: skip
    assert len(added.over_cap) == 10
    assert len(waiting(engine)) == 50
    assert len(waiting(engine, status="deferred")) == len(said) - 60, "they take no place"
    assert engine.queue.counts("acme").beyond_cap == 10
    engine.intake.more(project="acme", limit=4)
    rows = waiting(engine)
    assert len(rows) == 54
    assert all(row.proposer == "model" and row.sessions == 1 for row in rows)
    assert all(evidence(engine, row.id) for row in rows)
    assert engine.history.verify().problems == ()


def test_a_known_memory_and_a_boot_file_are_named(engine: Engine, talk: Path) -> None:
    (talk.parent / "CLAUDE.md").write_text(f"# Rules\n\n- {STATEMENT}\n", encoding="utf-8")
    known = engine.proposals.known("acme", talk.parent)
    assert known(STATEMENT) == ("CLAUDE.md:3",)
    (number,) = add(engine, talk, proposal()).new
    engine.triage.promote([number])
    assert known(STATEMENT) == (f"memory #{number}", "CLAUDE.md:3")
    assert known.besides(talk.parent / "CLAUDE.md")(STATEMENT) == (f"memory #{number}",)


MEMORY = """---
name: no-amend
description: Add a commit, never amend one that was pushed
metadata:
  type: feedback
---

Never amend a commit that was pushed; add a new one on top.
"""


class TestIngestion:
    @pytest.fixture
    def remembered(self, tmp_path: Path) -> Path:
        path = tmp_path / "home" / "memory" / "no-amend.md"
        path.parent.mkdir(parents=True)
        path.write_text(MEMORY, encoding="utf-8")
        return path

    def test_what_an_agent_remembered_waits_as_a_statement(
        self, engine: Engine, talk: Path, remembered: Path
    ) -> None:
        report = engine.intake.ingest([talk, remembered], project="acme")
        rows = waiting(engine)
        (remembered_row,) = (row for row in rows if row.proposer == "memory")
        assert remembered_row.content.startswith("Never amend a commit")
        assert report.rules["memory.claude"] == 1
        engine.history.undo_act(engine.history.acts(limit=1)[0].id)
        assert waiting(engine, status="all") == []
        assert engine.history.verify().problems == ()

    def test_a_memory_that_has_a_description_only(self, engine: Engine, remembered: Path) -> None:
        remembered.write_text(MEMORY[: MEMORY.rindex("---") + 4], encoding="utf-8")
        engine.intake.ingest([remembered], project="acme")
        (row,) = waiting(engine)
        assert row.content == "Add a commit, never amend one that was pushed"
        ((_, text),) = evidence(engine, row.id)
        assert text == row.content

    def test_statements_and_candidates_wait_under_one_cap(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        index = tmp_path / "memory" / "MEMORY.md"
        index.parent.mkdir()
        index.write_text("".join(f"- Kiosk k{n} listens on port {8000 + n}\n" for n in range(48)))
        note = tmp_path / "note.md"
        parts = ("ledger", "drawer", "printer", "terminal", "receipt")
        note.write_text("".join(f"- [Decision] The {part} is blue\n" for part in parts))
        report = engine.intake.ingest([tmp_path], project="acme")
        assert (report.new, report.over_cap) == (50, 3)
        assert [row.proposer for row in waiting(engine)].count("memory") == 48

    def test_reading_again_proposes_nothing_twice(self, engine: Engine, remembered: Path) -> None:
        engine.intake.ingest([remembered], project="acme")
        before = [(row.id, row.seen) for row in waiting(engine, status="all")]
        remembered.write_text(MEMORY + "\n", encoding="utf-8")
        report = engine.intake.ingest([remembered], project="acme")
        assert report.new == 0
        engine.intake.ingest([remembered], project="acme", again=True)
        assert [row[0] for row in before] == [row.id for row in waiting(engine, status="all")]


DOUBTED = [
    pytest.param({"confidence": 0.45}, "its proposer gives it 45%", id="unsure"),
    pytest.param({"standing": False}, "meant for once", id="once"),
]


@pytest.mark.parametrize(("more", "why"), DOUBTED)
def test_what_its_reader_doubts_is_deferred_until_it_comes_up_again(
    engine: Engine, tmp_path: Path, more: dict[str, Any], why: str
) -> None:
    (number,) = add(engine, session(tmp_path / "s1.jsonl"), proposal(**more)).new
    assert [row.id for row in waiting(engine, status="deferred")] == [number]
    row = engine.queue.candidate(number)
    assert doubt(row.prior, row.flags) == why
    add(engine, session(tmp_path / "s2.jsonl", name="s2"), proposal(joins=number))
    assert [row.id for row in waiting(engine)] == [number]


def test_what_its_reader_doubts_waits_if_it_takes_the_place_of_a_waiting_row(
    engine: Engine, tmp_path: Path
) -> None:
    said = "I prefer thermal paper for all receipts of the kiosk, always."
    path = session(tmp_path / "s1.jsonl", said)
    engine.intake.ingest([path], project="acme")
    before = waiting(engine)
    statement = proposal("The paper of receipts is thermal.", (0, said), confidence=0.4)
    added = add(engine, path, statement)
    assert [row.id for row in waiting(engine)] == list(added.new)
    engine.history.undo_act(added.act)
    assert waiting(engine) == before


def test_what_its_reader_doubts_waits_once_the_person_says_it(
    engine: Engine, tmp_path: Path
) -> None:
    said = "I prefer thermal paper for all receipts of the kiosk, always."
    path = session(tmp_path / "s1.jsonl", f"Reprint it. {said}")
    (number,) = add(engine, path, proposal(said, (0, said), confidence=0.4)).new
    later = session(tmp_path / "s2.jsonl", said, name="s2")
    engine.intake.ingest([later], project="acme")
    assert [row.id for row in waiting(engine)] == [number]


def test_what_a_person_deferred_stays_so_when_it_comes_up_again(
    engine: Engine, tmp_path: Path
) -> None:
    (number,) = add(engine, session(tmp_path / "s1.jsonl"), proposal()).new
    engine.triage.defer([number])
    add(engine, session(tmp_path / "s2.jsonl", name="s2"), proposal(joins=number))
    assert waiting(engine) == []


def test_what_makes_a_row_untrue_waits_even_if_its_reader_doubts_it(
    engine: Engine, tmp_path: Path
) -> None:
    (one,) = add(engine, session(tmp_path / "s1.jsonl"), proposal()).new
    later = session(tmp_path / "s2.jsonl", name="s2")
    words = "Releases are deployed from a laptop of the release team."
    (other,) = add(engine, later, proposal(words, confidence=0.4, replaces=one)).new
    assert [row.id for row in waiting(engine)] == [other]
