"""Rules on sentences: amounts, people, decisions, open items and findings."""

from __future__ import annotations

import re

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.rejections import gives_reason, narrated
from reviewer.extraction.rules.rule import Rule, Statement, says
from reviewer.sources.records import Role, Shape
from reviewer.text.units import UnitKind

_UNIT = (
    r"(?:%|ms|µs|us|ns|seconds?|secs?|min(?:ute)?s?|hours?|days?|weeks?|[kmgt]i?b(?:/s)?|bytes?"
    r"|tokens?|px|fps|[kmg]?hz|mm|cm|m|km|kg|g|mg|kn|n|[km]?pa|bar|m?v|m?a|k?w|°c|°f|usd|eur|€"
    r"|chars|characters)"
)

_NUMBER = re.compile(r"\d[\d.,]{0,30}\s?" + _UNIT + r"(?![\w/])")
_AMOUNTS = says(
    r"\w`?\)?\s*(?:=|:|≈|~|\bis\b|\bare\b|\bwas\b|\bof\b|\bto\b|\bat\b|\bdefaults? to\b"
    r"|<=?|>=?"
    r"|[≤≥])\s*(?:about |around |only |at most |at least |up to |exactly |~|≈)?"
    r"[$€£]?\d[\d.,]*\s?" + _UNIT + r"(?![\w/])",
    unless=r"\b(?:\d+ (?:minutes|hours|days|weeks) ago|took|tests? (?:in|took))\b",
)


def _amount(statement: Statement) -> bool:
    # The number is looked for first: the whole pattern could start at any word.
    return _NUMBER.search(statement.lower) is not None and _AMOUNTS(statement)


_PERSON = (Role.USER, Role.NOTE)


