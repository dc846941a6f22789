"""Checks a proposal against the session that it was made from: deterministic, no model."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from reviewer.extraction.flags import INJECTION, MASKED, flags_of
from reviewer.proposing.values import (
    LineRole,
    Proof,
    Proposal,
    Quote,
    QuoteProof,
    SessionView,
    Speaker,
    ViewLine,
)
from reviewer.sources.records import Role
from reviewer.text.identifiers import Identifier, IdentifierKind, identifiers
from reviewer.text.wording import NOT, NUMBER_WORDS, UNITS, wording

NEGATION = "negation"
"""Flag: the statement denies something and its quotes do not, or the other way round."""

NEAR_LINES = 6
"""View lines on either side of the cited one in which a quote is looked for."""
AROUND = 300
"""Characters on either side of a quote in which the statement's identifiers may stand. In a long
message nearly every identifier of a session stands somewhere."""
AROUND_NUMBERS = 80
"""The same for numbers, which stand everywhere by chance."""
NEIGHBOURS = 2
"""View lines before and after the cited one that count as well,"""
OF_A_NEIGHBOUR = 200
"""with this many of their characters, next to the cited line."""
MOST_LATER = 3


class _Spot(Struct, frozen=True):
    """Where a quote was found: a position in the view, and a part of its folded text."""

    position: int
    start: int
    end: int


class ProofIndex:
    """A session view, prepared once for the proofs of many proposals."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.lines: Sequence[ViewLine] = view.lines
        self._at: dict[int, list[int]] = {}
        for position, line in enumerate(view.lines):
            self._at.setdefault(line.line, []).append(position)
        self._numbers = sorted(self._at)
        self._folded: dict[int, str] = {}

    def positions(self, line: int) -> list[int]:
        """Positions in the view of the parts of a line of the file."""
        return self._at.get(line, [])

    def nearest(self, line: int) -> int:
        """The position of the first part at or after a line of the file."""
        place = bisect_left(self._numbers, line)
        if place == len(self._numbers):
            return len(self.lines)
        return self._at[self._numbers[place]][0]

    def folded(self, position: int) -> str:
        """The text at a position as quotes are compared."""
        if position not in self._folded:
            self._folded[position] = _folded(self.lines[position].text)
        return self._folded[position]

    def around(self, spots: Sequence[_Spot], characters: int, neighbours: int = 0) -> list[str]:
        """The texts around quotes, and the nearest parts of the neighbouring lines."""
        found = []
        for spot in spots:
            text = self.folded(spot.position)
            found.append(text[max(0, spot.start - characters) : spot.end + characters])
            for step in range(1, neighbours + 1):
                if spot.position >= step:
                    found.append(self.folded(spot.position - step)[-OF_A_NEIGHBOUR:])
                if spot.position + step < len(self.lines):
                    found.append(self.folded(spot.position + step)[:OF_A_NEIGHBOUR])
        return found

    def has(self, name: str) -> bool:
        """Whether a name stands anywhere in the session."""
        folded = _folded(name).lower()
        return any(
            _has(self.folded(position).lower(), folded)
            for position in self.mentions.get(_NAME.findall(folded)[-1], ())
        )

    @cached_property
    def mentions(self) -> dict[str, list[int]]:
        """Positions by the lower-case words and names in the texts."""
        found: dict[str, list[int]] = {}
        for position, line in enumerate(self.lines):
            for word in set(_NAME.findall(line.text.lower())):
                found.setdefault(word, []).append(position)
        return found


_NAME = re.compile(r"\w[\w-]*\w|\w")


def prove(
    proposal: Proposal,
    view: SessionView | ProofIndex,
    *,
    known: Callable[[str], tuple[str, ...]],
) -> Proof:
    """What the lines of a session say about a proposal.

    `known` gives the places where a statement is known already. Pass a `ProofIndex` to prove many
    proposals of one session.
    """
    index = view if isinstance(view, ProofIndex) else ProofIndex(view)
    quotes: list[QuoteProof] = []
    spots: list[_Spot] = []
    for quote in proposal.quotes:
        spot = _find(quote, index)
        if spot is not None:
            spots.append(spot)
        line = quote.line if spot is None else index.lines[spot.position].line
        quotes.append(QuoteProof(line, quote.text, found=spot is not None))
    cited = sorted({spot.position for spot in spots})
    statement = proposal.statement
    flags, origin = _flags(proposal, [index.lines[position] for position in cited])
    return Proof(
        quotes=tuple(quotes),
        unproved=_unproved(statement, spots, index),
        alone=why_not_alone(statement),
        known=known(statement),
        later=_later(statement, cited, index),
        flags=flags,
        origin=origin,
    )


