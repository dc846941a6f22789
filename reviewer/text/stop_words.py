"""English words with little meaning: one list for the whole program, in variants.

The variants differ because similarities, packet scores and extracts were measured with exactly
these words.
"""

from __future__ import annotations

_MAX_FREQUENT = """
a after all also an and are as at be before but by can could did do does for from get had has
have i if in into is it its just more must need needs new no not now of on one only or out
should so that the them then there they this to two up use used uses was we were what when which
will with would you
"""
_LESS_FREQUENT = """
about above again always am any because been being below between both cannot doing done down
during each either else even every few first further gets go goes going got having he her here
hers him his how however itself keep last let like make many may me might most much my neither
never nor off once onto other others our over own per please same see she since some still such
take than their these those though through too under until upon us using very want way well
where whether while who whom whose why within without yet your
"""
_IN_SPEECH = """
against although aren't around can't couldn't didn't doesn't don't ever getting gonna hadn't
hasn't haven't herself himself i'd i'll i'm i've instead isn't it's know let's look looks maybe
myself nothing ok okay ours ourselves perhaps quite rather really right shall shouldn't
something soon sure that's theirs themselves there's they're thus together wants wasn't we'd
we'll we're we've weren't what's won't wouldn't yeah yes you'd you'll you're you've yours
yourself
"""

SIMILARITY_STOP_WORDS = frozenset((*_MAX_FREQUENT.split(), "add", "added", "set"))
"""For near-duplicates: less frequent words help tell short statements apart."""
SPEECH_STOP_WORDS = frozenset(f"{_MAX_FREQUENT} {_LESS_FREQUENT} {_IN_SPEECH}".split())
"""For conversations: includes contractions and filler words."""
