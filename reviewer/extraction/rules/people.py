"""Rules on what the person says about themselves, and how they correct the agent."""

from __future__ import annotations

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.rules.rule import Rule, says
from reviewer.sources.records import Role

_PERSON = (Role.USER, Role.NOTE)

RULES = (
    Rule(
        id="stated_preference",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.PREFERENCE,
        description="The person says what they prefer, like, hate or would rather have.",
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
        description="The person gives an instruction that holds from now on: always, never.",
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
        description="The person corrects what the agent did or believed.",
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
        description="The person says who they are, where they work, what they look after.",
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
        description="The person states a fact or wish about the project, longer than an order.",
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
)