def reasons(proof: Proof) -> tuple[str, ...]:
    """What speaks against a proposal, a sentence each, for a second try or a reader."""
    found = [
        f"Line {quote.line} does not have the words {_shown(quote.text)}."
        for quote in proof.quotes
        if not quote.found
    ]
    if not proof.quotes:
        found.append("No line is quoted.")
    if proof.unproved:
        named = ", ".join(_shown(fact) for fact in proof.unproved)
        found.append(f"The quoted words and those around them do not have {named}.")
    if proof.alone:
        found.append(f"The statement does not stand alone: {proof.alone}.")
    if NEGATION in proof.flags:
        found.append("Only one of the statement and its quotes denies something.")
    if proof.known:
        found.append(f"It is known already: {', '.join(proof.known)}.")
    found += [f"Line {quote.line} may take it back: {_shown(quote.text)}." for quote in proof.later]
    if INJECTION in proof.flags:
        found.append(f"It is an instruction out of data: {proof.origin}.")
    return tuple(found)


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return f'"{text[:80]}…"' if len(text) > 80 else f'"{text}"'


# Quotes

_ONE_SPELLING = str.maketrans("‘’‚‛“”„‟«»–—‑−\u00a0", '\'\'\'\'""""""---- ', "`*\u200b\ufeff")
_SPACE = re.compile(r"\s+")
_ENDS = " .,;:!…\"'"


def _folded(text: str) -> str:
    """One spelling of quotation marks and dashes, no emphasis, single spaces."""
    text = text.translate(_ONE_SPELLING).replace("...", "…")
    return _SPACE.sub(" ", text).strip()


def _find(quote: Quote, index: ProofIndex) -> _Spot | None:
    """Where a quote stands: at its line, or else at the nearest one around."""
    folded = _folded(quote.text).strip(_ENDS)
    if not folded:
        return None
    here = index.positions(quote.line)
    exact = quote.text.strip()
    middle = here[0] if here else index.nearest(quote.line)
    near = range(max(0, middle - NEAR_LINES), min(len(index.lines), middle + NEAR_LINES + 1))
    for position in (
        *(position for position in here if exact in index.lines[position].text),
        *here,
        *sorted(near, key=lambda one: abs(one - middle)),
    ):
        start = _place(index.folded(position), folded)
        if start >= 0:
            return _Spot(position, start, start + len(folded))
    return None


def _has(text: str, part: str) -> bool:
    """Whether a text has a part that neither begins nor ends inside one of its words."""
    return _place(text, part) >= 0


def _place(text: str, part: str) -> int:
    """Where a text has a part that neither begins nor ends inside one of its words, or -1."""
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        if not (
            (at and text[at - 1].isalnum() and part[0].isalnum())
            or (end < len(text) and text[end].isalnum() and part[-1].isalnum())
        ):
            return at
        at = text.find(part, at + 1)
    return -1


# Facts


class _Fact(Struct, frozen=True):
    """A part of a statement that cannot be reworded; `kind` is None for quoted words."""

    text: str
    kind: IdentifierKind | None
    start: int = 0


_QUOTED = re.compile(
    r"\"(?P<double>[^\"\n]{1,160})\"|“(?P<curly>[^”\n]{1,160})”"
    r"|(?<!\w)'(?P<single>(?=\S)[^'\n]{1,160}(?<=\S))'(?!\w)"
)
_EITHER_OR = re.compile(r"[A-Z][A-Za-z]*/[A-Z][A-Za-z]*$")
"""Words with a slash between them, as in "editor/LSP": prose rather than a path."""
_COUNTED = re.compile(
    rf"\b(?:{'|'.join(NUMBER_WORDS)})[ -](?:{'|'.join(unit for unit in UNITS if len(unit) > 3)})\b",
    re.IGNORECASE,
)


