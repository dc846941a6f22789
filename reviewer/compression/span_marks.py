"""Spans of commits that a person wants verbatim in every summary."""

from __future__ import annotations

from reviewer.clock import Clock, iso
from reviewer.commits.commit_annotations import first_words
from reviewer.commits.contexts import Contexts
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.context_snapshot import PINNED_SPAN
from reviewer.compression.verbatim import find_verbatim
from reviewer.errors import ReviewerError
from reviewer.store.changes import Image
from reviewer.store.ledger import Ledger


class SpanMarks:
    """Marks spans, one act each; undo removes a mark."""

    def __init__(self, ledger: Ledger, contexts: Contexts, clock: Clock) -> None:
        self._ledger = ledger
        self._contexts = contexts
        self._clock = clock

    def mark(
        self, commit: int, start: int, end: int, kind: AnchorType = AnchorType.CRITICAL_FACT
    ) -> int:
        """Keep a span of a commit's text verbatim from now on; returns the act, 0 if nothing
        changed.

        Raises UnknownIdError, and ReviewerError for a span that is empty or outside the text.
        """
        view = self._contexts.commit(commit)
        inside = 0 <= start < end <= len(view.text)
        content = view.text[start:end] if inside else ""
        if not content.strip():
            raise ReviewerError("The span is empty or outside the commit's text.")
        turn = first_words(view.text, view.row.hash)
        with self._ledger.act("mark anchor", f"Must survive in {turn}: {content}") as act:
            ((origin,),) = act.query(
                "SELECT coalesce(origin_id, id) FROM commit_ WHERE id = ?", (commit,)
            )
            place: Image = {"commit_id": origin, "span_start": start, "span_end": end}
            values: Image = {
                "type": str(kind),
                "content": content,
                "confirmed": PINNED_SPAN,
            }
            known = act.query(
                "SELECT id FROM anchor WHERE commit_id = ? AND span_start = ? AND span_end = ?",
                tuple(place.values()),
            )
            if known:
                act.update("anchor", known[0][0], **values)
            else:
                act.insert("anchor", **place, **values, at=iso(self._clock()))
        return act.id

    def mark_text(self, commit: int, text: str) -> int:
        """Pin the first occurrence of a text in a commit; returns the act, 0 if already pinned.

        Raises UnknownIdError, and ReviewerError if the commit does not contain the text.
        """
        view = self._contexts.commit(commit)
        place = find_verbatim(view.text, text)
        if place is None:
            raise ReviewerError(
                f"{view.row.hash[:8]} does not contain that text; upper and lower case matter."
            )
        return self.mark(commit, *place)
