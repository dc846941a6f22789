"""What is kept out before any rule looks: questions, narration, thanks, fragments, placeholders.

Each screen gives the reason in words, for `dropped.ndjson` (settled.md, "Keep out before
extraction"; users.md, Junk).
"""

from __future__ import annotations

import re

SHORTEST, LONGEST = 8, 280
"""Characters of a candidate's content after cleaning, both inclusive (settled.md)."""

TOO_SHORT = "below min content length"
TOO_LONG = "above max content length"
QUESTION = "question"
NARRATION = "status narration"
THANKS = "thanks or greeting"
FRAGMENT = "fragment without a statement"
PLACEHOLDER = "placeholder"
RESTATES_BOOT = "restates boot text"

_OPENERS = (
    r"(?:(?:ok(?:ay)?|good|great|perfect|excellent|nice|alright|right|now|so|and|then|next|also|first|second|finally"
    r"|clean|clear|done|sure|yes|yeah|got it|i see|all (?:green|clean|good|tests pass)|wait|hmm+|actually|interesting"
    r"|but|oh|ah|meanwhile|while \w+ing[^,]{0,60})\b[\s,.:;!—–-]*){0,4}"
)
_NARRATION = re.compile(
    rf"^{_OPENERS}(?:"
    r"(?:let me|let's|let us|lemme|i'll|i will|i'm going to|i am going to|i'm (?:now )?\w+ing|i am now|i'd like to"
    r"|i(?: now)? (?:need|want|have) to (?:check|look|see|read|find|verify|understand|run|re-?read|review|explore|continue"
    r"|fix|update|add|make)"
    r"|time to|we need to (?:check|look|see|read)|(?:running|checking|reading|looking|searching|fetching|verifying"
    r"|building|updating|fixing|adding|starting|testing|waiting|committing|pushing|creating|writing|continuing)\b"
    r"|here(?:'s| is| are)\b|this is (?:a summary|the summary)|see you)"
    r"|now (?:i|we|the|add|fix|update|rename|resolve|run|write|create|remove|check|also|for|build|commit|make|in|to)\b"
    r"|(?:i )?(?:have|now have|understand|can (?:now )?see) (?:a |the |all |now )?(?:clear|full|good|complete|everything|whole"
    r"|pattern|picture|files?|context|issue|what)\b.{0,40}$"
    r"|(?:add|fix|update|rename|resolve|run|write|create|remove|check|build|commit)\b[^.]{0,60}:$"
    r")",
    re.IGNORECASE,
)
_STATUS = re.compile(
    rf"^{_OPENERS}(?:done|fixed|pushed|committed|merged|finished|complete|ready|all (?:tests?|checks?|\d+ tests?|green|clean"
    r"|good|set|done)\b.{0,60}|(?:the )?(?:tests?|build|lint|ci|everything)\b.{0,20}\b(?:pass(?:es|ed|ing)?|clean|green"
    r"|succe\w+)\b.{0,40}|(?:it )?works|no (?:issues|errors|problems|response requested).{0,30}|clean build|0 issues"
    r"|.{0,40}\bcompletes? successfully|looks? good.{0,20}|that looks (?:clean|good|right).{0,20})[.!]*$",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^(?:thanks?\b|thank you|thx|cheers|hi\b|hello\b|hey\b|good (?:morning|evening)|you're (?:absolutely )?(?:right|welcome)"
    r"[.!]*$|sorry\b.{0,40}$|great (?:question|idea|work|job)[.!]*$|happy to\b|glad\b|want me to\b|shall i\b|would you like"
    r"|let me know\b|feel free\b|if you(?:'d| would) like|just (?:let me know|say)|sounds good)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"^(?:tbd|todo|n/?a|none|fixme|wip|lorem ipsum|\.\.\.|…|xxx+|placeholder|your \w+ here|insert \w+|example)\b.{0,20}$"
    r"|<(?:your|insert|name|placeholder|project|title|date)[^>]{0,40}>|\{\{[^}]{1,60}\}\}|\[(?:insert|your|tbd|todo|name"
    r"|date|title|description|request interrupted|image|pasted)[^\]]{0,60}\]",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_]{2,}")
_SYMBOLS = re.compile(r"[^\w\s.,'\"`()-]")


def screen(content: str, raw: str) -> str | None:
    """Why this must not be proposed, or None. `content` is cleaned, `raw` its text as written."""
    if len(content) < SHORTEST:
        return TOO_SHORT
    if len(content) > LONGEST:
        return TOO_LONG
    if raw.rstrip("*_ \t\n)\"'").endswith("?"):
        return QUESTION
    if _THANKS.match(content):
        return THANKS
    if _NARRATION.match(content) or _STATUS.match(content):
        return NARRATION
    if _PLACEHOLDER.search(content):
        return PLACEHOLDER
    if raw.rstrip("* \t").endswith(":") and len(content) < 100:
        return FRAGMENT
    words = _WORDS.findall(content)
    if len(words) < 3 or len(_SYMBOLS.findall(content)) * 5 > len(content):
        return FRAGMENT
    return None
