"""The fidelity of a text to its source: anchors, facts, and the needs of whoever continues.

Graded against the work state, the criteria, the anchors and the names of the source, without a
model, and on the text as written. A model's text is also searched for planted orders.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from reviewer.commits.values import Priority
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.course import one_line
from reviewer.compression.engine import SegmentAnalysis
from reviewer.compression.markers import without_markers
from reviewer.compression.pieces import CODED, HEADING_MARKS, pieces
from reviewer.compression.retention import KEY_POINTS
from reviewer.compression.salient_terms import SourceTerms, SummaryTerms, named_in
from reviewer.compression.session import SessionFacts, Voice
from reviewer.compression.state_lines import change_lines, plan_lines, state_lines
from reviewer.compression.values import (
    BY_HAND,
    OFFLINE,
    YOU,
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    HandoverSection,
    Level,
    Lost,
    LostKind,
    Segment,
    SegmentTurn,
    overall_score,
)
from reviewer.compression.verbatim import TAG_LENGTH, anchor_tag, find_verbatim
from reviewer.compression.words import terms
from reviewer.extraction.flags import INJECTION, flags_of
from reviewer.sources.records import Role
from reviewer.text.normalise import fold
from reviewer.text.numerals import count
from reviewer.text.sentences import split_sentences
from reviewer.text.units import units

NEEDS, NEEDS_OF_TAGS = 0.7, 0.3
"""Share of the needs in the context score; the rest are the terms of the source."""
TERMS_SHARE, TERMS_SHARE_OF_TAGS = 0.4, 0.2
"""Share of a text that its most telling terms could take: the rest makes sentences of them, or
is for the tags of anchors."""
MAX_LOST, MAX_NAMES, MAX_INVENTED = 1_000, 60, 40
LOST_CHARS = 200
"""Characters shown of a lost statement."""
SHORTEST_TAG = 8
"""Minimum characters of a tag that represents a longer anchor."""
SAID = 0.5
"""Share of its terms from which a statement counts as covered."""
FEWEST_TERMS = 3
"""Terms of a sentence that is looked for."""
LONGEST_ORDER = 160
"""Characters shown of a planted order."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ROOT = re.compile(r"(?<![\w.~}$/-])/\Z")
_BULLET = re.compile(r"^[-*](?: |$)")
_LABEL = re.compile(
    rf"^(?:[-*] )?\[(?:{'|'.join(AnchorType)})\]: "
    rf"|^(?:{'|'.join(map(re.escape, HandoverSection))}):$",
    re.MULTILINE,
)
"""Words that the program itself puts into a text."""
_BETWEEN = frozenset((", ", ". ", "; ", ": "))
"""Text that only separates two quotations."""
_TITLE_WORDS = frozenset(
    word for section in HandoverSection for word in (section, *section.split())
)


def tags_in(content: str) -> tuple[str, ...]:
    """The tags of a comma-separated list, folded."""
    found = (_BULLET.sub("", fold(tag)) for line in content.split("\n") for tag in line.split(","))
    return tuple(tag for tag in found if tag)


def missing_anchors(
    content: str, anchors: Sequence[AnchorPoint], level: Level
) -> tuple[AnchorPoint, ...]:
    """The anchors that a summary does not contain verbatim.

    At Tags, a detected anchor is also kept if it begins with one of the tags, or has its own.
    """
    folded = fold(content)
    tags = tags_in(content) if level is Level.TAGS else ()
    beginnings = tuple(tag for tag in tags if SHORTEST_TAG <= len(tag) <= TAG_LENGTH)

    def is_kept(anchor: AnchorPoint) -> bool:
        wanted = fold(anchor.content)
        tagged = wanted.startswith(beginnings) or anchor_tag(wanted) in tags
        return wanted in folded or (bool(tags) and anchor.source == "detected" and tagged)

    return tuple(each for each in anchors if not is_kept(each))


