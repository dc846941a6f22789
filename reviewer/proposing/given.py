"""What a reader is given beside a session: the findings with their lines, and what is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from reviewer.proposing.shortened import ends
from reviewer.proposing.values import APPROVED, PLAN, LineRole, SessionView, ViewLine
from reviewer.sessions.findings import Evidence, Finding, Kind
from reviewer.sources.events import Speaker
from reviewer.text.tokens import counter

MOST_TOKENS = 2_700
"""Tokens of findings and of what is known in one question."""
FOR_KNOWN = 0.45
"""The share of what is known."""
_WORD = re.compile(r"[\w.-]{4,}")


class KnownText(Struct, frozen=True):
    """Something that is known already. `place`: `#12` for a row, `CLAUDE.md:7` for a line."""

    place: str
    text: str


class QuestionContext(Struct, frozen=True):
    """What goes into a question about a part of a session, as text."""

    findings: str = ""
    known: str = ""


def without_retellings(view: SessionView) -> SessionView:
    """The view with the ends of what tells other parts of a session again: the reports of
    sub-agents, versions of a plan that another took the place of, and the summaries of compactions,
    but for one at the beginning.
    """
    replaced = _replaced_plans(view.lines)
    lines, begun = [], False
    for at, line in enumerate(view.lines):
        report = line.speaker is Speaker.SUBAGENT and line.role is LineRole.ASSISTANT
        if report or at in replaced or (begun and line.role is LineRole.SUMMARY):
            shown = ends(line.text)
            left_out = line.left_out + shown.left_out
            line = structs.replace(line, text=shown.text, left_out=left_out)
        begun = begun or line.role in (LineRole.USER, LineRole.ASSISTANT)
        lines.append(line)
    return structs.replace(view, lines=tuple(lines))


def _replaced_plans(lines: Sequence[ViewLine]) -> set[int]:
    """The plans after which another one came before one was approved, by their place."""
    replaced, waiting = set[int](), list[int]()
    for at, line in enumerate(lines):
        if line.role is LineRole.ASSISTANT and line.text.startswith(PLAN):
            replaced.update(waiting)
            waiting = [at]
        elif line.role is LineRole.EVENT and line.text == APPROVED:
            waiting = []
    return replaced


def with_findings(view: SessionView, findings: Iterable[Finding]) -> SessionView:
    """The view with the lines of the findings that it lacks: failing lines and changes, so that
    they can be quoted.
    """
    there: dict[int, str] = {}
    for line in view.lines:
        there[line.line] = f"{there.get(line.line, '')}\n{line.text}"
    more = []
    for finding in findings:
        for shown in finding.evidence:
            if shown.text and shown.text not in there.get(shown.line, ""):
                there[shown.line] = f"{there.get(shown.line, '')}\n{shown.text}"
                more.append(_line(finding, shown))
    lines = sorted([*view.lines, *more], key=lambda line: line.line) if more else view.lines
    return structs.replace(view, lines=tuple(lines))


def _line(finding: Finding, shown: Evidence) -> ViewLine:
    failed = finding.kind in (Kind.FAILURE, Kind.ENVIRONMENT) and shown.text != finding.fix
    return ViewLine(
        line=shown.line,
        role=LineRole.ERROR if failed else LineRole.TOOL,
        speaker=Speaker.HARNESS,
        text=shown.text,
        span=shown.bytes,
        at=shown.at,
    )


def given(
    lines: Sequence[ViewLine],
    findings: Sequence[Finding],
    known: Sequence[KnownText],
    *,
    tokens: int = MOST_TOKENS,
) -> QuestionContext:
    """What belongs to the question about these lines, in at most so many tokens: the dearest
    findings, and what is known and shares most of its rare words with the lines.
    """
    if not lines:
        return QuestionContext()
    first, last = lines[0].line, lines[-1].line
    own = [each for each in findings if each.evidence and first <= each.evidence[0].line <= last]
    own.sort(key=lambda each: -each.cost)
    told = _fitting(map(_told, own), tokens - int(tokens * FOR_KNOWN))
    own = sorted(own[: len(told)], key=lambda each: each.evidence[0].line)
    return QuestionContext("\n".join(map(_told, own)), known_near(lines, known, tokens=tokens))


def known_near(
    lines: Sequence[ViewLine], known: Sequence[KnownText], *, tokens: int = MOST_TOKENS
) -> str:
    """What is known and shares most of its rare words with the lines, as text."""
    near = _nearest("\n".join(line.text for line in lines), known)
    return "\n".join(_fitting(near, int(tokens * FOR_KNOWN)))


def _fitting(texts: Iterable[str], tokens: int) -> list[str]:
    """The first texts, as many as fit."""
    count, kept = counter(), list[str]()
    for text in texts:
        tokens -= count.count(text) + 1
        if tokens < 0:
            break
        kept.append(text)
    return kept


def _told(finding: Finding) -> str:
    """A finding in one line."""
    at = ", ".join(f"[{each.line}]" for each in finding.evidence)
    where = f" of `{finding.command}`" if finding.command else ""
    price = f"{finding.cost} calls lost" if finding.cost > 1 else "1 call lost"
    told = f"{at} {finding.kind}{where}, {price}: {finding.text}"
    if finding.words:
        told += f" / the person: {finding.words}"
    if finding.fix:
        told += f" / {'then' if finding.words else 'made it pass'}: {finding.fix}"
    return " ".join(told.split())


def _nearest(text: str, known: Sequence[KnownText]) -> list[str]:
    """What shares words with a text, most of the rare ones first."""
    said = set(_WORD.findall(text.lower()))
    words = [set(_WORD.findall(each.text.lower())) for each in known]
    common = Counter(word for each in words for word in each)
    scores = [sum(1 / common[word] for word in own & said) for own in words]
    ranked = sorted(range(len(known)), key=lambda at: -scores[at])
    return [f"{known[at].place} {known[at].text}" for at in ranked if scores[at]]
