"""Prompt templates: TOML files, which a user may replace, in a subset of mustache.

The subset is `{{name}}`, `{{name.field}}`, `{{#list}}...{{/list}}` and `{{name | truncate:30}}`.
Values are inserted as they are: a value that looks like a template is never expanded.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.files import read_small
from reviewer.llm.model import ChatMessage

TEMPLATE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
PROMPTS = ("system_prompt", "user_prompt")
KEYS = ("template_id", *PROMPTS)


class TemplateError(ReviewerError):
    """A prompt template cannot be used; the message has the file and, where known, the line."""


class Template(Struct, frozen=True):
    """A parsed template. `path`: of its file."""

    template_id: str
    system_prompt: str
    user_prompt: str
    path: str
    parts: Mapping[str, tuple[Part, ...]]
    """Prompt -> its parsed text."""
    lines: Mapping[str, int]
    """Prompt -> the line of the file on which its text begins, from 1."""


def load_template(
    template_id: str,
    builtin_folder: Path,
    override_folder: Path | None = None,
    fields: Fields | None = None,
) -> Template:
    """The template with an id: the user's from `override_folder`, or else the built-in one.

    `fields`: those that the template may use; without them only `render` finds unknown fields.
    Raises TemplateError for an invalid id, a missing file or folder, invalid TOML, an unclosed
    section and an unknown field.
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
    lines = {prompt: _first_line(source, prompt) for prompt in PROMPTS}
    parts: dict[str, tuple[Part, ...]] = {}
    for prompt in PROMPTS:
        try:
            parts[prompt] = _parse(texts[prompt])
            if fields is not None:
                _check_fields(parts[prompt], fields)
        except _SyntaxError as problem:
            raise _located(path, lines[prompt], problem) from None
    return Template(template_id, **texts, path=str(path), parts=parts, lines=lines)


def render(template: Template, data: Mapping[str, object]) -> list[ChatMessage]:
    """The messages of a template with its values. A blank system prompt is left out.

    Raises TemplateError with file and line for a field that is not in `data`.
    """
    messages = []
    for prompt, role in (("system_prompt", "system"), ("user_prompt", "user")):
        try:
            text = _fill(template.parts[prompt], data)
        except _SyntaxError as problem:
            raise _located(Path(template.path), template.lines[prompt], problem) from None
        if role == "user":
            messages.append(ChatMessage("user", text))
        elif text.strip():
            messages.append(ChatMessage("system", text))
    return messages


def fence_for(name: str, text: str) -> str:
    """A name for the marks around a text of others, which the text cannot have in it."""
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


def _located(path: Path, first_line: int, problem: _SyntaxError) -> TemplateError:
    return TemplateError(f"{path}, line {first_line + problem.line}: {problem.problem}.")


TAG = re.compile(r"\{\{((?:(?!\{\{).)*?)\}\}")
NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
VALUE = re.compile(rf"({NAME})(?:\s*\|\s*truncate:(\d+))?")
SECTION = re.compile(rf"[#/]\s*({NAME})")
ALONE = re.compile(r"^[ \t]*(\{\{\s*[#/][^{}]*\}\})[ \t]*(?:\n|\Z)", re.MULTILINE)
"""A section's tag on a line of its own, which is removed with its line, as in mustache."""


