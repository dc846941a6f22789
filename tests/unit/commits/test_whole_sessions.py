"""Whole sessions: nothing said or done is lost on the way to commits."""

from __future__ import annotations

from pathlib import Path

from reviewer.commits.contents import prepare
from reviewer.commits.contexts import Contexts
from reviewer.commits.rows import chat_messages
from reviewer.commits.values import CommitQuery
from reviewer.sources.events import Compaction, Plan, Rewind
from reviewer.sources.stream import read


def test_every_event_of_the_conversation_is_a_commit(
    contexts: Contexts, sessions: list[Path]
) -> None:
    for path in sessions[:5]:
        done = contexts.import_file(path, project="kiosk")
        ids = contexts.ids(CommitQuery(done.context.id))
        expected = [
            prepare(text).text
            for event in read(path).kept()
            if not isinstance(event, (Plan, Rewind)) and not event.origin.sidechain
            if (text := event.summary if isinstance(event, Compaction) else event.text).strip()
        ]
        contexts.annotate(list(ids), priority="normal")
        assert [message.text for message in contexts.compile(done.context.id)] == expected
        assert len(expected) == done.commits > 0
        assert contexts.import_file(path, project="kiosk").commits == 0
        chat = chat_messages(contexts.compile(done.context.id))
        assert {message["role"] for message in chat} <= {"system", "user", "assistant"}
