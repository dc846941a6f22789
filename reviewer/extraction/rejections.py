"""Rejecting text before any rule sees it: questions, narration, thanks, fragments, placeholders.

Every rejection has a reason in words, for `dropped.ndjson`.
"""

from __future__ import annotations

import re
from functools import cached_property

SHORTEST_STATEMENT, LONGEST_STATEMENT = 8, 280
"""Characters of a candidate's content after cleaning, both inclusive."""

TOO_SHORT = "below min content length"
TOO_LONG = "above max content length"
QUESTION = "question"
NARRATION = "status narration"
THANKS = "thanks or greeting"
FRAGMENT = "fragment without a statement"
PLACEHOLDER = "placeholder"
CLIENT_TEXT = "text of the client"
TOOL_OUTPUT = "tool output"
RESTATES_BOOT = "restates boot text"


class _Start:
    """A lower-case pattern that matches the start of a text in any case.

    ASCII text is lowered first: matching it with IGNORECASE is several times slower.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._lower = re.compile(pattern)

    def match(self, text: str) -> bool:
        if text.isascii():
            return self._lower.match(text.lower()) is not None
        return self._any_case.match(text) is not None

    @cached_property
    def _any_case(self) -> re.Pattern[str]:
        """Compiled on first use, which takes longer than many matches."""
        return re.compile(self.pattern, re.IGNORECASE)


_OPENERS = (
    r"(?:(?:ok(?:ay)?|good|great|perfect|excellent|nice|alright|right|now|so|and|then|next|also"
    r"|first|second|finally"
    r"|clean|clear|done|sure|yes|yeah|got it|i see|all (?:green|clean|good|tests pass)|wait"
    r"|hmm+|actually|interesting"
    r"|but|oh|ah|meanwhile|while \w+ing[^,]{0,60})\b[\s,.:;!—–-]*){0,4}"
)
_NARRATION = _Start(
    rf"^{_OPENERS}(?:"
    r"(?:let me|let's|let us|lemme|i'll|i will|i'm going to|i am going to|i'm (?:now )?\w+ing"
    r"|i am now|i'd like to"
    r"|i(?: now)? (?:need|want|have) to (?:check|look|see|read|find|verify|understand|run"
    r"|re-?read|review|explore|continue"
    r"|fix|update|add|make)"
    r"|time to|we need to (?:check|look|see|read)|(?:running|checking|reading|looking for"
    r"|looking into|searching|fetching|verifying"
    r"|building|updating|fixing|adding|starting|testing|waiting|committing|pushing|creating"
    r"|writing|continuing) "
    r"|here(?:'s| is| are) (?:a|the|my|your|what i|an)\b[^:]{0,60}:?$|this is (?:a|the) summary"
    r"|see you)"
    r"|now (?:i|we|the|add|fix|update|rename|resolve|run|write|create|remove|check|also|for"
    r"|build|commit|make|in|to)\b"
    r"|(?:i )?(?:have|now have|understand|can (?:now )?see) (?:a |the |all |now )?(?:clear|full"
    r"|good|complete|everything|whole"
    r"|pattern|picture|files?|context|issue|what)\b.{0,40}$"
    r"|(?:add|fix|update|rename|resolve|run|write|create|remove|check|build|commit)\b[^.]{0,60}:$"
    r")",
)
_REASON = re.compile(
    r"\b(?:since|because|already|instead of|no longer|now (?:always|that|allowed)"
    r"|that's (?:what|why|how)|noticed"
    r"|means?|so (?:the|it|we|that|there))\b|\([^()]*\b(?:is|are|do|does|since|needed|needs"
    r"|should|already)\b"
)
_SPECIFIC = re.compile(r"`[^`]{2,}`|\w[._/]\w|[a-z][A-Z]|\d")
_LATER_CLAUSE = re.compile(r"\s[—–-]\s+")
_DONE = r"(?:done|fixed|pushed|committed|merged|finished|complete|ready|replied|updated|addressed)"
_STATUS_FORMS = (
    rf"{_DONE}(?:(?:,| and|, and| &) (?:\w+ )?{_DONE})*",
    rf"(?:all|both|\d+)\b.{{0,50}}\b(?:are |is |been |now )*(?:{_DONE}|resolved|in place).{{0,30}}",
    r"all (?:tests?|checks?|\d+ tests?|green|clean|good|set)\b.{0,60}",
    r"(?:the )?(?:tests?|build|lint|ci|everything)\b.{0,20}\b(?:pass(?:es|ed|ing)?|clean|green"
    r"|succe\w+)"
    r"\b.{0,40}",
    r"(?:it|this|that|the (?:file|code|output)) (?:exists|works|is clean|looks (?:clean|good"
    r"|fine|right))"
    r".{0,20}",
    r"works|clean build|0 issues|looks? good.{0,20}",
    r"no (?:issues|errors|problems)\b.{0,30}",
)
_STATUS = _Start(rf"^{_OPENERS}(?:{'|'.join(_STATUS_FORMS)})[.!]*$")
_SUCCESS = _Start(rf"^{_OPENERS}.{{0,40}}\bcompletes? successfully[.!]*$")
_THANKS = _Start(
    r"^(?:thanks?\b|thank you|thx|cheers|hi\b|hello\b|hey\b|good (?:morning|evening)"
    r"|you're (?:absolutely )?(?:right|welcome)"
    r"[.!]*$|sorry\b.{0,40}$|great (?:question|idea|work|job)[.!]*$|happy to\b|glad\b"
    r"|want me to\b|shall i\b|would you like"
    r"|let me know\b|feel free\b|if you(?:'d| would) like|just (?:let me know|say)|sounds good)",
)
_PLACEHOLDER = _Start(
    r"^(?:tbd|todo|n/?a|none|fixme|wip|lorem ipsum|\.\.\.|…|xxx+|placeholder|your \w+ here"
    r"|insert \w+|example)\b.{0,20}$"
)
_INSIDE_PLACEHOLDER = re.compile(
    r"<(?:your|insert|name|placeholder|project|title|date)[^>]{0,40}>|\{\{[^}]{1,60}\}\}"
    r"|\[(?:insert|your|tbd|todo|name"
    r"|date|title|description|request interrupted|image|pasted)[^\]]{0,60}\]",
    re.IGNORECASE,
)
_CLIENT = _Start(
    r"^(?:if you need specific details from before exiting plan mode"
    r"|please continue the conversation from where"
    r"|\[request interrupted|\[image|\[pasted text|this session is being continued"
    r"|caveat: the messages below"
    r"|the user (?:doesn't want to proceed|has approved your plan)|no response requested"
    r"|api error)",
)
_ONLY_LINK = re.compile(
    r"[^\w!\[]{0,3}(?:[\w ]{1,40}[:-] )?!?\[[^\]]{0,200}\]\([^)\s]{0,300}\)\W{0,5}$|[^\w!]{0,3}!\["
)
_PRINTED = re.compile(r"\s*\d+[→│|]|@@ |diff --git |[-+]{3} [ab]/")
_NUMBERED = re.compile(r"\s\d+→")
"""Lines of tool output: numbered, or as a diff."""
_THREE_WORDS = re.compile(r"(?:[\W\d_]*+[^\W\d_]++){3}")
_SYMBOLS = re.compile(r"[^\w\s.,'\"`()-]")
_NO_SYMBOLS = bytes(code for code in range(128) if not _SYMBOLS.match(chr(code)))


def rejection(content: str, raw: str) -> str | None:
    """Why a passage must not be proposed, or None. `content` is cleaned, `raw` is not."""
    size = len(content)
    if size < SHORTEST_STATEMENT:
        return TOO_SHORT
    if size > LONGEST_STATEMENT:
        return TOO_LONG
    if raw.rstrip("*_ \t\n)\"'").endswith("?"):
        return QUESTION
    if _CLIENT.match(content):
        return CLIENT_TEXT
    if _THANKS.match(content):
        return THANKS
    if _STATUS.match(content) or (narrated(content) and not gives_reason(content)):
        return NARRATION
    if "successfully" in content.casefold() and _SUCCESS.match(content):
        return NARRATION
    # Looking for these characters first saves a slower search in most passages.
    inside = "<" in content or "[" in content or "{{" in content
    if _PLACEHOLDER.match(content) or (inside and _INSIDE_PLACEHOLDER.search(content)):
        return PLACEHOLDER
    if (content[0] == "d" or not content[0].isalpha()) and _PRINTED.match(content):
        return TOOL_OUTPUT
    if "→" in content and _NUMBERED.search(content):
        return TOOL_OUTPUT
    if ("](" in content or "![" in content) and _ONLY_LINK.match(content):
        return FRAGMENT
    if _THREE_WORDS.match(content) is None or _symbols(content) * 5 > size:
        return FRAGMENT
    return None


def _symbols(content: str) -> int:
    """How many characters are neither words nor punctuation of prose."""
    if content.isascii():
        return len(content.encode().translate(None, _NO_SYMBOLS))
    return len(_SYMBOLS.findall(content))


def narrated(content: str) -> bool:
    """Whether a sentence only announces the next step of its speaker."""
    return _NARRATION.match(content)


def gives_reason(content: str) -> bool:
    """Whether narration also gives a reason about something named, so that it may be a finding."""
    return len(content) >= 60 and bool(_REASON.search(content) and _SPECIFIC.search(content))


def after_narration(raw: str) -> int:
    """Where the finding begins in `Let me check X - it returns Y`; 0 without narration."""
    match = _LATER_CLAUSE.search(raw) if "-" in raw or "—" in raw or "–" in raw else None
    if match is None or not narrated(raw):
        return 0
    return match.end() if len(raw) - match.end() >= 40 else 0
