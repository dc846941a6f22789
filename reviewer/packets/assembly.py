"""Assembling a packet: allocation, then the text and its exact token count."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from reviewer.packets.allocation import (
    Allocation,
    Demand,
    ItemOutcome,
    allocate,
    allocate_in_order,
)
from reviewer.packets.prepared import NOTED, Prepared, heading_of
from reviewer.packets.token_counts import CountedText
from reviewer.packets.values import (
    Packet,
    PacketItem,
    Rule,
    Score,
    Section,
    SectionUse,
    State,
    item_id,
)
from reviewer.packets.wording import cut, title_of
from reviewer.sources.own_files import PACKET_TITLE
from reviewer.text.for_agents import NOTHING, AgentText, joined

TITLE = PACKET_TITLE
"""First line of every packet."""

CONSTITUTION_FIRST = "Keep to the constitution whatever the task is."
READ_IN_FULL = (
    "Before you rely on an entry that is shortened or only a title, read it in full: "
    "reviewer packet read PLACE, with the place in brackets."
)

TASK_CHARS = 2_000
"""Characters of a task quoted in the packet; a longer one, such as a diff, is cut."""

SHORTENED = (State.SHORT, State.TITLE)
BUDGETED = (Section.TASKS, Section.CONVENTIONS, Section.DECISIONS, Section.LEARNINGS)


def assemble(
    prepared: Prepared,
    budget: int,
    *,
    pinned: Collection[str] = (),
    muted: Collection[str] = (),
) -> Packet:
    """The packet for `budget` tokens. `pinned` and `muted` are ids of items.

    Its text never exceeds the budget, unless tier 1 alone does. The same arguments give the same
    bytes. Raises ReviewerError if a text must be counted and the encoding is not installed.
    """
    laid = _lay_out(prepared, budget, frozenset(pinned), frozenset(muted))
    layout, floor, allocations = laid.layout, laid.floor, laid.allocations
    instruction = laid.instruction
    items = list(_constitution(prepared))
    for section in BUDGETED:
        items += _items(prepared, section, allocations[section], laid.pieces)
    used = layout.used()
    caps = {section: share.max_tokens for section, share in allocations.items()}
    shown: dict[Section, list[str]] = {section: [] for section in Section}
    shown[Section.INSTRUCTION] = [instruction] if instruction else []
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
        task=cut(prepared.task, TASK_CHARS),
        keywords=prepared.keywords,
        sections=tuple(
            SectionUse(section, caps.get(section), used[section], tuple(shown[section]))
            for section in Section
        ),
        items=tuple(items),
        markdown=layout.markdown(),
        instruction=instruction,
        read_order=prepared.material.read_order,
        problems=prepared.material.problems,
        masked=layout.masked(),
    )


def assemble_within(
    prepared: Prepared,
    budget: int,
    max_chars: int | None,
    *,
    pinned: Collection[str] = (),
    muted: Collection[str] = (),
) -> Packet:
    """The largest packet of at most `budget` tokens whose text has at most `max_chars` characters.

    As with tokens, only tier 1 may exceed it. Raises as `assemble` does.
    """
    if max_chars is not None:
        budget = _budget_within(prepared, budget, max_chars, frozenset(pinned), frozenset(muted))
    return assemble(prepared, budget, pinned=pinned, muted=muted)


class PacketText(NamedTuple):
    """The text of a packet, and the places of the entries in it."""

    text: AgentText = NOTHING
    places: tuple[str, ...] = ()


def text_within(prepared: Prepared, budget: int, max_chars: int) -> PacketText:
    """The text of that packet alone; empty if it has nothing but its instruction.

    Reads only the entries that it shows, because an agent waits for it.
    """
    none: frozenset[str] = frozenset()
    within = _budget_within(prepared, budget, max_chars, none, none)
    laid_out = _lay_out(prepared, within, none, none)
    if not laid_out.layout.shows_entries():
        return PacketText()
    shown = [prepared.items[number].place for number, piece in laid_out.pieces.items() if piece]
    rules = [rule.place for rule in prepared.material.constitution]
    return PacketText(laid_out.layout.markdown(), (*rules, *shown))


def _budget_within(
    prepared: Prepared, budget: int, max_chars: int, pins: frozenset[str], mutes: frozenset[str]
) -> int:
    """The largest budget up to `budget` whose text has at most `max_chars` characters."""

    def fits(tokens: int) -> bool:
        return len(_lay_out(prepared, tokens, pins, mutes).layout.markdown()) <= max_chars

    if fits(budget):
        return budget
    low, high = 0, budget  # the packet of `low` fits, or is tier 1 alone
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


class _LaidOut(NamedTuple):
    """A packet before its items are described."""

    layout: Layout
    instruction: str
    floor: int
    """Tokens of tier 1."""
    allocations: dict[Section, Allocation]
    pieces: dict[int, CountedText | None]
    """The shown form of each unmuted item; None for a dropped one."""


def _lay_out(
    prepared: Prepared, budget: int, pins: frozenset[str], mutes: frozenset[str]
) -> _LaidOut:
    instruction = instruction_of(prepared, shortened=True)
    ceiling = _tier_1(prepared, instruction).ceiling()
    noted = prepared.measurer.piece(NOTED)
    demands = {
        section: Demand(
            prepared.costs(section, pins, mutes),
            prepared.measurer.piece(heading_of(section)).cost,
            noted.cost,
            prepared.size(section, mutes),
        )
        for section in BUDGETED
    }
    if prepared.best_first:
        allocations = allocate_in_order(budget, ceiling, demands, prepared.best_first)
    else:
        allocations = allocate(budget, ceiling, demands)
    states = {outcome.state for one in allocations.values() for outcome in one.outcomes.values()}
    instruction = instruction_of(prepared, shortened=not states.isdisjoint(SHORTENED))
    layout = _tier_1(prepared, instruction)
    floor = layout.tokens()
    pieces: dict[int, CountedText | None] = {}
    for section in BUDGETED:
        pieces |= _lay_section(prepared, layout, section, allocations[section], demands[section])
    return _LaidOut(layout, instruction, floor, allocations, pieces)


def instruction_of(prepared: Prepared, *, shortened: bool) -> str:
    """The packet's instruction to the agent. `shortened`: some entry is not in full."""
    first = [CONSTITUTION_FIRST] if prepared.material.constitution else []
    return " ".join([*first, READ_IN_FULL] if shortened else first)


