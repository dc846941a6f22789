"""Extractive summaries at every level: sentences first, then an index of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log2, sqrt

from reviewer.compression.anchor_types import AnchorType, Section
from reviewer.compression.extractive.coverage import Coverage, Piece, Selection
from reviewer.compression.extractive.material import Material
from reviewer.compression.extractive.names import TITLE, name_parts, tools_line
from reviewer.compression.extractive.units import Form, SourceUnit, strip_bullet
from reviewer.compression.values import AnchorPoint, Level, Turn
from reviewer.compression.verbatim import anchor_tag
from reviewer.compression.words import FREQUENCIES, FUNCTION_WORDS, SPOKEN
from reviewer.text.normalise import fold

TITLED_FROM = 200
"""Tokens from which on a summary has titles."""
BULLET = "- "


def brief_text(material: Material, chosen: Sequence[Piece], titled: bool) -> str:
    """The chosen units by section, or in order where there are no titles."""
    ordered = sorted(chosen, key=lambda each: each.order)
    if not titled:
        return "\n".join(_lines(material, ordered, ""))
    lines: list[str] = []
    for section in Section:
        inside = [piece for piece in ordered if piece.section is section]
        if inside:
            lines += [f"{section.value}:", *_lines(material, inside, BULLET)]
    return "\n".join(lines)


def _lines(material: Material, pieces: Sequence[Piece], bullet: str) -> list[str]:
    """A line for each unit; consecutive sentences of a turn share a line."""
    lines: list[str] = []
    before: Piece | None = None
    for piece in pieces:
        unit = piece.unit
        follows = before is not None and (
            unit.turn == before.unit.turn
            and unit.form is before.unit.form is Form.PROSE
            and piece.order - before.order <= 1
        )
        if follows:
            lines[-1] += f" {unit.text}"
        else:
            speaker = "User: " if material.by_user(unit) else ""
            lines.append(f"{bullet}{speaker}{strip_bullet(unit.text)}")
        before = piece
    return lines


def detailed_text(material: Material, chosen: Sequence[Piece]) -> str:
    """The chosen units in the order of the conversation; sentences of a turn share a line."""
    lines: list[str] = []
    speaker, turn = None, -1
    for piece in sorted(chosen, key=lambda each: each.order):
        unit = piece.unit
        now = material.speaker(unit.turn)
        if now != speaker:
            label = f"{now}: " if now else ""
            lines.append(label + unit.text)
        elif unit.turn == turn and unit.form is Form.PROSE:
            lines[-1] += f" {unit.text}"
        else:
            lines.append(unit.text)
        speaker, turn = now, unit.turn
    return "\n".join(lines)


TAG_NAMES = 6.0
"""Factor for names in a list of tags."""
LONGEST_PHRASE, LONGEST_SAYING = 6, 8
"""Words of a tag, in lists with many names and in lists without names."""
SAYING = 0.5
"""Power of its number of words by which a phrase weighs more in lists without names."""
MOST_PHRASES = 4000
"""Candidates of each kind."""
_WORDS = frozenset({Form.PROSE, Form.ITEM, Form.HEADING})
_COMMON = FUNCTION_WORDS | SPOKEN | FREQUENCIES.keys()
_RUN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?(?: [^\W_]+(?:['’][^\W_]+)?)*")


def tag_list(material: Material, max_tokens: int, first: Sequence[str] = ()) -> list[str]:
    """The best tags that fit as a comma-separated list; `first` come before all others."""
    count = material.count
    coverage = Coverage({name: TAG_NAMES * score for name, score in material.names.scores.items()})
    tags: list[str] = []
    left = max_tokens + 1  # the first tag needs no comma
    for tag in first:
        cost = count(f", {tag}")
        if cost <= left and tag not in tags:
            tags.append(tag)
            left -= cost
            coverage.take(_piece(material, 0, tag, 1))
    wordy = 1 - min(material.index.total / max(max_tokens, 1), 1.0)
    filling = Selection([*_names(material), *_phrases(material, wordy)], coverage)
    filling.fill(left)
    return [*tags, *(piece.unit.text for piece in filling.chosen)]


def _names(material: Material) -> list[Piece]:
    costs = material.index.costs
    return [
        _piece(material, -number, name, costs[name] + 1, name_parts(name) & costs.keys())
        for number, name in enumerate(material.index.ranked[:MOST_PHRASES], 1)
    ]


def _phrases(material: Material, wordy: float) -> list[Piece]:
    """Runs of words that begin and end with a content word; frequent ones weigh more.

    `wordy`: the share of the list that names cannot fill, 0 to 1; the greater, the longer the runs.
    """
    longest = round(LONGEST_PHRASE + wordy * (LONGEST_SAYING - LONGEST_PHRASE))
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    words_only = [unit for unit in material.units if unit.form in _WORDS]
    for unit in words_only or material.units:
        for run in _RUN.findall(unit.text):
            words = run.split(" ")
            lower = [word.lower() for word in words]
            for start in range(len(words)):
                if not _content(lower[start]):
                    continue
                pairs: set[tuple[str, str]] = set()
                for end in range(start + 1, min(start + longest, len(words)) + 1):
                    last = lower[end - 1]
                    pair = (lower[end - 2], last) if end > start + 1 else ("", last)
                    if last in SPOKEN or pair[0] == last or pair in pairs:
                        break  # stammering
                    pairs.add(pair)
                    if _content(last):
                        phrase = " ".join(lower[start:end])
                        shown.setdefault(phrase, " ".join(words[start:end]))
                        counts[phrase] += 1
    ranked = sorted(counts, key=lambda key: (-counts[key] * (1 + key.count(" ")), key))
    pieces = []
    for number, key in enumerate(ranked[:MOST_PHRASES]):
        cost = material.count(f", {shown[key]}")
        weight = sqrt(log2(1 + counts[key])) * (1 + key.count(" ")) ** (SAYING * wordy)
        pieces.append(_piece(material, number, shown[key], cost, weight=weight))
    return pieces


def _piece(
    material: Material,
    number: int,
    tag: str,
    cost: int,
    names: Iterable[str] = (),
    weight: float = 1.0,
) -> Piece:
    unit = SourceUnit(0, Form.ITEM, tag)
    return Piece(
        number, unit, Section.FINDINGS, cost, material.expected, names=names, weight=weight
    )


def _content(lower: str) -> bool:
    return len(lower) > 2 and not lower.isdigit() and lower not in _COMMON


INDEX_SHARE = {Level.DETAILED: 0.15, Level.BRIEF: 0.42}
"""Share of a summary for the index of names that are not in its sentences."""
TOOLS_SHARE = 0.03
"""Share of a brief summary for the tools that were called."""
END_SHARE = 0.15
"""Share of a brief summary for the first request, and as much for the last words."""
SENTENCES_SHARE = 0.5
"""Share of the room beside anchors for the whole sentences around a person's anchors."""
ROUNDS = 8
TRIED = 20
"""Units that are tried to find one whose beginning fits."""
_CUT = " …"


