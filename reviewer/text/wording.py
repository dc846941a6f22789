"""Whether two texts differ in their wording only, or in what they say.

A text becomes a sequence of content words: function words, inflection, punctuation and markup are
taken off, negations and prepositions are kept because they decide the meaning and the roles. Texts
have the same wording when the sequences are equal, apart from phrases that may be moved without
changing a role ("In tests, use fakes").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from reviewer.text.normalise import clean

Words = tuple[str, ...]

NOT = "not"
_BREAK = ","
_STOP = "."
_IS = "="

_EMPHASIS = re.compile(r"`+|\*\*+|~~|(?<![\w*/])[*_](?=\w[^*_]*[*_](?!\w))|(?<=\w)[*_](?![\w*.(/])")
_QUOTATION = str.maketrans("‘’‚“”„«»–—‑", '\'\'\'"""""---')
_OPENING = "(\"'"
_CLOSING = ")\"'.,;:!?…"
_PLAIN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*\.?$")
_NUMBER = re.compile(r"(?P<sign>[$€£]?)(?P<digits>\d[\d.,]*)-?(?P<unit>%|[^\W\d_]+)?$")
_LABEL = re.compile(r"(?:decision|note|rule|convention|fact|remember|important)\s*:\s+", re.I)

_PHRASES = tuple(
    (re.compile(rf"\b{phrase}\b", re.IGNORECASE), plain)
    for phrase, plain in (
        (r"in order to", "to"),
        (r"instead of|rather than|as opposed to", "instead"),
        (r"(?:has|have|had|needs?|needed|(?:is|are) (?:required|obliged)) to(?= [a-z])", "must"),
        (r"(?:is|are) (?:forbidden|not allowed|not permitted|prohibited) to(?= [a-z])", "never"),
        (r"used to(?= [a-z])", "formerly"),
        (r"can ?not|can't", "can not"),
        (r"won't", "will not"),
        (r"such as|for example|for instance|e\.g\.?,?", "suchas"),
        (r"as well as", "and"),
        (r"per cent|percent", "%"),
    )
)
_CONTRAST = re.compile(
    r",?\s*(?:,|\band\b|\bbut\b)\s+(?:not|never)\s+(?:to\s+|with\s+)?(?=\S)", re.I
)
_PREFER = re.compile(r"\b(?:prefer|favou?r|choose|chose|chosen)\w*\b", re.IGNORECASE)
_OVER = re.compile(r"\b(?:over|to)\b(?! (?:time|again))", re.IGNORECASE)

_DROPPED_LIST = """
a an the be been being am do does did will that which who whom there we you our your i my us
its their please just simply also really actually indeed always then own shall
"""
_DROPPED = frozenset(_DROPPED_LIST.split())
_BE = frozenset(["is", "are"])
_WAS = frozenset(["was", "were"])
_AUXILIARY = frozenset(["has", "have", "had"])
_MEANING = {
    "never": NOT,
    "no": NOT,
    "nor": "neither",
    "every": "all",
    "each": "all",
    "inside": "in",
    "within": "in",
    "whenever": "when",
    "onto": "on",
    "upon": "on",
    "till": "until",
    "built": "build",
    "kept": "keep",
    "ran": "run",
    "wrote": "write",
    "written": "write",
    "found": "find",
    "sent": "send",
    "held": "hold",
    "took": "take",
    "taken": "take",
    "chose": "choose",
    "chosen": "choose",
    "made": "make",
    "has": "have",
    "had": "have",
}
_COUNTING = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(_COUNTING.split())
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100",
     "thousand": "1000"}  # fmt: skip
UNITS = {
    spelling: names.split()[0]
    for names in (
        "% percent",
        "ms msec millisecond milliseconds",
        "s sec secs second seconds",
        "min mins minute minutes",
        "h hr hrs hour hours",
        "day days d",
        "week weeks",
        "month months",
        "year years",
        "byte bytes",
        "kb kib kilobyte kilobytes",
        "mb mib megabyte megabytes",
        "gb gib gigabyte gigabytes",
        "tb tib terabyte terabytes",
        "char chars character characters",
        "px pixel pixels",
    )
    for spelling in names.split()
}
"""Spellings of units, in lower case, with the one that counts for all."""

_MOVABLE_LIST = """
in on at for before after when if while during with under until unless because since by from
as without once through via inside outside
"""
_MOVABLE = frozenset(_MOVABLE_LIST.split())
"""Words that begin a phrase that may come first or last."""
_NEXT_CLAUSE_LIST = """
because since so but while although though or unless
"""
_NEXT_CLAUSE = frozenset(_NEXT_CLAUSE_LIST.split())


