"""Words as terms: stems, parts of identifiers, and how common a word is.

The lists describe the language in which people write about software. They know nothing of any
project; how rare a term is there is counted from its entries (`relevance.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from reviewer.text.stop_words import NOTE_STOP_WORDS

_TOKEN = re.compile(r"[^\W_](?:[\w./:-]{0,118}[\w])?")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")

_OTHER_LANGUAGES = """
aber als am auch auf aus bei bis das dass dem den der dich dir doch durch ein eine einem
einen einer eines er für haben ich ihr im immer ist kann nach nicht noch nur oder sein
sich sie sind soll um und uns von vor wenn werden wie wir wird wurde zu zum zur warum
au aux avec ce ces cette comme dans de elle en est et il ils je le les leur mais ne nous ou
où par pas que qui sa ses sont sous un une vous pourquoi
al como cuando el ella esta este está las los más muy para pero por porque qué si
su sus también una unos ya
anche che chi da dal della delle ed gli il io le nel non per perché più quando questo
sono un una
ao aos às como da das do dos entre isso já mais nas nos não ou pela pelo quando
sem seu sua são também um uma
aan ben bij dat deze een en er het hij ik kan maar met naar niet nog ook te uit van
voor wat we wel wij worden zijn
"""
"""Words of other languages that carry little meaning, without those that mean something in code
or in English."""
NO_TERMS = NOTE_STOP_WORDS.union(_OTHER_LANGUAGES.split())
SHORTEST = 2
"""Shorter words are not terms."""
KEY_LENGTH = 20
"""Longer words that contain digits may be secrets, and are not used as terms."""

_GENERIC = """
add allow ask avoid become begin bring build call cause change check choose come complete consider
contain continue create current default define different do drop easy end ensure example exist
expect fail feature file find fix follow full general good great happen help hold implement improve
include instead issue item keep kind know lead leave line list load long look main make mean method
move name new number old open option part people place plain point possible print problem process
project provide pull put rather read ready real receive remain repair replace request require result
return review rule run same save see select send set short should show simple single small specific
start state step still stop string support sure system take task tell text thing think time today
tool total try turn type unless update use user useful value various version via view want way week
whole work write wrong year yet able across actual already appear apply approach available base
basic better big bit bug case certain clean clear close code common correct data day deal decide
decision decided detail done down draw each early either else empty enough entire entry even ever
exact explain extra fact far feel few final fine first fit force form free front get give go got
group grow guess half hand handle hard head here high hit idea important inside into job just key
large last late later learn less let level life like likely limit little live local lot low major
manage many match matter maybe mention might mind minor miss mode more most much must need never
next nice note nothing now object off often once only onto order other out output over own page
pair particular pass past per pick piece plan possibly prefer present prevent probably proper pure
quick quite reach reason recent relate rely remember remove repeat rest right room round safe
say second seem self sense separate serve several share side similar since size small some soon sort
source speak special standard statement stay store such suggest switch talk them then there these
three through too top toward true two under understand until upon usual well what whatever where
whether which while who why wide within without word world worth would
alone already although among anyone anything around ask asked become behind beside beyond came
carry catch certainly could everyone everything everywhere except fact felt found fully gave gone
goes gotten guess had happened heard held hope hour idea indeed kept knew known led lets longer lost
made maybe meant meanwhile met minute month moment neither nobody none nothing nowhere otherwise
outright paid particularly people perhaps person please pretty quickly quietly ran rarely rather
said sat saw seems seen sent shown simply slightly somebody someone something sometimes somewhere
soon spend spent stand stood stopped straight stuff surely taken thank though thought tired together
told tomorrow tonight took touch towards truly tried usually wait walk wanted was watch
went whenever wherever whether whoever wish woke wonder wrote written yes yesterday
app cli cmd index internal lib main pkg src util
die hat war mit des del du son come plus
"""
"""Verbs and nouns of any task. They count for a quarter of their weight by rarity."""
GENERIC_WEIGHT = 0.25

_SHORT_FOR = {
    "auth": "authentication",
    "cfg": "configuration",
    "cmd": "command",
    "conf": "configuration",
    "config": "configuration",
    "configs": "configuration",
    "db": "database",
    "deps": "dependency",
    "dir": "directory",
    "dirs": "directory",
    "doc": "documentation",
    "docs": "documentation",
    "env": "environment",
    "err": "error",
    "func": "function",
    "impl": "implementation",
    "info": "information",
    "init": "initialize",
    "initialise": "initialize",
    "lib": "library",
    "msg": "message",
    "perm": "permission",
    "perms": "permission",
    "pkg": "package",
    "prefs": "preference",
    "repo": "repository",
    "repos": "repository",
    "spec": "specification",
    "specs": "specification",
    "sync": "synchronize",
    "temp": "temporary",
    "tmp": "temporary",
    "util": "utility",
    "utils": "utility",
}
_ENDINGS = (
    ("izations", "iz"),
    ("ization", "iz"),
    ("isation", "iz"),
    ("ations", ""),
    ("ation", ""),
    ("ements", ""),
    ("ement", ""),
    ("ments", ""),
    ("ment", ""),
    ("ness", ""),
    ("ities", ""),
    ("ity", ""),
    ("ically", "ic"),
    ("ings", ""),
    ("ing", ""),
    ("ions", ""),
    ("ion", ""),
    ("ates", ""),
    ("ated", ""),
    ("ate", ""),
    ("ables", ""),
    ("able", ""),
    ("ibles", ""),
    ("ible", ""),
    ("ives", ""),
    ("ive", ""),
    ("ers", ""),
    ("er", ""),
    ("ors", ""),
    ("or", ""),
    ("edly", ""),
    ("ed", ""),
    ("ly", ""),
    ("al", ""),
)
_ENDINGS_BY_LETTER = {
    letter: tuple(pair for pair in _ENDINGS if pair[0][-1] == letter)
    for letter in {ending[-1] for ending, _ in _ENDINGS}
}
_SHORTEST_STEM = 4
_LEAST = {"ing": 3, "ings": 3, "ed": 3, "ive": 5, "ives": 5}


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a lower-case word: `hooks`, `hooked` and `hooking` give `hook`; `config` and
    `configuration` give the same; words of other alphabets and numbers stay.
    """
    word = _SHORT_FOR.get(word, word)
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    word = _singular(word)
    for ending, instead in _ENDINGS_BY_LETTER.get(word[-1], ()):
        if word.endswith(ending):
            short = len(word) - len(ending)
            least = _LEAST.get(ending, _SHORTEST_STEM)
            if short >= least and any(sign in "aeiouy" for sign in word[:short]):
                word = word[:short] + instead
                if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                    word = word[:-1]
                break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "y":
        word = word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word[-1] == "s" and word[-2] not in "siu":
        return word[:-1]
    return word


