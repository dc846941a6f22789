"""The evidence of a memory: the cited span in its record, and the surrounding records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from reviewer.promotion.views import EvidenceView, RecordView
from reviewer.sources.records import RecordUse
from reviewer.tui.evidence.detail import Detail
from reviewer.tui.kit import keys as kit_keys
from reviewer.tui.kit.text import Run, TextBlock, TextSpan
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import Glyphs, glyphs

CONTEXT_CHARACTERS = 320
"""Characters shown of each surrounding record, on the side of the cited one."""
_ROLE_CELLS = 11

_SHORT_USES = {
    RecordUse.INJECTED: "injected",
    RecordUse.SUMMARY: "summary",
    RecordUse.TOOL: "tool",
    RecordUse.OVERLONG: "overlong",
}
"""Short names for kinds of records too wide for the column."""


class EvidencePane(TextPane):
    """The evidence of one memory and of the rows behind it, one quote at a time; `[` and `]` go to
    the next.
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(title="Evidence", id=id)
        self._detail: Detail | None = None
        self._at = 0

    def show_evidence(self, detail: Detail) -> None:
        """Show the first evidence of a memory; if it is unchanged, keep the position."""
        shown, self._detail = self._evidence, detail
        if self._evidence != shown:
            self._at = 0
        self._draw()

    def show_nothing(self) -> None:
        self._detail, self._at = None, 0
        self.show([], title="Evidence")

    @property
    def _evidence(self) -> Sequence[EvidenceView]:
        return self._detail.evidence if self._detail is not None else ()

    @property
    def current(self) -> EvidenceView | None:
        """The evidence on the screen, which `o` and `E` open."""
        return self._evidence[self._at] if self._evidence else None

    def go(self, by: int) -> None:
        """Go to another evidence of this memory, or report that there is none."""
        if 0 <= self._at + by < len(self._evidence):
            self._at += by
            self._draw()
        elif self._evidence:
            which = "only" if len(self._evidence) == 1 else "first" if by < 0 else "last"
            self.say(f"This is the {which} evidence of this row.")

    def _draw(self) -> None:
        evidence, detail = self.current, self._detail
        if evidence is None or detail is None:
            words = "Written by hand: no source."
            self.show([TextBlock(words, "dim", first=(Run("  "),))], title="Evidence")
            return
        signs = glyphs(self.app)
        blocks = evidence_blocks(evidence, signs)
        at, number = self._at + 1, len(self._evidence)
        onward = f"{kit_keys.NEXT_PLACE.key} next"
        goes = onward if at < number else f"{kit_keys.PREVIOUS_PLACE.key} previous"
        self.show(
            blocks,
            title=f"Evidence {at} of {number}: {goes}" if number > 1 else "Evidence",
            hint=f" {signs.dot} ".join(origin_of(evidence, detail)),
            reveal=next(at for at, block in enumerate(blocks) if block.spans),
        )


def origin_of(evidence: EvidenceView, detail: Detail) -> list[str]:
    """The origin of an evidence: its date, its session, the row behind the memory that it belongs
    to, and its line.
    """
    record, view = evidence.record, detail.view
    # In a fleet, a session without an id is named after its file.
    own_id = record.shape == "turn" and record.session and record.session != record.path
    session = f"session {str(record.session)[:6]}" if own_id else PurePath(record.path).name
    sessions = list(dict.fromkeys(each.record.seen_in for each in detail.evidence))
    if len(sessions) > 1 or view.sessions > 1:
        session += f", {sessions.index(record.seen_in) + 1} of {len(sessions)}"
        session += " here" if view.sessions > len(sessions) else ""
    parts = (
        (record.at or "")[:10],
        session,
        "sidechain" if record.sidechain else "",
        f"#{evidence.memory_id}" if evidence.memory_id != view.id else "",
        f"line {evidence.line + 1:,}",
    )
    return [part for part in parts if part]


def evidence_blocks(evidence: EvidenceView, signs: Glyphs) -> list[TextBlock]:
    """The cited record with a bar and its span marked; the surrounding records dimmed."""
    record = evidence.record
    bar = Run(f"{signs.bar} ", "accent")
    blocks = [_context(other, signs, before=True) for other in evidence.before]
    titles = [" ".join(title.split()) for title in record.headings[:-1]]
    if titles:
        trail = f" {signs.dot} ".join(titles)
        blocks.append(TextBlock(trail, "dim", first=(Run("  "),), wrap=False))
    start = max(0, min(evidence.span_start, len(record.text)))
    end = max(start, min(evidence.span_end, len(record.text)))
    if start == end:  # show the record even if the cited text is not in it
        end = min(start + 1, len(record.text)) if record.text else 0
    blocks.append(
        TextBlock(
            record.text,
            spans=(TextSpan(start, end),),
            first=(bar, *_role_runs(record, "strong")),
            rest=(bar, Run(" " * _role_cells(record))),
            more=f", {kit_keys.OPEN_SOURCE.key} opens the source",
        )
    )
    blocks += [_context(other, signs, before=False) for other in evidence.after]
    return blocks


def _context(record: RecordView, signs: Glyphs, *, before: bool) -> TextBlock:
    """The end of the previous record, or the beginning of the next, in a few rows."""
    near = 8 * CONTEXT_CHARACTERS  # more than is shown: white space is collapsed
    words = (record.text[-near:] if before else record.text[:near]).split()
    text = " ".join(words)
    if before and (len(text) > CONTEXT_CHARACTERS or len(record.text) > near):
        text = f"{signs.ellipsis} {text[-CONTEXT_CHARACTERS:].partition(' ')[2] or text[-40:]}"
    elif len(text) > CONTEXT_CHARACTERS or len(record.text) > near:
        text = f"{text[:CONTEXT_CHARACTERS].rpartition(' ')[0] or text[:40]} {signs.ellipsis}"
    return TextBlock(text, "faint", first=(Run("  "), *_role_runs(record, "faint")))


def _role_cells(record: RecordView) -> int:
    """The width of the column; 0 for notes, which have a single author."""
    return _ROLE_CELLS if record.shape == "turn" else 0


def _speaker(record: RecordView) -> str:
    """The role; for a record without a speaker its kind (`tool`, `boot text`)."""
    use = RecordUse(record.use)
    return record.role if use is RecordUse.MESSAGE else _SHORT_USES.get(use, use)


def _role_runs(record: RecordView, style: str) -> tuple[Run, ...]:
    cells, word = _role_cells(record), _speaker(record)
    return (Run(word[: cells - 1].ljust(cells), style),) if cells else ()