def validate_fidelity(
    analysis: SegmentAnalysis, compressed: CompressedSegment
) -> FidelityValidation:
    """The three parts and the overall score, 0 to 1, the losses and the inventions."""
    segment, source, session = analysis.segment, analysis.terms, analysis.session
    level = compressed.level
    if level is Level.FULL:
        return FidelityValidation(1.0, 1.0, 1.0, 1.0)
    written = without_markers(compressed.as_written)
    missing = missing_anchors(written, compressed.anchors, level)
    kept = len(compressed.anchors) - len(missing)
    anchors = kept / len(compressed.anchors) if compressed.anchors else 1.0
    tools = {turn.name for turn in segment.turns}
    named = [unit for unit in checkable_units(written) if unit not in tools]
    invented = find_invented(named, source, session)
    facts = 1 - len(invented) / len(named) if named else 1.0
    by_model = compressed.engine not in (OFFLINE, BY_HAND)
    summary = SummaryTerms(written)
    needs = list(needs_of(session))
    carried, unmet = _carried(needs, written, compressed.token_count)
    terms_share = TERMS_SHARE_OF_TAGS if level is Level.TAGS else TERMS_SHARE
    context = retained_terms(summary, source, round(compressed.token_count * terms_share))
    if needs:
        share = NEEDS_OF_TAGS if level is Level.TAGS else NEEDS
        context = share * carried + (1 - share) * context
    overall = overall_score(anchors, facts, context)
    losses = [
        *_lost_turns(segment.turns, written, level),
        *(_lost_anchor(each) for each in missing),
        *_lost_needs(unmet, segment.turns),
        *_lost_statements(session, compressed, written, segment.turns),
        *_lost_names(summary, source),
        *_lost_calls(segment.turns),
    ]
    losses = [_numbered(each, segment.turns) for each in losses]
    losses.sort(key=lambda each: each.place)
    once: dict[str, Lost] = {}
    for each in losses:
        once.setdefault(fold(each.text).lower().rstrip("s()"), each)
    return FidelityValidation(
        round(overall, 4),
        round(anchors, 4),
        round(facts, 4),
        round(context, 4),
        tuple(once.values())[:MAX_LOST],
        tuple(invented[:MAX_INVENTED]),
        tuple(dict.fromkeys(need.named for need in unmet)),
        planted_orders(compressed.content, segment) if by_model else (),
        complete=not compressed.anchors_missing,
        checked=bool(compressed.anchors or needs or source.terms or invented),
    )


def find_invented(named: Sequence[str], source: SourceTerms, session: SessionFacts) -> list[str]:
    """The names and numbers found neither in the source nor in the state of the work."""
    told = [
        *state_lines(session),
        *plan_lines(session),
        *(step.line for step in session.steps),
        *change_lines(session),
        *(speech.text for speech in session.speeches if speech.kind),
        *(one_line(speech.text) for speech in session.speeches if speech.voice is Voice.PERSON),
    ]
    known = fold("\n".join(told))
    return source.absent([unit for unit in named if fold(unit) not in known])


def checkable_units(content: str) -> list[str]:
    """The numbers, identifiers, names and quotations of a summary, without its labels; for a cut
    quotation, its beginning.
    """
    said = _LABEL.sub("", content.replace(KEY_POINTS, ""))
    units = (
        text for text in named_in(said) if text not in _TITLE_WORDS and text[:2] not in _BETWEEN
    )
    found = (unit.split("…")[0].split(" [...] ")[0].removesuffix("...").rstrip() for unit in units)
    return list(dict.fromkeys(unit for unit in found if unit))


def retained_terms(summary: SummaryTerms, source: SourceTerms, tokens: int) -> float:
    """Weight of the terms kept, relative to the most that so many tokens could name."""
    if not source.terms:
        return 1.0
    covered = sum(term.weight for term in source.terms if summary.covers(term))
    return min(covered / source.most_covered(max(tokens, 1)), 1.0)


def planted_orders(summary: str, segment: Segment) -> tuple[str, ...]:
    """The sentences of a summary that read like planted orders, each cut to LONGEST_ORDER
    characters, except for words typed by the person. A transcript quotes web pages and tools, and a
    model may repeat their instructions as if someone had agreed to them.
    """
    typed = [" ".join(turn.text.split()) for turn in segment.turns if turn.role == "user"]
    found: dict[str, None] = {}
    for paragraph in summary.split("\n"):
        for start, end in split_sentences(paragraph, 0, len(paragraph)):
            sentence = " ".join(paragraph[start:end].split())
            if INJECTION in flags_of(sentence, Role.ASSISTANT) and not any(
                sentence.rstrip(".") in text for text in typed
            ):
                found[sentence[:LONGEST_ORDER]] = None
    return tuple(found)