def facts_in(text: str) -> tuple[str, ...]:
    """Identifiers, paths, numbers, flags, versions and quoted words, in order, each once."""
    return tuple(dict.fromkeys(fact.text for fact in _facts(text)))


def _facts(text: str) -> Iterator[_Fact]:
    found: list[tuple[int, int, _Fact]] = []
    for match in _QUOTED.finditer(text):
        quoted = str(match[str(match.lastgroup)])
        found.append((*match.span(), _Fact(quoted, None, match.start())))
    found += [
        (one.start, one.end, _Fact(one.text, one.kind, one.start))
        for one in identifiers(text)
        if not (one.kind is IdentifierKind.PATH and _EITHER_OR.match(one.text))
    ]
    for match in _COUNTED.finditer(text):
        found.append((*match.span(), _Fact(match[0], IdentifierKind.QUANTITY, match.start())))
    end = 0
    for start, stop, fact in sorted(found, key=lambda item: (item[0], -item[1])):
        if start >= end:
            end = stop
            yield fact


def _unproved(statement: str, spots: Sequence[_Spot], index: ProofIndex) -> tuple[str, ...]:
    facts = list(_facts(statement))
    if not spots:
        return tuple(dict.fromkeys(fact.text for fact in facts))
    around = _Evidence(index.around(spots, AROUND, NEIGHBOURS))
    close = _Evidence(index.around(spots, AROUND_NUMBERS))

    def proved(fact: _Fact) -> bool:
        if fact.kind is IdentifierKind.QUANTITY:
            if len(_DIGIT.findall(fact.text)) > 1 and close.has(fact):
                return True
            # a single digit stands everywhere by chance
            written = _as_written(fact, statement)
            if written != fact.text:
                return _has(around.lower, written.lower())
            return around.has_with(fact, statement)
        if close.has(fact) or around.has(fact):
            return True
        last = _last_part(fact)
        return bool(last) and around.has(_Fact(last, fact.kind)) and index.has(fact.text)

    return tuple(dict.fromkeys(fact.text for fact in facts if not proved(fact)))


def _last_part(fact: _Fact) -> str:
    """The name of a path or a qualified name without what it lies in."""
    if fact.kind is IdentifierKind.PATH:
        return fact.text.rstrip("/").rpartition("/")[2]
    if fact.kind is IdentifierKind.NAME:
        return re.split(r"\.|::|->", fact.text)[-1]
    return ""


_VALUE = re.compile(r"(?<![\w.])[$€£#]?(\d[\d,]*(?:\.\d+)*)[ -]?(%|[^\W\d_]+)?")
_NUMBER_WORD = re.compile(rf"\b({'|'.join(NUMBER_WORDS)})\b[ -]?([^\W\d_]+)?", re.IGNORECASE)
_PART = re.compile(r"\w+")
_SIGNED = re.compile(r"(?:[<>=!]=? ?|\[:?|[:/])\d+\]?|\d+(?:/|:\d+|-based)")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d[\d.,]*(?<=\d)")


