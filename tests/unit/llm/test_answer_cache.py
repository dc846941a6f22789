"""Answers are kept privately."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from reviewer.llm.answer_cache import AnswerCache, question_key
from reviewer.llm.model import ChatMessage, Completion

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


def test_the_oldest_answers_go_where_all_together_are_too_large(tmp_path: Path) -> None:
    long = Completion("A book of acts. " * 100, "tiny", 7, 5)
    for number in range(6):
        AnswerCache(tmp_path).keep(f"key{number}", long)
        os.utime(tmp_path / f"key{number}.json", (number, number))
    size = (tmp_path / "key0.json").stat().st_size
    small = AnswerCache(tmp_path, largest=3 * size)
    small.keep("key6", long)
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["key4", "key5", "key6"]


def test_a_link_is_not_read(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers")
    cache.keep("key", ANSWER)
    cache.folder.rename(tmp_path / "elsewhere")
    cache.folder.symlink_to(tmp_path / "elsewhere")
    assert cache.find("key") is None