def _tier_1(prepared: Prepared, instruction: str) -> Layout:
    """The mandatory parts: instruction, files to read, constitution."""
    layout, piece = Layout(), prepared.measurer.piece
    layout.add(Section.INSTRUCTION, piece(TITLE))
    if instruction:
        layout.add(Section.INSTRUCTION, piece(instruction))
    if prepared.material.read_order:
        layout.add(Section.READ_ORDER, piece(heading_of(Section.READ_ORDER)))
        files = prepared.material.read_order
        layout.add_list(
            Section.READ_ORDER,
            ((piece(f"{place}. {name}"), True) for place, name in enumerate(files, 1)),
        )
    if prepared.material.constitution:
        layout.add(Section.CONSTITUTION, piece(heading_of(Section.CONSTITUTION)))
        rules = zip(prepared.tier_1(), prepared.material.constitution, strict=True)
        layout.add_list(Section.CONSTITUTION, ((each, rule.listed) for each, rule in rules))
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
                reason=reason(ItemOutcome(State.FULL, Rule.TIER_1)),
                score_text="",
            )


def _lay_section(
    prepared: Prepared, layout: Layout, section: Section, allocation: Allocation, demand: Demand
) -> dict[int, CountedText | None]:
    """Add a section to the layout; returns its items in their shown form."""
    outcomes = allocation.outcomes
    numbers = [item.key for item in demand.items]
    pieces = {
        number: _piece_in_state(prepared, number, outcomes[number].state) for number in numbers
    }
    laid = [n for n in numbers if outcomes[n].state in (State.FULL, State.SHORT)]
    if section is Section.TASKS and all(outcomes[n].state is State.FULL for n in numbers):
        laid.sort()  # if all are shown, in the order of the file
    titles = [n for n in numbers if outcomes[n].state is State.TITLE]
    if laid or titles:
        layout.add(section, prepared.measurer.piece(heading_of(section)))
    layout.add_list(
        section, _with_group_headings(prepared, section, numbers, laid, pieces, outcomes)
    )
    if titles:
        layout.add(section, prepared.measurer.piece(NOTED))
        layout.add_list(section, ((_piece(pieces[n]), True) for n in titles))
    return pieces


def _items(
    prepared: Prepared,
    section: Section,
    allocation: Allocation,
    pieces: Mapping[int, CountedText | None],
) -> Iterator[PacketItem]:
    """Each item of a section with its outcome."""
    outcomes = allocation.outcomes
    for number in prepared.order[section]:
        item = prepared.items[number]
        outcome = outcomes.get(number, ItemOutcome(State.DROPPED, Rule.MUTED))
        piece = pieces.get(number)
        score = prepared.scores.get(number)
        yield PacketItem(
            id=item.id,
            section=section,
            state=outcome.state,
            title=prepared.title_text(number),
            shown=piece.text if piece else NOTHING,
            tokens=piece.tokens if piece else 0,
            full_tokens=prepared.full(number).tokens
            if prepared.small or outcome.state is State.FULL
            else None,
            score=score,
            place=item.place,
            at=item.at,
            rule=outcome.rule,
            reason=reason(outcome),
            score_text=score_text(score) if score else "",
        )


def _with_group_headings(
    prepared: Prepared,
    section: Section,
    numbers: list[int],
    laid: list[int],
    pieces: dict[int, CountedText | None],
    outcomes: dict[int, ItemOutcome],
) -> Iterator[tuple[CountedText, bool]]:
    """The pieces of a section's body, with the heading of a group before its first item."""
    firsts: set[int] = set()
    if section is Section.CONVENTIONS and not prepared.for_task:
        above = ""
        for number in numbers:
            group = prepared.items[number].group
            if group and group != above:
                firsts.add(number)
            above = group
    for number in laid:
        if number in firsts and outcomes[number].state is State.FULL:
            yield prepared.lead(prepared.items[number].group), False
        yield _piece(pieces[number]), not prepared.items[number].heading


