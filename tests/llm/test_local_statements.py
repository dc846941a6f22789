"""A real model, too weak to write statements: what it says is read, proved and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewer.llm.answer_cache import AnswerCache
from reviewer.llm.model import CancelledError, Completion
from reviewer.llm.openai_chat import OpenAIChat
from reviewer.proposing.answers import read_answer
from reviewer.proposing.model_run import piece_tokens, plan_run, run
from reviewer.proposing.session_view import view_text
from reviewer.proposing.statements import Spent, StatementWriter
from reviewer.settings import ModelSettings
from tests.unit.proposing.sessions import SessionFile

ANSWER_TOKENS = 120


@pytest.fixture
def session(tmp_path: Path) -> Path:
    made = SessionFile(tmp_path / "session.jsonl")
    made.says("Why are some charges doubled? Never retry a payment without asking the terminal.")
    made.answers("The card terminal repeats its answer after 20 seconds, so the charge is doubled.")
    return made.path


@pytest.fixture
def writer(local_model: ModelSettings, tmp_path: Path) -> StatementWriter:
    return StatementWriter(
        OpenAIChat(local_model, environment={}),
        cache=AnswerCache(tmp_path / "cache"),
        answer_tokens=ANSWER_TOKENS,
    )


def test_its_answer_has_the_shape_that_is_asked_for_and_nothing_it_invents_passes(
    writer: StatementWriter, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    complete = OpenAIChat.complete

    def overheard(chat: OpenAIChat, *question: Any, **options: Any) -> Completion:
        answer = complete(chat, *question, **options)
        said.append(answer.text)
        return answer

    monkeypatch.setattr(OpenAIChat, "complete", overheard)
    room = piece_tokens(writer, context_tokens=8192, answer_tokens=ANSWER_TOKENS)
    plan = plan_run([session], writer, max_tokens=room)
    spent = Spent()
    (done,) = run(plan, writer, known=lambda _: (), listed=list, concurrency=1, spent=spent)
    assert done.failures == ()
    assert spent.requests == len(said)
    assert spent.requests in (1, 2)
    assert spent.tokens_in > plan.tokens_in // 2
    assert said[0].lstrip().startswith("{")
    assert read_answer(said[0])
    text = view_text(plan.sessions[0].view.lines)
    for proved in done.proved:
        assert any(quote.found and quote.text in text for quote in proved.proof.quotes)


def test_it_can_be_stopped_before_it_answers(writer: StatementWriter, session: Path) -> None:
    plan = plan_run([session], writer, max_tokens=4000)
    question = writer.question(plan.sessions[0].pieces[0].piece, part=1, parts=1)
    with pytest.raises(CancelledError):
        writer.answer(question, lambda _: True, lambda: True)
