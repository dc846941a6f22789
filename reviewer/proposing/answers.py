"""Parses the statements in a model's answer, ignoring any text around them.

Nothing is repaired: invalid JSON is counted, not guessed at.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.llm.model import JsonSchema
from reviewer.proposing.values import Quote
from reviewer.text.controls import CONTROLS, well_formed, without_escapes
from reviewer.text.spans import without_spans

TYPES: dict[str, MemoryType] = {
    "instruction": MemoryType.ADAPTATION,
    "preference": MemoryType.PREFERENCE,
    "decision": MemoryType.PROJECT,
    "convention": MemoryType.PROJECT,
    "trap": MemoryType.KNOWLEDGE,
    "environment": MemoryType.KNOWLEDGE,
    "architecture": MemoryType.KNOWLEDGE,
}
"""Memory type for each kind of statement."""
WISHES = ("instruction", "preference")
"""The kinds that say how somebody wants to have things done."""
MAX_READ = 40
"""Maximum statements read from one answer; a model that writes more repeats itself."""
LARGEST = 10**9
"""Numbers in an answer must be below this: larger ones are nonsense, and too large to store."""
LONGEST_READ = 400_000
"""Maximum characters of an answer to search."""


def an_object(**properties: JsonSchema) -> JsonSchema:
    """The schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def a_list(items: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": items}


TEXT: JsonSchema = {"type": "string"}
NUMBER: JsonSchema = {"type": "integer"}
YES_OR_NO: JsonSchema = {"type": "boolean"}
SCHEMA = an_object(
    statements=a_list(
        an_object(
            statement=TEXT,
            kind={"type": "string", "enum": list(TYPES)},
            standing=YES_OR_NO,
            relation=TEXT,
            quotes=a_list(an_object(line=NUMBER, text=TEXT)),
            confidence={"type": "number"},
        )
    )
)
"""The requested schema."""

UNREADABLE = "the answer has no readable statements"
NO_TEXT = "without a statement"
CONTROL = "with control characters"
FLOOD = f"beyond the first {MAX_READ} of one answer"


class Statement(Struct, frozen=True, rename={"text": "statement"}):
    """A statement as the model wrote it; only types are checked."""

    text: str
    kind: str = ""
    quotes: tuple[Quote, ...] = ()
    confidence: float | None = None
    standing: bool = True
    """False for a one-off instruction."""
    relation: str = ""
    """Relation to a known row: `joins #12` or `replaces #12`."""


class ReadAnswer(Struct, frozen=True):
    """The statements of an answer. `dropped`: reason -> number of unusable ones.

    `empty`: the answer itself says there are none. `cut`: it was truncated.
    """

    statements: tuple[Statement, ...]
    dropped: Mapping[str, int] = {}
    empty: bool = False
    cut: bool = False

    @property
    def unreadable(self) -> bool:
        return not self.statements and not self.empty and CONTROL not in self.dropped


def read_answer(text: str) -> ReadAnswer:
    """The statements of an answer, from JSON anywhere in it."""
    beyond = len(BEGINS.findall(text[LONGEST_READ:]))
    cut = len(text) > LONGEST_READ
    text = without_spans(text[:LONGEST_READ], _THINKING, _THOUGHT)
    dropped: Counter[str] = Counter()
    found: list[Statement] = []
    empty = False
    for value in _objects(text):
        if value is None:
            cut = True
            continue
        listed = value.get("statements")
        if isinstance(listed, list):
            empty = empty or not listed
            items = listed
        else:
            items = [value]
        for item in items:
            statement = _statement(item)
            if statement is None:
                dropped[NO_TEXT] += 1
            elif CONTROLS.search(statement.text):
                dropped[CONTROL] += 1
            elif len(found) >= MAX_READ:
                dropped[FLOOD] += 1
            else:
                found.append(statement)
    if not found and not empty and not dropped.total():
        dropped[UNREADABLE] = 1
    dropped[FLOOD] += beyond
    return ReadAnswer(tuple(found), {name: n for name, n in dropped.items() if n}, empty, cut)


BEGINS = re.compile(r'"statement"\s*:')
"""The start of a statement in JSON."""
_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
MAX_OTHERS = 500
_DECODER = json.JSONDecoder(strict=False)


def _objects(text: str) -> Iterator[Mapping[str, Any] | None]:
    """The JSON objects of a text that are or contain statements.

    A truncated object is searched for complete ones inside it and yields None itself. Gives up
    after MAX_OTHERS braces that start something else.
    """
    at, others = text.find("{"), 0
    while at >= 0 and others < MAX_OTHERS:
        end = at + 1  # statements may be nested
        value = None
        try:
            value, whole = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as problem:
            if BEGINS.search(text, at) and _at_end(problem, text):
                yield None
        except (ValueError, RecursionError):
            pass  # no JSON starts here
        if isinstance(value, dict) and ("statements" in value or "statement" in value):
            yield value
            end = whole
        else:
            others += 1
        at = text.find("{", end)


def _at_end(problem: json.JSONDecodeError, text: str) -> bool:
    """Whether JSON is invalid only because the text is truncated."""
    return problem.msg.startswith("Unterminated") or not text[problem.pos :].strip()


def _statement(item: object) -> Statement | None:
    if isinstance(item, str):
        return Statement(_clean(item)) if _clean(item) else None
    if not isinstance(item, dict) or not isinstance(item.get("statement"), str):
        return None
    text = _clean(item["statement"])
    relation = _clean(item["relation"]) if isinstance(item.get("relation"), str) else ""
    if not (text or relation):
        return None
    sure = item.get("confidence")
    number = isinstance(sure, int | float) and not isinstance(sure, bool)
    return Statement(
        text,
        kind=_word(item.get("kind")),
        quotes=tuple(_quotes(item.get("quotes", item.get("quote")))),
        confidence=float(sure) if number and abs(sure) < LARGEST else None,  # type: ignore[arg-type]
        standing=item.get("standing") is not False,
        relation=relation,
    )


_SHOWN_BEFORE = re.compile(r"\A\s*(?:\[\d{1,9}\] )?[A-Z][A-Z ]{2,15}: (?=\S)")
"""The number and role that a view puts before a line and some readers copy: `[12] TOOL: `."""


def _quotes(value: object) -> Iterator[Quote]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict) and isinstance(each.get("text"), str):
            line = _line(each.get("line"))
            if line is not None and each["text"].strip():
                yield Quote(line, well_formed(_SHOWN_BEFORE.sub("", each["text"]).strip()))


def _line(value: object) -> int | None:
    """A line number; some models write "[12]"."""
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, -1), LARGEST)
    digits = re.fullmatch(r"\D{0,6}(\d{1,9})\D{0,2}", value) if isinstance(value, str) else None
    return int(digits[1]) if digits else None


def _word(value: object) -> str:
    return value.strip().lower().replace(" ", "_") if isinstance(value, str) else ""


def _clean(text: str) -> str:
    return " ".join(without_escapes(text).split())
