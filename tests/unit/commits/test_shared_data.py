"""Real sessions, where they are at hand: nothing said or done is lost on the way to commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.commits.contents import prepare
from reviewer.engine import CommitQuery
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Use

SESSIONS = Path(__file__).parents[4] / "shared" / "data" / "transcripts" / "claude-code"

pytestmark = pytest.mark.skipif(not SESSIONS.is_dir(), reason="no shared data beside the project")


def longest_sessions() -> list[Path]:
    found = sorted(SESSIONS.rglob("*.jsonl"), key=lambda path: -path.stat().st_size)
    return found[:3]


@pytest.mark.parametrize("path", longest_sessions(), ids=lambda path: path.stem[:8])
def test_every_block_of_the_conversation_is_a_commit(contexts, path: Path) -> None:
    done = contexts.import_file(path, project="kiosk")
    ids = contexts.ids(CommitQuery(done.context.id))
    expected = [
        prepare(block.text).text
        for block in open_blocks(path)
        if block.text.strip() and not block.sidechain and block.use is not Use.REWOUND
    ]
    contexts.annotate(list(ids), priority="normal")
    assert [message.text for message in contexts.compile(done.context.id)] == expected
    assert len(expected) == done.commits > 300
    assert contexts.import_file(path, project="kiosk").commits == 0
    chat = contexts.chat(contexts.compile(done.context.id))
    assert {message["role"] for message in chat} <= {"system", "user", "assistant"}
