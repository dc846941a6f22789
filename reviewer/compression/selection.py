"""The offline engine: summaries made of what the conversation itself says (DESIGN.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer.compression.extractive.brief import TITLED_FROM, brief_text
from reviewer.compression.extractive.coverage import Coverage, Filling
from reviewer.compression.extractive.detailed import detailed_text
from reviewer.compression.extractive.index_lines import TITLE, tools_line
from reviewer.compression.extractive.material import Material
from reviewer.compression.extractive.noise import bare
from reviewer.compression.extractive.pieces import Piece
from reviewer.compression.extractive.tags import tag_list
from reviewer.compression.spans import tag_of
from reviewer.compression.values import AnchorPoint, AnchorType, Level, Turn
from reviewer.text.normalise import fold

INDEX_SHARE = {Level.DETAILED: 0.15, Level.BRIEF: 0.42}
"""How much of a summary may be an index of names that its sentences do not hold."""
TOOLS_SHARE = 0.03
"""How much of a brief summary may say which tools were called."""
END_SHARE = 0.15
"""How much of a brief summary may be spent on how it began, and as much on where it stands."""
SENTENCES_SHARE = 0.5
"""How much of the room beside anchors may go to whole sentences about what a person asked for."""
ROUNDS = 8
TRIED = 20
"""Units that are tried for a beginning that fits."""
_CUT = " …"


class Selector:
    """Summaries of some turns at every level; what they share is worked out once.

    `count` counts tokens.
    """

    def __init__(self, turns: Sequence[Turn], count: Callable[[str], int]) -> None:
        self._material = Material(turns, count)
        self._count = count

    def condense(self, level: Level, max_tokens: int, must: Sequence[AnchorPoint] = ()) -> str:
        """A text of at most `max_tokens` tokens at the level.

        The anchors of `must`, what matters most first, stand verbatim in it as far as they fit;
        at Tags what was only detected as a tag.
        """
        if level is Level.FULL or max_tokens <= 0:
            return ""
        if level is Level.TAGS:
            return self._tags(max_tokens, must)
        return _Draft(self._material, level, max_tokens, must).text()

    def _tags(self, max_tokens: int, must: Sequence[AnchorPoint]) -> str:
        first = [
            tag_of(each.content) if each.source == "detected" else fold(each.content)
            for each in must
        ]
        tags = tag_list(self._material, max_tokens, list(dict.fromkeys(first)))
        while tags and self._count(", ".join(tags)) > max_tokens:
            tags.pop()
        return ", ".join(tags)


class _Draft:
    """One summary on its way: sentences first, the index with what is left, until it fits."""

    def __init__(
        self, material: Material, level: Level, max_tokens: int, must: Sequence[AnchorPoint]
    ) -> None:
        self._material, self._level, self._max = material, level, max_tokens
        self._titled = level is Level.DETAILED or max_tokens >= TITLED_FROM
        brief = level is Level.BRIEF
        pieces = material.told if brief else material.pieces
        self._filling = Filling(pieces, Coverage(material.needs.need))
        self._names: list[str] = []
        self._overhead = 0
        self._first_names: list[str] = []
        self._tools = ""
        if brief and self._titled:
            room = int(TOOLS_SHARE * max_tokens)
            self._tools = tools_line(material.needs, material.count, room)
        self._take(must)
        self._forced = self._filling.absorb(len(self._filling.chosen), material.saying)
        if brief:
            self._filling.add(material.ends(int(END_SHARE * max_tokens)), max_tokens)

    def _take(self, must: Sequence[AnchorPoint]) -> None:
        """What must stand there: statements among the sentences, artifacts in the index."""
        first = len(self._material.pieces)
        costs = [self._material.count(f"{fold(each.content)}\n") for each in must]
        spare = int(SENTENCES_SHARE * (self._max - sum(costs)))
        for number, anchor in enumerate(must, first):
            content = fold(anchor.content)
            if anchor.type is AnchorType.CODE_ARTIFACT:
                self._first_names.append(content)
                continue
            alone, spare = costs[number - first], max(spare, 0)
            asked = anchor.source != "detected"
            piece = self._material.holder(anchor, number, alone + spare if asked else 0)
            spare -= max(piece.cost - alone, 0) if asked else 0
            if self._filling.spent + piece.cost <= self._max:
                self._filling.take(piece)

    def text(self) -> str:
        """The text, as near to the ceiling as there is anything to say."""
        index, count = self._material.index, self._material.count
        title = f"{TITLE}\n" if self._titled or self._first_names else ""
        share = INDEX_SHARE[self._level] * self._max
        named = count("\n".join(["", title, *self._first_names])) if self._first_names else 0
        most = max(min(int(share), index.total), min(named, self._max))
        budget = self._max - most
        for _ in range(ROUNDS):
            spent = self._filling.spent
            prose = self._filled(budget)
            forced = self._forced
            self._forced = self._filling.absorb(forced, self._material.saying)
            if self._forced < forced or self._filling.spent < spent:
                prose = self._filled(budget)
            room = self._max - count(f"{prose}\n{title}{self._tools}")
            # Names fill what is left, but a list of them is no summary.
            room = min(room, most + self._max // 50)
            self._names = index.choose(room, prose, self._first_names)
            slack = self._max - count(self._joined())
            if slack <= self._max // 100:
                break
            if self._filling.spent > spent:
                budget += slack
                continue
            if slack <= self._max // 20:
                break
            self._filling.add(self._material.more(self._level, slack), spent + slack)
            if self._filling.spent == spent:
                break
            budget = count(prose) + slack
        while self._first_left_out() and len(self._filling.chosen) > max(self._forced, 1):
            self._filling.drop(1, self._forced)
            prose = self._prose()
            room = self._max - count(f"{prose}\n{title}{self._tools}")
            self._names = index.choose(min(room, most), prose, self._first_names)
        return self._held()

    def _first_left_out(self) -> bool:
        """Whether a name that must stand there does not."""
        if not self._first_names:
            return False
        held = fold(self._joined())
        return any(name not in held for name in self._first_names)

    def _filled(self, budget: int) -> str:
        """The prose, grown to what fits the budget with its titles and speakers."""
        self._filling.fill(budget - self._overhead)
        prose = self._prose()
        size = self._material.count(prose)
        while size > budget and len(self._filling.chosen) > self._forced:
            self._filling.drop(size - budget, self._forced)
            prose = self._prose()
            size = self._material.count(prose)
        self._overhead = max(size - self._filling.spent, 0)
        return prose

    def _held(self) -> str:
        """The text within the ceiling: names go first, then what was chosen last."""
        content, chosen = self._joined(), list(self._filling.chosen)
        while (excess := self._material.count(content) - self._max) > 0:
            if self._names:
                del self._names[-max(excess // 4, 1) :]
            elif self._tools:
                self._tools = ""
            elif self._filling.chosen:
                self._filling.drop(excess)
            else:
                break
            content = self._joined()
        return content or self._clipped(chosen)

    def _clipped(self, chosen: Sequence[Piece]) -> str:
        """Where no unit fits: the beginning of what was chosen first, or else of the one that says
        most for its length.
        """
        pieces = self._material.told or self._material.pieces
        ranked = sorted(pieces, key=lambda each: -(each.alone or 0.0) / max(each.cost, 1))
        for piece in [*chosen[:1], *ranked[:TRIED]]:
            words = bare(piece.unit.text).split()
            low, high = 0, min(len(words), self._max)
            while low < high:
                middle = (low + high + 1) // 2
                fits = self._material.count(" ".join(words[:middle]) + _CUT) <= self._max
                low, high = (middle, high) if fits else (low, middle - 1)
            if low:
                return " ".join(words[:low]) + _CUT * (low < len(words))
        return ""

    def _prose(self) -> str:
        if self._level is Level.DETAILED:
            return detailed_text(self._material, self._filling.chosen)
        return brief_text(self._material, self._filling.chosen, self._titled)

    def _joined(self) -> str:
        prose = self._prose()
        lines = [prose] if prose else []
        if self._names:
            index = self._material.index.lines(self._names)
            if not self._titled and self._first_names:
                index[0] = f"{TITLE} {index[0]}"
            lines += [TITLE] * self._titled + index
        if self._tools:
            lines.append(self._tools)
        return "\n".join(lines)
