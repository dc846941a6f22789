"""Messages as statements that say something and can stand alone, each with what it is about.

A sentence that leans on the one before it brings that one along; a list brings its lead-in; what
cannot stand alone is left out. Code, logs and narration ("Let me look at ...") are not statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from reviewer.compression.offline.events import Message, Voice
from reviewer.text.units import Unit, UnitKind, units


class About(StrEnum):
    """What a statement is about, which decides where in a summary it belongs."""

    DONE = "done"
    FOUND = "found"
    CAUSE = "cause"
    DECISION = "decision"
    NEXT = "next"
    INSTRUCTION = "instruction"
    OFFER = "offer"
    LIST = "list"
    TALK = "talk"


class Statement(Struct, frozen=True):
    """`text` on one line; `turn` and `order` say where it is; `source` is its verbatim span."""

    text: str
    turn: int
    order: float
    about: About
    source: str
    voice: Voice = Voice.AGENT
    name: str = ""
    closing: bool = False
    """Whether it is in the last message before the person speaks."""
    numbered: int = 0
    """Numbered items that it lists."""
    lead: str = ""
    """How a list begins, where the text is one part of it."""


LONGEST = 420
"""Characters of a statement."""
LONGEST_LIST = 700
LONGEST_WORDS = 900
"""Characters of a person's message that are kept together."""

