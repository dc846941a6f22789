"""Assembling a packet: allocation, then the text and its exact token count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reviewer.packets.allocation import ItemOutcome
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
)
from reviewer.packets.wording import cut, title_of
from reviewer.sources.own_files import PACKET_TITLE
from reviewer.text.for_agents import NOTHING, AgentText, as_markdown, joined
from reviewer.text.numerals import count

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


def assemble(prepared: Prepared, budget: int) -> Packet:
    """The packet for `budget` tokens.

    Its text never exceeds the budget, unless tier 1 alone does. The same arguments give the same
    bytes. Raises ReviewerError if a text must be counted and the encoding is not installed.
    """
    laid = _LaidOut(prepared, budget)
    material, used = prepared.material, laid.layout.used()
    items = [*_constitution(prepared), *laid.items()]
    shown: dict[Section, list[str]] = {section: [] for section in Section}
    shown[Section.INSTRUCTION] = [laid.instruction] if laid.instruction else []
    shown[Section.READ_ORDER] = list(material.read_order)
    for item in items:
        if item.state is not State.DROPPED:
            shown[item.section].append(item.shown)
    return Packet(
        source=material.source,
        as_of=prepared.now,
        budget=budget,
        counted_with=prepared.measurer.name,
        tokens_used=sum(used.values()),
        tier_1=laid.tier_1,
        task=cut(prepared.task, TASK_CHARS),
        keywords=prepared.keywords,
        sections=tuple(
            SectionUse(each, laid.room.ceilings.get(each), used[each], tuple(shown[each]))
            for each in Section
        ),
        items=tuple(items),
        markdown=laid.layout.markdown(),
        instruction=laid.instruction,
        read_order=material.read_order,
        problems=material.problems,
        masked=laid.layout.masked(),
    )


class PacketText(NamedTuple):
    """The text of a packet, and the places of the entries in it."""

    text: AgentText = NOTHING
    places: tuple[str, ...] = ()


def text_within(prepared: Prepared, budget: int) -> PacketText:
    """The text of a packet; empty if it has nothing but its instruction. Reads only the entries
    that it shows, because an agent waits for it.
    """
    laid = _LaidOut(prepared, budget)
    if not laid.layout.shows_entries():
        return PacketText()
    shown = [prepared.items[number].place for number, piece in laid.pieces.items() if piece]
    rules = [rule.place for rule in prepared.material.constitution]
    return PacketText(laid.layout.markdown(), (*rules, *shown))


class _LaidOut:
    """A packet before its items are described."""

    def __init__(self, prepared: Prepared, budget: int) -> None:
        self._prepared = prepared
        wanted = {section: prepared.order[section] for section in BUDGETED}
        least, most = (
            _tier_1(prepared, instruction_of(prepared, shortened=shortened)).ceiling()
            for shortened in (False, True)
        )
        left = max(budget - most, 0)
        self.room = prepared.room(wanted, budget, left, max(budget - least, 0) - left)
        states = {outcome.state for outcome in self.room.outcomes.values()}
        self.instruction = instruction_of(prepared, shortened=not states.isdisjoint(SHORTENED))
        self.layout = _tier_1(prepared, self.instruction)
        self.tier_1 = sum(self.layout.used().values())
        """Its tokens."""
        self.pieces = {
            number: prepared.piece(number, outcome.state)
            for number, outcome in self.room.outcomes.items()
        }
        """The shown form of each item; None for a dropped one."""
        for section, numbers in wanted.items():
            self._add(section, numbers)

    def _add(self, section: Section, numbers: Sequence[int]) -> None:
        states = {number: self.room.outcomes[number].state for number in numbers}
        bodies = [n for n in numbers if states[n] in (State.FULL, State.SHORT)]
        if section is Section.TASKS and all(state is State.FULL for state in states.values()):
            bodies.sort()  # if all are shown, in the order of the file
        titles = [number for number in numbers if states[number] is State.TITLE]
        piece = self._prepared.measurer.piece
        if bodies or titles:
            self.layout.add(section, piece(heading_of(section)))
        for number in bodies:
            listed = not self._prepared.items[number].heading
            self.layout.add(section, self.pieces[number], listed=listed)
        if titles:
            self.layout.add(section, piece(NOTED))
        for number in titles:
            self.layout.add(section, self.pieces[number], listed=True)

    def items(self) -> Iterator[PacketItem]:
        prepared = self._prepared
        for section in BUDGETED:
            for number in prepared.order[section]:
                item = prepared.items[number]
                outcome = self.room.outcomes[number]
                piece, score = self.pieces[number], prepared.scores.get(number)
                counted = prepared.small or outcome.state is State.FULL
                yield PacketItem(
                    id=item.id,
                    section=section,
                    state=outcome.state,
                    title=prepared.title_text(number),
                    shown=piece.text if piece else NOTHING,
                    tokens=piece.tokens if piece else 0,
                    full_tokens=prepared.full(number).tokens if counted else None,
                    score=score,
                    place=item.place,
                    at=item.at,
                    rule=outcome.rule,
                    reason=reason(outcome),
                    score_text=score_text(score) if score else "",
                    words=item.sentence or prepared.title_text(number),
                    pinned=item.pinned,
                )


def instruction_of(prepared: Prepared, *, shortened: bool) -> str:
    """The packet's instruction to the agent. `shortened`: some entry is not in full."""
    first = [CONSTITUTION_FIRST] if prepared.material.constitution else []
    return " ".join([*first, READ_IN_FULL] if shortened else first)


