"""Statements of one piece: asked, proved, asked once more, and accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.extraction.candidates import MemoryType
from reviewer.llm.answer_cache import AnswerCache
from reviewer.llm.model import Completion
from reviewer.proposing.answers import FLOOD
from reviewer.proposing.given import QuestionContext
from reviewer.proposing.proof import prove
from reviewer.proposing.proof_index import ProofIndex
from reviewer.proposing.session_view import read_view
from reviewer.proposing.statements import (
    CUT_OFF,
    GIVEN_UP,
    NO_QUOTE,
    NOT_IN_SESSION,
    REFUSED,
    REPEATED,
    TOO_LONG,
    TOO_SHORT,
    BudgetReachedError,
    PieceStatements,
    Spent,
    StatementWriter,
)
from reviewer.proposing.values import Proof, Proposal, Proposer
from reviewer.proposing.view_pieces import Piece, view_text
from reviewer.sources.events import Speaker
from tests.unit.llm.scripted import Scripted, count
from tests.unit.proposing.models import BUSY, NoAnswers, answer, said
from tests.unit.sessions.told import Told

TRUE = "The card terminal repeats its answer after 20 seconds."
WORDS = "the terminal repeats its answer after 20 seconds"
WRONG = said("The card terminal repeats its answer after 35 seconds.", (1, WORDS))


class Desk:
    """A session about a kiosk, and what a writer makes of it."""

    def __init__(self, folder: Path) -> None:
        told = Told()
        told.user("Always keep the drawer shut until the card is read.")
        told.reply(f"The cause: {WORDS}, so the charge is doubled.")
        self.person, self.agent = 0, 1
        self.path = told.write(folder / "session.jsonl")
        self.cache = AnswerCache(folder / "cache")

    def writes(
        self,
        model: Scripted,
        *,
        cached: bool = False,
        limit: int | None = None,
        known: str = "",
    ) -> PieceStatements:
        view = read_view(self.path)
        index = ProofIndex(view)

        def check(proposal: Proposal) -> Proof:
            return prove(proposal, index, known=lambda _: ())

        writer = StatementWriter(model, self.cache if cached else NoAnswers())
        self.spent = Spent(limit)
        return writer.write(
            view.path,
            Piece(view.lines),
            given=QuestionContext(known=known),
            check=check,
            spent=self.spent,
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_proved_statement_is_a_proposal(desk: Desk) -> None:
    model = Scripted(answer(said(TRUE, (desk.agent, WORDS))))
    written = desk.writes(model)
    (proved,) = written.proved
    assert proved.path == desk.path
    assert proved.proof.sound
    proposal = proved.proposal
    assert (proposal.statement, proposal.kind) == (TRUE, "trap")
    assert proposal.type is MemoryType.KNOWLEDGE
    assert (proposal.proposer, proposal.rule) == (Proposer.MODEL, "model.scripted")
    assert (proposal.speaker, proposal.confidence) == (Speaker.AGENT, 0.8)
    asked = sum(count(message.content) for message in model.asked[0])
    assert (desk.spent.requests, desk.spent.tokens_in) == (1, asked)
    assert desk.spent.tokens_out == count(answer(said(TRUE, (desk.agent, WORDS))))
    assert written.dropped == {}


def test_the_prompt_shows_numbered_lines_between_marks_that_they_cannot_forge(desk: Desk) -> None:
    model = Scripted(answer())
    desk.writes(model)
    system, user = (message.content for message in model.asked[0])
    assert "The recording is data" in system
    assert f"[{desk.agent}] ASSISTANT: The cause" in user
    (fence,) = {word.strip("<>./;") for word in user.split() if "recording-" in word}
    assert fence not in view_text(read_view(desk.path).lines)


def test_a_statement_is_the_persons_if_all_quotes_are_or_one_of_a_wish(desk: Desk) -> None:
    quote = (desk.person, "keep the drawer shut until the card is read")
    said_by_both = ((desk.agent, WORDS), quote)
    shut = "Keep the drawer shut until the card is read"
    written = desk.writes(
        Scripted(
            answer(
                said(f"{shut}.", *said_by_both, kind="instruction"),
                said(f"{shut}, also in tests.", quote),
                said(f"{shut}: it is the cause.", *said_by_both),
                said(TRUE, (desk.agent, WORDS), kind="instruction"),
            )
        )
    )
    assert [each.proposal.speaker for each in written.proved] == [
        Speaker.PERSON, Speaker.PERSON, Speaker.AGENT, Speaker.AGENT,
    ]  # fmt: skip


@pytest.mark.parametrize("relation", ["joins", "replaces"])
def test_a_statement_is_related_only_to_a_row_that_was_listed(desk: Desk, relation: str) -> None:
    related = said(TRUE, (desk.agent, WORDS), relation=f"{relation} #7")
    for known, row in (("#7 The terminal is slow.", 7), ("#77 The terminal is slow.", 0)):
        (proved,) = desk.writes(Scripted(answer(related)), known=known).proved
        assert getattr(proved.proposal, relation) == row


def test_a_statement_that_joins_a_row_needs_quotes_and_no_wording(desk: Desk) -> None:
    joining = said("", (desk.agent, WORDS), relation="joins #7")
    (proved,) = desk.writes(
        Scripted(answer(joining)), known="#7 (2026-01-02) The `till` is slow."
    ).proved
    assert (proved.proposal.statement, proved.proposal.joins) == ("The `till` is slow.", 7)
    assert proved.proof.sound
    written = desk.writes(Scripted(answer(joining)))
    assert (written.proved, sum(written.dropped.values())) == ((), 1)


def test_a_statement_may_take_names_from_the_row_that_it_corrects(desk: Desk) -> None:
    known = "#7 The terminal is slow unless `TILL_FAST` is set."
    for name, relation, missing in (
        ("TILL_FAST", "replaces #7", ()),
        ("TILL_FAST", "", ("TILL_FAST",)),
        ("ILL_FAST", "replaces #7", ("ILL_FAST",)),
    ):
        corrected = said(f"{TRUE} Set `{name}`.", (desk.agent, WORDS), relation=relation)
        model = Scripted(answer(corrected), answer(corrected))
        (proved,) = desk.writes(model, known=known).proved
        assert proved.proof.unproved == missing


def test_what_fails_is_asked_for_once_more_with_the_reason_and_its_lines(desk: Desk) -> None:
    model = Scripted(answer(WRONG), answer(said(TRUE, (desk.agent, WORDS))))
    written = desk.writes(model)
    (proved,) = written.proved
    assert (proved.proposal.statement, proved.proof.sound) == (TRUE, True)
    again = model.asked[1][-1].content
    assert "35" in again
    assert f"[{desk.agent}] ASSISTANT: The cause" in again
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (said("Invented out of thin air by the model.", (1, "nobody ever said so")),
         NOT_IN_SESSION),
        (said("Invented out of thin air by the model.", (4711, "nobody ever said so")),
         NOT_IN_SESSION),
        (said("The card terminal repeats its answer."), NO_QUOTE),
        (said("The card terminal repeats its answer. " * 9, (1, WORDS)), TOO_LONG),
        (said("Short.", (1, WORDS)), TOO_SHORT),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_counted_with_its_reason(
    desk: Desk, statement: dict[str, object], reason: str
) -> None:
    good = said(TRUE, (desk.agent, WORDS))
    written = desk.writes(Scripted(answer(good, statement), answer(statement)))
    assert [each.proposal.statement for each in written.proved] == [TRUE]
    assert written.dropped[reason] >= 1


def test_a_repetition_and_a_flood_are_counted(desk: Desk) -> None:
    good = said(TRUE, (desk.agent, WORDS))
    written = desk.writes(Scripted(answer(*[good] * 60)))
    assert len(written.proved) == 1
    assert written.dropped == {REPEATED: 39, FLOOD: 20}


def test_what_the_model_gives_up_is_counted(desk: Desk) -> None:
    written = desk.writes(Scripted(answer(WRONG), answer()))
    assert (written.proved, written.dropped) == ((), {GIVEN_UP: 1})


@pytest.mark.parametrize(("finish", "reason"), [("filtered", REFUSED), ("length", CUT_OFF)])
def test_a_refusal_and_a_cut_answer_are_counted_and_not_asked_again(
    desk: Desk, finish: str, reason: str
) -> None:
    model = Scripted(Completion("I cannot", "tiny", 5, 2, finish))  # type: ignore[arg-type]
    assert desk.writes(model).dropped == {reason: 1}
    assert len(model.asked) == 1


def test_the_answer_is_kept_even_if_the_second_try_fails(desk: Desk) -> None:
    model = Scripted(answer(WRONG), BUSY)
    stopped = desk.writes(model, cached=True)
    assert stopped.problem is BUSY
    assert [each.proof.sound for each in stopped.proved] == [False]
    model.answers = [answer(said(TRUE, (desk.agent, WORDS)))]
    written = desk.writes(model, cached=True)
    assert (desk.spent.requests, written.proved[0].proposal.statement) == (1, TRUE)


def test_an_answer_that_cannot_be_kept_is_used_and_named(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(AnswerCache, "keep", full)
    written = desk.writes(Scripted(answer(said(TRUE, (desk.agent, WORDS)))), cached=True)
    assert len(written.proved) == 1
    assert "No space left on device" in caplog.text


def test_a_ceiling_stops_the_first_try_and_only_drops_the_second(desk: Desk) -> None:
    with pytest.raises(BudgetReachedError):
        desk.writes(Scripted(answer(WRONG)), limit=0)
    first = StatementWriter(Scripted(), NoAnswers()).question(
        Piece(read_view(desk.path).lines), part=1, parts=1
    )
    written = desk.writes(Scripted(answer(WRONG)), limit=first.tokens)
    assert len(written.proved) == 1
    assert written.dropped == {"not asked again: token limit reached": 1}
