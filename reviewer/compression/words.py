"""The words of a text that carry its content."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_][^\W_]+(?:['’][^\W_]+)?")
_FUNCTION_WORDS = """
a about above after again against all also although always am an and any are aren't around as at be
because been before being below between both but by can can't cannot could couldn't did didn't do
does doesn't doing don't done down during each either else even ever every few first for from
further get gets getting go goes going gonna got had hadn't has hasn't have haven't having he her
here hers herself him himself his how however i i'd i'll i'm i've if in instead into is isn't it
it's its itself just keep know last let let's like look looks make many may maybe me might more
most much must my myself need needs neither never new no nor not nothing now of off ok okay on once
one only onto or other others our ours ourselves out over own per perhaps please quite rather
really right same see shall she should shouldn't since so some something soon still such sure take
than that that's the their theirs them themselves then there there's these they they're this those
though through thus to together too two under until up upon us use used uses using very want wants
was wasn't way we we'd we'll we're we've well were weren't what what's when where whether which
while who whom whose why will with within without won't would wouldn't yeah yes yet you you'd you'll
you're you've your yours yourself
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


def content_words(text: str) -> list[str]:
    """The words of at least three letters that are no function words, in lower case, in order."""
    return [
        word for word in _WORD.findall(text.lower()) if len(word) > 2 and word not in FUNCTION_WORDS
    ]
