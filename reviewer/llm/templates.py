"""Prompt templates: TOML files that a user may replace.

`{{name}}` is replaced by a value, and `{{#name}}...{{/name}}` is dropped if that value is empty.
Values are inserted verbatim: one that looks like a template is never expanded.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct, convert, structs

from reviewer.errors import ReviewerError
from reviewer.files import read_small
from reviewer.llm.model import ChatMessage

TEMPLATE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")

Fields = Collection[str]
"""The names of the values in a template."""

_VALUE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_PART = re.compile(r"\{\{#(\w+)\}\}\n?(.*?)\{\{/\1\}\}\n?", re.DOTALL)
_BRACES = re.compile(r"\{\{|\}\}")


class TemplateError(ReviewerError):
    """A prompt template cannot be used; the message has the file."""


class Template(Struct, frozen=True, forbid_unknown_fields=True):
    """A template file. `path`: of the file."""

    template_id: str
    system_prompt: str
    user_prompt: str
    path: str = ""


def load_template(
    template_id: str,
    builtin_folder: Path,
    override_folder: Path | None = None,
    fields: Fields = (),
) -> Template:
    """The template with an id: the user's from `override_folder`, or else the built-in one.

    Raises TemplateError for an invalid id, a missing file or folder, and an invalid file.
    """
    path = _path(template_id, builtin_folder, override_folder)
    try:
        found = convert(tomllib.loads(read_small(path).decode()), Template)
    except (OSError, ValueError, RecursionError) as problem:
        raise TemplateError(f"The template {path} cannot be used: {problem}.") from problem
    if found.template_id != template_id:
        raise TemplateError(f"{path}: template_id is {found.template_id}, unlike the file's name.")
    if not found.user_prompt.strip():
        raise TemplateError(f"{path}: user_prompt is empty; there would be nothing to ask.")
    try:
        messages = render(found, dict.fromkeys(fields, "x"))
    except KeyError as problem:
        known = ", ".join(fields)
        raise TemplateError(
            f"{path}: there is no field {problem.args[0]}; there are: {known}."
        ) from None
    if any(_BRACES.search(message.content) for message in messages):
        raise TemplateError(
            f"{path}: braces are for a value, {{{{name}}}}, or around a part, {{{{#name}}}} and "
            "{{/name}}."
        )
    return structs.replace(found, path=str(path))


def render(template: Template, data: Mapping[str, object]) -> list[ChatMessage]:
    """The messages of a template with its values, without a blank system prompt."""
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
    """A name for the marks around a quoted text, certain not to occur in it."""
    return f"{name}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}"


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
