"""Calls of tools and notifications in a context: drawn for a person, not as they are stored."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reviewer.commits.values import CommitRow, Priority
from reviewer.engine import Engine
from reviewer.tui.kit.text import Span
from reviewer.tui.kit.tool_calls import call_line, call_text, speaker
from tests.tui.commits.driving import chain, styled
from tests.tui.conftest import opened

PLAN = '# Plan\n\n- Move invoices to PostgreSQL 16\n- Keep "SQLite" for tests'
NOTIFICATION = (
    "<task-notification>\n<summary>Agent done</summary>\n<result>An index is missing.</result>\n"
    "</task-notification>"
)


def row(start: str, **fields: Any) -> CommitRow:
    known: dict[str, Any] = {
        "id": 1, "position": 0, "hash": "c3f9e211", "role": "assistant", "type": "tool_call",
        "priority": Priority.NORMAL, "annotated": False, "criteria": 0, "edited": False,
        "tokens": 1, "first_line": start, "name": "Edit",
    }  # fmt: skip
    return CommitRow(**{**known, **fields})


@pytest.fixture
def session(engine: Engine, tmp_path: Path) -> Engine:
    """A session of Claude Code with calls of tools and a sub-agent's result."""
    turns: list[tuple[str, object]] = [
        ("user", "Please plan the migration."),
        ("assistant", [_call("Read", file_path="/src/models.py", limit=200)]),
        ("assistant", [_call("ExitPlanMode", plan=PLAN)]),
        ("user", NOTIFICATION),
        ("user", "<command-name>/compact</command-name>"),
    ]
    lines = [
        {
            "type": role, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "s", "cwd": "/x", "timestamp": "2026-02-14T10:22:05.000Z",
            "message": {"role": role, "content": content},
        }
        for at, (role, content) in enumerate(turns)
    ]  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", "utf-8")
    engine.contexts.import_file(path, project="acme")
    assert len(chain(engine)) == len(turns)
    return engine


def _call(tool: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": tool, "name": tool, "input": given}


async def test_a_row_of_a_call_names_the_tool_and_its_first_arguments(session: Engine) -> None:
    async with opened(session, size=(80, 24), project="acme") as screen:
        await screen.press("f3", "g")
        assert "Read /src/models.py limit: 200" in screen.text
        assert "ExitPlanMode # Plan - Move invoices" in screen.text
        assert '{"' not in screen.text


async def test_a_plan_is_shown_with_its_line_breaks(session: Engine) -> None:
    async with opened(session, project="acme") as screen:
        await screen.press("f3", "g", "j", "j", "enter")
        lines = [line.strip() for line in screen.text.splitlines()]
        assert "# Plan" in lines
        assert '- Keep "SQLite" for tests' in lines
        assert "\\n" not in screen.text


async def test_a_call_is_also_shown_as_lines_where_it_is_compressed(session: Engine) -> None:
    session.contexts.annotate(chain(session)[2], retain_match=["PostgreSQL 16"])
    async with opened(session, size=(140, 40), project="acme") as screen:
        await screen.press("f4", "g")
        lines = [line.strip(" │▌") for line in screen.text.splitlines()]
        assert "assistant calls ExitPlanMode" in screen.text
        assert any(line.endswith("# Plan") for line in lines)
        assert any(line.endswith('- Keep "SQLite" for tests') for line in lines)
        assert "\\n" not in screen.text
        assert "- Move invoices to ◆F[PostgreSQL 16]" in screen.text


async def test_criteria_are_marked_where_they_are_in_the_shown_call(session: Engine) -> None:
    session.contexts.annotate(chain(session)[2], retain_match=["PostgreSQL 16", '\\"SQLite'])
    async with opened(session, project="acme") as screen:
        await screen.press("f3", "g", "j", "j")
        assert styled(screen, "kept") == ["PostgreSQL 16", '"SQLite']


async def test_text_of_a_program_does_not_look_like_the_persons_words(session: Engine) -> None:
    async with opened(session, project="acme") as screen:
        await screen.press("f3", "g")
        rows = re.findall(r"^[▌ ] +\d.*?│", screen.text, re.MULTILINE)
        assert len(rows) == 5
        assert sum(" user " in line for line in rows) == 1
        assert any(" sub-agent " in line for line in rows)
        assert any(" command " in line and "/compact" in line for line in rows)
        await screen.press("j", "j", "j", "j")
        assert "command, not typed by the user" in screen.text


@pytest.mark.parametrize(
    ("start", "role", "type_", "word"),
    [
        ("Hello", "user", "dialogue", "user"),
        ("<task-notification>", "user", "dialogue", "sub-agent"),
        ("<teammate-message id=1>", "user", "dialogue", "teammate"),
        ("<bash-stdout>x", "user", "dialogue", "shell"),
        ("<p>Hello</p>", "user", "dialogue", "user"),
        ("<task-notification>", "assistant", "dialogue", "assistant"),
        ("This session", "user", "summary", "summary"),
        ("x", "user", "notification", "notification"),
        ("x", "system", "instruction", "system"),
        ("x", "tool", "tool_result", "tool"),
        ("x", "assistant", "tool_call", "tool call"),
    ],
)
def test_who_speaks(start: str, role: str, type_: str, word: str) -> None:
    assert speaker(row(start, role=role, type=type_)) == word


@pytest.mark.parametrize(
    ("start", "line"),
    [
        ("pytest -q", "Edit pytest -q"),
        ("{}", "Edit"),
        ('{"replace_all":false,"file_path":"/a.py"}', "Edit /a.py  replace_all: false"),
        ('{"plan":"# One\\n\\n- tw', "Edit # One\n\n- tw"),
        ('{"plan":"cut at an escape \\', "Edit cut at an escape "),
        ('{"odd":"\\ud83d","n":-1.5e3}', "Edit odd: \ufffd  n: -1.5e3"),
        ('{"todos":[{"content":"Fix","status":"open"}]}', "Edit content: Fix  status: open"),
        ('{"a":[1,2]}', 'Edit {"a":[1,2]}'),
    ],
)
def test_a_call_in_one_line(start: str, line: str) -> None:
    assert call_line(row(start)) == line


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ('{"a":"x","b":[1,2],"c":null}', "a: x\nb: 1, 2\nc: null"),
        ('{"a":"x\\ny"}', "a: \nx\ny"),
        ('{"a":{"b":true}}', "a: \n  b: true"),
        ('{"t":[{"c":"x","s":"y"},{"c":"z"}]}', "t: \n  - c: x, s: y\n  - c: z"),
    ],
)
def test_a_call_as_lines(stored: str, shown: str) -> None:
    call = call_text(stored)
    assert call is not None
    assert call.text == shown


@pytest.mark.parametrize("stored", ["pytest -q", "{", "{}", "[1]", '{"a":' * 5_000, '{"a":1} x'])
def test_text_that_is_not_an_object_is_shown_unchanged(stored: str) -> None:
    assert call_text(stored) is None


def test_spans_of_the_stored_text_keep_their_words() -> None:
    stored = json.dumps({"old": 'say "hi"\nand go', "n": [{"k": "last"}]}, separators=(",", ":"))
    call = call_text(stored)
    assert call is not None
    for words in ("say", "and go", "last"):
        at = stored.index(words)
        (span,) = call.moved((Span(at, at + len(words)),))
        assert call.text[span.start : span.end] == words
    assert call.moved((Span(0, 1),)) == ()
