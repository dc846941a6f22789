"""The same thread is the same conversation, another thread another one (requirements 6, 7)."""

from __future__ import annotations

import pytest

from reviewer.pipelines.sessions import OVERHEAD, ModelThread, PromptTooLongError


def words(text: str) -> int:
    return len(text.split())


def test_the_oldest_turns_go_when_the_model_has_no_room_and_a_mark_says_so() -> None:
    session = ModelThread("t")
    for number in range(100):
        session.append(f"ask {number}", "word " * 20)
    limit = 300
    sent = session.fitting("now", limit, words)

    assert sum(words(each.content) + OVERHEAD for each in sent.messages) <= limit
    assert sent.messages[-1].content == "now"
    assert sent.messages[-3].content == "ask 99"
    assert sent.messages[0].role == "user"
    assert sent.messages[0].content.startswith(f"[{sent.left_out_turns} earlier turns of this")
    assert len(sent.messages) == 2 * (100 - sent.left_out_turns) + 1
    assert len(session.turns) == 100


def test_a_prompt_that_never_fits_is_refused_with_what_to_do() -> None:
    with pytest.raises(PromptTooLongError, match="context_tokens"):
        ModelThread("t").fitting("word " * 500, 100, words)
