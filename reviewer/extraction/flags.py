"""What a person should know before promoting a candidate (`users.md`, Secrets and injection)."""

from __future__ import annotations

import re
from functools import cache

from reviewer.sources.records import Role

MASKED = "secret"
INJECTION = "injection"
LOOK_ALIKE = "look-alike"

_MASK = "[masked "
"""How a masked secret begins (`text/secrets.py`)."""
_SAID_BEFORE = (
    r"(?:instructions?|directives?|messages?|rules?|prompts?|guidelines?|guidance|guardrails"
    r"|restrictions?|directions?)"
)
_ORDERS = (
    # to drop what the person has said
    r"(?:ignore|disregard|forget|overrides?|bypass|violate|set aside) "
    r"(?:(?:all|any|every|each|of|the|my|these|those) )*"
    r"(?:(?:previous|prior|above|earlier|existing|original|system|safety|your|user['’]s) )+"
    rf"(?:\w+ )?(?:{_SAID_BEFORE}|(?<=safety )checks?)",
    rf"(?:ignore|disregard|forget|set aside) the {_SAID_BEFORE} above",
    r"(?:ignore|disregard|forget) (?:everything|anything|all) (?:(?:that )?you|above|before|prior)",
    r"(?:ignore|disregard) the (?:above|foregoing)\b",
    r"(?:not|stop|quit) follow(?:ing)? (?:the |your |any |these |those |(?:the )?user['’]s )+"
    rf"(?:\w+ )?{_SAID_BEFORE}",
    rf"(?:previous|prior|earlier|original|above) {_SAID_BEFORE} (?:are|were) "
    r"(?:no longer|not|now|void|cancell?ed|replaced|obsolete)\b",
    r"your (?:real|true|actual|new) (?:instructions?|task|goal|objective|purpose) (?:is|are)\b",
    # to be someone else
    r"you are now (?:an? |the |\w+, an? "
    r"|(?:in )?(?:developer|debug|admin|god|jailbreak|unrestricted))",
    r"you are no longer an? (?:\w+ )?(?:assistant|ai|model|agent)",
    r"from now on,? you are (?:an? |the )",
    r"(?:pretend|imagine|act as if) (?:that )?"
    r"you(?: are|['’]re) (?:the |an? )(?:system|admin|root)",
    r"act as if you (?:had|have) no|you have been granted",
    # what only a system says
    r"^\W{0,4}(?:system prompt|new instructions?|instructions?|system message) ?:",
    r"(?:^|\n)\W{0,2}\[(?:system|/?inst)\]|</?system>|<\|(?:im_start|system)",
    r"new instructions:",
    # to hand out what is not theirs
    r"\b(?:reveal|print|repeat|send|show|leak|output) (?:me )?(?:your|the) "
    r"(?:system prompt|api keys?|instructions|secrets?|credentials)",
    r"\b(?:send|post|upload|forward|exfiltrate|copy|e?mail)\b[^.!?\n]{0,80}?"
    r"(?:\.env\b|environment variables|api keys?|credentials|secrets?|tokens?|\.ssh|private keys?"
    r"|passwords?)[^!?\n]{0,40}? to (?:https?://|me\b|the (?:webhook|address|server|url)\b)",
    r"include (?:it|them|this|these|the contents?) in your (?:next )?(?:reply|response|answer)",
    # behind the person's back
    r"(?:do not|don['’]t|never) (?:tell|inform|notify|reveal|disclose|mention|show)\b"
    r"[^.!?\n]{0,30}\bthe user\b",
    r"secret from the user|without (?:telling|asking|informing|notifying|alerting) the user",
    r"(?:even if|whatever|no matter what|regardless of (?:what|whether)) the user\b",
    r"\b(?:run|execute)\b[^!?\n]{0,80}?"
    r"(?:\bdo not ask|\bdon['’]t ask|without (?:any )?confirmation|without asking)",
    # to whatever model reads it
    r"(?:if|since|as|because) you(?: are|['’]re) an? (?:ai|llm|language model|large language)\b",
    r"\bas an? (?:ai|llm|language)(?: language)? ?(?:model|assistant|agent)?,? you\b",
    r"(?:note|message|attention|notice)(?: to)?(?: the| all| any)? "
    r"(?:ai|llm|assistant|language model)s?\b",
    r"\bhey,? (?:claude|chatgpt|gpt|copilot|gemini|codex|cursor|assistant|ai)\b",
    r"\b(?:ai|llm)s?(?: agents?| assistants?| models?)? (?:reading|that reads?|who reads?) this",
    r"when(?:ever)? you read this",
    # to be remembered
    r"(?:save|add|write|commit|store|append)\b[^.!?\n]{0,40}? to (?:your )?(?:long-term )?memory"
    r"(?: that\b|:| and\b)",
    r"remember (?:this |it )?(?:permanently|forever|(?:for|in) all future)",
)
"""Each is lower case, and read wherever it stands in a statement."""
_CUES = (
    "instruction", "directive", "rule", "prompt", "guid", "guardrail", "restriction", "message",
    "direction", "checks", "everything", "anything", "the above", "foregoing", "you are", "you're",
    "you’re", "act as", "system", "inst]", "credential", "secret", "api key", "token", ".env",
    "environment", "ssh", "private key", "password", "the user", "confirmation", "asking", "t ask",
    "llm", "ai ", "ais ", "assistant", "language", "read this", "reads this", "reading this",
    "memory", "remember", "your real", "your true", "your actual", "your new", "all you",
    "all before", "all above", "all prior", "all that", "in your", "been granted", "hey", "ai,",
)  # fmt: skip
"""One of these stands in everything that `_ORDERS` find; looking for them first is cheap."""


_CYRILLIC_AND_GREEK = "аеорсухіјѕԁѵһԛԝАВЕКМНОРСТХЅІЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"
_LATIN = "aeopcyxijsdvhqwABEKMHOPCTXSIJABEZHIKMNOPTYXo"
_AS_LATIN = str.maketrans(_CYRILLIC_AND_GREEK, _LATIN)
"""Letters of other scripts that a reader takes for Latin ones (Unicode TR39, confusables)."""
_MIXED = re.compile(
    rf"[A-Za-z][{_CYRILLIC_AND_GREEK}]|[{_CYRILLIC_AND_GREEK}][A-Za-z]"  # side by side in a word
)
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


@cache
def _planted() -> re.Pattern[str]:
    """Made when it is first needed: most commands look at no new text."""
    return re.compile("|".join(f"(?:{order})" for order in _ORDERS))


def flags_of(content: str, role: Role) -> tuple[str, ...]:
    """MASKED where masked text is inside; INJECTION where it reads like an order planted in data;
    LOOK_ALIKE where a word mixes Latin letters with some of another script that look the same.

    What the person typed is theirs to order, so it is never flagged as planted.
    """
    found = []
    if _MASK in content:
        found.append(MASKED)
    if role is not Role.USER:
        lower = (content if content.isascii() else _as_it_looks(content)).lower()
        if any(map(lower.__contains__, _CUES)) and _planted().search(lower):
            found.append(INJECTION)
    if not content.isascii() and _MIXED.search(content):
        found.append(LOOK_ALIKE)
    return tuple(found)


def _as_it_looks(content: str) -> str:
    """A text as a reader takes it: look-alikes as the letters they look like, nothing unseen."""
    return _UNSEEN.sub("", content).translate(_AS_LATIN)
