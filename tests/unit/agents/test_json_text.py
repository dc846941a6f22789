"""Additions to JSON of somebody else: everything else stays, and taking them out gives it back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer.agents.json_text import (
    Addition,
    JsonTextError,
    added,
    has,
    with_found,
    without,
)

SERVER = Addition(("mcpServers",), {"command": "reviewer", "args": ["mcp"]}, "reviewer")
HOOK = Addition(("hooks", "Start"), {"hooks": [{"command": "reviewer hook a Start"}]})

TEXTS = {
    "empty": "{}\n",
    "empty with blanks": "{\n}\n",
    "one line": '{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}',
    "tabs": '{\n\t"theme": "dark",\n\t"hooks": {\n\t\t"Start": [\n\t\t\t{"a": 1}\n\t\t]\n\t}\n}\n',
    "comments": (
        "// mine\n{\n  /* of\n     mine */\n  \"theme\": \"dark\", // dark\n"
        '  "hooks": {\n    "Start": [ // first\n      {"a": 1} // keep\n    ],\n  },\n}\n// end'
    ),
    "only a comment inside": '{\n  // nothing yet\n}\n',
    "empty holders": '{\n  "mcpServers": {},\n  "hooks": {"Start": []}\n}\n',
    "windows": '{\r\n  "theme": "dark"\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "theme": "dark"\n}\n',
    "text like comments": '{\n  "url": "http://x/*y*/", "note": "a \\"// b\\""\n}\n',
}  # fmt: skip


def plain(text: str) -> Any:
    """The meaning of a text, found in another way: without comments and trailing commas."""
    token = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
    bare = token.sub(lambda match: match[1] or " ", text.lstrip("\ufeff"))
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", bare))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_additions_keep_everything_and_can_be_taken_out(text: str) -> None:
    additions = with_found(text, [SERVER, HOOK])
    after = added(text, additions)
    before, now = plain(text), plain(after)
    servers, hooks = before.get("mcpServers") or {}, before.get("hooks") or {}
    assert now["mcpServers"] == {**servers, "reviewer": SERVER.value}
    assert now["hooks"]["Start"] == [*(hooks.get("Start") or []), HOOK.value]
    for comment in ("mine", "dark", "first", "keep", "end", "nothing yet"):
        comment = f"// {comment}"
        assert (comment in text) == (comment in after)
    assert added(after, additions) == after
    removed, changed = without(after, additions)
    assert changed == []
    assert plain(removed) == plain(text)
    if "\n" in text.strip() and not re.search(r"{}|\[\]", text):
        assert removed.split() == text.split()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Line 1 is not JSON"),
        ("[1]", "not an object"),
        ('{"a": 1', "Line 1 is not JSON"),
        ('{"a": 1}\n{}', "Line 2"),
        ('{\n"a": 1\n"b": 2}', "Line 3"),
        ('{"a": "x\ny"}', "Line 1 is not JSON"),
        (f'{{"a": {"1" * 6_000}}}', "not JSON that can be read"),
        ('{"a":' * 300_000 + "1" + "}" * 300_000, "not JSON that can be read"),
        ('{"mcpServers": {}, "mcpServers": {}}', "second time"),
        ('{"mcpServers": 3}', "an object was expected"),
        ('{"mcpServers": {"reviewer": {}}}', "another value"),
    ],
    ids=lambda text: text[:20],
)
def test_what_cannot_be_edited_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(JsonTextError, match=re.escape(reason)):
        added(text, [SERVER])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(max_examples=30)
@given(
    value=st.dictionaries(st.text(max_size=6), VALUES, max_size=4),
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
)
def test_any_object_gets_back_what_it_was(value: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    additions = with_found(text, [SERVER, HOOK]) if not {"hooks", "mcpServers"} & set(value) else []
    after = added(text, additions)
    assert all(has(after, each) for each in additions)
    assert json.loads(without(after, additions)[0]) == value
