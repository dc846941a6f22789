"""The checks of a proof. Each is a pure function of the statement and its session."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.extraction.flags import INJECTION, flags_of
from reviewer.proposing.proof_index import NAME, ProofIndex, as_compared
from reviewer.proposing.values import LineRole, Proposal, Proposer, Quote, Speaker, ViewLine
from reviewer.sources.records import Role
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.wording import NOT, wording

# Whether a statement can be understood without its surroundings.

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


# Whether a statement and its quotes deny the same.

_DENIES = re.compile(
    r"\b(?:never|not|cannot|\w+n[’']t|without|nor|neither|none|nothing|nobody|nowhere"
    r"|no(?! (?:one|matter|later|more than|longer than)\b))\b",
    re.IGNORECASE,
)
_MAY_DENY = re.compile(
    rf"{_DENIES.pattern}|\b(?:avoid|skip|fail|lack|miss|refus|reject|forbid|forbad|prevent|stop"
    r"|drop|remov|delet|ignor|exclud|omit|lose|lost|disabl|unable|bypass|block|prohibit|supersed"
    r"|replac|deprecat|abandon|swallow|leftover|only|instead|rather|unless|until|wrong|false"
    r"|incorrect|invalid|mistake|broken|gone|empty|zero|no longer|nil|null|hidden|former|old|too"
    r"|but|however|still|left out|leave|less|few|hardly|rarely|separate|independen|irrelevant"
    r"|redundant|unnecess|differ|contrary|opposite|non|un\w{3,}|in(?:compat|sufficient|consisten"
    r"|complete|visible)\w*|im(?:possib|mutab)\w*|\w+less\b"
    r"|shouldn|wouldn|couldn|keep out|off|out of|0)",
    re.IGNORECASE,
)
"""Words that deny, or that a negation may paraphrase."""
_CLAUSE = re.compile(r"[.,;:!?()\n]\s|\n|\s[-–—(]+\s?|\b(?:but|because|so that|since)\b")
MOST_CLAUSES = 100
"""Clauses of a text that are compared; a statement has a few."""
LEAST_SHARED = 3
"""Content words that a clause of the statement and one of a quote share at least, and"""
LEAST_SHARE = 0.6
"""their share of the shorter one, for the two to be about the same."""


def negation_differs(statement: str, quotes: Sequence[str]) -> bool:
    """Whether only the statement denies, or only its quotes deny what it says.

    A clause of the statement is held against the clauses of the quotes that are about the same.
    """
    if _DENIES.search(statement) and quotes and not any(map(_MAY_DENY.search, quotes)):
        return True
    quoted = [clause for quote in quotes for clause in _clauses(quote)]
    for clause, words in _clauses(statement):
        same = [other for other, others in quoted if _about_the_same(words, others)]
        if not same:
            continue
        if _DENIES.search(clause):
            near = (other for other, others in quoted if words & others)
            if not any(_MAY_DENY.search(other) for other in near):
                return True
        elif all(map(_DENIES.search, same)) and not _MAY_DENY.search(clause):
            return True
    return False


def _clauses(text: str) -> list[tuple[str, frozenset[str]]]:
    """The clauses of a text, each with its content words but for negations."""
    return [
        (clause, frozenset(wording(clause).words) - {NOT})
        for clause in _CLAUSE.split(as_compared(text), MOST_CLAUSES)[:MOST_CLAUSES]
        if clause and clause.strip()
    ]


def _about_the_same(some: frozenset[str], others: frozenset[str]) -> bool:
    shared, shorter = len(some & others), min(len(some), len(others))
    return shared >= max(2, min(LEAST_SHARED, shorter)) and shared >= LEAST_SHARE * shorter


# Instructions that neither the person nor the agent gave: they come from the result of a tool.

_ORDER = re.compile(
    r"(?:please |always |never |do not |don[’']t |make sure|be sure|ensure|remember"
    r"|note that you)|(?:add|answer|append|approve|avoid|build|call|change|commit|configure|copy"
    r"|create|curl|delete|deploy|disable|download|edit|email|enable|execute|export|fetch|follow"
    r"|forward|give|go|grant|ignore|include|insert|install|keep|leave|load|mail|merge|move|open"
    r"|paste|post|prefer|print|publish|push|put|read|remove|rename|replace|report|reply|require"
    r"|respond|run|save|say|send|set|share|skip|start|stop|store|submit|sudo|tell|treat|trust"
    r"|turn|update|upload|use|visit|write)"
    r" (?!is\b|are\b|was\b|has\b|of\b)",
    re.IGNORECASE,
)
"""How instructions open: in the imperative."""
_ORDERS = re.compile(
    r"\b(?:you|agents?|assistants?|claude|codex|gemini|copilot|models?|everyone|all (?:agents"
    r"|tools)) (?:\w+ )?(?:must|should|shall|need to|have to|has to|may not|are to)\b"
    r"|\b(?:must|should) (?:always|never|not)\b",
    re.IGNORECASE,
)


_WORDED_BY_MODELS = (Proposer.MODEL, Proposer.COMMAND, Proposer.MCP)


def order_in_data(proposal: Proposal, cited: Sequence[ViewLine]) -> str:
    """Where an instruction comes from, such as `WebFetch at line 120`; empty if from somebody.

    The person's own words are never suspected, unless a model worded the statement: it may cite
    them for what it obeyed, and they may be pasted. What is quoted from tools alone must not tell
    anybody what to do, and an agent may have repeated words that were planted in what it read.
    """
    own = any(line.speaker is Speaker.PERSON for line in cited)
    if not cited or (own and proposal.proposer not in _WORDED_BY_MODELS):
        return ""
    texts = [proposal.statement, *(quote.text for quote in proposal.quotes)]
    planted = any(INJECTION in flags_of(text, Role.TOOL) for text in texts)
    told = not own and (_ORDER.match(proposal.statement) or _ORDERS.search(proposal.statement))
    if planted or (told and all(map(_is_data, cited))):
        return _origin(next((line for line in cited if _is_data(line)), cited[0]))
    return ""


def _is_data(line: ViewLine) -> bool:
    """Whether a line has words of neither the person nor the agent, but of what a tool returned."""
    return line.role in (LineRole.TOOL, LineRole.ERROR) or (
        line.role is LineRole.EVENT and line.speaker is Speaker.HARNESS
    )


def _origin(line: ViewLine) -> str:
    tool = _TOOL_NAME.match(line.text)
    named = tool[1] if tool and line.role in (LineRole.TOOL, LineRole.ERROR) else line.role.value
    return f"{named} at line {line.line}"


_TOOL_NAME = re.compile(r"([\w.-]{1,60})[:(]")


# What takes a statement back later in its session.

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