# Needs of whoever continues

ENOUGH, FEWEST_WANTED, MOST_WANTED = 0.5, 2, 8
"""A need counts as covered with this share of its terms, limited to a minimum and a maximum
number."""
TOKENS_A_TERM = 8
"""One more term of each need is expected for so many tokens of the text."""
FIRST_FROM = 200
"""Minimum tokens of a text that is expected to contain the first request, too."""
LEAST = 0.34
"""Share below which a need is missing."""
MAX_FILES, MAX_INSTRUCTIONS = 12, 8
FIRST = "the first request"


class Need(Struct, frozen=True):
    """Something that a text about the session must contain. `kind`: as in `Lost`.

    `turn`: its source, -1 if computed.
    """

    kind: LostKind
    named: str
    """In words: `the request`."""
    text: str
    weight: float
    turn: int = -1


def needs_of(session: SessionFacts) -> Iterator[Need]:
    """The request, the person's refusals, the state of the work, and open points."""
    asked = session.requests
    if asked:
        yield Need("request", "the request", asked[-1].text, 3.0, asked[-1].turn)
    if asked[1:]:
        yield Need("request", FIRST, asked[0].text, 2.0, asked[0].turn)
    refused = [s for s in session.speeches if s.kind == "refusal" and not s.wordless]
    for speech in refused[-MAX_INSTRUCTIONS:]:
        yield Need("instruction", "what the person refused", speech.text, 1.0, speech.turn)
    state = session.state
    files = [posixpath.basename(each.path) for each in state.uncommitted]
    if files:
        listed = " ".join(files[-MAX_FILES:])
        yield Need("state", "the uncommitted files", listed, 2.0)
    for check in state.failing:
        if not check.stale:
            yield Need("state", "the failing check", check.command, 1.5)
    conflicts = [posixpath.basename(each.path) for each in state.conflicts if not each.touched]
    if conflicts:
        yield Need("state", "the files in conflict", " ".join(conflicts), 2.0)
    if state.waiting is not None and state.waiting.query:
        yield Need("next", "the question to the person", state.waiting.query, 1.5)
    if state.open_items:
        listed = " ".join(each.text for each in state.open_items)
        yield Need("next", "the open part of the plan", listed, 1.5)