def _tier_1(prepared: Prepared, instruction: str) -> Layout:
    """The mandatory parts: instruction, files to read, constitution."""
    layout, piece, material = Layout(), prepared.measurer.piece, prepared.material
    layout.add(Section.INSTRUCTION, piece(TITLE))
    if instruction:
        layout.add(Section.INSTRUCTION, piece(instruction))
    if material.read_order:
        layout.add(Section.READ_ORDER, piece(heading_of(Section.READ_ORDER)))
    for place, name in enumerate(material.read_order, 1):
        layout.add(Section.READ_ORDER, piece(f"{place}. {name}"), listed=True)
    if material.constitution:
        layout.add(Section.CONSTITUTION, piece(heading_of(Section.CONSTITUTION)))
    for each, rule in zip(prepared.tier_1(), material.constitution, strict=True):
        layout.add(Section.CONSTITUTION, each, listed=rule.listed)
    return layout


def _constitution(prepared: Prepared) -> Iterator[PacketItem]:
    for piece, rule in zip(prepared.tier_1(), prepared.material.constitution, strict=True):
        if not rule.heading:
            shown = as_markdown(f"- {rule.words}") if rule.lead else piece.text
            title = title_of(shown.removeprefix("- "))
            yield PacketItem(
                id=rule.id,
                section=Section.CONSTITUTION,
                state=State.FULL,
                title=title,
                shown=shown,
                tokens=piece.tokens,
                full_tokens=piece.tokens,
                score=None,
                place=rule.place,
                at=None,
                rule=Rule.TIER_1,
                reason=reason(ItemOutcome(State.FULL, Rule.TIER_1)),
                score_text="",
                words=title,
            )


class Layout:
    """Collects pieces in order, and counts their exact cost together.

    Pieces are separated by an empty line, adjacent list items are not.
    """

    def __init__(self) -> None:
        self._laid: list[tuple[Section, CountedText, bool]] = []

    def add(self, section: Section, piece: CountedText | None, *, listed: bool = False) -> None:
        """Append a piece; `listed`: it is a list item."""
        assert piece is not None
        self._laid.append((section, piece, listed))

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
        return sum(piece.masked for _, piece, _ in self._laid)

    def markdown(self) -> AgentText:
        """The text, with a final line end."""
        parts: list[AgentText] = []
        for _, piece, spaced in self._spaced():
            parts += [piece.text, AgentText("\n\n") if spaced else AgentText("\n")]
        return joined(parts, "")

    def _spaced(self) -> Iterator[tuple[Section, CountedText, bool]]:
        """The pieces, each with whether an empty line follows."""
        for at, (section, piece, listed) in enumerate(self._laid, 1):
            last = at == len(self._laid)
            yield section, piece, not last and not (listed and self._laid[at][2])


_MATCHES = 4


def reason(outcome: ItemOutcome) -> str:
    """Why an item has its form."""
    form = {State.SHORT: "in short it", State.TITLE: "its title"}.get(outcome.tried, "in full it")
    too_big = (
        f"{form} would add {outcome.needed:,} tokens and {outcome.left:,} were left at its turn"
    )
    return {
        Rule.TIER_1: "the constitution is always whole",
        Rule.ALL_FIT: "everything in this section fits",
        Rule.PINNED: "pinned, and there was room",
        Rule.IN_ORDER: "there was room when its turn came",
        Rule.TOO_BIG: too_big,
        Rule.SHORTER: "entries before it took the room for full entries",
        Rule.WHOLE: "it has no shorter form, and there was room",
        Rule.CEILING: f"{too_big} in the share of its section",
        Rule.BEHIND: "one before it did not fit in full, and nothing jumps the queue",
        Rule.NO_ROOM: "those before it used the room, and nothing jumps the queue",
        Rule.SUPERSEDED: "superseded: only shown if everything fits",
    }[outcome.rule]


def score_text(score: Score) -> str:
    """`recency 0.7 (12 days ago) + relevance 1.0 (ledger, pool, +3) = 1.70`, with a task
    `fits the task 0.83: it has ledger, pool; in 3 sessions; today`, or `in 3 sessions, 14
    wasted calls, 12 days ago`.
    """
    seen = age_text(score.days)
    needs = [score.origin] if score.origin else []
    needs += [count(score.lost_calls, "wasted call")] if score.lost_calls else []
    if score.recurrence is not None and not (score.for_task and score.relevance):
        return ", ".join((*needs, seen))
    task = "the task" if score.for_task else "an open task"
    none = f"only common or related words of {task}" if score.relevance else f"no word of {task}"
    names = _some(score.matched) or none
    if score.for_task:
        parts = [f"it has {names}"]
        if score.working:
            parts.insert(0, "it is in progress")
        parts += needs
        return f"fits the task {score.relevance:.2f}: {'; '.join(parts)}; {seen}"
    parts_of = f"recency {score.recency:.1f} ({seen}) + relevance {score.relevance:.2f} ({names})"
    whole = score.recency + score.relevance
    if score.total < whole:
        return f"{parts_of}, but superseded: 0"
    return f"{parts_of} = {whole:.2f}"


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MATCHES
    return ", ".join(words[:_MATCHES]) + (f", +{more}" if more > 0 else "")


def age_text(days: int | None) -> str:
    """`today`, `1 day ago`, `12 days ago`, `in the future`, `no date`."""
    if days is None:
        return "no date"
    if days < 0:
        return "in the future"
    return f"{count(days, 'day')} ago" if days else "today"