_EMPHASIS = re.compile(r"\*\*(.+?)\*\*|__(.+?)__")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\((?:[^()\s]+)\)")
_LEANS = re.compile(
    r"(?:this|that|these|those|it|its|they|them|their|he|she|both|which|the same|such|so|then|there"
    r"|here|instead|otherwise|however|but|and|or|also|because|since|that's|it's|they're)\b",
    re.IGNORECASE,
)
_LEAD_IN = (
    r"(?:(?:ok(?:ay)?|good|great|perfect|excellent|right|alright|nice|done|sure|yes|hmm|wait|oh|now"
    r"|so|first|next|then|finally|actually)\b[\s,.:!–—-]*)*"
)
_BUSY = (
    r"|i(?:'m| am) (?:going to|(?:now |also |just |next |still )?"
    r"(?!seeing|assuming|getting|missing|using|hitting|leaving|keeping)\w+ing\b)"
    r"|i need to (?:look|check|read|see|find|understand)|checking|looking|reading|running|trying"
    r"|waiting|now (?:i|let|the|we|add|update|run|create)\b(?! (?:is|are|has)))"
)
_FOREIGN = (
    r"(?:(?:maintenant|ensuite|puis|d'abord|ok|parfait|jetzt|nun|dann|zuerst|gut|ahora|primero|luego)"
    r"\b[\s,.:!–—-]*)*(?:je (?:vais|commence|passe|lance|vérifie|lis|cherche|regarde)\b"
    r"|ich (?:werde|beginne|fange|schaue|prüfe|sehe|lese|suche|starte)\b|(?:voy|vamos) a\b"
    r"|vou \w+r\b|procedo\b)|(?:好的?|现在|首先|接下来|然后|下面)?[，,、：:\s]*"
    r"(?:我(?:将|会|先|来|去|再|现在)|接下来|下面我|让我)|これから|次に"
)
"""How an announcement begins in other languages."""
_NARRATION = re.compile(
    rf"(?:{_LEAD_IN}(?:let me|let's|i'?ll(?! (?:not|never)\b)|i will(?! (?:not|never)\b){_BUSY}"
    rf"|{_FOREIGN})",
    re.IGNORECASE,
)
_STEP = re.compile(
    rf"{_LEAD_IN}(?:let me|let's (?:look|check|see|run|start|verify|try|also)"
    r"|i'?ll (?:now |also |first |then )?(?:look|check|read|search|start|begin|explore|examine|run"
    r"|see|verify|continue|create|update|add|fix|make|use|do|also|investigate|review|take|write"
    rf"|help|go|get|try|find|proceed|launch){_BUSY}",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"(?:(?:ok(?:ay)?|good|great|perfect|excellent|nice|done|sure|all (?:good|done|clean|set)|clean"
    r"|you're (?:absolutely )?right|(?:that's )?(?:an? )?(?:good|great|excellent|helpful|fair)"
    r" (?:point|question|catch|idea|context|news|call)|no (?:problem|worries)|thanks?(?: you)?"
    r"|that's helpful(?: context)?|got it|understood|makes sense"
    r"|now i (?:have|see|understand)\b.{0,60}|i see(?: the (?:issue|problem))?"
    r"|(?:i apologi[sz]e|i'm sorry|sorry|my apologies|apologies)\b.{0,60}"
    r"|you're asking (?:exactly )?the right question|ignoring that"
    r"|you(?:'re| are) (?:absolutely |completely )?(?:right|correct)\b.{0,40}"
    r"|here(?:'s| is| are)\b.{0,60}|both (?:pass|good))[\s.!:,–—-]*)+$",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|excellent|nice|sure|alright|done|got it|right)[.!,:]?\s+"
    r"(?:[–—-]\s*)?)+(?=(?-i:[A-Z`*]))"
    r"|^(?:that's an? )?(?:good|great|excellent|fair) (?:question|point|catch|idea)\b[\s.!,:–—-]+",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"^(?:(?:good|great|bad) news\b|(?:oh,? |hmm,? )?wait\b)[\s.,:!…–—-]+"
    r"(?:(?:i notice|i see)(?: that)? )?(?=[\w`])",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"root cause|\bbecause\b|the (?:issue|problem|bug|cause|culprit|reason|error) (?:is|was|here)"
    r"|turns? out|found it|due to|caused by|(?:that|this|which)(?:'s| is| explains)? why|why it"
    r"|happens when|the fix\b|so that\b.*\bnever|doesn't work|never (?:fires|runs|gets)",
    re.IGNORECASE,
)
_SURE_CAUSE = re.compile(
    r"root cause|the (?:issue|problem|bug|cause|culprit|reason|error) (?:is|was)|turns? out"
    r"|found it",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\bdecided\b|\bdecision(?: is| was|:)"
    r"|^(?!if|when|once|that|maybe)(?!.*\bwould\b).*\b(?:instead of|rather than)\b"
    r"|\bwe(?:'ll| will| should) (?:use|keep|go|not)"
    r"|\bagreed\b"
    r"|\bgo(?:ing)? with\b|\bchose|\bchosen\b|\bkeep(?:s|ing)? (?:the|HEAD|ours|theirs|both)\b"
    r"|\btook?"
    r" (?:theirs|ours)\b|\bpass(?:ed|ing)? .{3,40} as an? (?:parameter|argument)\b|\bby design\b"
    r"|\bon purpose\b|\bdeliberate",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"^\W*remaining\b|\b(?:still|that|which|tasks?|items?|steps?|issues?|files?|conflicts?|work)"
    r" remains?\b|\bremains? (?:to be|open|unresolved)\b|\bpending\b|\bnot yet\b"
    r"|\bstill (?:needs?|to|open|missing|fail)"
    r"|(?<!longer )(?<!n't )\bneeds? to\b(?!\W*$)|\bnext steps?\b|\btodo\b|\bfollow[- ]?up\b"
    r"|\bseparate (?:pr|issue|commit)\b"
    r"|\bfor later\b|\bout of scope\b|\bdefer(?:red|ring)? (?:to|until|for|this|that|it)\b"
    r"|\bblocked (?:on|by)\b|\bnot (?:committed|pushed"
    r"|tested)\b"
    r"|\bopen question|\binvestigate\b",
    re.IGNORECASE,
)
_DEFERRED = re.compile(
    r"\bseparate (?:pr|issue|commit|task)\b|\bfor later\b|\bout of scope\b"
    r"|\bdefer(?:red|ring)? (?:to|until|for|this|that|it)\b|\btodo\b"
    r"|\bfollow[- ]?up\b|\bopen question|\bblocked (?:on|by)\b|\bpending\b",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"^if you(?:'d)? (?:want|like|prefer|need)\b|^(?:i can|happy to)\b.{0,200}\bif you\b"
    r"|^(?:let me know|tell me) (?:if|which|when|how|what)\b"
    r"|(?:want me to|shall i|should i|would you like|do you want|ready to|let me know"
    r"|which (?:one|of"
    r"|approach|option)|what do you (?:think|prefer))\b.*\?|\?\s*$",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"^(?:\W*+\b(?:i(?:'ve| have)?|we(?:'ve| have)?|now|also|all|both)\s++)?\W*+(?:add|creat|fix"
    r"|updat|remov|renam|replac|commit|push|merg|mov|delet|implement|chang|refactor|extract|inlin|wrote"
    r"|repl(?:ied|aced)|resolv|switch|convert|clean|simplif|pass|test|built|build|wir|support)\w*",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(
    r"\b(?:don'?t|do not|never|always|must|should(?:n'?t)?|make sure|only|instead|rather|prefer"
    r"|please (?:keep|use|avoid)|we (?:use|want|need|don'?t|never|always|should)|i (?:want|prefer"
    r"|don'?t|would|'d)|no[,.]|nope|wrong|actually|not (?:that|what|the)|keep|remember"
    r"|stop (?:\w+ing|it|that|this)|avoid|without|use)\b",
    re.IGNORECASE,
)
_LEADS_ON = re.compile(
    r"(?:here|below|(?:the )?following|to (?:help|do|use|run|apply)|this (?:is|version|shows))\b",
    re.IGNORECASE,
)
"""How a line begins that only leads on to code."""
_QUOTED = re.compile(r"[\"\u201c][^\"\u201c\u201d]*[\"\u201d][.?!]?")
_MOMENT = re.compile(
    r"(?:ok(?:ay)?|good|great|perfect|excellent|nice|clean|hmm|interesting|ah)\b[\s,.!:–—-]+.{0,70}"
    r"|(?:\w+ ){0,6}(?:tests?|checks?|lint(?:er)?|build|ci|everything|fmt"
    r"|formatting|compilation|type ?check)\b.{0,40}\b(?:pass(?:es|ed|ing)?|green|clean|succeed\w*"
    r"|fails?|failed|failing)\b.{0,30}|(?:two|three|several|a few|some) (?:issues|problems|things)"
    r" here|all (?:green|clean|pass(?:ing|ed)?|done|good)\b.{0,30}",
    re.IGNORECASE,
)
"""What is true for a moment, as an agent says it on the way; events tell it better."""
MOMENTARY = 200
"""Characters of the longest such sentence."""
_REMAINS = re.compile(
    r"\s*\d+\s*→|</?\w+>\s*$|[<>=]{5,}"
    r"|(?:i'm|i am|we're|still)"
    r" (?:still )?waiting (?:for|on)\b",
    re.IGNORECASE,
)
"""Pasted lines of files, and thinking aloud."""
FOREIGN_INSTRUCTION = re.compile(
    r"不要|别|不得|禁止|不能|不准|不许|请勿|必须|务必|一律|始终|永远|只能|只用|总是|以后"
    r"|ないで|してはいけ|必ず|하지 ?마|반드시"
    r"|\b(?:nicht|nie(?:mals)?|kein\w*|immer|muss|müssen|nur|stets|statt|ohne|jamais|toujours|sans"
    r"|seulement|uniquement|doit|évite[rz]?|nunca|siempre|sin|solo|não|sempre|mai|non"
    r"|n(?:e\b|['’]).{1,40}\b(?:pas|plus|rien))\b"
    r"|(?<!\w)(?:لا|ممنوع|يجب|دائما|دائمًا|أبدا|أبدًا|فقط|بدون|تجنب)(?!\w)|\bне\b|\bникогда\b|\bвсегда\b",
    re.IGNORECASE,
)
"""The same in other languages."""
WIDE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Runs of scripts that put no spaces between words."""
_NUMBER = re.compile(r"\(?\d{1,3}[.)]")
_TABLE_RULE = re.compile(r"^[\s|:+=┌┬┐├┼┤└┴┘─━-]*$")
_BOX = re.compile(r"[│┌┐└┘├┤┬┴┼─━▸▾●○╭╰]")
_WORD = re.compile(r"[^\W\d_]{2,}")


def statements(message: Message, *, closing: bool = False) -> list[Statement]:
    """The statements of an agent's, sub-agent's, speaker's or summary's message, in order."""
    return list(_Splitter(message, closing).run())


def plain(text: str) -> str:
    """A text on one line, without emphasis, links and decoration."""
    text = _EMPHASIS.sub(lambda found: found[1] or found[2], text)
    text = _LINK.sub(r"\1", text).replace("**", "")
    return " ".join(text.split())


_ASIDE = re.compile(
    r"[,;:] (?:so |and |then )*(?:(?:i(?:'|\u2019)m|i am) (?:(?:now|also|just) )?\w+ing\b"
    r"|i(?:'|\u2019)ll\b(?! (?:not|never)\b))(?:[^.!?`]|`[^`]*`|[.!?](?=\S))*",
    re.IGNORECASE,
)
"""What an agent says it is about to do, behind what it found."""


def straight(text: str) -> str:
    """A text with plain apostrophes, for comparing: many agents write typographic ones."""
    return text.replace("\u2019", "'")


def is_instruction(text: str) -> bool:
    """Whether a person's words say how something has to be done, or must not be."""
    text = straight(text)
    return bool(INSTRUCTION.search(text) or FOREIGN_INSTRUCTION.search(text))


_CORRECTS = re.compile(
    r"\W*(?:no\b|don'?t|do not|never|stop|please|shouldn'?t|why (?:not|don'?t|did(?:n'?t)? you)"
    r"|(?:can|could|would) (?:you|we) (?:not|please|instead|rather|stop|avoid))\b|.*\binstead\b",
    re.IGNORECASE,
)
"""How a question begins, or what it has, that asks for something to be done otherwise."""
_ASKS_TO_EXPLAIN = re.compile(
    r"\W*(?:(?:so|ok(?:ay)?|and|now|but|question|learning q)\b[\s,:]*)*"
    r"(?:can|could|would) (?:you|yu|u|we) (?:please )?(?:clarify|explain|describe|summari[sz]e)\b",
    re.IGNORECASE,
)
"""How a message begins that asks about what it quotes."""
_OWN_DOINGS = re.compile(
    r"\W*(?:(?:and|so|but|also|yeah|hmm)\b[\s,]*)*(?:i|we)(?:'ve| have(?! to)| had(?! to)"
    r"| did(?!n't)| tried| just| ran| continued| moved| got| see| saw| still| was| were| added"
    r"| made)\b",
    re.IGNORECASE,
)
"""How a sentence begins in which the person tells what they did or saw."""


def tells_of(text: str) -> bool:
    """Whether a person's words begin by telling what they did or saw."""
    return bool(_OWN_DOINGS.match(straight(text)))


_SENTENCES = re.compile(r"(?<=[.!?\uff1f\u061f])\s+|\n+")


def is_order(text: str) -> bool:
    """Whether a person's words say how something has to be done, in a sentence that is no
    question, or in a question that corrects.
    """
    text = straight(text)
    if _ASKS_TO_EXPLAIN.match(text) and not _CORRECTS.match(text):
        return False
    return any(
        is_instruction(each)
        and not _OWN_DOINGS.match(each)
        and (_CORRECTS.match(each) or not each.rstrip(' ")').endswith(("?", "\uff1f", "\u061f")))
        for each in _SENTENCES.split(text)
    )


def is_announcement(text: str) -> bool:
    """Whether a sentence only says what its speaker is about to do."""
    return bool(_NARRATION.match(straight(text)))


def is_step(text: str) -> bool:
    """Whether a sentence announces the step that follows at once, and so promises nothing."""
    return bool(_STEP.match(straight(text)))


_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|good|great|perfect|now|so|and|next|then|first|also|done|right|alright)\b"
    r"[\s,.:!–—-]*)*(?:let me|let's|i'?ll|i will|i need to|i'm going to|i should|we need to"
    r"|(?:i'm|i am) (?:(?:also|now|just|next|still) )?(?=\w+ing\b))\s*"
    r"(?:also |now |first |then )*",
    re.IGNORECASE,
)