class _SyntaxError(Exception):
    """A mistake in a template's text. `line`: of that text, from 0."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class Value(Struct, frozen=True):
    """A placeholder. `limit`: characters of the value that are shown, None for all."""

    name: str
    limit: int | None
    line: int


class Section(Struct, frozen=True):
    """A part that is repeated for every item of a list."""

    name: str
    parts: tuple[Part, ...]
    line: int


Part: TypeAlias = str | Value | Section

Fields: TypeAlias = Mapping[str, Sequence[str]]
"""The fields of a template; for a list or a mapping, those of its items."""


def _parse(text: str) -> tuple[Part, ...]:
    """The parts of a template's text. Raises _SyntaxError for anything outside the subset."""
    open_sections: list[tuple[str, int]] = []
    levels: list[list[Part]] = [[]]
    at = 0
    for found in TAG.finditer(text):
        literal, line = text[at : found.start()], text.count("\n", 0, found.start())
        _refuse_half_tags(literal, text.count("\n", 0, at))
        at = found.end()
        alone = ALONE.match(text, text.rfind("\n", 0, found.start()) + 1)
        if alone is not None and alone.start(1) == found.start():
            literal = literal[: len(literal) - (found.start() - alone.start())]
            at = alone.end()
        if literal:
            levels[-1].append(literal)
        inner = found[1].strip()
        if inner.startswith(("#", "/")):
            section = SECTION.fullmatch(inner)
            if section is None:
                raise _SyntaxError(f"{found[0]} does not name a list", line)
            if inner[0] == "#":
                open_sections.append((section[1], line))
                levels.append([])
            elif not open_sections or open_sections[-1][0] != section[1]:
                raise _SyntaxError(f"{found[0]} closes a section that is not open", line)
            else:
                name, began = open_sections.pop()
                parts = tuple(levels.pop())
                levels[-1].append(Section(name, parts, began))
            continue
        value = VALUE.fullmatch(inner)
        if value is None:
            raise _SyntaxError(f"{found[0]} is neither a field nor a section", line)
        levels[-1].append(Value(value[1], int(value[2]) if value[2] else None, line))
    _refuse_half_tags(text[at:], text.count("\n", 0, at))
    if open_sections:
        name, line = open_sections[-1]
        raise _SyntaxError(f"{{{{#{name}}}}} is never closed by {{{{/{name}}}}}", line)
    if text[at:]:
        levels[-1].append(text[at:])
    return tuple(levels[-1])


def _check_fields(parts: Sequence[Part], fields: Fields, within: Sequence[str] = ()) -> None:
    """Raise _SyntaxError for the first unknown field. `within`: the fields of an item."""
    for part in parts:
        if isinstance(part, str):
            continue
        first, _, rest = part.name.partition(".")
        known = part.name in within or (first in fields and (not rest or rest in fields[first]))
        if not known:
            names = ", ".join([*within, *fields])
            raise _SyntaxError(f"there is no field {part.name}; there are: {names}", part.line)
        if isinstance(part, Section):
            _check_fields(part.parts, fields, (*fields.get(part.name, ()), *within))


def _fill(parts: Sequence[Part], *scopes: Mapping[str, object]) -> str:
    """The text with values from the innermost scope that has them.

    Raises _SyntaxError for an unknown field and for a value that is not a text or number.
    """
    return "".join(part if isinstance(part, str) else _filled(part, scopes) for part in parts)


def _filled(part: Value | Section, scopes: tuple[Mapping[str, object], ...]) -> str:
    value = _found(part, scopes)
    if isinstance(part, Section):
        items = value if isinstance(value, (list, tuple)) else [value] if value else []
        return "".join(
            _fill(part.parts, *scopes, *([item] if isinstance(item, Mapping) else []))
            for item in items
        )
    if not isinstance(value, (str, int, float)) and value is not None:
        raise _SyntaxError(f"{part.name} is a list and needs {{{{#{part.name}}}}}", part.line)
    return ("" if value is None else str(value))[: part.limit]


def _found(part: Value | Section, scopes: tuple[Mapping[str, object], ...]) -> object:
    first, *rest = part.name.split(".")
    for scope in reversed(scopes):
        if first not in scope:
            continue
        value = scope[first]
        for name in rest:
            if not isinstance(value, Mapping) or name not in value:
                raise _SyntaxError(f"there is no field {part.name}", part.line)
            value = value[name]
        return value
    raise _SyntaxError(f"there is no field {part.name}", part.line)


def _refuse_half_tags(literal: str, line: int) -> None:
    for half in ("{{", "}}"):
        if half in literal:
            where = line + literal[: literal.index(half)].count("\n")
            raise _SyntaxError(f"{half} has no other half on its line", where)