def _open_box(statement: Statement) -> bool:
    return (
        statement.kind is UnitKind.LIST_ITEM
        and statement.marker.endswith(("[ ]", "[]"))
        and len(statement.text) >= 20
    )


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
# Starting with a character set makes the search several times faster.
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
    # amounts
    Rule(
        id="value_with_unit",
        rule_class=RuleClass.VALUE,
        type=MemoryType.KNOWLEDGE,
        description="A named thing has an amount with a unit: `X = 4.8 kg`, `timeout is 30 s`.",
        matches=_amount,
        quality=0.5,
        examples=(
            ("Mass of the arm = 4.8 kg", True),
            ("The idle timeout is 30 seconds.", True),
            ("The upload limit defaults to 25 MB.", True),
            ("There are 30 of them.", False),
            ("It was changed 3 days ago.", False),
        ),
    ),
    # statements of users about themselves, and corrections of the agent
    Rule(
        id="stated_preference",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PREFERENCE,
        description="The user states a preference: prefer, like, hate, would rather.",
        matches=says(
            r"\b(?:(?:i|we)(?:'d| would)? (?:(?:really|strongly|usually|generally|much) )?"
            r"(?:prefer|hate|dislike|rather|favou?r)\b"
            r"|(?:i|we) (?:really )?(?:like|love) (?:to|it when|when|using|having)"
            r"|my (?:preference|favou?rite)\b|i(?:'d| would) (?:like|want) you to (?:always"
            r"|never))",
            by=_PERSON,
        ),
        quality=0.8,
        role=Role.USER,
        examples=(
            ("I prefer small commits over big ones.", True),
            ("we'd rather keep the old flag for a release", True),
            ("Which one do you use?", False),
            ("The tool prefers wheels over source.", False),
        ),
    ),
    Rule(
        id="standing_instruction",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PREFERENCE,
        description="The user gives a lasting instruction: always, never, from now on.",
        matches=says(
            r"^(?:please |and |so |but |also |ok(?:ay)?,? )*(?:always|never|don'?t|do not|avoid"
            r"|stop|make sure)\b"
            r"|\b(?:from now on|going forward|in (?:the )?future|as a rule|you (?:should"
            r"|must) (?:always|never)"
            r"|remember (?:that|to)|keep in mind|every time you|(?:we|i) (?:always|never)) ",
            by=_PERSON,
        ),
        quality=0.75,
        role=Role.USER,
        examples=(
            ("Always run the linter before you commit.", True),
            ("please don't touch the generated files", True),
            ("From now on use tabs in the Makefile.", True),
            ("Run the linter.", False),
        ),
    ),
    Rule(
        id="correction",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.ADAPTATION,
        description="The user corrects the agent.",
        matches=says(
            r"^(?:no|nope|nah|wait|hmm+|actually|that'?s (?:not|wrong)|not quite|wrong)\b[,.:;!\s-]"
            r"|\b(?:instead of|rather than|that'?s not (?:what|right|how)|you (?:forgot|missed"
            r"|misunderstood"
            r"|broke|should(?:n'?t| not)? have)|shouldn'?t (?:it|we|that|this|you)|i (?:meant"
            r"|said)\b"
            r"|use \S+,? (?:not|instead))",
            by=(Role.USER,),
        ),
        quality=0.75,
        role=Role.USER,
        examples=(
            ("no, use the staging bucket for that", True),
            ("That's not what I asked for, only rename the field.", True),
            ("use pnpm, not npm", True),
            ("Sounds good, go on.", False),
        ),
    ),
    Rule(
        id="stated_identity",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.IDENTITY,
        description="Users say who they are, where they work or what they maintain.",
        matches=says(
            r"\b(?:i am|i'm) (?:an?|the|responsible|based|working (?:at|for|as)|from|in charge)\b"
            r"|\bmy (?:name|role|job|team|time ?zone|company|title|pronouns|laptop|machine"
            r"|os)\b[^.?]{0,30}\b(?:is|are)\b"
            r"|\bi (?:work|live|maintain|own|lead|run) (?:at|in|for|on|as|the|a|with)\b",
            by=_PERSON,
        ),
        quality=0.8,
        role=Role.USER,
        examples=(
            ("I'm a backend engineer at a small shop.", True),
            ("My time zone is UTC+2.", True),
            ("I maintain the parser crate.", True),
            ("I am going to lunch.", False),
        ),
    ),
    Rule(
        id="person_explains",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="The user states a fact or wish about the project, longer than an order.",
        matches=says(
            r"^(?=.{60,})(?=.*\b(?:is|are|was|were|has|have|should|must|needs?|want|think"
            r"|because|since|so that"
            r"|can(?:'t|not)?|won'?t|doesn'?t|isn'?t|will|would)\b)",
            by=(Role.USER,),
        ),
        quality=0.6,
        role=Role.USER,
        examples=(
            ("the export should keep the old column names because the dashboard reads them", True),
            ("looks good to me", False),
        ),
    ),
    # decisions, recommendations, agreements and changes of the design
    Rule(
        id="decision_made",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="Somebody decided, chose or settled on something.",
        matches=says(
            r"\b(?:decided (?:to|on|that|against|not)|decision (?:is|was) (?:to|that)"
            r"|chose (?:to|the|a|not)"
            r"|(?:we|i)(?:'ve| have)? (?:chosen|opted|settled|picked|agreed on|went with)"
            r"|opted (?:for|to)"
            r"|settled on|going with|went with|stick(?:ing)? with|the (?:chosen"
            r"|final) (?:approach|design|option))\b"
        ),
        quality=0.8,
        examples=(
            ("We decided to keep the queue in SQLite.", True),
            ("I went with a single worker, since two would race.", True),
            ("You can decide later.", False),
        ),
    ),
    Rule(
        id="recommendation",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="A recommendation in prose, also one option weighed against another.",
        matches=says(
            r"\b(?:i(?:'d| would)? (?:recommend|suggest|advise|propose|lean)"
            r"|my (?:recommendation|suggestion|take)"
            r"|recommend(?:ed|ation)?\b|the (?:best|right|simplest|cleanest|safest|better|proper) "
            r"(?:approach|fix|option|way|choice|solution|place|path)|(?:it|this) (?:is|would be"
            r"|might be|may be) "
            r"(?:better|best|cleaner|safer|simpler|worth)|(?:should|could) (?:probably |just "
            r"|instead )*(?:use|be|live|"
            r"move|go|stay|keep|switch|only|not|return|happen)|worth (?:\w+ing)\b)",
            by=(Role.ASSISTANT, Role.NOTE),
        ),
        quality=0.6,
        shortest=40,
        examples=(
            ("I'd recommend pinning the compiler until the fix is released.", True),
            ("The cleanest approach is to move the check into the loader.", True),
            ("The loader has a check.", False),
        ),
    ),
    Rule(
        id="layered_recommendation",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="A recommendation in layers: first this, then that, later the rest.",
        matches=says(
            r"\b(?:first|start(?:ing)? with|short[- ]term|for now|phase (?:1|one)|step 1"
            r"|minimum)\b.{8,160}"
            r"\b(?:then|later|long[- ]term|eventually|phase (?:2|two)|step 2|afterwards"
            r"|once (?:that|it|we))\b"
        ),
        quality=0.7,
        examples=(
            ("For now keep the regex parser, and later replace it by a real grammar.", True),
            ("Phase 1 ships read-only access, phase 2 adds writing.", True),
            ("For now this is fine.", False),
        ),
    ),
    Rule(
        id="agreement",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="Somebody agrees with a proposal and names it.",
        matches=says(
            r"^(?:(?:yes|yeah|yep|ok(?:ay)?|agreed?|right|sure|good (?:point|call|catch|idea)"
            r"|makes sense|exactly"
            r"|fair(?: point| enough)?|correct|you'?re right)\b[,.!:;—–\s-]+).{24,}"
            r"|\b(?:i agree|we agree(?:d)?|agreed) (?:that|with|on|to)\b"
        ),
        quality=0.5,
        shortest=40,
        examples=(
            ("Yes - the retry belongs in the client, the server should stay dumb.", True),
            ("I agree that the old flag can go in the next release.", True),
            ("Yes.", False),
        ),
    ),
    Rule(
        id="architecture_change",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="A summary of a structural change: something replaced, moved, split, added.",
        matches=says(
            r"\b(?:replac(?:ed|es|ing)|mov(?:ed|es)|extract(?:ed|s)|split(?:s)? (?:into|out)"
            r"|merg(?:ed|es)|consolidat(?:ed|es)"
            r"|refactor(?:ed|s)|renam(?:ed|es)|remov(?:ed|es)|introduc(?:ed|es)|migrat(?:ed|es)"
            r"|switch(?:ed|es)"
            r"|convert(?:ed|s)|add(?:ed|s)|chang(?:ed|es)|updat(?:ed|es)|wir(?:ed|es)"
            r"|delet(?:ed|es)|kept"
            r"|implement(?:ed|s)|simplif(?:ied|ies)|fix(?:ed|es)|now (?:uses|returns|reads"
            r"|writes|takes"
            r"|checks|skips|includes|handles|runs|supports|filters|requires|accepts|stores"
            r"|lives))\b.{12,}"
        ),
        quality=0.6,
        shortest=40,
        examples=(
            ("Replaced the two session structs by one shared type in `state.go`.", True),
            ("`load()` now returns an empty list when the file is missing.", True),
            ("The file is missing.", False),
        ),
    ),
    Rule(
        id="specification_change",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PROJECT,
        description="A specification, requirement, interface or deadline changed.",
        matches=says(
            r"\b(?:spec(?:ification)?s?|requirements?|contract|interface|signature|api|schema"
            r"|format|protocol|deadline"
            r"|scope|default|policy|rule)\b.{0,60}\b(?:is now|are now|(?:has"
            r"|have) (?:been )?changed|changed|was updated"
            r"|were updated|no longer|must now|now (?:requires?|says?|takes?|has|expects?"
            r"|allows?)|became|is gone)\b"
            r"|\bas of (?:today|now|this|v?\d)|\b(?:breaking change|deprecated in favou?r)\b"
        ),
        quality=0.8,
        examples=(
            ("The requirement changed: exports must now carry a checksum.", True),
            ("The signature is now `(path, limit)`.", True),
            ("Please read the spec.", False),
        ),
    ),
    # open work, failures, and how work is done in the project
    Rule(
        id="open_item",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.EPISODIC,
        description="Something is left to do or waiting for somebody.",
        matches=says(
            r"\b(?:still (?:needs?|has to|have to|to do|open|missing|pending|fails?|broken"
            r"|outstanding|requires?)"
            r"|(?:remains?|left) (?:to|pending|open|unresolved|as)|todo\b|to-do"
            r"|follow[- ]?ups?\b|not yet\b"
            r"|haven'?t (?:yet )?(?:been )?\w+ed|(?:has|have)n'?t been|yet to be|out of scope"
            r"|deferred?|pending\b"
            r"|blocked (?:on|by)|next steps?|once .{2,60} (?:merges?|lands?|ships?)"
            r"|in a (?:later|separate|follow)"
            r"|needs? to be|remaining (?:work|items?|issues?|tasks?)|for later|come back to"
            r"|left out|not covered)\b"
        ),
        quality=0.7,
        shortest=30,
        examples=(
            ("The Windows installer still needs a signature.", True),
            ("Once #12 merges, the second branch has to be rebased.", True),
            ("The installer is signed.", False),
        ),
    ),
    Rule(
        id="open_checkbox",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.EPISODIC,
        description="An unticked task of a note or message.",
        matches=_open_box,
        kinds=(UnitKind.LIST_ITEM,),
        quality=0.4,
        examples=(
            ("- [ ] Write the migration for old stores", True),
            ("- [x] Write the migration for old stores", False),
            ("- Write the migration for old stores", False),
        ),
    ),
    Rule(
        id="friction",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="Something failed, was a surprise or needed a workaround.",
        matches=says(
            r"\b(?:fail(?:s|ed|ing|ure|ures)?|broke(?:n)?|crash(?:es|ed)?|errors?|stale|flaky"
            r"|conflicts?|rejected|reverted"
            r"|didn'?t work|doesn'?t work|unexpected(?:ly)?|surpris\w+|had to|pre-existing"
            r"|misleading|confus\w+"
            r"|mismatch(?:ed)?|hangs?|timed? ?out|regress\w+|wrong|incorrect(?:ly)?|can'?t"
            r"|cannot|won'?t|missing)\b"
            r".{8,}",
            unless=r"\b(?:no|0|without) (?:errors?|failures?|conflicts?|lint)\b",
        ),
        quality=0.5,
        shortest=40,
        examples=(
            ("The first run failed since the fixture had no tag.", True),
            ("The editor's diagnostics are stale during a merge.", True),
            ("All tests pass.", False),
        ),
    ),
    Rule(
        id="workflow_fact",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.KNOWLEDGE,
        description="How work is done in this project: commands, branches, checks, releases.",
        matches=says(
            r"\b(?:ci|pre-commit|lint(?:er|ing)?|makefile|workflow|release|deploy(?:s|ed|ment)?"
            r"|branch(?:es)?|worktrees?"
            r"|rebase|pull request|prs?|changelog|migrations?|fixtures?|integration tests?"
            r"|unit tests?|e2e|coverage)\b"
            r".{0,120}\b(?:uses?|runs?|requires?|lives?|must|needs?|only|always|never|before"
            r"|after|when|via|instead"
            r"|from|by|per)\b"
        ),
        quality=0.5,
        shortest=40,
        examples=(
            ("CI runs the integration tests only on the main branch.", True),
            ("Releases are cut by hand: the changelog must be edited before the tag.", True),
            ("Let us look at the weather.", False),
        ),
    ),
    # findings: causes, constraints, traps, how something works
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
        description="A limit or condition: must, only, cannot, requires, at most.",
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
        description="An item of the agent's summary at the end of its turn.",
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
