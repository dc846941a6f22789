"""Whole sessions: nothing said or done is lost on the way to commits."""

from __future__ import annotations

from pathlib import Path

from reviewer.commits.contents import prepare
from reviewer.commits.contexts import Contexts
from reviewer.commits.values import CommitQuery
from tests.unit.sources.builders import blocks


def test_every_block_of_the_conversation_is_a_commit(
    contexts: Contexts, sessions: list[Path]
) -> None:
    for path in sessions[:5]:
        require_every_block(contexts, path)


def require_every_block(contexts: Contexts, path: Path) -> None:
    done = contexts.import_file(path, project="kiosk")
    ids = contexts.ids(CommitQuery(done.context.id))
    expected = [
        prepare(block.text).text
        for block in blocks(path)
        if block.text.strip() and not block.origin.sidechain
    ]
    contexts.annotate(list(ids), priority="normal")
    assert [message.text for message in contexts.compile(done.context.id)] == expected
    assert len(expected) == done.commits > 0
    assert contexts.import_file(path, project="kiosk").commits == 0
    chat = contexts.chat(contexts.compile(done.context.id))
    assert {message["role"] for message in chat} <= {"system", "user", "assistant"}
