"""A model's answer as a summary: wrappers taken off, titles put right, too long ones shortened."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from reviewer.compression.anchor_types import Section
from reviewer.text.normalise import fold

_THOUGHT = re.compile(
    r"<(think|thinking|reasoning|analysis)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE
)
_OPEN_THOUGHT = re.compile(r"\s*<(?:think|thinking|reasoning)>.*", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r".*</(?:think|thinking|reasoning)>\s*", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"\s*(?:[^\n`]{0,120}:[ \t]*\n+)?```[\w-]*[ \t]*\n(.*?)\n?```\s*", re.DOTALL)
_WRAPPED = re.compile(r"\s*<(summary|answer|hand-?over|output)>\s*(.*?)\s*</\1>\s*", re.DOTALL)
_MARKUP = re.compile(r"\s*(?:<\?xml\b|<!doctype\b|<html\b|<head\b|<body\b)", re.IGNORECASE)
_TITLE = re.compile(
    rf"^[ \t]*(?:#{{1,6}}[ \t]+)?(?:\d+\.[ \t]+)?[*_]*({'|'.join(map(re.escape, Section))})"
    r"[ \t]*:?[*_]*[ \t]*:?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_NAMES = {section.value.lower(): section.value for section in Section}
TITLES = frozenset(f"{section.value}:" for section in Section)
COPIED = 0.5
"""Share of an answer's long lines that stand in its instruction, from which on it is a copy."""
COPIED_WORDS = 6
"""Words of a line that is compared with the instruction."""
CUT_FIRST = frozenset({Section.DONE, Section.FOUND, Section.COMMANDS, Section.FILES})
"""Sections that lose lines first where a text is too long, the longest of them first."""


def cleaned(text: str) -> str:
    """An answer without the thoughts of the model and without a fence or tag around all of it."""
    text = _THOUGHT.sub("", text)
    text = _END_OF_THOUGHT.sub("", text)  # its beginning is sometimes missing
    text = _OPEN_THOUGHT.sub("", text)
    for wrapper in (_FENCED, _WRAPPED):
        if (found := wrapper.fullmatch(text)) and "\n```" not in found[wrapper.groups]:
            text = found[wrapper.groups]
    return text.strip()


def with_titles(text: str) -> str:
    """A text whose titles, such as `## **Request**`, are written as the program writes them."""
    return _TITLE.sub(lambda found: f"{_NAMES[found[1].lower()]}:", text)


def is_program_text(text: str) -> str:
    """What an answer is instead of a text: a web page or JSON. Empty for a text."""
    if _MARKUP.match(text):
        return "a web page"
    if text[:1] in ("{", "["):
        try:
            decoded = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return ""
        return "JSON" if isinstance(decoded, (dict, list)) else ""
    return ""


def copies(text: str, instruction: str, source: str) -> bool:
    """Whether a summary mostly repeats its instruction, which `source` does not have in it."""
    lines = [fold(line).lstrip("-*# ") for line in text.split("\n")]
    lines = [line for line in lines if len(line.split()) >= COPIED_WORDS]
    if not lines:
        return False
    told = fold(instruction)
    repeated = [line for line in lines if line in told]
    if len(repeated) < COPIED * len(lines):
        return False
    said = fold(source)
    return any(line not in said for line in repeated)


def sections(text: str) -> list[tuple[str, list[str]]]:
    """The titles of a text with their lines; the first title is empty, for what comes before."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        if line in TITLES:
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return found


def joined(parts: Sequence[tuple[str, list[str]]]) -> str:
    """The text of some sections; titles without lines are left out."""
    lines: list[str] = []
    for title, below in parts:
        if any(line.strip() for line in below):
            lines += [*([title] if title else []), *below]
    return "\n".join(lines).strip("\n")


def with_line(text: str, section: Section, line: str) -> str:
    """The text with one more line at the end of a section, which is made where it is missing."""
    parts = sections(text)
    order = [f"{each.value}:" for each in Section]
    title = f"{section.value}:"
    place = next((below for name, below in parts if name == title), None)
    if place is None:
        at = len(parts)
        while at > 1 and parts[at - 1][0] and order.index(parts[at - 1][0]) > order.index(title):
            at -= 1
        parts.insert(at, (title, [f"- {line}"]))
    else:
        end = len(place)
        while end and not place[end - 1].strip():
            end -= 1
        place.insert(end, f"- {line}")
    return joined(parts)


def trimmed(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The text in at most `tokens`: lines go whole, those that somebody who goes on needs least
    first. A text without such lines is cut at its end.
    """
    if count(text) <= tokens:
        return text
    parts = sections(text)
    titles = {f"{section.value}:" for section in CUT_FIRST}
    history = [below for name, below in parts if name in titles]
    while any(history) and count(joined(parts)) > tokens:
        max(history, key=lambda below: sum(map(len, below))).pop()
    lines = joined(parts).split("\n")
    while len(lines) > 1 and count("\n".join(lines)) > tokens:
        lines.pop()
    return "\n".join(lines)
