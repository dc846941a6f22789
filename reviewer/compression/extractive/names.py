"""The names in a conversation, how likely each is needed again, and an index of them.

A name is needed the more, the more often and the more recently it occurred: each occurrence counts
with a power of its age, as with human memory (Anderson & Schooler 1991, "Reflections of the
Environment in Memory"). Words of people and agents count more than the output of tools.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from reviewer.compression.anchor_types import WRITING_TOOLS
from reviewer.compression.values import Turn
from reviewer.text.identifiers import Identifier, IdentifierKind, identifiers

_SHORTEST = 3
_LONGEST = 120
_NAME = re.compile(r"[\w$@#~./:*+-]*[^\W\d_][\w$@#~./:*+-]*")
_PARTS = re.compile(r"\.|::|->")
_COMPOUND = re.compile(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]")
_HASH = re.compile(r"[0-9a-f]{7,64}")
_LINE_NUMBER = re.compile(r"(?<=[A-Za-z])[-:]\d+(?:[-:].*)?$")
"""The line number behind a file name in a search result."""
_QUOTES = frozenset("\"'`")
_PASSED_OVER = frozenset(
    {
        IdentifierKind.QUANTITY,
        IdentifierKind.VERSION,
        IdentifierKind.URL,
        IdentifierKind.HASH,
    }
)


def names_in(text: str, *, in_words: bool = True) -> list[str]:
    """Paths, file names, symbols, flags and issue numbers, as often as they occur.

    A path to a file also gives the file's name, and a dotted name those of its parts that are names
    by themselves. Text in backticks is a name only in words (`in_words`), not in tool output.
    """
    if not in_words:
        text = text.replace("`", " ")
    return [name for each in identifiers(text) for name in _names(text, each, in_words)]


def _names(text: str, found: Identifier, in_words: bool) -> Iterator[str]:
    kind = found.kind
    if kind in _PASSED_OVER:
        return
    name = found.text.strip(".,:;`'\"").removesuffix("()")
    if found.text.endswith("()") and not in_words and not _COMPOUND.search(name):
        return
    if not _SHORTEST <= len(name) <= _LONGEST:
        if kind is IdentifierKind.CODE and name:
            yield from names_in(name, in_words=False)
        return
    before = text[found.start - 1 : found.start]
    if before == "\\" and name[0] in "nrt":  # the letter of an escape such as a line break
        name = name[1:]
        if not _COMPOUND.search(name):
            return
    in_tag = before == "<"
    if kind is IdentifierKind.CODE:
        inner = names_in(name, in_words=False)
        yield from inner
        parts = _PARTS.split(name)
        dotted = len(parts) > 1 and any(_COMPOUND.search(part) for part in parts)
        if _NAME.fullmatch(name) and name not in inner and not dotted and not _HASH.fullmatch(name):
            yield name
    elif kind is IdentifierKind.PATH:
        if not in_tag:
            yield from _path(name, in_words or before in _QUOTES)
    elif kind is IdentifierKind.FLAG:
        flag = name.split("=", 1)[0]
        if flag.startswith("--"):
            yield flag
    elif kind is IdentifierKind.VARIABLE:
        yield name.strip("${}")
    elif kind is IdentifierKind.NAME and not in_tag:
        parts = _PARTS.split(name)
        compound = [part for part in parts if _COMPOUND.search(part)]
        if len(parts) == 1 or (in_words and not compound):
            yield name
        else:
            yield from compound
    elif kind is IdentifierKind.ISSUE:
        yield name


def _path(name: str, meant: bool) -> Iterator[str]:
    path = _LINE_NUMBER.sub("", name).rstrip("/")
    folder, slash, tail = path.rpartition("/")
    if not slash:
        yield path
        return
    if not folder and "." not in tail:
        return
    if "." in tail[1:]:
        yield tail
    elif not meant and not path.startswith("/") and path.count("/") < 2:
        return
    yield path


FADING = 0.35
"""Power of the age of an occurrence."""
SAID, CALLED, WRITTEN, PRINTED = 16.0, 1.0, 2.0, 0.5
"""Weight of an occurrence: in words, in a call, in a call that writes, in a result."""
HOME = 0.3
"""Share of it that counts for the folder of a file."""


class NameScores:
    """The names of a conversation.

    `scores`: how likely each is needed again, the greatest is 1. `folder_of`: the folder in which
    each file occurs most; `folders`: all of these. `tools`: the arguments that each tool was called
    with, most used tools first.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        raw: Counter[str] = Counter()
        homes: dict[str, Counter[str]] = {}
        calls: Counter[str] = Counter()
        arguments: dict[str, dict[str, None]] = {}
        for number, turn in enumerate(turns):
            weight = _weight(turn)
            if not weight:
                continue
            named = dict.fromkeys(names_of(turn))  # a set would change the sums of floats
            weight *= (len(turns) - number) ** -FADING
            for name in named:
                folder, _, tail = name.rpartition("/")
                if not folder or tail not in named:
                    raw[name] += weight
                    continue
                homes.setdefault(tail, Counter())[folder] += 1
                raw[folder] += weight * HOME
                if turn.kind == "text":
                    raw[name] += weight
            if turn.kind == "tool_use" and turn.name:
                calls[turn.name] += 1
                known = arguments.setdefault(turn.name, {})
                known.update(dict.fromkeys(arguments_of(turn.text)))
        most = max(raw.values(), default=1.0)
        self.scores = {name: value / most for name, value in raw.items()}
        self.folder_of = {tail: found.most_common(1)[0][0] for tail, found in homes.items()}
        self.folders = frozenset(self.folder_of.values())
        self.tools = {name: tuple(arguments[name]) for name, _ in calls.most_common()}


