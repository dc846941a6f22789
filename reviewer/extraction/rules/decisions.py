"""Rules on decisions: made, recommended, agreed, announced; and what changed in the design."""

from __future__ import annotations

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.rules.rule import Rule, says
from reviewer.sources.records import Role

RULES = (
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
        description="Somebody agrees with a proposal and says with what.",
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
        description="A change of structure summed up: something replaced, moved, split, added.",
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
)