class Wording(Struct, frozen=True):
    """The content words of a text in order, and both sides of an "A is B"."""

    words: Words
    sides: tuple[Words, Words] | None = None
    """What an "A is B" equates, where both sides are definite, so that they may be exchanged."""
    passive: Words | None = None
    """The active order of "A is called by B"."""


def same_wording(a: str, b: str) -> bool:
    """Whether two texts say the same and differ only in wording.

    A differing content word, number, negation or order of arguments makes them different.
    """
    one, other = wording(a), wording(b)
    if not one.words or not other.words:
        return clean(a) == clean(b)
    if one.words == other.words:
        return True
    if one.sides is not None and other.sides is not None and one.sides == other.sides[::-1]:
        return True
    if other.words == one.passive or one.words == other.passive:
        return True
    return sorted(one.words) == sorted(other.words) and (
        _moved(one.words, other.words) or _moved(other.words, one.words)
    )


def wording_key(text: str) -> Words:
    """Equal for all texts with the same wording, and for few others: what to look them up by."""
    found = wording(text)
    return tuple(sorted(word for word in found.words if word != "by"))


@lru_cache(maxsize=1 << 15)
def wording(text: str) -> Wording:
    """The content words of a text in order, in a form that its other wordings share."""
    tokens = list(_tokens(_plain(text)))
    sentences: list[list[str]] = [[]]
    for token in tokens:
        if token == _STOP:
            sentences.append([])
        else:
            sentences[-1].append(token)
    sentences = [some for some in sentences if any(word != _BREAK for word in some)]
    words: list[str] = []
    for sentence in sentences:
        words += _unfronted(sentence)
    said = tuple(word for word in words if word not in (_BREAK, _IS))
    sides = passive = None
    if len(sentences) == 1 and words.count(_IS) == 1 and _BREAK not in words:
        at = words.index(_IS)
        left, right = tuple(words[:at]), tuple(words[at + 1 :])
        sides = _equated(text, left, right)
        passive = _active(left, right)
    return Wording(said, sides, passive)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFC", text).translate(_QUOTATION)
    text = " ".join(_EMPHASIS.sub("", clean(_EMPHASIS.sub("", text))).split())
    text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
    for pattern, plain in _PHRASES:
        text = pattern.sub(plain, text)
    text = _CONTRAST.sub(" instead ", text)
    preferred = _PREFER.search(text)
    if preferred:
        text = text[: preferred.end()] + _OVER.sub("instead", text[preferred.end() :], count=1)
    return text


def _tokens(text: str) -> Iterator[str]:
    """Words in their plain form, `_BREAK` and `_STOP` for punctuation, `_IS` for forms of be."""
    pieces = text.split()
    for place, piece in enumerate(pieces):
        following = pieces[place + 1] if place + 1 < len(pieces) else ""
        rest = piece.lstrip(_OPENING)
        core = rest.rstrip(_CLOSING)
        before, after = piece[: len(piece) - len(rest)], rest[len(core) :]
        if not core:
            # Punctuation on its own may be an argument, as in `git add .`.
            if piece.strip("\"'()[]{}") in (".", "..", "...") and place == len(pieces) - 1:
                yield piece
            else:
                yield _BREAK
            continue
        if "(" in before:
            yield _BREAK
        if core in ("-", "--", "|", "/"):
            yield _BREAK
            continue
        if after.startswith(")") and core.endswith("("):  # load()
            core, after = core[:-1], after[1:]
        yield from _words(core, following)
        closing = after.lstrip(")\"'")
        if closing[:1] in (".", "!", "?", ";", "…"):
            yield _STOP
        elif closing or ")" in after:
            yield _BREAK


def _words(core: str, following: str) -> Iterator[str]:
    number = _NUMBER.match(core)
    if number:
        yield from _number(number)
        return
    if not _PLAIN.match(core):
        yield _identifier(core)
        return
    if len(core) > 1 and core.isupper():
        yield core.lower()
        return
    for part in core.replace("-", " ").lower().split():
        yield from _word(part, following.lower())


def _number(number: re.Match[str]) -> Iterator[str]:
    digits = re.sub(r",(?=\d{3}(?!\d))", "", number["digits"].rstrip(".,"))
    yield number["sign"] + digits
    if number["unit"]:
        unit = number["unit"].lower()
        yield UNITS.get(unit, unit)


def _identifier(core: str) -> str:
    core = core.removesuffix("()").removeprefix("./")
    if len(core) > 1:
        core = core.rstrip("/")
    return core if core.startswith("-") else core.lower()  # -v and -V are two flags