def is_deferred(text: str) -> bool:
    """Whether a statement puts something off explicitly."""
    return bool(_DEFERRED.search(text))


def intent(text: str) -> str:
    """What an announcement is about to do, without "Let me" and "I'll"; empty if that is little."""
    lead = _LEAD.match(straight(text))
    short = text[lead.end() :].strip() if lead else text.strip()
    short = re.sub(r"^(?:now|next|then)\s+", "", short, flags=re.IGNORECASE)
    several = len(_WORD.findall(short)) >= 4 or sum(map(len, WIDE.findall(short))) >= WIDE_INTENT
    return short if several else ""


WIDE_INTENT = 10
"""Characters of a script without spaces that say as much as four words."""


_TO_DO = re.compile(
    r"(?:let me|let's|i'?ll|i will|i need to|i'm going to|i should|we need to)\b", re.I
)


def purpose(text: str) -> str:
    """What an announcement is for, as the purpose of what follows: "To fix the call sites".

    Where it announces nothing, the text itself.
    """
    short = intent(text)
    lead = _LEAD.match(straight(text))
    promised = lead is not None and _TO_DO.search(lead[0]) is not None
    return f"To {short[:1].lower()}{short[1:]}" if short and promised else upper_first(short)


def upper_first(text: str) -> str:
    """A text that begins with a capital letter, unless it begins with a name."""
    word = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if word.isalpha() and word.islower() else text


