"""Whether a statement can be understood without its surroundings."""

from __future__ import annotations

import re

_OPENERS = re.compile(
    r"(?P<word>(?:this|that|these|those|it|its|they|them|their|he|she|such|both|here|there|now"
    r"|then|so|also|but|and|or|however|therefore|otherwise|instead|as discussed|as mentioned"
    r"|as above|same|the (?:above|same|latter|former|following)|we just|i just|we now|let me|let's"
    r"|i'll|i'm|i see|we've just|you're right|yes|no,|ok|okay|wait|actually|done|fixed))\b",
    re.IGNORECASE,
)
"""Words that need what came before them."""
_OPENERS_THAT_STAND = re.compile(
    r"(?:th(?:is|e above) (?:project|repository|repo|codebase|code base|package|library|program"
    r"|monorepo|workspace|team)\b|it is (?:\w+ )?(?:forbidden|required|possible|impossible"
    r"|important|necessary|safe|unsafe|allowed|enough|recommended)\b|there (?:is|are|was|were"
    r"|must|should|will|may) \w+|both (?:`|the\b|\S+ and\b|\w+ \w+ and\b)"
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
    r"\b(?:(?:see|as|the|described|mentioned|shown|listed) above(?! \w*\d)|see below"
    r"|as (?:discussed|mentioned|described|noted|said) (?:earlier|before|above)|as discussed"
    r"|as mentioned|(?:discussed|mentioned|described) (?:earlier|before|previously)"
    r"|in this (?:conversation|chat)|(?:in|during|for|from) this session|(?:earlier"
    r"|previously) in (?:the|this) (?:session|conversation|chat)|the user (?:asked|requested"
    r"|confirmed|agreed|approved) (?:me|us"
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
    if not re.search(r"[^\W\d_]{2}", text):
        return "it has no words"
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