class Extractor:
    """Writes extracts of some turns at every level. `count` counts tokens."""

    def __init__(self, turns: Sequence[Turn], count: Callable[[str], int]) -> None:
        self._material = Material(turns, count)
        self._count = count

    def extract(self, level: Level, max_tokens: int, required: Sequence[AnchorPoint] = ()) -> str:
        """A text of at most `max_tokens` tokens at the level.

        The anchors of `required`, most important first, are verbatim in it as far as they fit; at
        Tags, detected ones are tags.
        """
        if level is Level.FULL or max_tokens <= 0:
            return ""
        if level is Level.TAGS:
            return self._tags(max_tokens, required)
        return _Draft(self._material, level, max_tokens, required).text()

    def _tags(self, max_tokens: int, required: Sequence[AnchorPoint]) -> str:
        first = [
            anchor_tag(each.content) if each.source == "detected" else fold(each.content)
            for each in required
        ]
        tags = tag_list(self._material, max_tokens, list(dict.fromkeys(first)))
        while tags and self._count(", ".join(tags)) > max_tokens:
            tags.pop()
        return ", ".join(tags)


class _Draft:
    """Builds one extract: sentences first, then the index within the tokens that are left."""

    def __init__(
        self, material: Material, level: Level, max_tokens: int, required: Sequence[AnchorPoint]
    ) -> None:
        self._material, self._level, self._ceiling = material, level, max_tokens
        self._titled = level is Level.DETAILED or max_tokens >= TITLED_FROM
        brief = level is Level.BRIEF
        pieces = material.sentences if brief else material.pieces
        self._selection = Selection(pieces, Coverage(material.names.scores))
        self._names: list[str] = []
        self._overhead = 0
        self._required_names: list[str] = []
        self._tools = ""
        if brief and self._titled:
            room = int(TOOLS_SHARE * max_tokens)
            self._tools = tools_line(material.names, material.count, room)
        self._select_required(required)
        self._required = self._selection.absorb(len(self._selection.chosen), material.covering)
        """How many of the first chosen pieces are required."""
        if brief:
            self._selection.add(
                material.opening_and_closing(int(END_SHARE * max_tokens)), max_tokens
            )

    def _select_required(self, required: Sequence[AnchorPoint]) -> None:
        """Select the required anchors: statements as sentences, artifacts for the index."""
        first = len(self._material.pieces)
        costs = [self._material.count(f"{fold(each.content)}\n") for each in required]
        spare = int(SENTENCES_SHARE * (self._ceiling - sum(costs)))
        for number, anchor in enumerate(required, first):
            content = fold(anchor.content)
            if anchor.type is AnchorType.CODE_ARTIFACT:
                self._required_names.append(content)
                continue
            alone, spare = costs[number - first], max(spare, 0)
            asked = anchor.source != "detected"
            piece = self._material.piece_for_anchor(anchor, number, alone + spare if asked else 0)
            spare -= max(piece.cost - alone, 0) if asked else 0
            if self._selection.spent + piece.cost <= self._ceiling:
                self._selection.take(piece)

    def text(self) -> str:
        """The text, as long as the ceiling and the material allow."""
        index, count = self._material.index, self._material.count
        title = f"{TITLE}\n" if self._titled or self._required_names else ""
        share = INDEX_SHARE[self._level] * self._ceiling
        named = count("\n".join(["", title, *self._required_names])) if self._required_names else 0
        most = max(min(int(share), index.total), min(named, self._ceiling))
        budget = self._ceiling - most
        for _ in range(ROUNDS):
            spent = self._selection.spent
            prose = self._grow(budget)
            before = self._required
            self._required = self._selection.absorb(before, self._material.covering)
            if self._required < before or self._selection.spent < spent:
                prose = self._grow(budget)
            room = self._ceiling - count(f"{prose}\n{title}{self._tools}")
            # Names fill the rest, but not most of the summary.
            room = min(room, most + self._ceiling // 50)
            self._names = index.choose(room, prose, self._required_names)
            slack = self._ceiling - count(self._assemble())
            if slack <= self._ceiling // 100:
                break
            if self._selection.spent > spent:
                budget += slack
                continue
            if slack <= self._ceiling // 20:
                break
            self._selection.add(self._material.filler(self._level, slack), spent + slack)
            if self._selection.spent == spent:
                break
            budget = count(prose) + slack
        while self._lacks_required_name() and len(self._selection.chosen) > max(self._required, 1):
            self._selection.drop(1, self._required)
            prose = self._prose()
            room = self._ceiling - count(f"{prose}\n{title}{self._tools}")
            self._names = index.choose(min(room, most), prose, self._required_names)
        return self._within_ceiling()

    def _lacks_required_name(self) -> bool:
        if not self._required_names:
            return False
        text = fold(self._assemble())
        return any(name not in text for name in self._required_names)

    def _grow(self, budget: int) -> str:
        """The sentences that fit the budget together with their titles and speakers."""
        self._selection.fill(budget - self._overhead)
        prose = self._prose()
        size = self._material.count(prose)
        while size > budget and len(self._selection.chosen) > self._required:
            self._selection.drop(size - budget, self._required)
            prose = self._prose()
            size = self._material.count(prose)
        self._overhead = max(size - self._selection.spent, 0)
        return prose

    def _within_ceiling(self) -> str:
        """The text within the ceiling: names are dropped first, then the last sentences."""
        content, chosen = self._assemble(), list(self._selection.chosen)
        while (excess := self._material.count(content) - self._ceiling) > 0:
            if self._names:
                del self._names[-max(excess // 4, 1) :]
            elif self._tools:
                self._tools = ""
            elif self._selection.chosen:
                self._selection.drop(excess)
            else:
                break
            content = self._assemble()
        return content or self._clip(chosen)

    def _clip(self, chosen: Sequence[Piece]) -> str:
        """Where no unit fits: the beginning of the first that was chosen, or of the one that covers
        most for its length.
        """
        pieces = self._material.sentences or self._material.pieces
        ranked = sorted(pieces, key=lambda each: -(each.alone or 0.0) / max(each.cost, 1))
        for piece in [*chosen[:1], *ranked[:TRIED]]:
            words = strip_bullet(piece.unit.text).split()
            low, high = 0, min(len(words), self._ceiling)
            while low < high:
                middle = (low + high + 1) // 2
                fits = self._material.count(" ".join(words[:middle]) + _CUT) <= self._ceiling
                low, high = (middle, high) if fits else (low, middle - 1)
            if low:
                return " ".join(words[:low]) + _CUT * (low < len(words))
        return ""

    def _prose(self) -> str:
        if self._level is Level.DETAILED:
            return detailed_text(self._material, self._selection.chosen)
        return brief_text(self._material, self._selection.chosen, self._titled)

    def _assemble(self) -> str:
        prose = self._prose()
        lines = [prose] if prose else []
        if self._names:
            index = self._material.index.lines(self._names)
            if not self._titled and self._required_names:
                index[0] = f"{TITLE} {index[0]}"
            lines += [TITLE] * self._titled + index
        if self._tools:
            lines.append(self._tools)
        return "\n".join(lines)
