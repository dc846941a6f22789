"""Filter lines such as `priority:important tokens>500 -word`, and the commits that match."""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Iterable

from msgspec import Struct

from reviewer.commits.reader import EDIT, PRIORITY, Reader, joined
from reviewer.commits.values import CommitQuery, Priority
from reviewer.errors import FilterError
from reviewer.store.acts import chunks
from reviewer.store.changes import Value

_TERM = re.compile(
    r'(?P<minus>-)?(?:(?P<field>[a-z]+)(?P<sign>:|[<>]=?|=))?(?P<text>"[^"]*"?|(?<=[:<>=])(?=\s|$)|\S+)'
)
_TEXT_FIELDS = {
    "priority": f"{PRIORITY} LIKE ? || '%'",
    "role": "c.role LIKE ? || '%'",
    "type": "c.type LIKE ? || '%'",
    "hash": "c.hash LIKE ? || '%'",
    "name": "c.name LIKE '%' || ? || '%'",
    "reason": "n.reason LIKE '%' || ? || '%'",
    "by": "n.actor LIKE ? || '%'",
}
_NUMBER_FIELDS = {"tokens": "t.tokens", "id": "c.id", "n": "(c.position + 1)"}
_FLAGS = {
    "edited": "d.id IS NOT NULL",
    "annotated": "n.id IS NOT NULL",
    "summary": "c.operation = 'summary'",
    "criteria": "n.retention_json IS NOT NULL",
    "reason": "coalesce(n.reason, '') <> ''",
    "name": "c.name <> ''",
}
_YES, _NO = ("", "yes", "true", "1"), ("no", "false", "0")
_FLAG_FIELDS = ("edited", "annotated", "summary")
FIELDS = (*_TEXT_FIELDS, *_NUMBER_FIELDS, "has", "is", *_FLAG_FIELDS)


class TextTerm(Struct, frozen=True):
    """Words that a commit must, or must not, contain; lower case, white space folded."""

    text: str
    wanted: bool = True


class ParsedFilter(Struct, frozen=True):
    """A parsed filter: SQL over `joined()`, and the terms to look for in the texts."""

    sql: str = "1"
    parameters: tuple[Value, ...] = ()
    words: tuple[TextTerm, ...] = ()


def parse_filter(text: str) -> ParsedFilter:
    """Parse a filter line; an empty line matches every commit.

    Words and quoted phrases match anywhere in the text, in any order; `-` negates a term. Raises
    FilterError naming the term that is wrong.
    """
    parts: list[str] = []
    parameters: list[Value] = []
    words: list[TextTerm] = []
    for term in _TERM.finditer(text):
        field, sign, value = term["field"], term["sign"], term["text"]
        bare = value.strip('"')
        if field is None or value.startswith("//"):  # an address, not a field
            found = " ".join((bare if field is None else f"{field}:{bare}").lower().split())
            if found and found != "-":
                words.append(TextTerm(found, not term["minus"]))
            continue
        condition = _condition(field, sign, bare)
        if condition is not None:
            sql, values = condition
            parts.append(f"NOT coalesce({sql}, 0)" if term["minus"] else f"({sql})")
            parameters += values
    return ParsedFilter(" AND ".join(parts) or "1", tuple(parameters), tuple(words))


