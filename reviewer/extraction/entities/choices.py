"""The option that a decision chose, and its subject."""

from __future__ import annotations

import re

from msgspec import Struct

from reviewer.extraction.entities.naming import leans, name_key, named, short_of_blanks

_OPTION = r"(?P<option>(?:`[^`\n]{1,60}`|[\"“][^\"”\n]{1,80}[\"”]|[^,;:()\n]{2,60}?))"
_END = (
    r"(?=\s*(?:$|[,;:()\n]|\.(?:\s|$)|\s(?:because|since|so that|instead|rather|and|but|for"
    r"|until|unless"
    r"|when|from|where|while|by|with|to)\b))"
)
_LEAD = (
    r"(?:(?:we|i|they)\s+(?:(?:will|shall|have|are|now|also)\s+|(?:decided|agreed)\s+(?:to"
    r"|on)\s+|'ll\s+"
    r"|chose to\s+)*|decided\s+(?:to|on)\s+|let'?s\s+|to\s+)?"
)
_USE = (
    r"(?:us(?:e|ing)|adopt(?:ing)?|choose|chose|chosen|pick(?:ed)?|select(?:ed)?|go(?:ing)? with"
    r"|went with|settled? on|switch(?:ing)? to|mov(?:e|ing) to|migrat(?:e|ing) to)"
)
_KEEP = r"(?:keep|store|put|host|run|deploy|serve|write|save|build|manage)"
_HOW = re.compile(
    r"(?:^|\s)(?:\w+(?:less|able|ible|ful|ous|ly|ed|ing)|parallel|simple|short|small|thin|flat|open"
    r"|separate|sequential|serial|single-threaded|synchronous|asynchronous|async|sync|consistent"
    r"|atomic|alive|warm|cold|clean|dry|empty|free|green|low|minimal|optional|private|public|pure"
    r"|quiet|silent|stable|static|strict|unique|valid|alone|apart|together|as is|in sync)$",
    re.IGNORECASE,
)
"""The end of a name that is kept in some way (`keep the writer parallel in ...`), not somewhere."""
_LIVE = r"(?:lives?|(?:is|are) (?:kept|stored|hosted|deployed|built|written|served|managed)|runs?)"
_SUBJECT = r"(?P<subject>[^,;:()\n]{2,60}?)"


def _forms(end: str) -> tuple[re.Pattern[str], ...]:
    forms = (
        rf"^{_LEAD}{_USE}\s+{_OPTION}\s+(?:for|as)\s+{_SUBJECT}{end}",
        rf"^{_LEAD}{_KEEP}\s+{_SUBJECT}\s+(?:in|on|with|as)\s+(?!front of){_OPTION}{end}",
        rf"^{_SUBJECT}\s+{_LIVE}\s+(?:in|on|with|as)\s+{_OPTION}{end}",
        rf"^(?P<subject>[^,;:()\n]{{2,40}})(?::|\s[-–—])\s+{_LEAD}{_USE}\s+{_OPTION}{end}",
    )
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


_FORMS, _WHOLE = _forms(_END), _forms("$")
_KEPT = (_FORMS[1], _WHOLE[1])
_BARE_USE = re.compile(rf"^{_LEAD}{_USE}\s+{_OPTION}{_END}", re.IGNORECASE)
_CHOSEN = re.compile(
    r"chosen option\s*:?\s*\**\s*(?:(?P<quote>[\"'“‘])(?P<quoted>[^\n]{1,120}?)"
    r"(?:(?P=quote)|[”’])(?=\s*(?:,|\.|;|$|\n|because|\())"
    r"|(?P<plain>[^\n\"“,.;]{2,80}?)(?=\s*(?:,|\.(?:\s|$)|;|\n|$|\bbecause\b)))",
    re.IGNORECASE,
)
_VERB_FIRST = re.compile(
    r"(?:use|add|remove|keep|store|do|don'?t|make|write|run|include|exclude|support|allow|move"
    r"|merge"
    r"|adopt|choose|replace|rename|drop|split|migrate|provide|deploy|host|let|put|set|create|build"
    r"|close|introduce|switch|enable|disable|avoid|never|always|be|have|define|deliver|count)\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"\b(?:architecture|databases?|framework|strategy|format|language|providers?|platforms?"
    r"|tools?|tooling"
    r"|stores?|storage|library|engine|policy|substrate|server|hosting|method|approach|protocol"
    r"|broker"
    r"|queue|cache|runtime|compiler|stack|licen[cs]e|vendor|supplier|material|structure|scheme"
    r"|location|encoding|schema|standard|convention|naming|backend|frontend|editor|model)$",
    re.IGNORECASE,
)


class Choice(Struct, frozen=True):
    """`option` was chosen for `subject`."""

    subject: str
    option: str

    @property
    def slot(self) -> str:
        """The slot in which a different option is a contradiction."""
        return f"decision:{name_key(self.subject)}"


def chosen_option(text: str) -> str:
    """The option of MADR's `Chosen option: "X", because ...`, or an empty string."""
    match = _CHOSEN.search(text)
    return named(match["quoted"] or match["plain"]) if match else ""


def choice_of(title: str, statement: str) -> Choice | None:
    """The choice of a decision; None unless both subject and option are stated.

    `title` may state it (`Use X for Y`), or name the subject (`Ledger database`) of the option
    that `statement` chooses.
    """
    statement = short_of_blanks(statement)
    option = chosen_option(statement)
    for found in (stated_choice(title, whole=True), stated_choice(statement)):
        if found is not None:
            return Choice(found.subject, option or found.option)
    if not is_subject(title):
        return None
    if not option and (bare := _BARE_USE.match(statement)):
        option = named(bare["option"])
    return Choice(named(title), option) if option and not leans(option) else None


def stated_choice(text: str, *, whole: bool = False) -> Choice | None:
    """A choice that one sentence states in full: `We use X for Y`, `keep Y in X`.

    With `whole` (for titles) the choice must be the whole text.
    """
    text = short_of_blanks(text)
    for form in _WHOLE if whole else _FORMS:
        match = form.match(text)
        if match is None:
            continue
        subject, option = named(match["subject"]), named(match["option"])
        if form in _KEPT and _HOW.search(match["subject"].strip()):
            continue
        if name_key(subject) and name_key(option) and not leans(subject) and not leans(option):
            return Choice(subject, option)
    return None


def is_subject(title: str) -> bool:
    """Whether a title names a thing (`Ledger database`) rather than stating something."""
    words = title.split()
    return 1 <= len(words) <= 5 and bool(_TOPIC.search(title)) and not _VERB_FIRST.match(title)