def person_words(text: str, longest: int = LONGEST_WORDS) -> str:
    """A person's message on one line; pasted logs and code are replaced by a remark."""
    kept: list[str] = []
    whole = text
    text, pasted = _without_logs(text)
    for unit in units(text):
        piece = text[unit.start : unit.end]
        if unit.kind in (UnitKind.CODE, UnitKind.TRACE) or _is_data(piece):
            pasted += piece.count("\n") + 1
            if pasted <= 2 and not kept:
                kept.append(_cut(plain(piece), 160))
            continue
        words = " ".join(piece.split())
        if _NUMBER.match(unit.marker):
            words = f"{_numbered(unit.marker)} {words}"
            if kept and kept[-1][-1:] not in ".:;?!":
                kept[-1] += ";"
        kept.append(words)
    words = _without_echo(" ".join(kept))
    if pasted > 2:
        point = [each for each in _points_of(whole) if each not in words]
        more = f": {'; '.join(point)}" if point else ""
        words = f"{_ends(words, longest)} [and {pasted} pasted lines{more}]".strip()
    return _ends(words, longest)


_FAILURE = re.compile(
    r"^.{0,40}?(?:--- FAIL: |\bFAILED +(?=\S)|\b(?:panic|fatal|error(?:\[\w+\])?|Error|ERROR): "
    r"|\b\w+(?:Error|Exception): |Error Trace: |✗|✘|×).*$"
    r"|^[^\S\n]*+\S{1,300}\.\w{1,5}:\d+(?::\d+)?: .*$",
    re.MULTILINE,
)
"""A line of what the person pasted that says what went wrong."""
MOST_POINTS = 4
POINT_CHARS = 110
PASTED_CHARS = 20_000