class _Evidence:
    """The texts in which the facts of a statement are looked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.text = "\n".join(texts)
        self.lower = self.text.lower()

    def has(self, fact: _Fact) -> bool:
        match fact.kind:
            case None:
                return self._words(fact.text)
            case IdentifierKind.QUANTITY:
                return self._quantity(fact.text)
            case IdentifierKind.ISSUE:
                number = fact.text.rpartition("#")[2]
                return _has(self.lower, number.lower())
            case IdentifierKind.VERSION:
                return _has(self.lower, fact.text.lower().removeprefix("v")) or _has(
                    self.lower, fact.text.lower()
                )
            case IdentifierKind.FLAG:
                return all(_has(self.text, part) for part in fact.text.split("=", 1))
            case IdentifierKind.VARIABLE:
                return _has(self.text, fact.text.strip("${}"))
            case IdentifierKind.HASH:
                return fact.text[:7] in self.lower
            case IdentifierKind.PATH:
                return self._path(fact.text)
            case IdentifierKind.CODE:
                return self._code(fact.text)
            case _:
                return self._name(fact.text)

    def has_with(self, quantity: _Fact, statement: str) -> bool:
        """Whether a number stands here beside a word that it stands beside in the statement."""
        wanted = _beside(statement, quantity.start, quantity.start + len(quantity.text))
        return self.has(quantity) and any(
            wanted & _words_beside(self.lower, number) for number in _DIGITS.findall(quantity.text)
        )

    def _words(self, quoted: str) -> bool:
        folded = _folded(quoted).strip(_ENDS).lower()
        return not folded or _has(self.lower, folded) or self._code(quoted)

    def _quantity(self, text: str) -> bool:
        asked = _VALUE.search(text) or _NUMBER_WORD.search(text)
        if asked is None:
            return _has(self.lower, text.lower())
        value, unit = _measured(asked)
        return any(
            value == number and (not unit or not other or unit == other)
            for number, other in self.measures
        ) or ("." in value and any(number.startswith(value + ".") for number, _ in self.measures))

    @cached_property
    def measures(self) -> set[tuple[str, str]]:
        """Numbers with their units, where that is one of measure."""
        return {
            _measured(match)
            for pattern in (_VALUE, _NUMBER_WORD)
            for match in pattern.finditer(self.text)
        }

    def _path(self, text: str) -> bool:
        path = re.sub(r":\d+$", "", text).strip("/").removeprefix("./").lower()
        if _has(self.lower, path):
            return True
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0]
        if folder:  # the name here, and its folders too
            parts = [*folder.split("/"), name]
            return all(_has(self.lower, part) for part in parts if part not in ("", "~", "..", "*"))
        written = text.rpartition(".")[0]
        return (
            bool(stem) and not (written.isalpha() and written.islower()) and _has(self.lower, stem)
        )

    def _name(self, text: str) -> bool:
        name = text.lower().removesuffix("()")
        if self._one(name):
            return True
        parts = [part for part in re.split(r"\.|::|->", name) if part]
        return len(parts) > 1 and all(self._one(part) for part in parts)

    def _one(self, name: str) -> bool:
        singular = name.removesuffix("s")
        return any(_has(self.lower, one) for one in (name, singular, f"{singular}s") if one)

    def _code(self, text: str) -> bool:
        folded = _folded(text).lower().removesuffix("()")
        if not folded or self._one(folded):
            return True
        inner = [one for one in identifiers(text) if one.kind is not IdentifierKind.CODE]
        covered = _without(text, inner)
        return all(self.has(_Fact(one.text, one.kind)) for one in inner) and all(
            self._one(part.lower()) for part in _PART.findall(covered)
        )


def _as_written(quantity: _Fact, statement: str) -> str:
    """A number with the signs that it has in the statement, as in `> 0`, `1:1`, `0-based`."""
    for match in _SIGNED.finditer(statement):
        if match.start() <= quantity.start < match.end():
            return match[0]
    return quantity.text


def _words_beside(text: str, number: str) -> set[str]:
    """The content words before and after each place of a number in a text."""
    found: set[str] = set()
    for match in re.finditer(rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)", text):
        found |= _beside(text, *match.span())
    return found


def _beside(text: str, start: int, end: int) -> set[str]:
    unit = text[start:end].lstrip("0123456789.,$€£ -")
    before, after = text[max(0, start - 40) : start], unit + text[end : end + 40]
    return {*wording(before).words[-2:], *wording(after).words[:2]}


def _without(text: str, found: Sequence[Identifier]) -> str:
    for one in reversed(found):
        text = text[: one.start] + " " + text[one.end :]
    return text


def _measured(match: re.Match[str]) -> tuple[str, str]:
    """A number in digits, and its unit in one spelling; empty where it counts things."""
    number, unit = match[1].lower(), (match[2] or "").lower()
    value = NUMBER_WORDS.get(number, re.sub(r",(?=\d{3})", "", number).rstrip(".,"))
    return value, UNITS.get(unit, "")


# Standing alone

_OPENERS = re.compile(
    r"(?P<word>(?:this|that|these|those|it|its|they|them|their|he|she|such|both|here|there|now|then"
    r"|so|also|but|and|or|however|therefore|otherwise|instead|as discussed|as mentioned|as above"
    r"|same|the (?:above|same|latter|former|following)|we just|i just|we now|let me|let's"
    r"|i'll|i'm|i see|we've just|you're right|yes|no,|ok|okay|wait|actually|done|fixed))\b",
    re.IGNORECASE,
)
"""Words that need what came before them."""
_OPENERS_THAT_STAND = re.compile(
    r"(?:th(?:is|e above) (?:project|repository|repo|codebase|code base|package|library|program"
    r"|monorepo|workspace|team)\b"
    r"|it is (?:\w+ )?(?:forbidden|required|possible|impossible|important|necessary|safe|unsafe"
    r"|allowed|enough|recommended)\b"
    r"|there (?:is|are|was|were|must|should|will|may) \w+|both (?:`|the\b|\S+ and\b|\w+ \w+ and\b)"
    r"|that (?:a|the|an|every)\b|such (?:a|an)\b|same-|now that\b|no,? matter\b|both \w+)",
    re.IGNORECASE,
)
_THE_FIX = re.compile(
    r"the (?:root )?(?:fix|change|issue|problem|bug|error|cause|solution|result|answer|idea|point"
    r"|failure|reason)"
    r" (?:is|was|are|were|works?|worked|has|had|will|would|does|did|can|should|here|comes|came)\b",
    re.IGNORECASE,
)
_UNRESOLVED = re.compile(
    r"\b(?:(?:see|as|the|described|mentioned|shown|listed) above(?! \w*\d)|see below|as (?:discussed"
    r"|mentioned|described|noted|said) (?:earlier|before|above)|as discussed|as mentioned"
    r"|(?:discussed|mentioned|described) (?:earlier|before|previously)|in this (?:conversation|chat)"
    r"|(?:in|during|for|from) this session|(?:earlier|previously) in (?:the|this)"
    r" (?:session|conversation|chat)|the user (?:asked|requested|confirmed|agreed|approved) (?:me|us"
    r"|to)\b|just now|right now|a moment ago)",
    re.IGNORECASE,
)
_FRAGMENT_LIST = """
about above after although and are as at be because been before being but by can could did do does
due during either else even for from had has have if in including into is like must nor not of on or
otherwise over should since than that the then through to under unless until via was were when where
whereas which while who whose why with without would
"""
_FRAGMENT_STARTS = frozenset(_FRAGMENT_LIST.split())


def why_not_alone(statement: str) -> str:
    """Why a statement cannot be understood without its surroundings; empty if it can."""
    text = statement.strip().strip("*_")
    if not text:
        return "it is empty"
    if text.endswith("?"):
        return "it is a question"
    if text.endswith(":"):
        return "it ends in a colon"
    if text.endswith((",", "…", "...", " -", "–", "—")) or text.endswith((" and", " or")):
        return "it is cut off"
    opener = _OPENERS.match(text)
    if opener and not _OPENERS_THAT_STAND.match(text):
        return f'it opens with "{opener["word"].lower()}"'
    fix = _THE_FIX.match(text)
    if fix:
        return f'it opens with "{" ".join(fix[0].lower().split()[:-1])}", without saying of what'
    unresolved = _UNRESOLVED.search(text)
    if unresolved:
        return f'it says "{unresolved[0].lower()}"'
    first = text.split()[0].strip(",.")
    if first in _FRAGMENT_STARTS:
        return f'it begins in the middle of a sentence, with "{first}"'
    return ""


# Negation

_DENIES = re.compile(
    r"\b(?:never|not|cannot|\w+n[’']t|without|nor|neither|none|nothing|nobody|nowhere|no(?! (?:one|matter|later"
    r"|more than|longer than)\b))\b",
    re.IGNORECASE,
)
_MAY_DENY = re.compile(
    rf"{_DENIES.pattern}|\b(?:avoid|skip|fail|lack|miss|refus|reject|forbid|forbad|prevent|stop|drop|remov|delet"
    r"|ignor|exclud|omit|lose|lost|disabl|unable|bypass|block|prohibit|supersed|replac|deprecat|abandon"
    r"|swallow|leftover|only|instead|rather|unless|until|wrong|false|incorrect|invalid|mistake|broken"
    r"|gone|empty|zero|no longer|nil|null|hidden|former|old|too|but|however|still|left out|leave|less"
    r"|few|hardly|rarely|separate|independen|irrelevant|redundant|unnecess|differ|contrary|opposite|non"
    r"|un\w{3,}|in(?:compat|sufficient|consisten|complete|visible)\w*|im(?:possib|mutab)\w*|\w+less\b"
    r"|shouldn|wouldn|couldn|keep out|off|out of|0)",
    re.IGNORECASE,
)
"""Words that deny, or that a negation may paraphrase."""
_CLAUSE = re.compile(r"[.,;:!?()\n]\s|\n|\s[-–—(]+\s?|\b(?:but|because|so that|since)\b")
LEAST_SHARED = 3
"""Content words that a clause of the statement and one of a quote share at least, and"""
LEAST_SHARE = 0.6
"""their share of the shorter one, for the two to be about the same."""


def _negation_differs(statement: str, quotes: Sequence[str]) -> bool:
    """Whether only the statement denies, or only its quotes deny what it says.

    A clause of the statement is held against the clauses of the quotes that are about the same.
    """
    if _DENIES.search(statement) and quotes and not any(map(_MAY_DENY.search, quotes)):
        return True
    quoted = [clause for quote in quotes for clause in _clauses(quote)]
    for clause, words in _clauses(statement):
        same = [other for other, others in quoted if _about_the_same(words, others)]
        if not same:
            continue
        if _DENIES.search(clause):
            near = (other for other, others in quoted if words & others)
            if not any(_MAY_DENY.search(other) for other in near):
                return True
        elif all(map(_DENIES.search, same)) and not _MAY_DENY.search(clause):
            return True
    return False


def _clauses(text: str) -> list[tuple[str, frozenset[str]]]:
    """The clauses of a text, each with its content words but for negations."""
    return [
        (clause, frozenset(wording(clause).words) - {NOT})
        for clause in _CLAUSE.split(_folded(text))
        if clause and clause.strip()
    ]


def _about_the_same(some: frozenset[str], others: frozenset[str]) -> bool:
    shared, shorter = len(some & others), min(len(some), len(others))
    return shared >= max(2, min(LEAST_SHARED, shorter)) and shared >= LEAST_SHARE * shorter


# What takes it back

RARE = 25
"""View lines that an identifier stands in at most to tell what a later line is about."""
_PERSON_DISAGREES = re.compile(
    r"^\W*(?:no|nope|wait|stop|hm+|hang on|hold on)\b(?! (?:worries|problem|need to))"
    r"|\b(?:actually|instead|revert|undo|wrong|incorrect|mistake|not needed|no longer|roll(?:ed)? back"
    r"|(?:don[’']t|do not|shouldn[’']t|should not|didn[’']t) (?:need|want|use|do|think|believe|like)"
    r"|not (?:true|right|correct|what)|changed my mind|scratch that|never ?mind)\b",
    re.IGNORECASE,
)
_AGENT_CORRECTS = re.compile(
    r"^\W*(?:wait|actually|hm+|hold on|no,)|\b(?:i was (?:wrong|mistaken|incorrect)|my (?:earlier|previous"
    r"|initial) \w+ (?:was|is)|(?:was|were|is|are) (?:wrong|incorrect|not needed|unnecessary|redundant|moot"
    r"|not (?:actually )?(?:the|a) (?:cause|root cause|issue|problem|reason))|turns out|revert(?:ed|ing)?"
    r"|roll(?:ed|ing) back|no longer|superseded|contrary to)\b",
    re.IGNORECASE,
)
_CONCEDES = re.compile(
    r"^\W*(?:you(?:[’']re| are) (?:\w+ )?right|good (?:point|catch)|fair (?:point|enough)"
    r"|my (?:mistake|bad)|i was wrong|i stand corrected|that[’']s (?:a )?(?:good|fair) point|ah,|oh,"
    r"|sorry|apologies)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PARAGRAPH = re.compile(r"\n\s*\n")


def _later(statement: str, cited: Sequence[int], index: ProofIndex) -> tuple[Quote, ...]:
    """Sentences behind the cited lines that name what the statement names and disagree."""
    if not cited:
        return ()
    names = _rare_names(statement, index)
    positions = sorted({at for name in names for at in index.mentions[name] if at > cited[-1]})
    found: list[tuple[int, Quote]] = []
    for position in positions:
        line = index.lines[position]
        if line.speaker is Speaker.PERSON:
            rank, signs = 0, _PERSON_DISAGREES
        elif line.role is LineRole.ASSISTANT:
            rank, signs = 1, _AGENT_CORRECTS
            conceded = _PARAGRAPH.split(line.text)[0]
            if _CONCEDES.match(conceded) and _follows_person(position, index):
                challenge = index.lines[position - 1].text
                if names & set(_NAME.findall(f"{challenge} {conceded}".lower())):
                    found.append((0, Quote(line.line, _cut(conceded))))
                continue
        else:
            continue
        for sentence in _SENTENCE.split(line.text):
            if sentence.startswith(">"):  # pasted
                continue
            if signs.search(sentence) and names & set(_NAME.findall(sentence.lower())):
                found.append((rank, Quote(line.line, _cut(sentence))))
                break
    found.sort(key=lambda item: item[0])
    return tuple(quote for _, quote in found[:MOST_LATER])


def _rare_names(statement: str, index: ProofIndex) -> set[str]:
    """The words of the statement's identifiers that few lines of the session have."""
    names: set[str] = set()
    for one in identifiers(statement):
        if one.kind is not IdentifierKind.QUANTITY:
            names.update(word for word in _NAME.findall(one.text.lower()) if len(word) > 3)
    return {name for name in names if 0 < len(index.mentions.get(name, ())) <= RARE}


