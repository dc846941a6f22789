"""The content words of a text, and which words a summary of it is expected to have.

A summary of LENGTH words is taken to use content words as often as the text does, and function
words as often as written English does; fillers of speech are not expected in it. The count of a
word is then Poisson distributed, and its k-th mention is worth the probability that the summary
has it k times. Pairs of words likewise, once each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import exp

from reviewer.text.stop_words import SPEECH_STOP_WORDS

_WORD = re.compile(r"[^\W\d_][^\W_]+(?:['’][^\W_]+)?")
FUNCTION_WORDS = SPEECH_STOP_WORDS


def content_words(text: str) -> list[str]:
    """The words of three letters or more that are not function words, in lower case, in order."""
    return [
        word for word in _WORD.findall(text.lower()) if len(word) > 2 and word not in FUNCTION_WORDS
    ]


LENGTH = 1000
"""Words of the expected summary."""
CONTENT = 0.55
"""Share of the content words in written English."""
PAIRS = 2.0
"""Worth of a pair of words relative to a single word."""
LEAST = 0.02
"""Probability below which another mention of a word has no worth."""

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_FREQUENCY_LIST = """
the 62 of 30 and 28 to 27 a 22 in 20 that 10 is 10 was 9 for 9 on 7 with 7 as 7 be 6 by 6 it 6
at 5 from 4 are 4 this 4 or 4 an 4 not 4 which 3 were 3 have 3 has 3 should 2 would 2 will 2 can 2
but 3 they 3 their 2 all 2 when 2 also 2 more 2 if 2 there 2 been 2 had 2 one 2 so 1 than 1 some 1
other 1 only 1 into 1 about 2 its 1 could 1 no 1 does 1 do 1 after 1 before 1 between 1 because 1
any 1 each 1 these 1 those 1 such 1 where 1 while 1 who 1 then 1 what 1 how 1 both 1 need 1 needs 1
use 1 new 1 without 1 must 1
"""
_entries = _FREQUENCY_LIST.split()
FREQUENCIES = dict(zip(_entries[::2], map(int, _entries[1::2]), strict=True))
"""Function words of written English -> their rounded frequency per thousand words."""
_SPOKEN_LIST = """
i you we me my your he she him her us our just like yeah um uh well okay ok know think mean really
get got go going actually right now let here oh hmm mm s t m re ve ll d don yes please want gonna
kind sort things thing lot maybe
"""
SPOKEN = frozenset(_SPOKEN_LIST.split())
"""Words of conversation that a summary of it does not use."""
_GENERAL_LIST = """
able actual added again agree ahead almost alright already although altogether amount answer
anybody anyone anything anyway appear apply approach area aren around ask asked aside assume
available away bad basic basically become becomes before begin beginning behind believe best
better big bit blah bottom bring brings brought bunch call called calling calls came cannot care
case cases cause certain chance choose clear clearly close come comes coming complete completely
consider contain contains copy correct couldn couple course cover cuz day days decide definitely
depend describe detail details did didn difference different difficult direct doesn doing done
double dozen drop dunno early easier easily easy edit effectively eight eighteen eighty either
eleven else empty end ended enough entire entirely equal especially essentially etc even
everybody everyone everything exact exactly example excellent except excuse exist existing
exists expect explain extra fact fair fairly false far feel few fifteen fifty final finally find
fine finish finished five follow following follows forget form former forth forty forward found
four fourteen free front full fully fun further gave general generally give given gives giving
god goes gone good great group guess guy guys half hand handle happen happened happens happy
hard hear heard held hello help helpful hence hey high hmm hold hope hour hours huge huh hundred
idea ideas imagine immediately important include included includes including indeed inside
instead interesting job keep keeps kept key kind knew knows large largely last late later latest
lead least leave leaves left less lets level like likely line list little long longer looked
looking looks lose lot lots low made main mainly major makes making mark mattered matters means
meant mention mentioned middle mind minor minute minutes missing moment month months morning
mostly move moved moves moving name named namely nah near nearly necessary needed nice nine
nineteen ninety nobody none normal normally note nothing notice number numbers obvious obviously
odd often old older ones onto ooh open opposite order original others otherwise ought outside
overall page paid part particular particularly parts pass past pay people perfect perhaps person
piece pieces place places plan play point points poor possible possibly present pretty previous
previously probably problem problems proper properly provide purpose push puts putting question
questions quick quickly quite ran random rather reach read reading ready real reason reasons
recent recently regarding regular related relevant remain remove rest result results return
returns right room run running runs safe said save saw saying says second seconds see seem
seemed seems seen send sense sent separate seven seventeen seventy several short should shouldn
show showed shown shows side similar similarly simple simply single sit six sixteen sixty size
slightly slow small somebody someone something sometimes somewhere soon sorry sound sounds
special specific specifically spend stand start started starting starts state stay step steps
stop straight strange stuff sudden suggest super suppose supposed sure surely take taken takes
taking talk talked talking tell ten tend term terms thank thanks themselves thinking thirteen
thirty thought thoughts thousand three throw tha till time times today together told tomorrow
tonight took top total totally toward towards tried tries true truly try trying turn turned
turns twelve twenty twice type typical typically understand unless unlike unlikely useful user
usual usually various version view wait wanna wanted wants wasn watch way ways week weeks went
weren whatever whenever wherever whether whole wide wise wonder wonderful won word words work
worked working works world worry worse worst worth would wouldn wow wrong year years yep
yesterday yet yup zero
"""
GENERAL = frozenset(_GENERAL_LIST.split())
"""Words that name no topic, except beside another word."""


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; in Chinese, Japanese and Korean every character is one."""
    return _TOKEN.findall(text.lower())


class Expected:
    """Worth of words and of pairs of words in a summary of the given texts."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        counts: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for words in texts:
            counts.update(words)
            pairs.update(pairwise(words))
        self.words = _word_worth(counts)
        of_pairs = {
            pair: number
            for pair, number in pairs.items()
            if pair[0] not in SPOKEN and pair[1] not in SPOKEN
        }
        total = sum(of_pairs.values()) or 1
        self.pairs = {
            pair: PAIRS * (1 - exp(-LENGTH * number / total)) for pair, number in of_pairs.items()
        }


def _word_worth(counts: Counter[str]) -> dict[str, tuple[float, ...]]:
    """The worth of the first, second, ... mention of each word."""
    content = {
        word: number
        for word, number in counts.items()
        if word not in FREQUENCIES and word not in SPOKEN and not word.isdigit()
    }
    function = {word: FREQUENCIES[word] for word in FREQUENCIES if word in counts}
    of_content, of_function = sum(content.values()) or 1, sum(function.values()) or 1
    means = {word: LENGTH * CONTENT * n / of_content for word, n in content.items()}
    means |= {word: LENGTH * (1 - CONTENT) * n / of_function for word, n in function.items()}
    known: dict[float, tuple[float, ...]] = {}
    for mean in means.values():
        if mean not in known:
            known[mean] = _tails(mean)
    return {word: known[mean] for word, mean in means.items()}


def _tails(mean: float) -> tuple[float, ...]:
    """P(N >= 1), P(N >= 2), ... of a Poisson distributed N, while greater than `LEAST`."""
    tails: list[float] = []
    term = exp(-mean)
    below = term
    while 1 - below > LEAST and len(tails) < 200:
        tails.append(1 - below)
        term *= mean / len(tails)
        below += term
    return tuple(tails) or (mean,)
