"""A table in a TOML file of somebody else, and its removal."""

from __future__ import annotations

import re
import tomllib

import pytest

from reviewer.agents.toml_text import TomlTextError, added, without

PATH = ("mcp_servers", "reviewer")
VALUES: dict[str, str | list[str]] = {"command": '/a "b"/reviewer', "args": ["mcp", "--x=\\"]}

TEXTS = [
    "",
    'model = "gpt" # mine\n',
    'model = "gpt"',
    "# only a comment\n\n",
    '[mcp_servers.other]\ncommand = "x"\n',
    '[mcp_servers.other]\ncommand = "x"\n[z]\ny = 2\n[mcp_servers.more]\ncommand = "x"\n',
    'model = "gpt"\r\n[features]\r\nhooks = true\r\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_table_goes_in_and_out(text: str) -> None:
    after = added(text, PATH, VALUES)
    assert set(text.splitlines()) <= set(after.splitlines())
    assert tomllib.loads(after)["mcp_servers"]["reviewer"] == VALUES
    assert added(after, PATH, VALUES) == after
    assert ("\r\n" in after) == ("\r\n" in text)
    assert after.count("\r\n") in (0, after.count("\n"))
    taken_out = without(after, PATH, VALUES)
    assert taken_out is not None
    assert taken_out.split() == text.split()
    more = after + '\n[projects."/x"]\ntrust_level = "trusted"\n'
    rest = without(more, PATH, VALUES)
    assert rest is not None
    assert tomllib.loads(rest) == {
        **tomllib.loads(text),
        "projects": {"/x": {"trust_level": "trusted"}},
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("model = ", "not TOML"),
        ("mcp_servers = 3\n", "not written as a table"),
        ('[mcp_servers.reviewer]\ncommand = "x"\n', "other values"),
        ("\ufeff[a]\n", "byte order mark"),
        (f"x = {'[' * 20_000}\n", "line 1"),
        (f"# {'.' * 2_000_000}\n", "larger than 2 MB"),
    ],
    ids=lambda text: text[:12],
)
def test_what_cannot_be_edited_is_refused_at_once(text: str, reason: str) -> None:
    with pytest.raises(TomlTextError, match=re.escape(reason)):
        added(text, PATH, VALUES)
