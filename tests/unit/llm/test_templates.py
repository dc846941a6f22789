"""Prompt templates: files in the document's mustache, which a user may replace."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from reviewer.llm.model import ChatMessage
from reviewer.llm.templates import Template, TemplateError, load_template, render

FIELDS = ("messages", "anchors", "segment")
DATA = {"messages": "user: hello", "anchors": "- midnight\n- who signs", "segment": "s7"}
ANCHORS = """\
Keep:
{{#anchors}}
These:
{{anchors}}
{{/anchors}}
Ends with {{segment}}.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def written(
    folder: Path, system: str = "Be short.", user: str = "{{messages}}", name: str = "brief"
) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(
        f'template_id = "{name}"\nsystem_prompt = """\n{system}"""\nuser_prompt = """\n{user}"""\n',
        encoding="utf-8",
    )
    return path


def loaded(folder: Path, system: str = "Be short.", user: str = "{{messages}}") -> Template:
    written(folder, system, user)
    return load_template("brief", folder, None, FIELDS)


def filled(folder: Path, user: str, data: Mapping[str, object] = DATA) -> str:
    return render(loaded(folder, user=user), data)[-1].content


def test_a_template_becomes_two_messages(folder: Path) -> None:
    template = loaded(folder, "Sum up {{segment}}.", "Text:\n{{messages}}")
    assert render(template, DATA) == [
        ChatMessage("system", "Sum up s7."), ChatMessage("user", "Text:\nuser: hello"),
    ]  # fmt: skip


def test_a_part_goes_with_its_lines_where_its_value_is_empty(folder: Path) -> None:
    whole = "Keep:\nThese:\n- midnight\n- who signs\nEnds with s7.\n"
    assert filled(folder, ANCHORS) == whole
    assert filled(folder, ANCHORS, {**DATA, "anchors": ""}) == "Keep:\nEnds with s7.\n"
    assert filled(folder, "{{#anchors}}{{ segment }}, {{/anchors}}end") == "s7, end"


def test_values_are_never_read_as_a_template(folder: Path) -> None:
    hostile = "{{segment}} {{#anchors}} {{nothing}} {{/x}} }} {{"
    assert filled(folder, ANCHORS, {**DATA, "anchors": hostile}).count(hostile) == 1


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("one\ntwo {{mesages}}", "no field mesages; there are: messages"),
        ("{{#anchors}}\n{{kind}}\n{{/anchors}}", "no field kind"),
        ("one\n{{#anchors}}\nnever", "braces are for a value"),
        ("{{messages | truncate:30}}", "braces are for a value"),
    ],
)
def test_a_mistake_is_named_with_the_file(folder: Path, user: str, words: str) -> None:
    written(folder, user=user)
    with pytest.raises(TemplateError, match=re.escape(words)) as problem:
        load_template("brief", folder, None, FIELDS)
    assert "brief.toml" in str(problem.value)


def test_the_users_own_template_replaces_the_built_in_one(tmp_path: Path) -> None:
    built_in, own = tmp_path / "built-in", tmp_path / "own"
    built_in.mkdir()
    own.mkdir()
    written(built_in, user="built in {{messages}}")
    written(built_in, user="tags {{messages}}", name="tags")
    written(own, user="mine {{messages}}")
    brief = load_template("brief", built_in, own, FIELDS)
    assert (brief.user_prompt, brief.path) == ("mine {{messages}}", str(own / "brief.toml"))
    assert load_template("tags", built_in, own, FIELDS).user_prompt == "tags {{messages}}"
    assert load_template("brief", built_in, None, FIELDS).user_prompt == "built in {{messages}}"


@pytest.mark.parametrize("template_id", ["../brief", "", "a\x00b"])
def test_an_id_cannot_lead_out_of_the_folder(folder: Path, template_id: str) -> None:
    with pytest.raises(TemplateError, match="cannot name a template"):
        load_template(template_id, folder)


@pytest.mark.parametrize(
    "text",
    [
        b"template_id = ",
        b'template_id = "brief"\nsystem_prompt = 3\nuser_prompt = "x"\n',
        b'template_id = "brief"\nsystem_prompt = ""\nuser_prompt = " "\n',
        b'template_id = "other"\nsystem_prompt = ""\nuser_prompt = "x"\n',
        b"template_id = '\xff'",
    ],
)
def test_a_file_that_is_not_a_template(folder: Path, text: bytes) -> None:
    path = folder / "brief.toml"
    path.write_bytes(text)
    with pytest.raises(TemplateError, match=re.escape(str(path))):
        load_template("brief", folder)