def names_of(turn: Turn) -> list[str]:
    """The names in a turn; for JSON those in its values."""
    if turn.kind == "tool_use":
        return names_in("\n".join(values_of(turn.text)), in_words=False)
    return names_in(turn.text, in_words=turn.kind == "text")


def values_of(text: str) -> Iterator[str]:
    """The strings in the values of a JSON text; the text itself when it is not JSON."""
    if not text.lstrip().startswith(("{", "[")):
        yield text
        return
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        yield text
        return
    yield from _strings(value)


def arguments_of(text: str) -> tuple[str, ...]:
    """The argument names of a call; none for a command."""
    if not text.lstrip().startswith("{"):
        return ()
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(name for name in value if name.isidentifier())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _weight(turn: Turn) -> float:
    if turn.kind == "text":
        return SAID
    if turn.kind == "tool_use":
        return WRITTEN if WRITING_TOOLS.search(turn.name) else CALLED
    return PRINTED if turn.kind == "tool_result" else 0.0


TITLE = "Files and identifiers:"
TOOLS = "Tools:"
FILES = 1.4
"""Factor for files in the index, which are opened again more often than other names are used."""
_PIECE = re.compile(r"[\w$@#~.:*+/-]+")
_FILE = re.compile(r"[^/]*\.[a-z][a-z0-9]{0,5}$")


class NameIndex:
    """The names of a conversation, ranked by score for the tokens they take."""

    def __init__(self, names: NameScores, count: Callable[[str], int]) -> None:
        self._names, self._count = names, count
        self.costs = {name: count(f" {name}") for name in names.scores}
        self.ranked = sorted(
            names.scores, key=lambda name: (-self._worth(name) / self.costs[name], name)
        )
        self.total = sum(self.costs.values())

    def _worth(self, name: str) -> float:
        score = self._names.scores[name]
        return FILES * score if "/" not in name and _FILE.fullmatch(name) else score

    def choose(self, budget: int, text: str, first: Sequence[str] = ()) -> list[str]:
        """Names that are not in `text` and fit the budget; `first` come before all others."""
        present = name_parts(text)
        chosen: list[str] = []
        for name in (*first, *self.ranked):
            if name in present or (" " in name and name in text):
                continue
            cost = self.costs.get(name) or self._count(f" {name}")
            if cost > budget:
                continue
            chosen.append(name)
            present |= name_parts(name)
            budget -= cost
        return chosen

    def lines(self, chosen: Sequence[str]) -> list[str]:
        """The index: declarations, a line a folder with its files, other files, other names."""
        declared = [name for name in chosen if " " in name]
        names = [name for name in chosen if " " not in name]
        folders: dict[str, list[str]] = {name: [] for name in names if name in self._names.folders}
        files: list[str] = []
        others: list[str] = []
        for name in names:
            if name in folders:
                continue
            home = self._names.folder_of.get(name)
            if home in folders:
                folders[home].append(name)
            elif _FILE.fullmatch(name.rpartition("/")[2]):
                files.append(name)
            else:
                others.append(name)
        others += [folder for folder, inside in folders.items() if not inside]
        grouped = [
            f"{folder.rstrip('/')}/: {' '.join(inside)}"
            for folder, inside in folders.items()
            if inside
        ]
        return [*declared, *grouped, *(" ".join(each) for each in (files, others) if each)]


def tools_line(names: NameScores, count: Callable[[str], int], budget: int) -> str:
    """The tools that were called with their arguments, as many as fit."""
    line = ""
    for tool, arguments in names.tools.items():
        entry = f"{tool}({' '.join(arguments)})" if arguments else tool
        longer = f"{line} {entry}" if line else f"{TOOLS} {entry}"
        if count(longer) > budget:
            break
        line = longer
    return line


def name_parts(text: str) -> set[str]:
    """The words of a text, with the parts of its paths and dotted names."""
    found: set[str] = set()
    for piece in _PIECE.findall(text):
        whole = piece.strip(".:")
        found.add(piece)
        found.add(whole)
        if "/" in whole:
            at = -1
            while (at := whole.find("/", at + 1)) >= 0:
                found.add(whole[at + 1 :])
                found.add(whole[at:])
                found.add(whole[:at])
        if "." in whole or ":" in whole:
            found.update(re.split(r"[.:]+", whole))
    return found
