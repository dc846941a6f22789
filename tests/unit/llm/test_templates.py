"""Prompt templates: files in the document's mustache, which a user may replace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from reviewer.llm.model import ChatMessage
from reviewer.llm.templates import Template, TemplateError, load_template, render

FIELDS = {"messages": (), "anchors": ("type", "content"), "segment": ("id",)}
DATA = {
    "messages": "user: hello",
    "anchors": [
        {"type": "Decision", "content": "We keep the close at midnight, whatever happens"},
        {"type": "Question", "content": "Who signs?"},
    ],
    "segment": {"id": "s7"},
}
ANCHORS = """\
Keep:
{{#anchors}}
- [{{type}}]: "{{content | truncate:12}}"
{{/anchors}}
Ends with {{segment.id}}.
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
    template = loaded(folder, "Sum up {{segment.id}}.", "Text:\n{{messages}}")
    assert render(template, DATA) == [
        ChatMessage("system", "Sum up s7."), ChatMessage("user", "Text:\nuser: hello"),
    ]  # fmt: skip


def test_without_a_system_prompt_there_is_one_message(folder: Path) -> None:
    assert [one.role for one in render(loaded(folder, " \n"), DATA)] == ["user"]


def test_a_section_comes_once_for_every_item_and_its_own_lines_go(folder: Path) -> None:
    assert filled(folder, ANCHORS) == (
        'Keep:\n- [Decision]: "We keep the "\n- [Question]: "Who signs?"\nEnds with s7.\n'
    )
    assert filled(folder, ANCHORS, {**DATA, "anchors": []}) == "Keep:\nEnds with s7.\n"


def test_a_section_inside_a_line_keeps_the_line(folder: Path) -> None:
    user = "{{#anchors}}{{type}}, {{/anchors}}end"
    assert filled(folder, user) == "Decision, Question, end"


def test_a_section_sees_the_fields_around_it(folder: Path) -> None:
    assert filled(folder, "{{#anchors}}{{segment.id}}{{/anchors}}") == "s7s7"


def test_blanks_inside_a_tag_do_not_count(folder: Path) -> None:
    assert filled(folder, "{{ messages }} {{messages|truncate:4}}") == "user: hello user"


def test_values_are_never_read_as_a_template(folder: Path) -> None:
    hostile = "{{segment.id}} {{#anchors}} {{nothing}} {{/x}} }} {{"
    data = {**DATA, "messages": hostile, "anchors": [{"type": hostile, "content": hostile}]}
    assert filled(folder, "{{messages}}", data) == hostile
    assert hostile in filled(folder, "{{#anchors}}{{type}}{{/anchors}}", data)


def test_numbers_are_written_and_none_gives_an_empty_text(folder: Path) -> None:
    assert filled(folder, "[{{messages}}]", {"messages": 3}) == "[3]"
    assert filled(folder, "[{{messages}}]", {"messages": None}) == "[]"


@pytest.mark.parametrize(
    ("user", "line", "words"),
    [
        ("one\ntwo {{mesages}}", 6, "there is no field mesages"),
        ("{{segment.name}}", 5, "there is no field segment.name"),
        ("{{type}}", 5, "there is no field type"),
        ("{{#people}}x{{/people}}", 5, "there is no field people"),
        ("{{#anchors}}\n{{kind}}\n{{/anchors}}", 6, "there is no field kind"),
        ("one\n{{#anchors}}\nnever", 6, "{{#anchors}} is never closed"),
        (
            "{{#anchors}}{{#segment}}{{/anchors}}{{/segment}}",
            5,
            "closes a section that is not open",
        ),
        ("one\n\n{{/anchors}}", 7, "closes a section that is not open"),
        ("{{#}}x{{/}}", 5, "does not name a list"),
        ("{{}}", 5, "neither a field nor a section"),
        ("{{messages | upper}}", 5, "neither a field nor a section"),
        ("{{messages | truncate:ten}}", 5, "neither a field nor a section"),
        ("{{> other}}", 5, "neither a field nor a section"),
        ("{{^anchors}}none{{/anchors}}", 5, "neither a field nor a section"),
        ("{{{messages}}}", 5, "neither a field nor a section"),
        ("one\ntwo {{messages", 6, "{{ has no other half"),
        ("{{messages}} }}", 5, "}} has no other half"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    folder: Path, user: str, line: int, words: str
) -> None:
    said = refused(folder, user)
    assert words in said
    assert f"brief.toml, line {line}: " in said


def test_a_list_needs_a_section(folder: Path) -> None:
    template = loaded(folder, user="one\n{{anchors}}")
    with pytest.raises(TemplateError, match=r"line 6: anchors is a list and needs {{#anchors}}"):
        render(template, DATA)


def test_a_field_that_the_data_lacks_is_refused_when_it_is_filled(folder: Path) -> None:
    template = loaded(folder, user="one\n{{segment.id}}")
    with pytest.raises(TemplateError, match=r"brief\.toml, line 6: there is no field segment\.id"):
        render(template, {"messages": ""})


def test_the_users_own_template_replaces_the_built_in_one(tmp_path: Path) -> None:
    built_in, own = tmp_path / "built-in", tmp_path / "own"
    built_in.mkdir()
    own.mkdir()
    written(built_in, user="built in {{messages}}")
    written(built_in, user="tags {{messages}}", name="tags")
    written(own, user="mine {{messages}}")
    brief = load_template("brief", built_in, own, FIELDS)
    assert (brief.user_prompt, brief.path) == ("mine {{messages}}", str(own / "brief.toml"))
    assert load_template("tags", built_in, own).user_prompt == "tags {{messages}}"
    assert load_template("brief", built_in).user_prompt == "built in {{messages}}"


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
