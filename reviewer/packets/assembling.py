"""A packet for a budget: allocation, then the text (`smart-retrieval.md`, Budget Assembly Flow)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from reviewer.packets.budget import Given, Wanted, allocate
from reviewer.packets.filling import Fate
from reviewer.packets.identity import item_id
from reviewer.packets.layout import Layout
from reviewer.packets.measuring import Piece
from reviewer.packets.prepared import NOTED, Prepared, heading_of
from reviewer.packets.reasons import reason
from reviewer.packets.titles import title_of
from reviewer.packets.values import (
    Packet,
    PacketItem,
    Rule,
    Section,
    SectionUse,
    State,
)

TITLE = "# Context packet"
"""How every packet begins."""

INSTRUCTION = (
    "Keep to the constitution whatever the task is. Before you rely on something that is only "
    "noted, read it where it stands."
)

BUDGETED = (Section.TASKS, Section.CONVENTIONS, Section.DECISIONS, Section.LEARNINGS)


def assemble(
    prepared: Prepared,
    budget: int,
    *,
    pinned: Collection[str] = (),
    muted: Collection[str] = (),
) -> Packet:
    """The packet for `budget` tokens. `pinned` and `muted` are ids of items.

    Its text never has more tokens than the budget, unless tier 1 alone has. The same material,
    task, date, pins and budget give the same bytes. Raises ReviewerError where a text was never
    counted before and the encoding is not there.
    """
    pins, mutes = frozenset(pinned), frozenset(muted)
    layout = _tier_1(prepared)
    floor = layout.tokens()
    noted = prepared.measurer.piece(NOTED)
    wanted = {
        section: Wanted(
            prepared.lines(section, pins, mutes),
            prepared.measurer.piece(heading_of(section)).cost,
            noted.cost,
            prepared.size(section, mutes),
        )
        for section in BUDGETED
    }
    given = allocate(budget, layout.ceiling(), wanted)
    items = list(_constitution(prepared))
    for section in BUDGETED:
        items += _section(prepared, layout, section, given[section], wanted[section], mutes)
    if prepared.measurer.loaded and prepared.small:
        prepared.count_ahead()
    used = layout.used()
    caps = {section: each.max_tokens for section, each in given.items()}
    shown: dict[Section, list[str]] = {section: [] for section in Section}
    shown[Section.INSTRUCTION] = [INSTRUCTION]
    shown[Section.READ_ORDER] = list(prepared.material.read_order)
    for item in items:
        if item.state is not State.DROPPED:
            shown[item.section].append(item.shown)
    return Packet(
        source=prepared.material.source,
        as_of=prepared.now,
        budget=budget,
        counted_with=prepared.measurer.name,
        tokens_used=layout.tokens(),
        tier_1=floor,
        task=prepared.task,
        keywords=tuple(sorted(prepared.keywords)),
        sections=tuple(
            SectionUse(section, caps.get(section), used[section], tuple(shown[section]))
            for section in Section
        ),
        items=tuple(items),
        markdown=layout.markdown(),
        instruction=INSTRUCTION,
        read_order=prepared.material.read_order,
        problems=prepared.material.problems,
        masked=layout.masked(),
    )


def _tier_1(prepared: Prepared) -> Layout:
    """What is always there: the instruction, the files to read, the constitution."""
    layout, piece = Layout(), prepared.measurer.piece
    layout.add(Section.INSTRUCTION, piece(TITLE))
    layout.add(Section.INSTRUCTION, piece(INSTRUCTION))
    if prepared.material.read_order:
        layout.add(Section.READ_ORDER, piece(heading_of(Section.READ_ORDER)))
        files = prepared.material.read_order
        layout.listed(
            Section.READ_ORDER,
            ((piece(f"{place}. {name}"), True) for place, name in enumerate(files, 1)),
        )
    if prepared.material.constitution:
        layout.add(Section.CONSTITUTION, piece(heading_of(Section.CONSTITUTION)))
        rules = zip(prepared.tier_1(), prepared.material.constitution, strict=True)
        layout.listed(Section.CONSTITUTION, ((each, rule.listed) for each, rule in rules))
    return layout


def _constitution(prepared: Prepared) -> Iterator[PacketItem]:
    for piece, rule in zip(prepared.tier_1(), prepared.material.constitution, strict=True):
        if not rule.heading:
            yield PacketItem(
                id=item_id(Section.CONSTITUTION, "", rule.text),
                section=Section.CONSTITUTION,
                state=State.FULL,
                title=title_of(piece.text.removeprefix("- ")),
                shown=piece.text,
                tokens=piece.tokens,
                full_tokens=piece.tokens,
                score=None,
                place=rule.place,
                at=None,
                rule=Rule.TIER_1,
                why=reason(Fate(State.FULL, Rule.TIER_1), None),
            )


def _section(
    prepared: Prepared,
    layout: Layout,
    section: Section,
    given: Given,
    wanted: Wanted,
    muted: frozenset[str],
) -> Iterator[PacketItem]:
    """Lay a section out, and say of each item what became of it."""
    fates = given.filled.fates
    numbers = [line.key for line in wanted.lines]
    pieces = {number: _shown(prepared, number, fates[number].state) for number in numbers}
    laid = [n for n in numbers if fates[n].state in (State.FULL, State.SHORT)]
    if section is Section.TASKS and all(fates[n].state is State.FULL for n in numbers):
        laid.sort()  # all of them: as they stand in the file
    titles = [n for n in numbers if fates[n].state is State.TITLE]
    if laid or titles:
        layout.add(section, prepared.measurer.piece(heading_of(section)))
    layout.listed(section, _with_leads(prepared, section, numbers, laid, pieces, fates))
    if titles:
        layout.add(section, prepared.measurer.piece(NOTED))
        layout.listed(section, ((_piece(pieces[n]), True) for n in titles))
    for number in prepared.order[section]:
        item = prepared.items[number]
        fate = fates.get(number, Fate(State.DROPPED, Rule.MUTED))
        piece = pieces.get(number)
        yield PacketItem(
            id=item.id,
            section=section,
            state=fate.state,
            title=prepared.title_text(number),
            shown=piece.text if piece else "",
            tokens=piece.tokens if piece else 0,
            full_tokens=prepared.full(number).tokens
            if prepared.small or fate.state is State.FULL
            else None,
            score=prepared.scores.get(number),
            place=item.place,
            at=item.at,
            rule=fate.rule,
            why=reason(fate, prepared.scores.get(number)),
        )


def _with_leads(
    prepared: Prepared,
    section: Section,
    numbers: list[int],
    laid: list[int],
    pieces: dict[int, Piece | None],
    fates: dict[int, Fate],
) -> Iterator[tuple[Piece, bool]]:
    """The pieces of a section's body; a group's heading goes with its first item only."""
    firsts: set[int] = set()
    if section is Section.CONVENTIONS:
        above = ""
        for number in numbers:
            group = prepared.items[number].group
            if group and group != above:
                firsts.add(number)
            above = group
    for number in laid:
        if number in firsts and fates[number].state is State.FULL:
            yield prepared.lead(prepared.items[number].group), False
        yield _piece(pieces[number]), not prepared.items[number].heading


def _shown(prepared: Prepared, number: int, state: State) -> Piece | None:
    match state:
        case State.FULL:
            return prepared.full(number)
        case State.SHORT:
            return prepared.short(number)
        case State.TITLE:
            return prepared.title(number)
    return None


def _piece(piece: Piece | None) -> Piece:
    assert piece is not None
    return piece
