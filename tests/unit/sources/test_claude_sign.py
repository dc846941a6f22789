"""A record of Claude Code told at a glance is one by the long look, too."""

from __future__ import annotations

import msgspec
import pytest

from reviewer.sources.claude_sign import CLAUDE_RECORD, looks_like_claude
from reviewer.sources.formats import CLAUDE_CODE, is_claude, line_format

RECORDS: list[dict[str, object]] = [
    {"type": "user", "sessionId": "s", "uuid": "u", "message": {"content": "x"}},
    {"type": "assistant", "sessionId": None, "parentUuid": None, "message": {}},
    {"type": "user", "sessionId": "s", "uuid": "u", "message": {"parts": []}},
    {"type": "user", "sessionId": "s", "uuid": "u", "systemPayload": 1},
    {"type": "user", "sessionId": "s"},
    {"type": "user", "uuid": "s"},
    {"type": "summary", "leafUuid": "x"},
    {"type": "summary"},
    {"type": "queue-operation", "sessionId": "x"},
    {"type": "file-history-snapshot", "snapshot": {}},
    {"type": "file-history-snapshot"},
    {"type": "session_meta", "sessionId": "s", "uuid": "u"},
    {"role": "user", "content": "x"},
]


@pytest.mark.parametrize("record", RECORDS)
def test_both_looks_say_the_same(record: dict[str, object]) -> None:
    assert looks_like_claude(msgspec.json.encode(record)) is is_claude(record)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":["user"],"sessionId":"s","uuid":"u"}',
        b'{"type":"user","sessionId":"s","uuid":"u","message":"text"}',
        b'{"type":"user","sessionId":"s","uuid":"u"',
        b'{"type":"user","sessionId":"s","uuid":"u","x":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b"[]",
    ],
)
def test_what_is_odd_is_left_to_the_long_look(line: bytes) -> None:
    assert not looks_like_claude(line)


def test_what_stands_for_a_record_is_one() -> None:
    assert line_format(CLAUDE_RECORD) == CLAUDE_CODE
