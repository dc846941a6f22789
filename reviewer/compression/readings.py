"""Contexts as they were read last, so that asking twice about one reads it once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from reviewer.commits.contexts import Contexts
from reviewer.commits.reading import Reader
from reviewer.commits.values import RetentionCriteria
from reviewer.compression.chain import ChainCommit
from reviewer.compression.reading import ContextReading, KnownAnchors, read_context

REMEMBERED = 2
"""Contexts and ranges of them that are kept: a long one is tens of megabytes of text."""
KNOWN_SEGMENTS = 10_000
"""Segments whose anchors are kept at most."""


class Readings:
    """Reads contexts. Safe from several threads."""

    def __init__(self, reader: Reader, contexts: Contexts) -> None:
        self._reader = reader
        self._contexts = contexts
        self._found: OrderedDict[tuple[Any, ...], ContextReading] = OrderedDict()
        self._anchors: KnownAnchors = {}
        self._lock = threading.Lock()

    def of(
        self,
        context: int,
        start: int | None = None,
        end: int | None = None,
        retention: RetentionCriteria | None = None,
    ) -> ContextReading:
        """A context, or the range between two commits of it, as it stands now.

        What has not changed is not computed again: the chain that another range has, the anchors
        of segments that are as they were. Raises UnknownIdError.
        """
        name = self._contexts.get(context).name
        version = self._contexts.changed(context)
        key = (context, version, start, end, retention or None)
        with self._lock:
            found = self._found.get(key)
            if found is None:
                self._forget(context, version)
                found = self._found[key] = read_context(
                    self._reader.all,
                    context,
                    name=name,
                    range_=(start, end),
                    retention=retention,
                    known=self._anchors,
                    chain=self._chain_of(context),
                )
            self._found.move_to_end(key)
            return found

    def _forget(self, context: int, version: tuple[int, ...]) -> None:
        """Drop a context as it no longer is, and what was not asked for longest."""
        for key in [key for key in self._found if key[0] == context and key[1] != version]:
            del self._found[key]
        while len(self._found) >= REMEMBERED:
            self._found.popitem(last=False)
        if len(self._anchors) > KNOWN_SEGMENTS:
            self._anchors.clear()

    def _chain_of(self, context: int) -> Sequence[ChainCommit] | None:
        """The chain of a context as another range of it has it already."""
        return next((read.chain for key, read in self._found.items() if key[0] == context), None)
