"""Answers are kept privately, and a question that two ask is asked once."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from reviewer.llm.answer_cache import AnswerCache, question_key
from reviewer.llm.model import CancelledError, ChatMessage, Completion

ASK = [ChatMessage("system", "Be short."), ChatMessage("user", "What is a ledger?")]
ANSWER = Completion("A book of acts.", "tiny", 7, 5)


def test_an_answer_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers")
    key = question_key(ASK, "tiny", 100)
    assert cache.find(key) is None
    cache.keep(key, ANSWER)
    assert AnswerCache(tmp_path / "answers").find(key) == ANSWER
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    for path in cache.folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_text_model_or_limit_is_another_question() -> None:
    other = [ASK[0], ChatMessage("user", "What is an act?")]
    keys = {
        question_key(ASK, "tiny", 100), question_key(other, "tiny", 100),
        question_key(ASK, "large", 100), question_key(ASK, "tiny", 200),
    }  # fmt: skip
    assert len(keys) == 4


def test_a_damaged_answer_is_asked_for_again(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    key = question_key(ASK, "tiny")
    cache.keep(key, ANSWER)
    (tmp_path / f"{key}.json").write_text('{"text": "half', "utf-8")
    assert cache.find(key) is None


def test_the_second_to_ask_waits_for_the_first(tmp_path: Path) -> None:
    key = question_key(ASK, "tiny")
    found: list[Completion | None] = []

    def second() -> None:
        cache = AnswerCache(tmp_path)
        with cache.turn(key, lambda: False):
            found.append(cache.find(key))

    cache = AnswerCache(tmp_path)
    with cache.turn(key, lambda: False):
        thread = threading.Thread(target=second)
        thread.start()
        cache.keep(key, ANSWER)
    thread.join()
    assert found == [ANSWER]


def test_waiting_can_be_cancelled(tmp_path: Path) -> None:
    key = question_key(ASK, "tiny")
    cache = AnswerCache(tmp_path)
    second = AnswerCache(tmp_path).turn(key, lambda: True)
    with cache.turn(key, lambda: False), pytest.raises(CancelledError), second:
        pass