def _condition(field: str, sign: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    if field in _NUMBER_FIELDS:
        return _number(field, sign, value)
    if sign in (":", "="):
        if field in ("has", "is"):
            return _flag(field, value)
        if field in _FLAG_FIELDS:
            return _yes_or_no(field, value)
        if field == "priority":
            _require_priority(value)
        if field in _TEXT_FIELDS:
            return (_TEXT_FIELDS[field], (value,)) if value else None
    elif field in FIELDS:
        raise FilterError(f'"{field}" is not a number; write {field}:...')
    from difflib import get_close_matches

    near = get_close_matches(field, FIELDS, 1)
    hint = f'did you mean "{near[0]}"?' if near else f"fields: {', '.join(FIELDS)}"
    raise FilterError(f'There is no field "{field}"; {hint} (quote it to search for the words)')


def _number(field: str, sign: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    if not value:
        return None
    try:
        number = float(value.replace("_", ""))
    except ValueError:
        raise FilterError(f'"{field}" needs a number, as in {field}>500') from None
    return f"{_NUMBER_FIELDS[field]} {'=' if sign == ':' else sign} ?", (number,)


def _flag(field: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    fitting = [name for name in _FLAGS if name.startswith(value.lower())]
    if not fitting:
        raise FilterError(f'"{field}" takes one of {", ".join(_FLAGS)}; not "{value}"')
    return (_FLAGS[fitting[0]], ()) if len(fitting) == 1 else None


def _yes_or_no(field: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    if value.lower() in _YES:
        return _FLAGS[field], ()
    if value.lower() in _NO:
        return f"NOT ({_FLAGS[field]})", ()
    if any(each.startswith(value.lower()) for each in (*_YES[1:], *_NO)):
        return None  # still being typed
    raise FilterError(f'"{field}" is yes or no, as in {field}:no; not "{value}"')


def _require_priority(value: str) -> None:
    if not any(each.startswith(value.lower()) for each in Priority):
        raise FilterError(f'A priority is {", ".join(Priority)}; not "{value}"')


class Searcher:
    """Finds commits. Keeps the lower-case texts of the chain that was searched last.

    They are kept as UTF-8, because one non-Latin character can quadruple the size of a str.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._chain: tuple[int, int | None] = (0, None)
        self._texts: dict[int, bytes] = {}
        self._contents: dict[int, bytes] = {}

    def ids(self, query: CommitQuery) -> array[int]:
        """Ids in chain order. Raises FilterError."""
        conditions = parse_filter(query.text)
        if conditions.sql == "1" and conditions.words:
            texts = self._of_chain(query.context)
            return array("q", _matching(texts.items(), conditions.words))
        if conditions.sql == "1":
            sql = "SELECT id FROM commit_ WHERE context_id = ? AND live = 1 ORDER BY position"
        else:
            sql = (
                f"SELECT c.id FROM {joined()} WHERE c.context_id = ? AND c.live = 1"
                f" AND {conditions.sql} ORDER BY c.position"
            )
        found = [row[0] for row in self._reader.all(sql, (query.context, *conditions.parameters))]
        if conditions.words:
            texts = self._of_chain(query.context)
            pairs = [(each, texts[each]) for each in found if each in texts]
            return array("q", _matching(pairs, conditions.words))
        return array("q", found)

    def _of_chain(self, context: int) -> dict[int, bytes]:
        """Lower-case text by commit, in chain order.

        Read again when the head has moved, as it does with every change of a commit or text. Stored
        texts never change and their ids are not reused, so known texts are kept.
        """
        with self._lock:
            head = self._reader.one("SELECT head_id FROM context WHERE id = ?", (context,))
            if head is None:
                return {}
            chain = (context, head[0])
            if chain == self._chain:
                return self._texts
            if context != self._chain[0]:
                self._contents = {}
            rows = self._reader.all(
                "SELECT c.id, coalesce(d.content_id, c.content_id) FROM commit_ c"
                f" LEFT JOIN commit_ d ON d.id = {EDIT}"
                " WHERE c.context_id = ? AND c.live = 1 ORDER BY c.position",
                (context,),
            )
            self._read({row[1] for row in rows} - self._contents.keys())
            self._texts = {row[0]: self._contents[row[1]] for row in rows}
            self._chain = chain
            return self._texts

    def _read(self, contents: Iterable[int]) -> None:
        for chunk in chunks(sorted(contents)):
            marks = ",".join("?" * len(chunk))
            sql = f"SELECT id, text FROM content WHERE id IN ({marks})"
            for row in self._reader.all(sql, chunk):
                self._contents[row[0]] = row[1].lower().encode()


def _matching(texts: Iterable[tuple[int, bytes]], words: Iterable[TextTerm]) -> list[int]:
    left = texts
    for each in words:
        left = _with_term(left, each)
    return [number for number, _ in left]


def _with_term(texts: Iterable[tuple[int, bytes]], term: TextTerm) -> list[tuple[int, bytes]]:
    """The pairs whose text contains the term, or does not if it is negated."""
    wanted, text = term.wanted, term.text
    if " " not in text:
        word = text.encode()
        return [pair for pair in texts if (word in pair[1]) is wanted]
    first, *_ = (each.encode() for each in text.split())
    phrase = re.compile(r"\s+".join(map(re.escape, text.split())))
    return [
        pair
        for pair in texts
        if (first in pair[1] and phrase.search(pair[1].decode()) is not None) is wanted
    ]
