"""Flags text that reads like an instruction to an agent.

Only a warning: the frame around recalled text is what keeps it inert (`text.for_agents`).
"""

from __future__ import annotations

import re

_AGENT = r"(?:ai|llm|language model|(?:ai |coding )?(?:assistant|agent|model)|chat ?bot)s?"
_ORDERS = r"(?:instruction|directive|rule|prompt|guideline|guardrail|restriction|message)s?"
_EARLIER = r"(?:previous|prior|above|earlier|existing|original|system|safety|your)"

_ORDER = re.compile(
    # Only alternatives whose first letter starts a word are tried. (`\b` is slower.)
    r"(?<!\w)(?:"
    # ignore previous instructions
    rf"(?:ignore|disregard|forget|override|bypass|stop following)s?\b.{{0,20}}\b{_EARLIER}\b"
    rf".{{0,30}}\b(?:{_ORDERS}|checks|restrictions)\b"
    r"|disregard the above\b|forget everything (?:you|above|before)"
    rf"|{_EARLIER} {_ORDERS} (?:are|is) (?:no longer|not) valid"
    # change identity
    r"|you are now (?:dan\b|an? un|in (?:developer|debug|admin|god) mode)"
    r"|(?:act|pretend|behave)\b.{0,20}\b(?:no|without|unrestricted)\b.{0,20}\brestrict"
    # hide something from the person
    r"|without (?:telling|asking|informing|notifying) the (?:user|person|owner|human)\b"
    r"|(?:do not|don['’]t|never) (?:tell|mention|inform|reveal|show)\b.{0,30}\bthe user\b"
    # reveal private data
    r"|(?:reveal|print|repeat|show|output|send)\b.{0,20}\b(?:system prompt|your instructions)\b"
    r"|(?:send|upload|post|forward|copy|exfiltrate)\b.{0,60}(?:\.env\b|\.ssh\b|environment"
    r" variables|credentials|api keys?|private keys?|passwords?)\b.{0,40}\bto\b"
    # address the reader as an agent
    rf"|if you are an? {_AGENT}\b|(?:note|attention|message)(?: to)? (?:all )?{_AGENT}\b"
    rf"|{_AGENT} reading this\b|when you read this, (?:run|execute|do|add|delete|send)\b"
    # act or remember without asking
    r"|(?:run|execute)\b.{0,60}\b(?:do not ask|without confirmation|without asking)"
    r"|(?:save|add|write) (?:this )?to (?:your )?memory\b"
    r"|remember (?:permanently|for all future)"
    r")"
)
"""In lower case, like the next one."""
_HEADING = re.compile(r"\W*(?:(?:system(?: prompt)?|new instructions)\W*: ?\w|\[system\])")


def looks_injected(lower: str) -> bool:
    """Whether a lower-case statement reads like an instruction planted for an agent."""
    return bool(_ORDER.search(lower) or _HEADING.match(lower)) or "<system>" in lower