def _carried(needs: Sequence[Need], text: str, tokens: int) -> tuple[float, list[Need]]:
    """The weight of the needs covered by a text of so many tokens, out of all, 1 without needs;
    and the needs that are missing.
    """
    said = terms(text)
    said |= {term.rpartition("/")[2] for term in said if "/" in term}
    most = max(FEWEST_WANTED, min(MOST_WANTED, tokens // TOKENS_A_TERM))
    total = gained = 0.0
    missing: list[Need] = []
    for need in needs:
        wanted = terms(need.text)
        if not wanted or (need.named == FIRST and tokens < FIRST_FROM):
            continue
        share = min(1.0, len(wanted & said) / min(ENOUGH * len(wanted), most))
        total += need.weight
        gained += need.weight * share
        if share < LEAST:
            missing.append(need)
    return (gained / total if total else 1.0), missing


# Losses


def _lost_turns(turns: Sequence[SegmentTurn], content: str, level: Level) -> list[Lost]:
    """The IMPORTANT turns without a trace in a text; tags must quote them. Turns with criteria are
    checked by those.
    """
    said, folded, lost = terms(content), fold(content), list[Lost]()
    for number, turn in enumerate(turns):
        asked = turn.priority is Priority.IMPORTANT and not turn.retention
        if asked and turn.kind != "tool_use" and turn.text.strip():
            found = [(terms(piece.text), piece.text) for piece in pieces(turn.text)]
            if not any(
                fold(piece) in folded
                if level is Level.TAGS
                else words and len(words & said) >= SAID * len(words)
                for words, piece in found
            ):
                text = _shown(turn.text.lstrip())
                span = find_verbatim(turn.text, text) or (0, 0)
                lost.append(Lost(text, "turn", 1.0, 1, number, *span, "important turn"))
    return lost


def _lost_anchor(each: AnchorPoint) -> Lost:
    what = _CAMEL.sub(" ", each.type).lower() if each.source == "detected" else "must survive"
    return Lost(each.content, "anchor", each.importance, 1, each.turn, each.start, each.end, what)


def _lost_needs(needs: Sequence[Need], turns: Sequence[SegmentTurn]) -> list[Lost]:
    found = []
    for need in needs:
        text = _shown(need.text)
        turn, span = need.turn, (0, 0)
        if turn >= 0:
            span = find_verbatim(turns[turn].text, text) or span
        what = YOU if need.kind in ("request", "instruction") else need.named
        found.append(Lost(text, need.kind, need.weight, 1, max(turn, 0), *span, what))
    return found


def _lost_statements(
    session: SessionFacts, compressed: CompressedSegment, content: str, turns: Sequence[SegmentTurn]
) -> list[Lost]:
    """The person's statements that are not verbatim in a text, then the agent's; of a text in other
    words, those that no two neighbouring sentences half cover.
    """
    verbatim, said_near = fold(" ".join(content.split())), _windows(content)
    quotes = compressed.engine == OFFLINE or compressed.level is Level.TAGS
    person, agent = list[Lost](), list[Lost]()
    for speech in session.speeches:
        if speech.voice is Voice.EARLIER or speech.turn >= len(turns):
            continue
        of_person = speech.voice is Voice.PERSON
        for unit in units(speech.text):
            text = " ".join(speech.text[unit.start : unit.end].split())
            words = terms(text)
            says_something = (
                any(map(str.isalnum, text)) if of_person else len(words) >= FEWEST_TERMS
            )
            if not says_something or unit.kind in CODED:
                continue
            near = Counter(at for word in words for at in said_near.get(word, ()))
            most = max(near.values(), default=0)
            covered = not (of_person or quotes) and most >= SAID * len(words)
            ways = (text, text.strip(HEADING_MARKS), one_line(speech.text[unit.start : unit.end]))
            said = any(fold(way) in verbatim for way in ways)
            span = find_verbatim(turns[speech.turn].text, shown := _shown(text))
            if not covered and not said and span is not None:
                weight = round(min(len(words) - most, 20) / 20, 2)
                what = YOU if of_person else "agent"
                lost = Lost(shown, "statement", weight, 1, speech.turn, *span, what)
                (person if of_person else agent).append(lost)
    return [*person, *agent]


def _windows(content: str) -> dict[str, set[int]]:
    """Each term of a text with the pairs of neighbouring sentences that have it."""
    found = defaultdict[str, set[int]](set)
    for at, unit in enumerate(units(content)):
        for word in terms(content[unit.start : unit.end]):
            found[word] |= {at, at + 1}
    return found


def _shown(text: str) -> str:
    """The beginning of a statement, in whole words."""
    line = text.split("\n", 1)[0].strip()
    return line if len(line) <= LOST_CHARS else line[: line.rfind(" ", 40, LOST_CHARS)].rstrip()


def _lost_names(summary: SummaryTerms, source: SourceTerms) -> list[Lost]:
    """Those of the weightiest names and words that a text lacks.

    The same names are looked for at every level, so that losses can be compared.
    """
    names = sorted(source.terms, key=lambda term: -term.weight)
    return [
        Lost(
            term.text,
            term.kind,
            round(term.weight, 4),
            term.times,
            term.turn,
            *source.place(term),
            "number" if term.kind == "number" else "name",
        )
        for term in names[:MAX_NAMES]
        if not summary.covers(term)
    ]


def _lost_calls(turns: Sequence[SegmentTurn]) -> Iterator[Lost]:
    """How much calls wrote and tools returned, of which a text quotes a few lines at most."""
    for kind, name in (("tool_use", "tool call"), ("tool_result", "tool result")):
        found = [each for each in turns if each.kind == kind and each.tokens]
        if found:
            text = f"{sum(each.tokens for each in found):,} tokens, except what is quoted"
            yield Lost(text, "result", 0.0, len(found), 0, 0, 0, count(len(found), name))


def _numbered(lost: Lost, turns: Sequence[SegmentTurn]) -> Lost:
    """A loss with the number of its turn, and a name with the slash that it begins with."""
    if lost.kind in ("state", "next", "result"):
        return lost
    source = turns[lost.turn].text
    number = turns[lost.turn].number
    if lost.kind == "identifier" and _ROOT.search(source, 0, lost.start):
        start = lost.start - 1
        return structs.replace(lost, text=f"/{lost.text}", start=start, number=number)
    return structs.replace(lost, number=number)