def _follows_person(position: int, index: ProofIndex) -> bool:
    return position > 0 and index.lines[position - 1].speaker is Speaker.PERSON


def _cut(sentence: str) -> str:
    return sentence.strip()[:300].strip()


# Flags


def _flags(proposal: Proposal, cited: Sequence[ViewLine]) -> tuple[tuple[str, ...], str]:
    """The flags of a proposal, and where an instruction out of data comes from."""
    found: list[str] = []
    origin = ""
    texts = [proposal.statement, *(quote.text for quote in proposal.quotes)]
    if any(MASKED in flags_of(text, Role.USER) for text in texts):
        found.append(MASKED)
    data = [line for line in cited if _is_data(line)]
    if data and len(data) == len(cited):
        ordered = _ORDER.match(proposal.statement) or _ORDERS.search(proposal.statement)
        if ordered or any(INJECTION in flags_of(text, Role.TOOL) for text in texts):
            found.append(INJECTION)
            origin = _origin(data[0])
    elif not any(line.speaker is Speaker.PERSON for line in cited) and any(
        INJECTION in flags_of(text, Role.ASSISTANT) for text in texts
    ):
        found.append(INJECTION)
        origin = _origin(cited[0]) if cited else ""
    quoted = [quote.text for quote in proposal.quotes]
    if _negation_differs(proposal.statement, quoted):
        found.append(NEGATION)
    return tuple(found), origin


