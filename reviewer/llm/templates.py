"""Prompt templates: one TOML file each, which a user may put others in the place of."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.llm.model import ChatMessage
from reviewer.llm.template_parts import Fields, Part, PartError, check_fields, fill, parse
from reviewer.plain_files import read_small

TEMPLATE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
PROMPTS = ("system_prompt", "user_prompt")
KEYS = ("template_id", *PROMPTS)


class TemplateError(ReviewerError):
    """A prompt template cannot be used; the sentence names the file, and the line where it can."""


class Template(Struct, frozen=True):
    """A prompt in two parts. `path`: the file it stands in."""

    template_id: str
    system_prompt: str
    user_prompt: str
    path: str
    parts: Mapping[str, tuple[Part, ...]]
    """Prompt -> what it was parsed into."""
    lines: Mapping[str, int]
    """Prompt -> the line of the file on which its text begins, from 1."""


def load_template(
    template_id: str,
    builtin_folder: Path,
    override_folder: Path | None = None,
    fields: Fields | None = None,
) -> Template:
    """The template of that id: the user's own where `override_folder` has it, else the built-in.

    `fields`: what it may name; without, only `render` finds an unknown field. Raises TemplateError
    for what is no id, a missing file or folder, bad TOML, an open section, an unknown field.
    """
    path = _path(template_id, builtin_folder, override_folder)
    source, values = _read(path)
    for key in sorted(values.keys() - set(KEYS)):
        raise TemplateError(f"{path}: {key} is no part of a template. Known: {', '.join(KEYS)}.")
    said = _text(path, values, "template_id")
    if said != template_id:
        raise TemplateError(f"{path}: template_id says {said}, the file's name {template_id}.")
    texts = {prompt: _text(path, values, prompt) for prompt in PROMPTS}
    if not texts["user_prompt"].strip():
        raise TemplateError(f"{path}: user_prompt is empty; there would be nothing to ask.")
    lines = {prompt: _first_line(source, prompt) for prompt in PROMPTS}
    parts: dict[str, tuple[Part, ...]] = {}
    for prompt in PROMPTS:
        try:
            parts[prompt] = parse(texts[prompt])
            if fields is not None:
                check_fields(parts[prompt], fields)
        except PartError as problem:
            raise _located(path, lines[prompt], problem) from None
    return Template(template_id, **texts, path=str(path), parts=parts, lines=lines)


def render(template: Template, data: Mapping[str, object]) -> list[ChatMessage]:
    """The messages of a template with its values. A blank system prompt is left out.

    What stands in a value stays as it is, also where it looks like a template. Raises TemplateError
    with file and line for a field that `data` has not.
    """
    messages = []
    for prompt, role in (("system_prompt", "system"), ("user_prompt", "user")):
        try:
            text = fill(template.parts[prompt], data)
        except PartError as problem:
            raise _located(Path(template.path), template.lines[prompt], problem) from None
        if role == "user":
            messages.append(ChatMessage("user", text))
        elif text.strip():
            messages.append(ChatMessage("system", text))
    return messages


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
        raise TemplateError(f"{path}: {key} must be there, as text.")
    return value


def _first_line(source: str, prompt: str) -> int:
    """The line on which a prompt's text begins: TOML drops a line end right behind the quotes."""
    found = re.search(rf"^{prompt}\s*=\s*(\"\"\"|''')?(\r?\n)?", source, re.MULTILINE)
    return 1 if found is None else source.count("\n", 0, found.end()) + 1


def _located(path: Path, first_line: int, problem: PartError) -> TemplateError:
    return TemplateError(f"{path}, line {first_line + problem.line}: {problem.problem}.")