def _points_of(text: str) -> list[str]:
    """The lines of a pasted output that say what went wrong, the last ones where there are many."""
    found = (" ".join(each[0].split()) for each in _FAILURE.finditer(text[-PASTED_CHARS:]))
    return [_cut(each, POINT_CHARS) for each in dict.fromkeys(found)][-MOST_POINTS:]


_LOGGED = re.compile(
    r"^.{0,24}\b\d\d:\d\d:\d\d\b.{0,12}(?:\||\[|\b(?:DEBUG|DEBU|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b)"
    r"|(?<!\S)(?:[\w.]+=\S+[ \t]+){2}[\w.]+=\S"
)
"""A line that a program wrote into its log."""


def _without_logs(text: str) -> tuple[str, int]:
    """A message without the log lines pasted into it but for the first, and how many went."""
    lines = text.split("\n")
    logged = [line for line in lines if _LOGGED.search(line)]
    if len(logged) < 2:
        return text, 0
    first = logged[0]
    kept = [_cut(line, 160) if line is first else line for line in lines if line not in logged[1:]]
    return "\n".join(kept), max(len(lines) - len(kept), len(logged) - 1)


LAST_SHARE = 0.3


def _ends(text: str, longest: int) -> str:
    """The beginning and the end of a text that is too long: many requests end with the task."""
    if len(text) <= longest + 40:
        return text
    last = text[-int(LAST_SHARE * longest) :]
    last = last[last.find(" ") + 1 :]
    return f"{_cut(text, longest - len(last))} {last}"


