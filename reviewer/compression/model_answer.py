"""A model's answer as a summary: wrappers taken off, titles put right, too long ones shortened."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from reviewer.compression.sections import TITLES, HandoverSection
from reviewer.text.normalise import fold

_THOUGHT_TAG = re.compile(r"<(/?)(think|thinking|reasoning|analysis)>", re.IGNORECASE)
_FENCED = re.compile(r"(?:[^\n`]{0,120}:[ \t]*\n+)?```[\w-]*[ \t]*\n(.*)```", re.DOTALL)
_WRAPPED = re.compile(r"<(summary|answer|hand-?over|output)>(.*)</\1>", re.DOTALL)
_MARKUP = re.compile(r"\s*(?:<\?xml\b|<!doctype\b|<html\b|<head\b|<body\b)", re.IGNORECASE)
_TITLE = re.compile(
    rf"(?:#{{1,6}}[ \t]+)?(?:\d+\.[ \t]+)?[*_]*({'|'.join(map(re.escape, HandoverSection))})"
    r"[ \t]*:?[*_]*[ \t]*:?",
    re.IGNORECASE,
)
LONGEST_TITLE = 60
LONGEST_ANSWER = 200_000
"""Characters of an answer that are read."""
_NAMES = {section.value.lower(): section.value for section in HandoverSection}
COPIED = 0.5
"""Share of an answer's long lines that are in its instruction, from which on it is a copy."""
COPIED_WORDS = 6
"""Words of a line that is compared with the instruction."""
CUT_FIRST = frozenset(
    {HandoverSection.DONE, HandoverSection.FOUND, HandoverSection.COMMANDS, HandoverSection.FILES}
)
"""Sections that lose lines first where a text is too long, the longest of them first."""


def cleaned(text: str) -> str:
    """An answer without the thoughts of the model and without a fence or tag around all of it."""
    text = _without_thoughts(text[:LONGEST_ANSWER]).strip()
    for wrapper in (_FENCED, _WRAPPED):
        if (found := wrapper.fullmatch(text)) and "\n```" not in found[wrapper.groups].rstrip():
            text = found[wrapper.groups].strip()
    return text


def _without_thoughts(text: str) -> str:
    """Of thoughts whose beginning or end is missing, all before or after them counts as thought."""
    said: list[str] = []
    at = 0
    begun: re.Match[str] | None = None
    for tag in _THOUGHT_TAG.finditer(text):
        if not tag[1]:
            if begun is None:
                said.append(text[at : tag.start()])
                begun = tag
            continue
        if begun is None:
            said = []
        begun, at = None, tag.end()
    if begun is None:
        said.append(text[at:])
    elif begun[2].lower() == "analysis":  # it may be a word of the text
        said.append(text[begun.start() :])
    return "".join(said)


def with_titles(text: str) -> str:
    """A text whose titles, such as `## **Request**`, are written as the program writes them, each
    once and with each line below it once.
    """
    lines = []
    for line in text.split("\n"):
        bare = line.strip()
        title = _TITLE.fullmatch(bare) if len(bare) <= LONGEST_TITLE else None
        lines.append(f"{_NAMES[title[1].lower()]}:" if title else line)
    parts: dict[str, dict[str, None]] = {}
    for name, below in sections("\n".join(lines)):
        parts.setdefault(name, {}).update(dict.fromkeys(below))
    if len(parts) == 1:
        return text
    return joined([(name, list(below)) for name, below in parts.items()])


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


def trimmed(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The text in at most `tokens`: lines go whole, those that somebody who goes on needs least
    first. A text without such lines is cut at its end.
    """
    if count(text) <= tokens:
        return text
    parts = sections(text)
    titles = {f"{section.value}:" for section in CUT_FIRST}
    history = [below for name, below in parts if name in titles]
    cost = {line: count(f"{line}\n") for _, below in parts for line in below}
    over = sum(cost[line] for _, below in parts for line in below) - tokens
    sizes = [sum(cost[line] for line in below) for below in history]
    while any(history) and (over > 0 or count(joined(parts)) > tokens):
        longest = max((at for at, below in enumerate(history) if below), key=sizes.__getitem__)
        gone = cost[history[longest].pop()]
        sizes[longest] -= gone
        over -= gone
    lines = joined(parts).split("\n")
    over = sum(cost.get(line, 0) for line in lines) - tokens
    while len(lines) > 1 and (over > 0 or count("\n".join(lines)) > tokens):
        over -= cost.get(lines.pop(), 0)
    return "\n".join(lines)
