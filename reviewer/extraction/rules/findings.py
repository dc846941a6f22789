"""Rules on what was found out: causes, constraints, traps, how something works."""

from __future__ import annotations

import re

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.rules.rule import Rule, Statement, says
from reviewer.extraction.screens import gives_reason, narrated
from reviewer.sources.records import Role, Shape
from reviewer.text.units import UnitKind

_SPECIFIC = re.compile(
    r"`[^`]{2,}`|\b\w+(?:[._/]\w+)+|\b[a-z]+[A-Z]\w+|\b[A-Z]\w+[A-Z]\w+|--\w|#\d|\b\d+(?:\.\d+)?\b"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|will|would|can|could|should|must"
    r"|may|might|needs?|isn'?t"
    r"|aren'?t|wasn'?t|don'?t|doesn'?t|didn'?t|\w{3,}(?:ed|es|ing|ts|ns|ds|ks|ls|ps|rs|ys)|kept"
    r"|ran|set|made|built|wrote|found"
    r"|got|went|use|put|let|keep|add|fix|run|make|show|call|return)\b"
)


_NAMED = re.compile(
    r"`[^`]{2,}`|\b[A-Za-z_]\w*[._/]\w[\w./]*|\b[a-z]+[A-Z]\w+|\b[A-Z]\w*[a-z][A-Z]\w*"
)
_WORKS = re.compile(
    r"\b(?:is|are|was|uses?|calls?|reads?|writes?|returns?|stores?|checks?|handles?|contains?|holds?"
    r"|creates?|accepts?|takes?|expects?|lives?|defines?|implements?|wraps?|loads?|runs?|sets?|gets?"
    r"|passes|triggers?|includes?|supports?|provides?|converts?|falls? (?:back|through)|already|has"
    r"|have|does|doesn'?t|gives?)\b"
)
# To begin with one set of signs makes a search several times faster.
_MAY_NAME = re.compile(r"[`._/A-Z](?:(?<=`)|(?<=\w[._/])\w|(?<=[a-z][A-Z]))")
_REACH = 48
"""Characters after a name within which the verb must follow."""


def _how_it_works(statement: Statement) -> bool:
    if statement.kind not in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
        return False
    text = statement.text
    if _MAY_NAME.search(text) is None:
        return False
    for named in _NAMED.finditer(text):
        stop = text.find(". ", named.end(), named.end() + _REACH)
        if _WORKS.search(text, named.end(), named.end() + _REACH if stop < 0 else stop):
            return True
    return False


def _summary_item(statement: Statement) -> bool:
    return (
        statement.kind is UnitKind.LIST_ITEM
        and statement.shape is Shape.TURN
        and statement.role is Role.ASSISTANT
        and statement.final
        and len(statement.text) >= 40
    )


def _finding(statement: Statement) -> bool:
    return (
        statement.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
        and statement.shape is Shape.TURN
        and len(statement.text) >= 40
        and bool(_SPECIFIC.search(statement.text))
        and (statement.kind is UnitKind.LIST_ITEM or bool(_VERB.search(statement.text)))
    )


def _heading_statement(statement: Statement) -> bool:
    return (
        statement.kind is UnitKind.HEADING
        and statement.shape is Shape.TURN
        and len(statement.text) >= 40
        and bool(_SPECIFIC.search(statement.text))
        and bool(_VERB.search(statement.text))
    )


def _narrated(statement: Statement) -> bool:
    return (
        statement.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
        and narrated(statement.text)
        and gives_reason(statement.text)
    )


def _plain(statement: Statement) -> bool:
    return (
        statement.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
        and len(statement.text) >= 60
        and bool(_VERB.search(statement.text))
    )


