"""The session view in a question: trimmed for the reader, with the lines of its findings added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from msgspec import structs

from reviewer.proposing.shortened import LINE_CHARS, cut, ends, shortened
from reviewer.proposing.values import APPROVED, PLAN, LineRole, SessionView, ViewLine
from reviewer.sessions.findings import Evidence, Finding, Kind
from reviewer.sources.events import Speaker

FENCE = 16
"""Maximum lines of an agent's code block to show in full."""


def reader_view(view: SessionView, findings: Iterable[Finding]) -> SessionView:
    """The view that a question shows.

    Texts that repeat other parts of the session are cut to their ends: sub-agent reports, replaced
    versions of a plan, and compaction summaries, except one at the start. Calls that only look,
    wait or edit share a line, each subject once per turn.
    """
    return _with_findings(_calls_together(_without_retellings(view.lines)), findings, view)


def _without_retellings(lines: Sequence[ViewLine]) -> list[ViewLine]:
    replaced = _replaced_plans(lines)
    found, begun = [], False
    for at, line in enumerate(lines):
        report = line.speaker is Speaker.SUBAGENT and line.role is LineRole.ASSISTANT
        if report or at in replaced or (begun and line.role is LineRole.SUMMARY):
            line = structs.replace(line, text=ends(line.text).text)
        elif line.speaker is Speaker.AGENT:
            line = structs.replace(line, text=shortened(line.text, fence=FENCE).text)
        begun = begun or line.role in (LineRole.USER, LineRole.ASSISTANT)
        found.append(line)
    return found


def _calls_together(lines: Sequence[ViewLine]) -> list[ViewLine]:
    """The lines with each run of look, wait or edit calls merged into one line."""
    found: list[ViewLine] = []
    run: list[ViewLine] = []
    seen: set[str] = set()

    def close() -> None:
        if run:
            subjects = "; ".join(_by_tool(each.subject for each in run))
            found.append(structs.replace(run[0], text=cut(subjects, LINE_CHARS).text))
            run.clear()

    for line, after in zip_longest(lines, lines[1:]):
        if line.subject and (not run or line.speaker is run[0].speaker):
            failed = after is not None and after.role is LineRole.ERROR
            if failed or line.subject not in seen:
                run.append(line)
            seen.add(line.subject)
            continue
        close()
        if line.role is LineRole.USER:
            seen.clear()
        found.append(line)
    close()
    return found


def _by_tool(subjects: Iterable[str]) -> Iterator[str]:
    """The subjects, without a tool name equal to the previous one."""
    before = ""
    for subject in subjects:
        tool, _, what = subject.partition(": ")
        yield what if what and tool == before else subject
        before = tool


def _replaced_plans(lines: Sequence[ViewLine]) -> set[int]:
    """Positions of plans that were replaced before one was approved."""
    replaced, waiting = set[int](), list[int]()
    for at, line in enumerate(lines):
        if line.role is LineRole.ASSISTANT and line.text.startswith(PLAN):
            replaced.update(waiting)
            waiting = [at]
        elif line.role is LineRole.EVENT and line.text == APPROVED:
            waiting = []
    return replaced


def _with_findings(
    lines: Sequence[ViewLine], findings: Iterable[Finding], view: SessionView
) -> SessionView:
    """The lines, with any missing lines of their findings added (failing lines and changes), so
    that they can be quoted.
    """
    there: dict[int, str] = {}
    for line in lines:
        there[line.line] = f"{there.get(line.line, '')} {_bare(line.text)}"
    more = []
    for finding in findings:
        for shown in finding.evidence:
            words = _bare(shown.text)
            if words and words not in there.get(shown.line, ""):
                there[shown.line] = f"{there.get(shown.line, '')} {words}"
                more.append(_line(finding, shown))
    ordered = sorted([*lines, *more], key=lambda line: line.line)
    return structs.replace(view, lines=tuple(ordered))


def _bare(text: str) -> str:
    return " ".join(text.replace("`", "").split())


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
