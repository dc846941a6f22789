"""Chat-completions and ShareGPT conversations, as documents and as lines."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from reviewer.errors import SourceError
from reviewer.sources.records import Record, RecordUse, Role
from tests.unit.sources.builders import Scanned

from .builders import uses

TALK = [
    {"role": "system", "content": "You are a clerk."},
    {"role": "user", "content": "Book a table."},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "booked: {}"},
    {"role": "assistant", "content": [{"type": "text", "text": "It is"}, {"type": "image_url"}]},
]


def opened(folder: Path, data: Any, name: str = "talk.json", **style: Any) -> Scanned:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data, **style).encode())
    return Scanned(path)


def exact(folder: Path, records: list[Record], name: str = "talk.json") -> None:
    """Every record's bytes are its message, and its line is where they begin."""
    data = (folder / name).read_bytes()
    for record in records:
        raw = data[record.byte_start : record.byte_end]
        message = json.loads(raw)
        assert record.text in (message.get("content"), message.get("value"), "It is")
        assert record.sha256 == hashlib.sha256(raw).hexdigest()
        assert record.line_start == data[: record.byte_start].count(b"\n")
        assert record.line_end == data[: record.byte_end].count(b"\n") + 1


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "indented"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda talk: talk,
        lambda talk: {"id": "c1", "model": "m", "messages": talk},
        lambda talk: [{"task_id": 1, "traj": talk}],
        lambda talk: [{"messages": talk}, {"no": "messages"}],
    ],
    ids=["bare", "messages", "traj", "list"],
)
def test_a_document_yields_every_message_at_its_bytes(
    tmp_path: Path, wrap: Any, indent: int | None
) -> None:
    scan = opened(tmp_path, wrap(TALK), indent=indent)
    records = list(scan)
    assert [(r.role, r.use, r.text) for r in records] == [
        (Role.SYSTEM, RecordUse.BOOT, "You are a clerk."),
        (Role.USER, RecordUse.MESSAGE, "Book a table."),
        (Role.ASSISTANT, RecordUse.MESSAGE, "It is"),
    ]
    assert scan.tally["tool result"] == 1
    assert scan.tally["message without text"] == 1
    assert scan.tally["part that is not text"] == 1
    exact(tmp_path, records)


def test_sharegpt_and_mixed_names_are_read(tmp_path: Path) -> None:
    talk = [
        {"from": "system", "value": "Be kind."},
        {"from": "human", "value": 'Grüße \\ "hi" {[,'},
        {"from": "gpt", "value": "Hello."},
        {"role": "user", "content": "Bye."},
        {"from": "tool", "value": "x"},
    ]
    records = list(opened(tmp_path, [{"id": "7", "conversations": talk}], ensure_ascii=False))
    assert [(r.role.value, r.session) for r in records] == [
        ("system", "7"),
        ("user", "7"),
        ("assistant", "7"),
        ("user", "7"),
    ]
    exact(tmp_path, records)


def test_one_conversation_a_line_with_a_broken_one_between(tmp_path: Path) -> None:
    line = json.dumps({"messages": TALK}).encode()
    other = json.dumps({"messages": [{"role": "user", "content": "Another."}]}).encode()
    scan = opened(tmp_path, line + b"\n" + line[:-9] + b"\n" + other, "talks.jsonl")
    records = list(scan)
    assert [record.line_start for record in records] == [0, 0, 0, 2]
    assert scan.tally["bad JSON"] == 1
    exact(tmp_path, records, "talks.jsonl")


def test_a_grown_or_copied_conversation_keeps_its_keys(tmp_path: Path) -> None:
    keys = [record.key for record in opened(tmp_path, TALK)]
    more = [*TALK, {"role": "user", "content": "Thanks."}]
    grown = [record.key for record in opened(tmp_path, {"messages": more}, "copy.json")]
    assert grown[:-1] == keys
    other = [{"role": "system", "content": "Another start."}, *TALK[1:]]
    assert not set(keys) & {record.key for record in opened(tmp_path, other)}


def test_the_same_conversation_twice_is_read_once(tmp_path: Path) -> None:
    scan = opened(tmp_path, [{"messages": TALK}, {"messages": TALK}])
    assert len(list(scan)) == 3
    assert scan.tally["repeated"] == 3


def test_words_in_an_object_are_said(tmp_path: Path) -> None:
    message = {"role": "user", "content": {"role": "user", "content": "Fold it twice."}}
    assert uses(opened(tmp_path, {"messages": [message]})) == [("Fold it twice.", "said")]


def test_a_repeated_field_does_not_shift_positions(tmp_path: Path) -> None:
    doubled = b'{"role": "user", "content": "first", "content": "second"}'
    data = b"[" + doubled + b', {"role": "user", "content": "next"}]'
    records = list(opened(tmp_path, data))
    assert [record.text for record in records] == ["second", "next"]
    assert [data[r.byte_start : r.byte_end][-9:] for r in records] == [b'"second"}', b': "next"}']


@pytest.mark.parametrize(
    "data",
    [
        b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'[{"role": "user", "content": ' + b'[{"a":' * 100_000 + b"1" + b"}]" * 100_000 + b"}]",
    ],
    ids=["container", "content"],
)
def test_nesting_too_deep_is_refused_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(SourceError, match="nested too deep"):
        opened(tmp_path, data)
