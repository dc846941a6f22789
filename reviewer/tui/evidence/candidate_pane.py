"""One candidate in full: its text, status, confidence and flags."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import structs

from reviewer.engine import Engine
from reviewer.promotion.lists.figure_words import author, came_up, factors
from reviewer.promotion.queue_order import doubt
from reviewer.promotion.views import (
    REASONS,
    CandidateView,
    RejectReason,
    SourceState,
    Status,
)
from reviewer.tui.evidence.detail import Detail
from reviewer.tui.evidence.structure import (
    conflict_blocks,
    entity_blocks,
    hint_blocks,
    labelled,
    moment_blocks,
    side_blocks,
)
from reviewer.tui.kit.text import MARGIN, TextBlock, TextSpan, elapsed, figure, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.queue import keys
from reviewer.tui.theme import Glyphs, glyphs

PROOF_ROWS = 3

_FLAG_WORDS = {
    "secret": "a secret in this text was masked",
    "injection": "reads like a command planted for an agent: check before you promote",
    "retire": "promote retires that memory, reject keeps it",
    "concurrent": "decided differently on two machines: decide again",
    "look-alike": "a word mixes letters of two alphabets that look the same",
    "not-in-force": "the text says that this is no longer true",
    "taken-back": "later words may take this back",
    "once": "meant for one occasion",
    "known": "a memory says the same",
}
_STATE_WORDS = {
    SourceState.CHANGED: "source changed since it was read",
    SourceState.GONE: "source missing, only the stored text is left",
    SourceState.MOVED: "source grew or moved; the text is still in it",
}


class CandidatePane(TextPane):
    def show_candidate(self, detail: Detail, *, now: datetime, keep_scroll: bool = False) -> None:
        """Show a memory; ages are relative to `now`."""
        signs = glyphs(self.app)
        self.show(
            candidate_blocks(detail, now=now, signs=signs),
            title=candidate_title(detail.view, detail.used, signs)
            + draft_word(signs, kept=detail.view.id in detail.drafts),
            keep_scroll=keep_scroll,
        )

    def show_nothing(self, sentence: str) -> None:
        self.show([TextBlock(""), TextBlock(sentence, "dim", first=MARGIN)], title="")


def candidate_title(view: CandidateView, used: str, signs: Glyphs) -> str:
    """`#412  decision · confidence .58`: the kind of a memory, or its type, and its confidence, or
    for a promoted one how often it was `used`.
    """
    if view.kind == "conflict":
        return f"{signs.attention} #{view.id}  conflict"
    sure = f"confidence {figure(view.confidence)}"
    last = used or "not given yet" if view.status is Status.ACTIVE else sure
    kind = (view.need or view.type).replace("_", " ")
    words = (kind, last) if view.kind == "memory" else (str(view.kind), kind, last)
    return f"#{view.id}  {f' {signs.dot} '.join(words)}"


def candidate_blocks(detail: Detail, *, now: datetime, signs: Glyphs) -> list[TextBlock]:
    """The rows decided with it, when it is recalled, the content, then a labelled row for each
    property.
    """
    view = detail.view
    status = _status(detail, now, signs)
    waits = view.status is Status.CANDIDATE and not detail.conflict
    return [
        *_alike(detail, signs),
        *moment_blocks(detail.moments, signs),
        *side_blocks(detail.conflict),
        TextBlock(
            view.content,
            "dim" if view.status in (Status.INVALID, Status.SUPERSEDED) else "text",
            first=MARGIN,
            more=f", {keys.EDIT.key} opens the whole text",
        ),
        *([labelled("in project", detail.project)] if detail.project else []),
        *conflict_blocks(detail.conflict, signs),
        *entity_blocks(detail, signs),
        *([status] if status else []),
        *_proof(detail, signs),
        *([_confidence(view, signs)] if waits else []),
        _history(view, now, signs),
        *_warnings(view, detail.state, signs),
        *_wordings(detail.wordings),
        *hint_blocks(detail),
    ]


def _status(detail: Detail, now: datetime, signs: Glyphs) -> TextBlock | None:
    """The status of a decided or deferred memory, its age, and another person who decided."""
    view, other = detail.view, detail.decided_by
    ago = f" {elapsed(view.decided_at, now)} ago" if view.decided_at else ""
    if other:
        ago += f" by {other}"
    match view.status:
        case Status.ACTIVE if view.kind == "conflict":
            return labelled("status", f"{signs.promoted} settled{ago}", "accent")
        case Status.ACTIVE:
            return labelled("status", f"{signs.promoted} promoted{ago}", "accent")
        case Status.INVALID:
            why = f": {_reason(view)}" if view.reason else ""
            word = "retired" if detail.retired else "rejected"
            return labelled("status", f"{signs.rejected} {word}{ago}{why}", "warm")
        case Status.SUPERSEDED:
            into = f" by #{view.superseded_by}" if view.superseded_by else ""
            return labelled("status", f"{signs.merged} superseded{into}{ago}", "dim")
        case Status.GRADUATED:
            return labelled("status", f"{signs.promoted} graduated{ago}", "accent")
        case _:
            pass
    if view.reason:
        return labelled("disputed", view.reason, "warm")
    if view.deferred:
        why = doubt(view.prior, view.flags)
        return labelled("status", f"{signs.deferred} deferred{ago}{f': {why}' if why else ''}")
    return None


def _reason(view: CandidateView) -> str:
    """The reason for its rejection; an unknown one, from a later version, is shown as it is."""
    try:
        return REASONS[RejectReason(view.reason)][0]
    except ValueError:
        return view.reason


def _proof(detail: Detail, signs: Glyphs) -> list[TextBlock]:
    view = detail.view
    if view.proof is None:
        return []
    from reviewer.promotion.lists.proof_words import ticks  # late: the first screen needs none

    rows = []
    earlier = [content for _, content in detail.wordings]
    for place, tick in enumerate(ticks(view.proof, view.content, earlier)):
        sign = signs.promoted if tick.met else signs.attention
        style = "dim" if tick.met else "warm"
        block = labelled("" if place else "proof", f"{sign} {tick.text}", style)
        rows.append(structs.replace(block, most=PROOF_ROWS))
    return rows


def lacking(engine: Engine, number: int, signs: Glyphs) -> str:
    """What the proof of a reworded row lacks, for the end of a message; empty if nothing."""
    from reviewer.promotion.lists.proof_words import ticks  # late: as above

    view = engine.queue.candidate(number)
    earlier = [content for _, content in engine.queue.wordings(number)]
    found = ticks(view.proof, view.content, earlier) if view.proof else []
    return "".join(f"; {signs.attention} {each.text}" for each in found if not each.met)


def _confidence(view: CandidateView, signs: Glyphs) -> TextBlock:
    product = [f"{figure(value)} {word}" for value, word in factors(view)]
    if not product:
        return labelled(
            "confidence", f"{figure(view.confidence)}, written by hand: no source", "dim"
        )
    if len(product) == 1:  # it is the confidence
        return labelled("confidence", product[0])
    text = f"{f' {signs.times} '.join(product)} = {figure(view.confidence)}"
    result = TextSpan(text.rindex("=") + 2, len(text), "strong")
    return labelled("confidence", text, spans=(result,))


def _history(view: CandidateView, now: datetime, signs: Glyphs) -> TextBlock:
    parts = came_up(view)
    if view.status is Status.CANDIDATE:
        parts.append(f"queued {elapsed(view.pending_since, now)} ago")
    parts.append(author(view))
    return labelled("seen", f" {signs.dot} ".join(parts))


def _warnings(view: CandidateView, state: SourceState, signs: Glyphs) -> list[TextBlock]:
    rows = []
    proved = {"known"} if view.proof is not None and view.proof.known else set[str]()
    for flag in view.flags:
        if flag in _FLAG_WORDS.keys() - proved:  # the proof names the others
            rows.append(labelled("", f"{signs.attention} {_FLAG_WORDS[flag]}", "warm"))
    if state in _STATE_WORDS:
        rows.append(labelled("", f"{signs.attention} {_STATE_WORDS[state]}", "warm"))
    return rows


def _alike(detail: Detail, signs: Glyphs) -> list[TextBlock]:
    """A line about the near duplicates that are decided with a row."""
    waiting = [each for each in detail.members if each.status is Status.CANDIDATE]
    if not waiting:
        return []
    draft = draft_word(signs, kept=any(each.id in detail.drafts for each in waiting))
    first = " ".join(waiting[0].content.split())
    words = f"{keys.EXPAND.key} shows {'it' if len(waiting) == 1 else 'them'}{draft}: {first}"
    return [labelled(f"{len(waiting)} alike", words, wrap=False)]


def _wordings(wordings: Sequence[tuple[str, str]]) -> list[TextBlock]:
    rows = []
    for place, (at, content) in enumerate(wordings):
        until = f"  until {moment(at)}"
        text = f'"{" ".join(content.split())}"{until}'
        faint = (TextSpan(len(text) - len(until), len(text), "faint"),)
        rows.append(labelled("" if place else "before", text, spans=faint))
    return rows


def draft_word(signs: Glyphs, *, kept: bool) -> str:
    """The end of a title: whether a draft is kept."""
    return f" {signs.dot} draft kept" if kept else ""