def _piece_in_state(prepared: Prepared, number: int, state: State) -> CountedText | None:
    match state:
        case State.FULL:
            return prepared.full(number)
        case State.SHORT:
            return prepared.short(number)
        case State.TITLE:
            return prepared.title(number)
    return None


def _piece(piece: CountedText | None) -> CountedText:
    assert piece is not None
    return piece


class Layout:
    """Collects pieces in order, and counts their exact cost together."""

    def __init__(self) -> None:
        self._laid: list[tuple[Section, CountedText, bool]] = []

    def add(self, section: Section, piece: CountedText, *, spaced: bool = True) -> None:
        """Append a piece; `spaced` adds an empty line after it, except at the end of the packet."""
        self._laid.append((section, piece, spaced))

    def add_list(self, section: Section, pieces: Iterable[tuple[CountedText, bool]]) -> None:
        """Append pieces, each with whether it is a list item. List items follow each other without
        an empty line; all other pieces are separated by one.
        """
        pairs = list(pieces)
        for at, (piece, tight) in enumerate(pairs, 1):
            close = tight and at < len(pairs) and pairs[at][1]
            self.add(section, piece, spaced=not close)

    def tokens(self) -> int:
        """Tokens of the whole text."""
        return sum(self.used().values())

    def ceiling(self) -> int:
        """Upper bound for the tokens of these pieces when more is added."""
        return sum(piece.cost for _, piece, _ in self._laid)

    def used(self) -> dict[Section, int]:
        """Tokens of each section, headings included."""
        used = dict.fromkeys(Section, 0)
        for section, piece, spaced in self._spaced():
            used[section] += piece.tokens + (piece.gap if spaced else 0)
        return used

    def shows_entries(self) -> bool:
        """Whether it has an entry, besides headings."""
        leading = (Section.INSTRUCTION, Section.READ_ORDER)
        return any(section not in leading for section, _, _ in self._laid)

    def masked(self) -> int:
        """Number of masked secrets."""
        return sum(piece.masked for _, piece, _ in self._laid)

    def markdown(self) -> AgentText:
        """The text, with a final line end."""
        parts: list[AgentText] = []
        for _, piece, spaced in self._spaced():
            parts += [piece.text, AgentText("\n\n") if spaced else AgentText("\n")]
        return joined(parts, "")

    def _spaced(self) -> list[tuple[Section, CountedText, bool]]:
        last = [(section, piece, False) for section, piece, _ in self._laid[-1:]]
        return [*self._laid[:-1], *last]


_MATCHES = 4


def reason(outcome: ItemOutcome) -> str:
    """Why an item has its form."""
    return {
        Rule.TIER_1: "the constitution is always whole",
        Rule.ALL_FIT: "everything in this section fits",
        Rule.PINNED: "pinned, and there was room",
        Rule.IN_ORDER: "there was room when its turn came",
        Rule.TOO_BIG: f"in full it needs {outcome.needed:,} tokens and {outcome.left:,} were left",
        Rule.SHORTER: "entries that fit the task better took the room for full entries",
        Rule.WHOLE: "it has no shorter form, and there was room",
        Rule.CEILING: f"in full it needs {outcome.needed:,} tokens and {outcome.left:,} were left "
        "in the share of its section",
        Rule.BEHIND: "one before it did not fit in full, and nothing jumps the queue",
        Rule.NO_ROOM: "no room was left, not even for a title",
        Rule.SUPERSEDED: "superseded: only shown if everything fits",
        Rule.MUTED: "muted for this packet",
    }[outcome.rule]


def score_text(score: Score) -> str:
    """`recency 0.7 (12 days) + relevance 1.0 (ledger, pool, +3) = 1.70`, or with a task
    `fits the task 0.83: it has ledger, pool; in 3 sessions`.
    """
    task = "the task" if score.for_task else "an open task"
    names = _some(score.matched) or f"no {'rare ' if score.relevance else ''}word of {task}"
    if score.for_task:
        parts = [f"it has {names}" if score.matched else names]
        if score.working:
            parts.insert(0, "it is in progress")
        if score.recurrence > 1:
            parts.append(f"in {score.recurrence:,} sessions")
        return f"fits the task {score.relevance:.2f}: {'; '.join(parts)}; {age_text(score.days)}"
    parts_of = (
        f"recency {score.recency:.1f} ({age_text(score.days)})"
        f" + relevance {score.relevance:.2f} ({names})"
    )
    whole = score.recency + score.relevance
    if score.total < whole:
        return f"{parts_of}, but superseded: 0"
    return f"{parts_of} = {whole:.2f}"


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MATCHES
    return ", ".join(words[:_MATCHES]) + (f", +{more}" if more > 0 else "")


def age_text(days: int | None) -> str:
    """`today`, `1 day`, `12 days`, `in the future`, `no date`."""
    if days is None:
        return "no date"
    if days < 0:
        return "in the future"
    return "today" if days == 0 else "1 day" if days == 1 else f"{days:,} days"