def _word(word: str, following: str) -> Iterator[str]:
    if word.endswith("n't"):
        stem = word[:-3]
        if stem in ("would", "could", "should", "might", "need"):
            yield from _word(stem, "")
        yield NOT
        return
    word = word.split("'")[0]
    if word in _BE or (word in _WAS and _participle(following)):
        yield _IS
    elif word in _WAS:
        yield "was"
    elif (
        word in _DROPPED
        or (word in _AUXILIARY and _participle(following))
        or (word in ("must", "should") and following.strip(".,;:") in ("not", "never"))
    ):
        return
    elif word in NUMBER_WORDS:
        yield NUMBER_WORDS[word]
    elif word in UNITS and len(word) > 2:
        yield UNITS[word]
    else:
        word = _MEANING.get(word, word)
        yield word if word in _MOVABLE or word in _NEXT_CLAUSE else _stem(word)


def _participle(word: str) -> bool:
    word = word.rstrip(".,;:!?")
    return word in ("been", "not", "become") or word.endswith(("ed", "en"))


def _unfronted(words: list[str]) -> list[str]:
    """The words of a sentence, with a phrase before the first comma moved behind its clause."""
    if not words or words[0] not in _MOVABLE or _BREAK not in words:
        return words
    end = words.index(_BREAK)
    rest = words[end + 1 :]
    at = next(
        (
            place
            for place, word in enumerate(rest)
            if place and (word == _BREAK or word in _NEXT_CLAUSE)
        ),
        len(rest),
    )
    return [*rest[:at], *words[:end], *rest[at:]] if at else words


def _moved(one: Words, other: Words) -> bool:
    """Whether `other` is `one` with the phrase that begins it moved to its end."""
    return one[0] in _MOVABLE and any(
        one[at:] + one[:at] == other for at in range(2, len(one)) if one[at] not in _MOVABLE
    )


def _equated(text: str, left: Words, right: Words) -> tuple[Words, Words] | None:
    if not left or not right or NOT in left + right:
        return None
    if any(word in _MOVABLE or word in _RELATING for word in left + right):
        return None
    second = re.split(r"\b(?:is|are)\b", text, maxsplit=1)[-1].strip(" *_\"'")
    first = text.strip(" *_\"'")
    return (left, right) if _definite(first, left) and _definite(second, right) else None


_RELATING_LIST = """
of to than instead over between and or not neither only all some
"""
_RELATING = frozenset(_RELATING_LIST.split())


def _definite(side: str, words: Words) -> bool:
    """Whether a side of "A is B" names one thing: with an article, or a name."""
    if re.match(r"(?:the|our|your)\b|`", side, re.IGNORECASE):
        return True
    # a lower-case word may be an adjective, and a class of things is not one thing
    return len(words) == 1 and not side[:1].islower() and not _PLAIN.match(side.split()[0].lower())


def _active(left: Words, right: Words) -> Words | None:
    if NOT in left + right or right.count("by") != 1 or right.index("by") != 1:
        return None
    return (*right[2:], right[0], *left)


_VOWEL = re.compile(r"[aeiouy]")
_MEASURE = re.compile(r"[aeiouy][^aeiouy]")
_SHORT_END = re.compile(r"[^aeiouy][aeiouy][^aeiouywx]$")
_WHOLE_LIST = """
https windows news staging string nothing everything something anything thing during spring
bring king embed species series kubernetes need less across
"""
_WHOLE = frozenset(_WHOLE_LIST.split())


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    """A word without its inflection (plural, -ed, -ing, a final e): steps 1 and 5 of Porter's.

    Endings that make another word of it (-er, -tion, -able, -ly) stay.
    """
    if len(word) < 4 or word in _WHOLE or not word.isascii():
        return word
    if word in ("uses", "used", "using"):
        return "use"
    if word.endswith("ies"):
        word = word[:-3] + "i"
    elif word.endswith("sses") or re.search(r"(?:x|z|ch|sh)es$", word):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ed", "ing"):
        base = word.removesuffix(ending)
        if base == word or word.endswith("eed") or not _VOWEL.search(base):
            continue
        word = base
        if word.endswith(("at", "bl", "iz")):
            word += "e"
        elif len(word) > 2 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
            word = word[:-1]
        elif len(_MEASURE.findall(word)) == 1 and _SHORT_END.search(word):
            word += "e"
        break
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    if word.endswith("e") and len(word) > 2:
        base = word[:-1]
        times = len(_MEASURE.findall(base))
        if times > 1 or (times == 1 and not _SHORT_END.search(base)):
            word = base
    return word
