"""Which commits of a context fit a filter line, fast enough for every keystroke."""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Iterable

from reviewer.commits.filters import Words, parse_filter
from reviewer.commits.reader import EDIT, Reader, joined
from reviewer.commits.values import CommitQuery
from reviewer.store.ledger import chunks


class Searcher:
    """Finds commits. Keeps the texts of the chain that was searched last, in lower case.

    As UTF-8: one sign from another alphabet would make a text take twice the memory, or four times.
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
            return array("q", _fitting(texts.items(), conditions.words))
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
            return array("q", _fitting(pairs, conditions.words))
        return array("q", found)

    def _of_chain(self, context: int) -> dict[int, bytes]:
        """Lower-case text by commit, in chain order.

        Read again when the head moved, which every change of the chain or of a text does. A stored
        text itself never changes and its id is never given again, so those that are known stay.
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


def _fitting(texts: Iterable[tuple[int, bytes]], words: Iterable[Words]) -> list[int]:
    left = texts
    for each in words:
        left = _with(left, each)
    return [number for number, _ in left]


def _with(texts: Iterable[tuple[int, bytes]], words: Words) -> list[tuple[int, bytes]]:
    """The pairs whose text has those words, or has them not."""
    wanted, text = words.wanted, words.text
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