def _without_echo(words: str) -> str:
    """Words that a client wrote twice, the first time with its command: `/ask why? why?`."""
    rest = words.partition(" ")[2] if words.startswith("/") else words
    half = len(rest) // 2
    return rest[:half] if half > SHORT_ECHO and rest[:half] == rest[half + 1 :] else words


SHORT_ECHO = 8


def _numbered(marker: str) -> str:
    """The number of a list item on a line that has others: `2)`."""
    return f"{marker.strip('().')})"


def _is_chatter(words: str) -> bool:
    return len(words) <= 160 and bool(_CHATTER.match(straight(words)))


def _is_data(text: str) -> bool:
    """Whether a line is made by a machine: mostly signs, or long without sentences."""
    if len(text) < 40:
        return False
    if sum(map(len, WIDE.findall(text))) > len(text) / 4:
        return False
    letters = sum(char.isalpha() or char == " " for char in text)
    return letters < 0.62 * len(text) or (len(text) > 240 and text.count(" ") < len(text) / 30)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    at = max(text.rfind(" ", longest // 2, longest), longest // 2)
    return f"{text[:at].rstrip(' ,;:')} …"


class _Splitter:
    """Groups the units of one message into statements."""

    def __init__(self, message: Message, closing: bool) -> None:
        self._message = message
        self._closing = closing
        self._text = message.text
        self._number = 0
        self._headings: set[str] = set()

    def run(self) -> Iterator[Statement]:
        block: list[Unit] = []
        for unit in units(self._text):
            if block and not self._joins(block[-1], unit):
                yield from self._block(block)
                lead = block[-1] if self._leads(block) else None
                block = [lead] if lead is not None and self._continues(unit) else []
            block.append(unit)
        yield from self._block(block)

    def _joins(self, before: Unit, unit: Unit) -> bool:
        if unit.kind is UnitKind.SENTENCE and before.kind is UnitKind.SENTENCE:
            return unit.block == before.block
        lists = (UnitKind.LIST_ITEM, UnitKind.TABLE_ROW)
        return unit.kind in lists and unit.kind is before.kind

    def _leads(self, block: Sequence[Unit]) -> bool:
        return self._text[block[-1].start : block[-1].end].rstrip("*_ ").endswith(":")

    def _continues(self, unit: Unit) -> bool:
        return unit.kind in (UnitKind.LIST_ITEM, UnitKind.TABLE_ROW)

    def _words(self, unit: Unit) -> str:
        return plain(self._text[unit.start : unit.end])

    def _block(self, block: list[Unit]) -> Iterator[Statement]:
        if not block:
            return
        kind = block[-1].kind
        if kind is UnitKind.SENTENCE:
            yield from self._paragraph(block)
        elif kind is UnitKind.HEADING:
            words = self._words(block[-1])
            if words.endswith((".", "!", "?")) and words.count(" ") >= 4 and self._says(words):
                yield self._made(words, block[-1].start, block[-1].end)
        elif kind in (UnitKind.LIST_ITEM, UnitKind.TABLE_ROW):
            leading = block[0].kind in (UnitKind.SENTENCE, UnitKind.HEADING)
            lead = self._words(block[0]).rstrip(" :") if leading else ""
            items = block[1:] if lead else block
            yield from self._items(lead or plain(items[0].heading).rstrip(" :"), items)

    def _paragraph(self, block: Sequence[Unit]) -> Iterator[Statement]:
        heading = plain(block[0].heading).rstrip(" :")
        before = ""
        start = block[0].start
        for at, unit in enumerate(block):
            words = _OPENER.sub("", _NEWS.sub("", self._words(unit)))
            words = self._without_asides(words)
            if words.endswith(":") and at == len(block) - 1:
                if before:
                    yield self._made(before, start, block[at - 1].end)
                if is_announcement(words) or (len(words) > 60 and not _LEADS_ON.match(words)):
                    yield self._made(words.rstrip(":"), unit.start, unit.end)
                return
            if not self._says(words):
                before = "" if not words else before
                continue
            if _LEANS.match(straight(words)):
                if before and len(before) + len(words) < LONGEST:
                    yield self._made(f"{before} {words}", start, unit.end)
                elif heading and at == 0 and heading not in self._headings:
                    self._headings.add(heading)
                    joint = "" if heading.endswith(("?", "!")) else ":"
                    yield self._made(f"{heading}{joint} {words}", unit.start, unit.end)
                elif (
                    self._message.voice in (Voice.SPEAKER, Voice.NOTE)
                    or len(words) > 80
                    or (self._closing and unit.end - unit.start == len(self._text))
                ):
                    yield self._made(words, unit.start, unit.end)
                before = ""
                continue
            if before:
                yield self._made(before, start, block[at - 1].end)
            before, start = words, unit.start
        if before:
            yield self._made(before, start, block[-1].end)

    def _without_asides(self, words: str) -> str:
        on_the_way = self._message.voice is Voice.AGENT and not self._closing
        return _ASIDE.sub("", words) if on_the_way and not is_announcement(words) else words

    def _items(self, lead: str, items: Sequence[Unit]) -> Iterator[Statement]:
        shown: list[tuple[Unit, str]] = []
        header = ""
        for unit in items:
            words = self._words(unit)
            if unit.kind is UnitKind.TABLE_ROW:
                if _TABLE_RULE.match(words) or _BOX.search(words):
                    continue
                cells = [cell.strip() for cell in words.strip("|").split("|")]
                words = " - ".join(cell for cell in cells if cell)
                if not shown and not header and len(items) > 2:
                    header = words
                    continue
            if _NUMBER.match(unit.marker):
                words = f"{_numbered(unit.marker)} {words}"
            if _WORD.search(words):
                shown.append((unit, words))
        if not shown:
            return
        numbered = sum(bool(_NUMBER.match(words)) for _, words in shown)
        head = f"{_cut(lead, 160)}: " if lead else ""
        group: list[tuple[Unit, str]] = []
        size = 0
        for unit, words in shown:
            if group and size + len(words) > LONGEST:
                yield self._group(head, group, numbered)
                group, size = [], 0
            group.append((unit, _cut(words, LONGEST)))
            size += len(words) + 2
        yield self._group(head, group, numbered)

    def _group(self, head: str, group: Sequence[tuple[Unit, str]], numbered: int) -> Statement:
        text = head + "; ".join(words.rstrip(" ;") for _, words in group).replace(":;", ":")
        return self._made(text, group[0][0].start, group[-1][0].end, numbered=numbered, lead=head)

    def _says(self, words: str) -> bool:
        """Whether a sentence says anything: some words, no chatter."""
        several = len(_WORD.findall(words)) >= 3 and words.count(" ") >= 2
        enough = several or sum(map(len, WIDE.findall(words))) >= 6
        on_the_way = self._message.voice is Voice.AGENT and not self._closing
        if (
            words.count("\\n") > 1
            or _REMAINS.match(words)
            or _QUOTED.fullmatch(words)
            or (on_the_way and len(words) <= MOMENTARY and _MOMENT.fullmatch(straight(words)))
        ):
            return False
        return enough and not _is_chatter(words) and not _is_data(words)

    def _made(
        self, text: str, start: int, end: int, *, numbered: int = 0, lead: str = ""
    ) -> Statement:
        self._number += 1
        message = self._message
        return Statement(
            _cut(text, LONGEST_LIST),
            message.turn,
            message.turn + start / (len(self._text) + 1),
            about(text, message.voice, numbered, self._closing),
            self._text[start:end],
            message.voice,
            message.name,
            self._closing,
            numbered,
            lead,
        )


def about(text: str, voice: Voice, numbered: int = 0, closing: bool = False) -> About:
    """What a statement is about, by its words."""
    text = straight(text)
    if numbered >= 2 and closing:
        return About.LIST
    if voice is Voice.AGENT and closing and _OFFER.search(text):
        return About.OFFER
    announced = voice is Voice.AGENT and is_announcement(text)
    if _CAUSE.search(text) and not (announced and not _SURE_CAUSE.search(text)):
        return About.CAUSE
    if announced:
        return About.TALK
    if _NEXT.search(text) and voice in (Voice.AGENT, Voice.SUMMARY, Voice.SPEAKER, Voice.NOTE):
        return About.NEXT
    if _DECISION.search(text):
        return About.DECISION
    if _REPORT.match(text):
        return About.DONE
    return About.FOUND
