"""Statements with their proof: what the keys of the queue do."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.extraction.candidates import MemoryType
from reviewer.promotion.views import QueueQuery
from reviewer.proposing.proof import prove
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import Proposal, Proposer, Proved, Quote
from reviewer.sources.events import Speaker
from tests.cli.test_findings import REFUSED
from tests.present import present
from tests.stored import planted
from tests.tui.conftest import opened, status_of
from tests.unit.promotion.session import RULE, session
from tests.unit.sessions.told import Told

STATEMENT = "Releases are deployed by the release job only, never from a laptop."
EXCERPT = "- **Lesson:** the root cause was that the drawer cache is never emptied on Sundays"


@pytest.fixture
def talked(engine: Engine, tmp_path: Path) -> Engine:
    """A session with one statement, and an excerpt as stores of earlier versions have them."""
    path = session(tmp_path / "s1.jsonl", RULE, EXCERPT + ".")
    engine.intake.ingest([path], project="acme")
    (old,) = engine.queue.ids(QueueQuery(filter="drawer"))
    with planted(engine.path) as act:
        act.update("memory", old, proposer="excerpt", excerpt=1)
    propose(engine, path, STATEMENT)
    return engine


def propose(engine: Engine, path: Path, statement: str, quoted: str = RULE) -> None:
    """Add a statement that quotes the first line of a session."""
    proposal = Proposal(
        statement=statement,
        type=MemoryType.PREFERENCE,
        quotes=(Quote(0, quoted),),
        speaker=Speaker.PERSON,
        proposer=Proposer.MODEL,
        rule="model.test",
        kind="instruction",
    )
    view = read_view(path)
    proof = prove(proposal, view, known=lambda _: ())
    engine.proposals.add("acme", [Proved(path, proposal, proof)], title="Proposed")


def proposer(engine: Engine, number: int) -> str:
    return engine.queue.candidate(number).proposer


async def test_the_evidence_stays_beside_a_statement_that_is_reworded(talked: Engine) -> None:
    for size in ((120, 40), (80, 24)):
        async with opened(talked, project="acme", size=size) as screen:
            await screen.press("e")
            assert "Against the original" in screen.text
            assert RULE[:40] in " ".join(screen.text.split())


async def test_the_proof_of_a_statement_is_shown_as_ticks(talked: Engine) -> None:
    async with opened(talked, project="acme", size=(140, 40)) as screen:
        await screen.press("/", *"laptop", "enter")
        assert "✓ 1 quote, names and numbers found; meaning not checked" in screen.text


async def test_the_proof_speaks_about_the_wording_shown(talked: Engine) -> None:
    async with opened(talked, project="acme", size=(140, 40)) as screen:
        await screen.press("/", *"laptop", "enter", "e", "ctrl+end")
        await screen.press(*" in foobarquux.go, with zorkctl --level 9999", "ctrl+s", "k")
        await screen.until(lambda: "adds foobarquux.go, zorkctl" in screen.text)
        assert "names and numbers found; meaning not checked" not in screen.text
        number = present(screen.model.current_id)
        await screen.press("f5")
        await screen.press("e", "enter", "ctrl+u", *STATEMENT, "ctrl+s")
        assert screen.status == f"Edited #{number} - u to undo"
        await screen.press("e", "enter", "ctrl+end", *" See barctl.", "ctrl+s")
        adds = "; ! the new wording adds barctl"
        assert screen.status == f"Edited #{number}{adds} - u to undo"
        await screen.press("e", "enter", "ctrl+end", *" Or not.", "ctrl+s")
        assert "the new wording adds barctl" in screen.status, "it is compared with the first"


async def test_a_rejection_with_its_reason_is_one_act_and_one_undo(talked: Engine) -> None:
    async with opened(talked, project="acme") as screen:
        first = present(screen.model.current_id)
        (alike,) = talked.queue.members(first)
        acts = len(talked.history.acts())
        await screen.press("w")
        assert f"Why reject #{first}" in screen.text
        await screen.press("escape")
        assert status_of(talked, first) == "candidate"
        await screen.press("w", *"wrong", "enter")
        views = map(talked.queue.candidate, (first, alike.id))
        assert [(each.status, each.reason) for each in views] == [("invalid", "wrong")] * 2
        said = f"Rejected #{first} and 1 near duplicate: wrong"
        assert screen.status == f"{said} - u to undo"
        assert len(talked.history.acts()) == acts + 1
        await screen.press("k")
        assert "ago: wrong" in screen.text
        await screen.press("w")
        assert screen.status.startswith(f"#{first} is already decided: ")
        await screen.press("G", "u")
        assert screen.status.startswith(f"Undone: {said}  ")
        view = talked.queue.candidate(first)
        assert (view.status, view.reason) == ("candidate", "")
        assert screen.model.current_id == first


async def test_marked_rows_are_rejected_for_one_reason(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        ids = screen.model.ids[:3]
        await screen.press("space", "space", "space", "w")
        assert "Why reject 3 rows" in screen.text
        await screen.press(*"known", "enter")
        assert screen.status == "Rejected 3 candidates: known already - u to undo"
        assert [stocked.queue.candidate(each).reason for each in ids] == ["known"] * 3
        await screen.press("u")
        assert [status_of(stocked, each) for each in ids] == ["candidate"] * 3


async def test_the_type_of_a_row_is_chosen_and_undone(talked: Engine) -> None:
    async with opened(talked, project="acme") as screen:
        await screen.press("/", *"laptop", "enter")
        await screen.choose("type", "knowledge")
        (number,) = screen.model.ids
        assert talked.queue.candidate(number).type == "knowledge"
        await screen.press("u")
        assert talked.queue.candidate(number).type == "preference"


async def test_an_entity_gets_another_name(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("/", *"kind:entity", "enter")
        await screen.press("full_stop", *"name", "enter", "ctrl+u", *"Invoice database", "enter")
        (entity, *_) = screen.model.ids
        assert stocked.entities.get(entity).name == "Invoice database"
        await screen.press("u")
        assert stocked.entities.get(entity).name != "Invoice database"


async def test_the_editor_of_a_refusal_opens_with_the_persons_words(
    engine: Engine, tmp_path: Path
) -> None:
    told = Told("a")
    told.user("Go on")
    for words in ("not yet", "ask me before you push"):
        told.call("Bash", REFUSED.format("(none).") + words, failed=True, command="git push")
    engine.intake.ingest([told.write(tmp_path / "a.jsonl")], project="acme")
    async with opened(engine, project="acme") as screen:
        assert "The person refused `git push`" in screen.text
        await screen.press("e", "ctrl+s")
    (number,) = engine.queue.ids(QueueQuery(project="acme", status="active"))
    assert engine.queue.candidate(number).content == "ask me before you push"
