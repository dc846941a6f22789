"""What the person took back: messages that were meant for another place, calls they interrupted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice

_PLACE = r"(?:chat|window|session|terminal|conversation|tab|thread)\b"
_MESSAGE = r"(?:message|msg|comment|question|prompt|request|input|one)s?"
_END = r"(?=\W*(?:$|[.,;!\n]))"
_WITHDRAWS = re.compile(
    r"\W*(?:(?:sorry|oops|ups|oh|no|please|wait|actually|ok|my bad)\W+)*(?:"
    r"(?:ignore|disregard|forget|scratch) (?:about )?(?:(?:(?:my|the|that|this) )?"
    rf"(?:(?:last|previous|prior|earlier|above) {_MESSAGE}\b|{_MESSAGE}{_END})|(?:that|this){_END})"
    r"|(?:(?:that|this|it)(?: was|'s| is)? )?(?:meant )?(?:for |in )?(?:(?:the|a) )?wrong "
    rf"{_PLACE}|i (?:was|am|typed|wrote) (?:this |that )?in (?:the|a) wrong {_PLACE}"
    rf"|(?:that|this|it)(?: was|'s| is) (?:meant )?for (?:the |an)?other {_PLACE})",
    re.IGNORECASE,
)
"""How the person takes back the message before."""
MERELY_WITHDRAWS = 10
"""Words up to which a message that takes another one back says nothing else."""


def without_withdrawn(moments: Sequence[Moment]) -> list[Moment]:
    """The moments without messages that the person took back, and without what the agent said to
    them. What was done stays.
    """
    kept: list[Moment] = []
    said = -1  # where the message is that the next one may take back
    for each in moments:
        if isinstance(each, Message) and each.voice is Voice.PERSON:
            withdraws = said >= 0 and _WITHDRAWS.match(each.text) is not None
            if withdraws:
                kept[said:] = [old for old in kept[said:] if isinstance(old, Event)]
            if withdraws and len(each.text.split()) <= MERELY_WITHDRAWS:
                said = -1
                continue
            said = len(kept)
        kept.append(each)
    return kept


def mark_interrupted(moments: Iterable[Moment], calls: frozenset[int]) -> None:
    """Note in the events of these calls, by their turns, that they did not happen."""
    for each in moments:
        if isinstance(each, Event) and each.call in calls and each.failed is None:
            each.failed, each.outcome = True, INTERRUPTED
            if each.kind is Kind.CHECK:
                each.failed, each.how = None, INTERRUPTED


INTERRUPTED = "interrupted"
