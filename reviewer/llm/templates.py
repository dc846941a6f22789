"""Prompt templates: TOML files, which a user may replace.

`{{name}}` stands for a value, and `{{#name}}...{{/name}}` for a part that goes where that value is
empty. Values are inserted as they are: one that looks like a template is never expanded.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.files import read_small
from reviewer.llm.model import ChatMessage

TEMPLATE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
PROMPTS = ("system_prompt", "user_prompt")
KEYS = ("template_id", *PROMPTS)

Fields = Collection[str]
"""The names of the values that a template may use."""

_VALUE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_PART = re.compile(r"\{\{#(\w+)\}\}\n?(.*?)\{\{/\1\}\}\n?", re.DOTALL)
_BRACES = re.compile(r"\{\{|\}\}")


class TemplateError(ReviewerError):
    """A prompt template cannot be used; the message has the file and, where known, the line."""


class Template(Struct, frozen=True):
    """A template. `path`: of its file."""

    template_id: str
    system_prompt: str
    user_prompt: str
    path: str


def load_template(
    template_id: str,
    builtin_folder: Path,
    override_folder: Path | None = None,
    fields: Fields = (),
) -> Template:
    """The template with an id: the user's from `override_folder`, or else the built-in one.

    Raises TemplateError for an invalid id, a missing file or folder, invalid TOML, an unclosed
    part and an unknown field.
    """
    path = _path(template_id, builtin_folder, override_folder)
    source, values = _read(path)
    for key in sorted(values.keys() - set(KEYS)):
        raise TemplateError(f"{path}: {key} is not a part of a template. Known: {', '.join(KEYS)}.")
    stated = _text(path, values, "template_id")
    if stated != template_id:
        raise TemplateError(f"{path}: template_id is {stated}, the file's name {template_id}.")
    texts = {prompt: _text(path, values, prompt) for prompt in PROMPTS}
    if not texts["user_prompt"].strip():
        raise TemplateError(f"{path}: user_prompt is empty; there would be nothing to ask.")
    for prompt, text in texts.items():
        for offset, line in enumerate(_checked(text).split("\n")):
            if problem := _problem(line, fields):
                number = _first_line(source, prompt) + offset
                raise TemplateError(f"{path}, line {number}: {problem}.")
    return Template(template_id, **texts, path=str(path))


def render(template: Template, data: Mapping[str, object]) -> list[ChatMessage]:
    """The messages of a template with its values. A blank system prompt is left out."""
    messages = []
    for text, role in ((template.system_prompt, "system"), (template.user_prompt, "user")):
        shown = _PART.sub(lambda part: part[2] if data[part[1]] else "", text)
        filled = _VALUE.sub(lambda value: str(data[value[1]]), shown)
        if role == "user":
            messages.append(ChatMessage("user", filled))
        elif filled.strip():
            messages.append(ChatMessage("system", filled))
    return messages


def fence_for(name: str, text: str) -> str:
    """A name for the marks around a text of others, which the text cannot have in it."""
    return f"{name}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _checked(text: str) -> str:
    """A text with the marks of its parts written as values, line for line."""

    def as_values(part: re.Match[str]) -> str:
        return re.sub(r"\{\{[#/](\w+)\}\}", r"{{\1}}", part[0])

    return _PART.sub(as_values, text)


def _problem(line: str, fields: Fields) -> str:
    """What is wrong with a line of a template; empty if nothing is."""
    for name in _VALUE.findall(line):
        if name not in fields:
            return f"there is no field {name}; there are: {', '.join(fields)}"
    if _BRACES.search(_VALUE.sub("", line)):
        return "braces are for a value, {{name}}, or around a part, {{#name}} and {{/name}}"
    return ""


def _path(template_id: str, builtin_folder: Path, override_folder: Path | None) -> Path:
    if TEMPLATE_ID.fullmatch(template_id) is None:
        raise TemplateError(
            f"{template_id!r} cannot name a template: use letters, digits, - and _."
        )
    name = f"{template_id}.toml"
    if override_folder is not None:
        if not override_folder.is_dir():
            raise TemplateError(f"There is no folder of templates {override_folder}.")
        if (override_folder / name).exists():
            return override_folder / name
    if (builtin_folder / name).is_file():
        return builtin_folder / name
    folders = [*([override_folder] if override_folder else []), builtin_folder]
    known = sorted({path.stem for folder in folders for path in folder.glob("*.toml")})
    raise TemplateError(f"There is no template {template_id}. There are: {', '.join(known)}.")


def _read(path: Path) -> tuple[str, dict[str, object]]:
    try:
        source = read_small(path).decode()
        return source, tomllib.loads(source)
    except OSError as problem:
        raise TemplateError(f"Cannot read the template {path}: {problem.strerror}.") from problem
    except UnicodeDecodeError:
        raise TemplateError(f"The template {path} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as problem:
        raise TemplateError(f"The template {path} is not TOML: {problem}.") from problem
    except RecursionError:
        raise TemplateError(f"The template {path} is nested too deep.") from None


def _text(path: Path, values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        raise TemplateError(f"{path}: {key} is missing or is not text.")
    return value


def _first_line(source: str, prompt: str) -> int:
    """The line of a prompt's first character; TOML drops a line end right after the quotes."""
    found = re.search(rf"^{prompt}\s*=\s*(\"\"\"|''')?(\r?\n)?", source, re.MULTILINE)
    return 1 if found is None else source.count("\n", 0, found.end()) + 1
