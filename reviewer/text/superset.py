"""Patterns that match wherever a given pattern does, for a matcher of whole columns.

RE2 looks at all texts of a column at once, but knows neither look-around nor references nor
Python's classes of characters. A text that it finds has to be looked at again with the pattern
itself; in one that it does not find, the pattern would find nothing either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any

MOST_REPEATS = 8
"""What has to occur more often is looked for this often: a longer count makes the matcher slow, and
few texts have the one without the other.
"""
MARKS = "*_`~"
"""Characters that `folded` text lacks."""
WHITE_SPACE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
"""Of ASCII; `folded` text has one space for each run of it."""
_OTHER_BYTES = r"\x80-\xff"
"""Of characters beyond ASCII, of which each has several."""
_OTHERS = f"[{_OTHER_BYTES}]+"
_OR_OTHERS = f"]|{_OTHERS})"
_ASCII = [chr(code) for code in range(128)]
_ALSO_BEYOND_ASCII = "iks"
"""Letters that characters beyond ASCII equal where case is ignored."""


def superset(pattern: str, flags: int = 0, *, folded: bool = False) -> str:
    """A pattern of RE2 for the bytes of texts in UTF-8. It matches somewhere in every text in which
    `pattern` matches, and also in every longer text.

    `folded`: it is for text without MARKS, with one space for each run of white space, where
    `pattern` is for text that has some of them.

    Raises ValueError for a construction that has no translation.
    """
    parsed = _parser.parse(pattern, flags)
    translation = _Translation(folded)
    return translation.whole(list(parsed), parsed.state.flags)


def either(patterns: Iterable[str]) -> str:
    """One pattern that matches where any of them does."""
    return "|".join(f"(?:{each})" for each in dict.fromkeys(patterns))


class _Translation:
    def __init__(self, folded: bool) -> None:
        self._folded = folded
        self._groups: dict[int, str] = {}

    def whole(self, items: Sequence[tuple[Any, Any]], flags: int) -> str:
        texts = [self._item(*item, flags) for item in items]
        # What may be missing at either end tells nothing.
        while texts and _may_be_empty(texts[-1]):
            texts.pop()
        if texts:
            texts[-1] = self._last(*items[len(texts) - 1], flags, texts[-1])
        while texts and _may_be_empty(texts[0]):
            texts.pop(0)
        return "".join(texts)

    def _last(self, name: Any, value: Any, flags: int, text: str) -> str:
        """A repetition at the end need not go on."""
        if str(name).endswith("_REPEAT") and not _may_be_empty(text):
            return self._repeat(value[0], value[0], value[2], flags, last=True)
        return text

    def _any_case(self, flags: int) -> bool:
        return self._folded or bool(flags & re.IGNORECASE)

    def _sequence(self, items: Sequence[tuple[Any, Any]], flags: int) -> str:
        return "".join(self._item(*item, flags) for item in items)

    def _item(self, name: Any, value: Any, flags: int) -> str:
        match str(name):
            case "LITERAL":
                if value >= len(_ASCII) and not (self._any_case(flags) and _has_cases(value)):
                    return "".join(f"\\x{code:02x}" for code in chr(value).encode())
                return self._characters(*_literal(chr(value), flags))
            case "NOT_LITERAL" | "IN":
                return self._characters(_members(repr(value), str(name), value, flags), True)
            case "ANY":
                return self._characters([c for c in _ASCII if flags & re.DOTALL or c != "\n"], True)
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return ""
            case "BRANCH":
                texts = dict.fromkeys(self._sequence(list(each), flags) for each in value[1])
                return f"(?:{'|'.join(texts)})"
            case "SUBPATTERN":
                group, added, removed, items = value
                text = f"(?:{self._sequence(list(items), (flags | added) & ~removed)})"
                if group is not None:
                    self._groups[group] = text
                return text
            case "ATOMIC_GROUP":
                return f"(?:{self._sequence(list(value), flags)})"
            case "GROUPREF":
                return self._groups[value]
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inside = value
                return self._repeat(least, most, inside, flags)
        raise ValueError(f"{name} has no translation")

    def _repeat(self, least: int, most: int, items: Any, flags: int, *, last: bool = False) -> str:
        text = self._sequence(list(items), flags)
        if not text:
            return ""
        if _may_be_empty(text):
            least = 0
        if most == 1:
            return f"(?:{text})" if least else f"(?:{text})?"
        few = min(least, MOST_REPEATS)
        if text.startswith("(?:[") and text.endswith(_OR_OTHERS) and text.count("[") == 2:
            # One class: byte by byte it may go on, which the matcher does much faster.
            text = f"{text[3 : -len(_OR_OTHERS)]}{_OTHER_BYTES}]"
            least = least if most == least and few == least and last else -1
        if least == most:
            return f"(?:{text}){{{few}}}" if few == least else f"(?:{text}){{{few},}}"
        how = {0: "*", 1: "+"}.get(few, f"{{{few},}}")
        return f"(?:{text}){how}"

    def _characters(self, members: Sequence[str], others: bool) -> str:
        """One of these characters of ASCII, or with `others` any beyond it."""
        optional = ""
        if self._folded:
            kept = [each for each in members if each not in MARKS and each not in WHITE_SPACE]
            if len(kept) < len(members):
                optional = "?"  # left out, or joined with white space before it
                if any(each in WHITE_SPACE for each in members):
                    kept.append(" ")
            members = kept
        choices = [_class(members)] if members else []
        if others:
            choices.append(_OTHERS)
        if not choices:
            return ""
        return f"(?:{'|'.join(choices)}){optional}" if optional or len(choices) > 1 else choices[0]


@lru_cache(maxsize=10_000)
def _may_be_empty(text: str) -> bool:
    return re.fullmatch(text, "") is not None


def _has_cases(code: int) -> bool:
    character = chr(code)
    return character.lower() + character.upper() != 2 * character


def _literal(character: str, flags: int) -> tuple[list[str], bool]:
    if not character.isascii():
        return [], True
    if not flags & re.IGNORECASE or not character.isalpha():
        return [character], False
    lower = character.lower()
    return [lower, lower.upper()], lower in _ALSO_BEYOND_ASCII


_found: dict[tuple[str, str, int], list[str]] = {}


def _members(key: str, name: str, value: Any, flags: int) -> list[str]:
    """The characters of ASCII that a set has, as Python matches them."""
    known = _found.get((key, name, flags))
    if known is None:
        state = _parser.State()
        state.flags = flags
        source = [(getattr(_parser, name), value)]
        compiled = _compiler.compile(_parser.SubPattern(state, source), flags)
        known = _found[key, name, flags] = [each for each in _ASCII if compiled.match(each)]
    return known


def _class(members: Sequence[str]) -> str:
    """A class of RE2, with ranges."""
    codes = sorted(map(ord, members))
    if len(codes) == 1:
        return members[0] if members[0].isalnum() else f"\\x{codes[0]:02x}"
    parts: list[str] = []
    first = last = codes[0]
    for code in [*codes[1:], -1]:
        if code != last + 1:
            parts.append(f"\\x{first:02x}" if first == last else f"\\x{first:02x}-\\x{last:02x}")
            first = code
        last = code
    return f"[{''.join(parts)}]"
