"""Rules on what is left, what went wrong, and how work is done here."""

from __future__ import annotations

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.rules.rule import Rule, Statement, says
from reviewer.text.units import UnitKind


def _open_box(statement: Statement) -> bool:
    return (
        statement.kind is UnitKind.LIST_ITEM
        and statement.marker.endswith(("[ ]", "[]"))
        and len(statement.text) >= 20
    )


RULES = (
    Rule(
        id="open_item",
        rule_class=RuleClass.SENTENCE,
        type=MemoryType.EPISODIC,
        description="Something is left to do, or waits for somebody.",
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
        description="Something failed, surprised or had to be done in another way.",
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
)