RULES = (
    Rule(
        id="root_cause",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="Why something happened: the issue was, turned out, because, caused by.",
        matches=says(
            r"\b(?:(?:root )?cause(?:d by| is| was)?|the (?:\w+ )?(?:issue|problem|bug|culprit"
            r"|reason|catch|gap) "
            r"(?:is|was|here|with|comes|came)|turn(?:s|ed) out|because|due to|that'?s why"
            r"|which is why"
            r"|(?:so|since) that|thanks to|as a result|result(?:s|ed|ing) in|leads? to|led to"
            r"|explains?|, so (?:the|it|we|that|this|any|all)|since (?:the|it|we|there|that"
            r"|this))\b",
            unless=r"^(?:good|bad|neutral|pros?|cons?)\b[,:]",
        ),
        quality=0.8,
        shortest=40,
        examples=(
            ("The issue was that the cache key ignored the locale.", True),
            ("It turned out the proxy strips the header.", True),
            ("The upload fails because the path has a space.", True),
            ("The upload is done.", False),
        ),
    ),
    Rule(
        id="constraint",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="A limit or condition that holds: must, only, cannot, requires, at most.",
        matches=says(
            r"\b(?:must(?:n'?t| not| be)?|requires?|required|only (?:works?|when|if|one|in|for"
            r"|on|the|used|checks?)"
            r"|cannot|can'?t be|not (?:allowed|supported|possible)|at (?:most|least)|no (?:more"
            r"|fewer) than"
            r"|guarantee[sd]?|never|always|mandatory|forbidden|limited to|has to be|have to be"
            r"|needs? (?:to|a|an|the))\b"
        ),
        quality=0.7,
        shortest=40,
        examples=(
            ("The lock must be taken before the file is opened.", True),
            ("The flag only works on Linux and on the BSD systems.", True),
            ("The file was opened.", False),
        ),
    ),
    Rule(
        id="gotcha",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="A trap: contrary to what one expects, silently, even though, watch out.",
        matches=says(
            r"\b(?:gotcha|watch out|be careful|beware|silently|even (?:though|if|when)|although"
            r"|however|but (?:the|it|this"
            r"|that|not|only|actually|in)|unlike|surprisingly|contrary|counter-?intuitive\w*"
            r"|subtle|edge case|caveat"
            r"|keep in mind|note that|not to be confused|actually|despite|whereas|unless"
            r"|otherwise|trade-?offs?)\b"
        ),
        quality=0.8,
        shortest=40,
        examples=(
            ("Unknown keys are silently ignored by the loader.", True),
            ("Note that the order of the hooks matters.", True),
            ("The loader reads keys.", False),
        ),
    ),
    Rule(
        id="how_it_works",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="How a named thing works: where it lives, what it calls, reads or returns.",
        matches=_how_it_works,
        cue=_WORKS.pattern.removesuffix(r"\b"),  # the reach may end inside a word
        quality=0.55,
        shortest=40,
        examples=(
            ("`load_all()` reads every shard before it returns.", True),
            ("The settings live in src/config.toml, which is read once.", True),
            ("It is fine.", False),
        ),
    ),
    Rule(
        id="summary_item",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="An item of the list in which the agent sums up before the person speaks.",
        matches=_summary_item,
        kinds=(UnitKind.LIST_ITEM,),
        quality=0.5,
        examples=(
            ("- Two-phase commit for the importer, with a dry run first", True),
            ("- Done", False),
            ("Two-phase commit for the importer, with a dry run first", False),
        ),
    ),
    Rule(
        id="narrated_finding",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="Narration that also gives a reason: `I need to change X since Y returns Z`.",
        matches=_narrated,
        quality=0.3,
        narration=True,
        examples=(
            ("Now I need to widen `parse()` since the new header may be empty.", True),
            ("Let me check `parse()` for the empty header in the new version.", False),
        ),
    ),
    Rule(
        id="heading_statement",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="A heading of a reply that states a finding about something named exactly.",
        matches=_heading_statement,
        kinds=(UnitKind.HEADING,),
        quality=0.5,
        examples=(
            ("### `load_all()` is silently skipped on an empty shard (low)\n\nText.", True),
            ("### Findings\n\n`load_all()` is silently skipped on an empty shard.", False),
        ),
    ),
    Rule(
        id="finding_in_prose",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="A full sentence about something named exactly, which no other rule explains.",
        matches=_finding,
        quality=0.45,
        examples=(
            ("Both shards of `index.db` hold the same 40 rows.", True),
            ("It looks quite nice to me overall, I think.", False),
            ("See `index.db`", False),
        ),
    ),
    Rule(
        id="informative_statement",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="A long statement with a verb that no other rule explains. The weakest rule.",
        matches=_plain,
        quality=0.25,
        examples=(
            ("The importer keeps the order in which the files were written to the folder.", True),
            ("Sounds good.", False),
        ),
    ),
)
