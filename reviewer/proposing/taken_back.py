"""What takes a statement back later in its session."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.proposing.proof_index import NAME, ProofIndex
from reviewer.proposing.values import LineRole, Quote, Speaker
from reviewer.text.identifiers import IdentifierKind, identifiers

MOST_LATER = 3
"""Lines that are shown at most."""
RARE = 25
"""View lines that an identifier stands in at most to tell what a later line is about."""
_PERSON_DISAGREES = re.compile(
    r"^\W*(?:no|nope|wait|stop|hm+|hang on|hold on)\b(?! (?:worries|problem|need to))"
    r"|\b(?:actually|instead|revert|undo|wrong|incorrect|mistake|not needed|no longer"
    r"|roll(?:ed)? back|(?:don[’']t|do not|shouldn[’']t|should not|didn[’']t) (?:need|want|use|do"
    r"|think|believe|like)"
    r"|not (?:true|right|correct|what)|changed my mind|scratch that|never ?mind)\b",
    re.IGNORECASE,
)
_AGENT_CORRECTS = re.compile(
    r"^\W*(?:wait|actually|hm+|hold on|no,)|\b(?:i was (?:wrong|mistaken|incorrect)|my (?:earlier"
    r"|previous|initial) \w+ (?:was|is)|(?:was|were|is|are) (?:wrong|incorrect|not needed"
    r"|unnecessary|redundant|moot|not (?:actually )?(?:the|a) (?:cause|root cause|issue|problem"
    r"|reason))|turns out|revert(?:ed|ing)?"
    r"|roll(?:ed|ing) back|no longer|superseded|contrary to)\b",
    re.IGNORECASE,
)
_CONCEDES = re.compile(
    r"^\W*(?:you(?:[’']re| are) (?:\w+ )?right|good (?:point|catch)|fair (?:point|enough)"
    r"|my (?:mistake|bad)|i was wrong|i stand corrected|that[’']s (?:a )?(?:good|fair) point|ah,"
    r"|oh,"
    r"|sorry|apologies)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PARAGRAPH = re.compile(r"\n\s*\n")


def later(statement: str, cited: Sequence[int], index: ProofIndex) -> tuple[Quote, ...]:
    """Sentences behind the cited lines that name what the statement names and disagree."""
    if not cited:
        return ()
    names = _rare_names(statement, index)
    positions = sorted({at for name in names for at in index.mentions[name] if at > cited[-1]})
    found: list[tuple[int, Quote]] = []
    for position in positions:
        line = index.lines[position]
        if line.speaker is Speaker.PERSON:
            rank, signs = 0, _PERSON_DISAGREES
        elif line.role is LineRole.ASSISTANT:
            rank, signs = 1, _AGENT_CORRECTS
            conceded = _PARAGRAPH.split(line.text)[0]
            if _CONCEDES.match(conceded) and _follows_person(position, index):
                challenge = index.lines[position - 1].text
                if names & set(NAME.findall(f"{challenge} {conceded}".lower())):
                    found.append((0, Quote(line.line, _cut(conceded))))
                continue
        else:
            continue
        for sentence in _SENTENCE.split(line.text):
            if sentence.startswith(">"):  # pasted
                continue
            if signs.search(sentence) and names & set(NAME.findall(sentence.lower())):
                found.append((rank, Quote(line.line, _cut(sentence))))
                break
    found.sort(key=lambda item: item[0])
    return tuple(quote for _, quote in found[:MOST_LATER])


def _rare_names(statement: str, index: ProofIndex) -> set[str]:
    """The words of the statement's identifiers that few lines of the session have."""
    names: set[str] = set()
    for one in identifiers(statement):
        if one.kind is not IdentifierKind.QUANTITY:
            names.update(word for word in NAME.findall(one.text.lower()) if len(word) > 3)
    return {name for name in names if 0 < len(index.mentions.get(name, ())) <= RARE}


def _follows_person(position: int, index: ProofIndex) -> bool:
    return position > 0 and index.lines[position - 1].speaker is Speaker.PERSON


def _cut(sentence: str) -> str:
    return sentence.strip()[:300].strip()
