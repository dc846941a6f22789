"""A table at the end of a TOML file of somebody else, and its removal."""

from __future__ import annotations

import re
import tomllib

import pytest

from reviewer.agents.toml_text import TomlTextError, added, line_of, without

PATH = ("mcp_servers", "reviewer")
VALUES: dict[str, str | list[str]] = {"command": '/a "b"/reviewer', "args": ["mcp", "--x=\\"]}

TEXTS = [
    "",
    'model = "gpt" # mine\n',
    'model = "gpt"',
    "# only a comment\n\n",
    '[mcp_servers.other]\ncommand = "x"\n',
    'model = "gpt"\r\n[features]\r\nhooks = true\r\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_table_goes_in_and_out(text: str) -> None:
    after = added(text, PATH, VALUES)
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["reviewer"] == VALUES
    assert added(after, PATH, VALUES) == after
    taken_out = without(after, PATH, VALUES)
    assert taken_out is not None
    assert taken_out.rstrip() == text.rstrip()
    more = after + '\n[projects."/x"]\ntrust_level = "trusted"\n'
    rest = without(more, PATH, VALUES)
    assert rest is not None
    assert tomllib.loads(rest)["projects"] == {"/x": {"trust_level": "trusted"}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("model = ", "not TOML"),
        ("mcp_servers = {}\n", "on one line"),
        ('[mcp_servers.reviewer]\ncommand = "x"\n', "other values"),
        ('mcp_servers.reviewer.command = "x"\n', "other values"),
    ],
)
def test_what_cannot_be_edited_is_refused(text: str, reason: str) -> None:
    with pytest.raises(TomlTextError, match=re.escape(reason)):
        added(text, PATH, VALUES)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"x = 1\n{'.'.join('a' * 20_000)} = 1\n", "Line 2 has a name of more than 20 parts"),
        ('["a"' + ' . "a"' * 20_000 + "]\n", "Line 1 has a name of more than 20 parts"),
        (f"x = {{b = 1, {'.'.join('a' * 20_000)} = 1}}\n", "more than 20 parts"),
        (f"x = {'1' * 6_000}\n", "a number that cannot be read"),
        (f"x = {'[' * 20_000}\n", "nested too deeply"),
        (f"# {'.' * 2_000_000}\n", "larger than 2 MB"),
    ],
    ids=["dots", "dots in a table", "dots in a line", "digits", "brackets", "size"],
)
@pytest.mark.timeout(10)
def test_what_would_take_long_to_read_is_refused_at_once(text: str, reason: str) -> None:
    with pytest.raises(TomlTextError, match=reason):
        added(text, PATH, VALUES)
    with pytest.raises(TomlTextError, match=reason):
        without(text, PATH, VALUES)


def test_dots_in_texts_and_long_lines_are_no_names() -> None:
    texts = f'x = "{".".join("a" * 100)}"\ny = ["{".".join("1" * 100)}"]\n# {".".join("b" * 99)}\n'
    assert added(texts, PATH, VALUES).startswith(texts)
    assert added(f"{' ' * 200_000}\n{'a' * 200_000} = 1\n", PATH, VALUES)


def test_a_changed_table_stays_and_has_a_line() -> None:
    text = added('model = "gpt"\n', PATH, VALUES).replace("mcp", "mcp2", 2)
    assert without(text, PATH, VALUES) in (None, text)
    changed = added("", PATH, VALUES).replace('"mcp"', '"mcp", "--loud"')
    assert without(changed, PATH, VALUES) is None
    assert line_of("a = 1\n\n" + changed, PATH) == 3


def test_a_byte_order_mark_is_named() -> None:
    with pytest.raises(TomlTextError, match="byte order mark"):
        added("\ufeff[a]\n", ("mcp_servers", "reviewer"), {"command": "reviewer"})
