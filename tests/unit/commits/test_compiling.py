"""A context as messages: in order, SKIP left out, edits applied, now or as it was at a commit."""

from __future__ import annotations

import pytest

from reviewer.commits.contexts import Contexts
from reviewer.commits.rows import chat_messages
from reviewer.commits.values import Priority
from tests.unit.commits.conftest import Say


@pytest.fixture
def story(contexts: Contexts, context: int, say: Say) -> dict[str, int]:
    """Ids by what each commit says first."""
    ids = {
        "boot": say("boot", "system"),
        "ask": say("ask"),
        "think": say("think", "assistant", type="reasoning"),
        "call": say("call", "assistant", type="tool_call", name="Bash"),
        "result": say("result", "tool", name="Bash"),
        "answer": say("answer", "assistant"),
    }
    contexts.edit(ids["ask"], "ask, reworded")
    return ids


def test_totals_divide_by_priority_and_role(
    contexts: Contexts, context: int, story: dict[str, int]
) -> None:
    totals = contexts.totals(context)
    tokens = {m.commit: m.tokens for m in contexts.compile(context)}
    assert totals.by_priority[Priority.PINNED] == tokens[story["boot"]]
    assert totals.total - totals.by_priority[Priority.SKIP] == sum(tokens.values())
    assert totals.commits_by_priority == {"skip": 1, "normal": 4, "important": 0, "pinned": 1}
    assert totals.total == sum(totals.by_role.values()) == contexts.get(context).tokens
    assert set(totals.by_role) == {"system", "user", "assistant", "tool"}


def test_chat_has_valid_roles_and_tools_as_text(
    contexts: Contexts, context: int, story: dict[str, int], say: Say
) -> None:
    say("remark", "note")
    chat = chat_messages(contexts.compile(context))
    assert chat == [
        {"role": "system", "content": "boot"},
        {"role": "user", "content": "ask, reworded"},
        {"role": "assistant", "content": "[tool call Bash]\ncall"},
        {"role": "user", "content": "[tool result Bash]\nresult"},
        {"role": "assistant", "content": "answer"},
        {"role": "user", "content": "remark"},
    ]
