"""A line decoded in one go equals the same line decoded field by field."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.sources.claude_lines import LineFields, Turn, parse_record, parse_words

SCALARS = st.sampled_from([None, True, 7, 1.5, "", "plain", "it’s ok", "<system-reminder>x"])
BLOCKS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["text", "tool_result", "tool_use", "image", None, 3])},
            optional={"text": SCALARS, "content": SCALARS, "input": st.just({"a": [1]})},
        ),
        SCALARS,
    ),
    max_size=4,
)
MESSAGES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=2),
    st.fixed_dictionaries(
        {},
        optional={
            "id": SCALARS,
            "model": st.sampled_from(["<synthetic>", "m", None, 4]),
            "content": st.one_of(SCALARS, BLOCKS),
        },
    ),
)
TYPES = ["user", "assistant", "system", "progress", "queue-operation", "new", 5]
LINES = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional={
        "uuid": SCALARS,
        "parentUuid": SCALARS,
        "isSidechain": SCALARS,
        "isMeta": st.booleans(),
        "isCompactSummary": st.booleans(),
        "operation": st.sampled_from(["enqueue", "popAll", "dequeue", 1]),
        "content": st.one_of(SCALARS, BLOCKS),
        "message": MESSAGES,
        "cwd": SCALARS,
    },
)
NAMES = LineFields.__struct_fields__


def outcome(read: object, data: bytes) -> tuple[object, ...]:
    """The fields, turn and tally of a line; or None if it cannot be read."""
    tally: Counter[str] = Counter()
    try:
        line, turn = read(data, tally)  # type: ignore[operator]
    except (ValueError, RecursionError) as problem:
        return (isinstance(problem, RecursionError),)
    assert isinstance(line, LineFields)
    assert turn is None or isinstance(turn, Turn)
    return [getattr(line, name) for name in NAMES], turn, tally


@given(LINES, st.data())
def test_both_ways_of_reading_agree(line: dict[str, object], data: st.DataObject) -> None:
    written = json.dumps(line, ensure_ascii=data.draw(st.booleans())).encode()
    cut = data.draw(st.integers(0, len(written)))
    for damaged in (written, written[:cut], written[:cut] + b"\xff\xe2" + written[cut:]):
        assert outcome(parse_words, damaged) == outcome(parse_record, damaged)


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"user","message":{"content":"a"},"message":{"content":["b"]}}',
        b'{"type":"system","message":{"content":"\xff"}}',
        b'{"type":"user","message":{"content":"\xff"}}',
        b'{"type":"user","message":{"content":"\\ud800"}}',
        b'{"type":"user","message":' + b"[" * 100_000,
        b'{"type":"progress","message":{"content":"\\q"}}',
    ],
    ids=["twice", "system, bad bytes", "user, bad bytes", "half a pair", "deep", "bad escape"],
)
def test_both_ways_agree_on_odd_lines(data: bytes) -> None:
    assert outcome(parse_words, data) == outcome(parse_record, data)