_ORDER = re.compile(
    r"(?:please |always |never |do not |don[’']t |make sure|be sure|ensure|remember|note that you)"
    r"|(?:add|answer|append|approve|avoid|build|call|change|commit|configure|copy|create|curl|delete"
    r"|deploy|disable|download|edit|email|enable|execute|export|fetch|follow|forward|give|go|grant"
    r"|ignore|include|insert|install|keep|leave|load|mail|merge|move|open|paste|post|prefer|print"
    r"|publish|push|put|read|remove|rename|replace|report|reply|require|respond|run|save|say|send|set"
    r"|share|skip|start|stop|store|submit|sudo|tell|treat|trust|turn|update|upload|use|visit|write)"
    r" (?!is\b|are\b|was\b|has\b|of\b)",
    re.IGNORECASE,
)
"""How instructions open: in the imperative."""
_ORDERS = re.compile(
    r"\b(?:you|agents?|assistants?|claude|codex|gemini|copilot|models?|everyone|all (?:agents|tools))"
    r" (?:\w+ )?(?:must|should|shall|need to|have to|has to|may not|are to)\b"
    r"|\b(?:must|should) (?:always|never|not)\b",
    re.IGNORECASE,
)


def _is_data(line: ViewLine) -> bool:
    """Whether a line has words of neither the person nor the agent, but of what a tool returned."""
    return line.role in (LineRole.TOOL, LineRole.ERROR) or (
        line.role is LineRole.EVENT and line.speaker is Speaker.HARNESS
    )


def _origin(line: ViewLine) -> str:
    tool = _TOOL_NAME.match(line.text)
    named = tool[1] if tool and line.role in (LineRole.TOOL, LineRole.ERROR) else line.role.value
    return f"{named} at line {line.line}"


_TOOL_NAME = re.compile(r"([\w.-]{1,60})[:(]")
