"""Prompt templates: files in the document's mustache, which a user may replace."""

from __future__ import annotations

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


def refused(folder: Path, user: str) -> str:
    with pytest.raises(TemplateError) as problem:
        loaded(folder, user=user)
    return str(problem.value)


def test_a_template_becomes_two_messages(folder: Path) -> None:
    template = loaded(folder, "Sum up {{segment}}.", "Text:\n{{messages}}")
    assert render(template, DATA) == [
        ChatMessage("system", "Sum up s7."), ChatMessage("user", "Text:\nuser: hello"),
    ]  # fmt: skip


def test_without_a_system_prompt_there_is_one_message(folder: Path) -> None:
    assert [one.role for one in render(loaded(folder, " \n"), DATA)] == ["user"]


def test_a_part_goes_with_its_lines_where_its_value_is_empty(folder: Path) -> None:
    whole = "Keep:\nThese:\n- midnight\n- who signs\nEnds with s7.\n"
    assert filled(folder, ANCHORS) == whole
    assert filled(folder, ANCHORS, {**DATA, "anchors": ""}) == "Keep:\nEnds with s7.\n"
    assert filled(folder, "{{#anchors}}{{ segment }}, {{/anchors}}end") == "s7, end"


def test_values_are_never_read_as_a_template(folder: Path) -> None:
    hostile = "{{segment}} {{#anchors}} {{nothing}} {{/x}} }} {{"
    assert filled(folder, ANCHORS, {**DATA, "anchors": hostile}).count(hostile) == 1


@pytest.mark.parametrize(
    ("user", "line", "words"),
    [
        ("one\ntwo {{mesages}}", 6, "there is no field mesages"),
        ("{{#people}}x{{/people}}", 5, "there is no field people"),
        ("{{#anchors}}\n{{kind}}\n{{/anchors}}", 6, "there is no field kind"),
        ("one\n{{#anchors}}\nnever", 6, "braces are for a value"),
        ("one\n\n{{/anchors}}", 7, "braces are for a value"),
        ("{{}}", 5, "braces are for a value"),
        ("{{messages | truncate:30}}", 5, "braces are for a value"),
        ("{{segment.id}}", 5, "braces are for a value"),
        ("one\ntwo {{messages", 6, "braces are for a value"),
        ("{{messages}} }}", 5, "braces are for a value"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    folder: Path, user: str, line: int, words: str
) -> None:
    said = refused(folder, user)
    assert words in said
    assert f"brief.toml, line {line}: " in said


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


def test_a_missing_folder_of_templates_is_not_passed_over(folder: Path) -> None:
    written(folder)
    with pytest.raises(TemplateError, match="no folder of templates"):
        load_template("brief", folder, folder / "nowhere")


def test_an_unknown_template_names_the_known_ones(folder: Path) -> None:
    written(folder)
    with pytest.raises(TemplateError, match=r"no template breif\. There are: brief\."):
        load_template("breif", folder)


@pytest.mark.parametrize("template_id", ["../brief", "a/b", "", ".hidden", "a\x00b", "a b"])
def test_an_id_cannot_lead_out_of_the_folder(folder: Path, template_id: str) -> None:
    with pytest.raises(TemplateError, match="cannot name a template"):
        load_template(template_id, folder)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("template_id = ", "is not TOML"),
        ('template_id = "brief"\nsystem_prompt = ""\n', "user_prompt is missing"),
        (
            'template_id = "brief"\nsystem_prompt = 3\nuser_prompt = "x"\n',
            "system_prompt is missing or is not text",
        ),
        ('template_id = "brief"\nsystem_prompt = ""\nuser_prompt = " "\n', "nothing to ask"),
        ('template_id = "other"\nsystem_prompt = ""\nuser_prompt = "x"\n', "is other"),
        (
            'template_id = "brief"\nsystem_prompt = ""\nuser_prompt = "x"\nmodel = "y"\n',
            "model is not a part of a template",
        ),
        (b"template_id = '\xff'", "is not UTF-8"),
    ],
)
def test_a_file_that_is_not_a_template(folder: Path, text: str | bytes, words: str) -> None:
    path = folder / "brief.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TemplateError, match=words) as refused:
        load_template("brief", folder)
    assert str(path) in str(refused.value)
