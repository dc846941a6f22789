"""Which commits of a context fit a filter line, fast enough for every keystroke."""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Callable, Sequence

from reviewer.commits.filters import Conditions, Words, parse_filter
from reviewer.commits.reading import EDIT, Reader, joined
from reviewer.commits.values import CommitQuery
from reviewer.store.ledger import chunks


class Searcher:
    """Finds commits. Keeps the texts of the context that was searched last, in lower case.

    A stored text never changes and its id is never given again, so what is kept stays true.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._context = 0
        self._texts: dict[int, str] = {}

    def ids(self, query: CommitQuery) -> array[int]:
        """Ids in chain order. Raises FilterError."""
        conditions = parse_filter(query.text)
        if conditions == Conditions():
            sql = "SELECT id FROM commit_ WHERE context_id = ? AND live = 1 ORDER BY position"
            return array("q", [row[0] for row in self._reader.all(sql, (query.context,))])
        source = joined() if conditions.sql != "1" else _WITH_CONTENT
        rows = self._reader.all(
            f"SELECT c.id, coalesce(d.content_id, c.content_id) FROM {source}"
            f" WHERE c.context_id = ? AND c.live = 1 AND {conditions.sql} ORDER BY c.position",
            (query.context, *conditions.parameters),
        )
        if not conditions.words:
            return array("q", [row[0] for row in rows])
        tests = [_test(each) for each in conditions.words]
        texts = self._of(query.context, [row[1] for row in rows])
        return array("q", [row[0] for row in rows if all(test(texts[row[1]]) for test in tests)])

    def _of(self, context: int, contents: Sequence[int]) -> dict[int, str]:
        with self._lock:
            if context != self._context:
                self._context, self._texts = context, {}
            missing = [each for each in dict.fromkeys(contents) if each not in self._texts]
            for chunk in chunks(missing):
                marks = ",".join("?" * len(chunk))
                for row in self._reader.all(
                    f"SELECT id, text FROM content WHERE id IN ({marks})", chunk
                ):
                    self._texts[row[0]] = row[1].lower()
            return self._texts


_WITH_CONTENT = f"commit_ c LEFT JOIN commit_ d ON d.id = {EDIT}"


def _test(words: Words) -> Callable[[str], bool]:
    text = words.text
    if " " not in text:
        return (lambda hay: text in hay) if words.wanted else (lambda hay: text not in hay)
    phrase = re.compile(r"\s+".join(map(re.escape, text.split())))
    return lambda hay: (phrase.search(hay) is not None) is words.wanted
