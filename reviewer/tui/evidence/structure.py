"""Labelled blocks about a row: structure, conflict sides, hints, moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from reviewer.recall.search import CALLS
from reviewer.tui.kit import keys as kit_keys
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, moment
from reviewer.tui.queue import keys
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.promotion.views import CandidateView, ConflictView
    from reviewer.recall.moments import Moment
    from reviewer.tui.evidence.detail import Detail

LABEL_CELLS = 12
MOMENT_ROWS = 4
SIDE_ROWS = 2
MOMENT_WORDS = {
    "command": "when {} fails",
    "path": "when prompts name {}",
    "edit": "with the first edit of {}",
    "error": "at the failure {}",
    "guard": "stops the first {}",
    "tool": "when the tool {} fails",
    "words": "at the words {}",
}


def labelled(
    label: str,
    text: str,
    style: str = "dim",
    spans: tuple[TextSpan, ...] = (),
    *,
    wrap: bool = True,
) -> TextBlock:
    """A row with its label in the margin."""
    margin = Run(f" {label}".ljust(LABEL_CELLS + 1), "faint")
    return TextBlock(text, style, spans, (margin,), wrap=wrap)


def entity_blocks(detail: Detail, signs: Glyphs) -> list[TextBlock]:
    """Name, attributes, and contradictions."""
    entity = detail.entity
    if entity is None:
        return []
    blocks = [labelled("name", entity.name, "text")] if entity.name else []
    for place, each in enumerate(entity.attributes):
        head = f"{each.name} "
        text = f"{head}{each.value} {each.unit}".rstrip()
        spans = (TextSpan(0, len(head), "dim"),)
        blocks.append(labelled("attributes" if not place else "", text, "text", spans))
    if entity.graduated_from is not None:
        text = f"graduated from memory #{entity.graduated_from}"
        blocks.append(labelled("origin", text))
    if detail.open_conflicts:
        ids = ", ".join(f"#{number}" for number in detail.open_conflicts)
        queue = kit_keys.SHOW_QUEUE.key
        text = f"{signs.attention} in open conflict {ids}: settle it in the queue ({queue})"
        blocks.append(labelled("", text, "warm"))
    return blocks


def conflict_blocks(conflict: ConflictView | None, signs: Glyphs) -> list[TextBlock]:
    """Both sides of a conflict, with the keys that settle it."""
    if conflict is None:
        return []
    about = conflict.slot.replace(":", " ", 1)
    if conflict.resolution is not None:
        settled = labelled("settled", str(conflict.resolution), "accent")
    else:
        newer, older = (f"#{each.id}" for each in conflict.sides)
        keeps, leaves = keys.PROMOTE.key, keys.REJECT.key
        settled = labelled(
            "open", f"{keeps} keeps {newer} in place of {older} {signs.dot} {leaves} leaves both"
        )
    return [
        *([labelled("about", about, "text")] if about else []),
        settled,
        *(_side(side, signs) for side in conflict.sides),
    ]


def _side(view: CandidateView, signs: Glyphs) -> TextBlock:
    head = f"{view.type} {signs.dot} {view.status}"
    if view.source is not None:
        place = f"{view.source.path.rpartition('/')[2]}:{view.source.line_start + 1}"
        head += f" {signs.dot} {place}"
    return labelled(f"#{view.id}", head, "faint", wrap=False)


def side_blocks(conflict: ConflictView | None) -> list[TextBlock]:
    """Both sides of a conflict, each with the date of its latest proof; short, to be read at a
    glance."""
    if conflict is None:
        return []
    blocks = []
    for label, side in zip(("newer", "older"), conflict.sides, strict=True):
        day = moment(side.last_seen)[:10]
        text = f"{day}  {side.content}"
        block = labelled(label, text, "text", (TextSpan(0, len(day), "dim"),))
        blocks.append(structs.replace(block, most=SIDE_ROWS))
    return blocks


def moment_words(moments: Sequence[Moment], signs: Glyphs) -> str:
    """When agents get a memory: `in packets · when git push fails · at a prompt about it`."""
    kinds = [each.kind for each in moments]
    if "always" in kinds and not any(each.value for each in moments):
        where = "first in packets" if "pinned" in kinds else "in packets"
        return f"{where}, at no other moment"
    prompts = "unprompted" not in kinds
    at = [_at(each) for each in moments if each.value and (prompts or each.kind != "path")]
    if "only" in kinds and not prompts and not at:
        return "nothing hands it out"
    packets = "in no packet" if "only" in kinds else "in packets"
    packets = "first in packets" if "pinned" in kinds else packets
    about = "prompt" if any(kind in CALLS for kind in kinds) else "prompt or failure"
    return f" {signs.dot} ".join((packets, *at, *([f"at a {about} about it"] if prompts else ())))


def _at(moment: Moment) -> str:
    stops_edit = moment.kind == "guard" and ("/" in moment.value or "." in moment.value)
    return MOMENT_WORDS[moment.kind].format(
        f"edit of {moment.value}" if stops_edit else moment.value
    )


def moment_blocks(moments: tuple[Moment, ...] | None, signs: Glyphs) -> list[TextBlock]:
    if moments is None:
        return []
    return [structs.replace(labelled("when", moment_words(moments, signs)), most=MOMENT_ROWS)]


def hint_blocks(detail: Detail) -> list[TextBlock]:
    return [
        labelled("in favour" if not place else "", hint.text, "accent")
        for place, hint in enumerate(detail.hints)
    ]