class Token(NamedTuple):
    """A word, or an identifier with its parts. `name` is empty for a plain word."""

    spelled: str
    name: str
    stems: tuple[str, ...]
    parts: tuple[str, ...]
    """The words of the stems, as they are spelled."""


def tokens(text: str) -> Iterator[Token]:
    """The words and identifiers of a text in order.

    An identifier has the stems of its parts (`allow_outside_cwd`, `DefaultPermissions`,
    `query.go`), a stop word or number none. Runs of Chinese, Japanese and Korean give pairs of
    characters.
    """
    return map(token_of, words_of(text))


def words_of(text: str) -> list[str]:
    """The words and identifiers of a text as they are spelled."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=200_000)
def terms_of(spelled: str) -> tuple[str, ...]:
    """The stems of a word or identifier, and the name of an identifier."""
    token = token_of(spelled)
    return (*token.stems, token.name) if token.name else token.stems


@lru_cache(maxsize=200_000)
def token_of(spelled: str) -> Token:
    """A word or identifier with its stems."""
    low = spelled.lower()
    if not spelled.isascii() and (runs := _CJK.findall(spelled)):
        pairs = (run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1)))
        found = tuple(pairs)
        return Token(low, "", found, found)
    if spelled.isalpha() and (low == spelled or spelled[1:].islower() or spelled.isupper()):
        no_term = low in NO_TERMS or len(low) < SHORTEST
        return Token(low, "", *(((), ()) if no_term else ((stem(low),), (low,))))
    if _may_be_key(spelled) or not any(sign.isalpha() for sign in low):
        return Token("", "", (), ())
    parts = tuple(_parts(spelled))
    return Token(low, low.strip("./:-"), tuple(stem(part) for part in parts), parts)


def _parts(token: str) -> Iterator[str]:
    for part in _PART.findall(token):
        low = part.lower()
        if len(low) >= SHORTEST and not low.isdigit() and low not in NO_TERMS:
            yield low


def _may_be_key(token: str) -> bool:
    """Whether a token looks like a key or a hash."""
    return (
        len(token) >= KEY_LENGTH
        and any(sign.isdigit() for sign in token)
        and not any(sign in token for sign in "_./:-")
    )


@cache
def generic_stems() -> frozenset[str]:
    """Stems of words that any task may contain."""
    return frozenset(stem(word) for word in _GENERIC.split())
