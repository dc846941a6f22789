"""Statements from the texts inside a session that somebody wrote to be read later.

A compaction summary explains the terms of a project and the causes and remedies that were found;
the body of a commit says how things work now. Only the kinds that a reader keeps at least three
times in four are proposed. Plans, pull requests, reports of sub-agents and the narrating sections
of summaries are not among them: their texts can still be found as excerpts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.proposing.values import Proposal, Proposer, Quote, Speaker
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.sentences import split_sentences, whole_sentences

SHORTEST, LONGEST = 50, 280
"""Characters of a statement from a note; shorter text is a label."""
TEXT_LIMIT = 50_000
"""Characters of a shell command or a bullet that are read; nobody writes longer ones by hand."""


class NoteKind(StrEnum):
    SUMMARY = "summary"
    COMMIT = "commit"


class Note(Struct, frozen=True):
    """A text that was written to be read later, and its 0-based line in the file."""

    kind: NoteKind
    line: int
    text: str


_SECTION = re.compile(r"(?:#{1,4} +)?\**\d{1,2}\. +\**([A-Z][^:\n*]{3,60})\**+:?\**+\s*+$")
_HEADING = re.compile(r"#{1,4} +\**([A-Z][^\n*]{2,60}?)\**+:?\**+\s*+$")
"""A section without a number, as most agents but Claude Code write them."""
_ITEM = re.compile(r"([ \t]*)(?:[-*]|\d{1,2}\.)[ \t]+(\S.*)")
_TERMS = re.compile(r"\bconcepts?\b|\bterms?\b", re.IGNORECASE)
_FINDINGS = re.compile(
    r"\b(?:errors?|problems?|learn\w+|decisions?|discover\w+|gotchas?)\b", re.IGNORECASE
)
_LABEL = re.compile(r"\*\*([^*\n]{2,80})\*\*(?: \([^)]{1,40}\))?:? *(?:[—–:] *|- +)?")
_CODE_LABEL = re.compile(r"(`[^`\n]{2,80}`)(?:: | [—–-] )")
_CODE = re.compile(r"`[^`\n]*`")
_EMPHASIS = re.compile(r"(?<![\w/*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?![\w*])")
_ITALIC = re.compile(r"(?<![\w*/`])\*(\w[\w -]*)\*(?![\w*/`])")

# Wording that shows a state which is over, or one that will be soon.
_OVER = re.compile(
    r"\b(?:was|were|had|did|would|could|used to|failed|broke|returned|caused|occupied|rendered"
    r"|pointed|targeted|declared|dropped|dropping|happened|meant|printed|treated|published|reached"
    r"|found|got|became|made|came|went|took|kept|left|said|told|showed|proved|claimed|ignored"
    r"|survived|stored|previously|formerly|originally|earlier|already|currently|now|so far"
    r"|no longer|still|today|yet|new|just|planned|changed|removed|solved|pending"
    r"|in progress|old|older|solution|investigated|added|cleaned)\b"
    r"|\b(?:did|was|were|had|would|could)n't\b",
    re.IGNORECASE,
)
_TERM_OVER = re.compile(
    r"\b(?:was|were|had|did|would|could|used to|previously|formerly|no longer|planned|changed"
    r"|removed|solved|pending|in progress|not yet|added|incorrect(?:ly)?)\b|^new\b",
    re.IGNORECASE,
)
_PAST_VERB = re.compile(
    r"\b(?:always|never|only|once|then|it|they) [a-z]{2,}ed\b|"
    r"(?<!\bis)(?<!\bare)(?<!\bbe)(?<!\bget)(?<!\bgets)(?<!\bhas)(?<!\bhave)(?<!\bnot)(?<!\band)(?<!,)"
    r" [a-z]{2,}ed (?:up|the|an?|all|to|by|with|in|from|on|into|only|its)\b"
)
_PERSONAL = re.compile(
    r"\b(?:I|my|we|our|you|your|the user (?:asked|said|wants|rejected|reported|corrected)"
    r"|user (?:correction|feedback|reported|rejected)|this (?:session|pr|branch|commit|change|fix"
    r"|work|file|function|test)|the (?:fix|change|plan|spec|agent|brief|review|implementer)"
    r"|pr #\d+|task #?\d+)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:moves?|becomes?|gains?|replaces?|drops?|fixes|adds?|removes?)\b", re.IGNORECASE
)
_ABOUT_WORK = re.compile(
    r"\b(?:optimi[sz]ations?|refactor\w*|renam\w+|migrations?|conflicts?|pr #?\d+|fix(?:es)?"
    r"|[A-Z]{2,6}-\d+|phase \d)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"\b(?:is|are|has|have|does|can|cannot|must|for|when|before|after|until|via|instead|only"
    r"|that|which|with|its|from|per|to)\b",
    re.IGNORECASE,
)
_VERB_FIRST = re.compile(r"[A-Z][a-z]+(?:[^aious]s|es)\b(?! [—–:(])")
_GOES_ON = re.compile(r"(?!its\b|this\b|as\b|always\b|less\b)[a-z]+(?:[^aious]s|es)\b(?! [—–:(=])")
"""A verb after a name in code: "`--dry` — reports what would be deleted"."""
_SIGN = re.compile(
    r"\b(?:but|while|whereas|only|never|always|before|after|because|since|so|not|cannot|must"
    r"|instead of|rather than|unless|except|even|without|when|if|requires?|needs?|precisely"
    r"|deliberately|via)\b|n't\b|[—→]",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|has|have|does|do|can|cannot|must|need|run"
    r"|(?!its\b|always\b|less\b|across\b)[a-z]{2,}(?:es|[^aious]s))\b"
)
_LEANS = re.compile(
    r"(?:this|that|these|those|it|its|they|them|their|he|she|then|so|also|here|there|both|same|but"
    r"|and|or|however|which|such|next|neither|each|all|one|two|three|four|\d+|otherwise|instead"
    r"|simply|only|most|every|if|when|to|by|with|for|in|on|from|as|"
    r"the (?:existing|new|old|current)|"
    r"(?:fix|cause|root cause|result|note|add|update|remove|replace|move|rename|use|make|record"
    r"|reset|report|pin|see|drop|give|keep|lead|test|verif|confirm|discover|identif|implement"
    r"|trac|resolv|work|correct|apply|extract|introduc|convert|refactor|clarif|address|cover"
    r"|bump|document|build|built|base|writ|deriv|ensure|check|run|call|pars|stor|allow|enabl"
    r"|prefer|avoid|do|don't|broaden|simplif|switch|chang)(?:e|es|ed|d|y|ies|ied|s|ing)?)\b",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(r"`x` (?:while|because|since|when|if|in|on|from)\b")
_CAUSE = re.compile(
    r"\b(?:because|root cause is(?: that)?|turns out(?: that)?|is caused by) +(?=\S)", re.IGNORECASE
)
_DEFECT = re.compile(r"\**(?:discover|identif|found|confirm|diagnos)\w*\b", re.IGNORECASE)
"""How a bullet begins that reports a defect, which the session then mends."""
_MESSAGE = re.compile(
    r"(?:fatal|error|[A-Za-z]*Error)\b: |.*\b(?:command not found|permission denied|no such file"
    r"|connection refused|already (?:used|exists|in use))\b",
    re.IGNORECASE,
)
_REMEDY = re.compile(
    r"(?:Fixed|Resolved|Worked around|Solved)\s+(?:with|by)\s[^.\n]{0,300}?"
    r"`[a-z][\w.-]{0,60} [^`\n]{1,300}`[^.\n]*",
)
_TRIED = re.compile(r"When (?:trying to |running )?(`[^`\n]+`), (?:I )?got (`[^`\n]+`)")
_TRAILER = re.compile(r"[A-Z][\w-]{1,40}(?:-by|: ).*@|🤖|Signed-off|Co-Authored", re.IGNORECASE)


def note_proposals(notes: Iterable[Note]) -> Iterator[Proposal]:
    """The statements of a session's notes, in order.

    What a later summary says about the same term replaces the earlier one, so terms come last.
    """
    terms: dict[str, Proposal] = {}
    for note in notes:
        if note.kind is NoteKind.COMMIT:
            yield from _commit(note)
            continue
        for section, item in _items(note.text):
            if _TERMS.search(section):
                for label, proposal in _term(note, item):
                    terms.pop(label, None)
                    terms[label] = proposal
            elif _FINDINGS.search(section):
                yield from _finding(note, item)
    yield from terms.values()


def _items(text: str) -> Iterator[tuple[str, list[str]]]:
    """The top-level bullets of a summary as (section, lines: the bullet and its sub-bullets).

    The analysis before the summary narrates, so it is passed over; so is code.
    """
    start = text.find("\nSummary:")
    written = text[max(start, 0) :].split("\n")
    numbered = sum(1 for line in written if _SECTION.match(line))
    opens = _SECTION if numbered >= sum(1 for line in written if _HEADING.match(line)) else _HEADING
    section, depth, fenced = "", 0, False
    lines: list[str] = []
    for line in written:
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced or not stripped:
            continue
        elif not line[:1].isspace() and (heading := opens.match(stripped)):
            if lines:
                yield section, lines
            section, lines = heading[1], []
        elif item := _ITEM.match(line):
            indent = len(item[1].expandtabs(4))
            if lines and indent > depth:
                lines.append(item[2].strip())
                continue
            if lines:
                yield section, lines
            lines, depth = [item[2].strip()], indent
        elif lines:
            lines[-1] += " " + stripped
    if lines:
        yield section, lines


def _term(note: Note, item: list[str]) -> Iterator[tuple[str, Proposal]]:
    """A bullet that explains a term: `**Shadow copy**: kept until the upload is confirmed`."""
    written = item[0]
    label = _LABEL.match(written) or _CODE_LABEL.match(written)
    if label is None:
        return
    name, body = (
        label[1].strip().rstrip(":"),
        _ITALIC.sub(r"\1", _EMPHASIS.sub(r"\1", written[label.end() :])).strip(),
    )
    plain = _CODE.sub("`x`", body)
    verb_first = _VERB_FIRST.match(body) or ("`" in name and _GOES_ON.match(body))
    if (
        len(body) < 25
        or _TERM_OVER.search(plain)
        or _PERSONAL.search(plain)
        or _ABOUT_WORK.search(_CODE.sub("`x`", name) + " " + plain)
        or not (verb_first or _DEFINES.search(plain))
    ):
        return
    named = "`" in name or name.endswith("()") or not name.endswith("s")
    joined = f" {body[0].lower()}{body[1:]}" if named and verb_first else f": {body}"
    statement = whole_sentences(name + joined, LONGEST)
    if SHORTEST <= len(statement) <= LONGEST:
        yield name.lower(), _proposal(note, "notes.term", statement, written, "architecture")


def _finding(note: Note, item: list[str]) -> Iterator[Proposal]:
    """A cause, or an error message with its remedy, among the errors and problems of a summary."""
    text = " ".join(item)[:TEXT_LIMIT]
    spans = _CODE.finditer(text)
    message = next((span for span in spans if _MESSAGE.match(span[0].strip("`"))), None)
    remedy = _REMEDY.search(text)
    if message and remedy and message.start() < remedy.start() and len(item) == 1:
        tried = _TRIED.search(text)
        if tried:
            opening = f"{tried[1]} fails with {tried[2]}."
        else:
            opening = text[message.start() : remedy.start()].replace("**", "").strip()
        statement = f"{opening} {remedy[0].strip()}."
        if len(statement) <= LONGEST and not _PERSONAL.search(_CODE.sub("`x`", statement)):
            yield _proposal(note, "notes.remedy", statement, item[0], "trap")
            return
    if _DEFECT.match(text):
        return
    for line in item:
        for start, end in split_sentences(line, 0, len(line)):
            written = line[start:end]
            statement = lasting(written)
            if statement:
                yield _proposal(note, "notes.cause", statement, written, "trap")


def _commit(note: Note) -> Iterator[Proposal]:
    """Sentences of a commit's body that say how something works, not what the commit did."""
    _, _, body = note.text.partition("\n")
    for paragraph in re.split(r"\n\s*\n", body):
        if _TRAILER.match(paragraph.strip()):
            continue
        for piece in re.split(r"\n(?=\s*[-*] )", paragraph):
            text = " ".join(piece.split())
            for start, end in split_sentences(text, 0, len(text)):
                statement = lasting(text[start:end])
                if statement:
                    yield _proposal(
                        note, "notes.commit", statement, text[start:end], "architecture"
                    )


def lasting(sentence: str) -> str:
    """A sentence that states a lasting fact about something named exactly, without its label.

    Empty if it narrates, reports a change, leans on its neighbours or is about the past. Of "X
    failed because Y", the clause Y is kept if it is in the present tense.
    """
    if len(sentence) > 4 * LONGEST:
        return ""
    text = re.sub(r"^[-*]\s+", "", sentence.strip())
    text = _LABEL.sub("", text, count=1) if text.startswith("**") else text
    cause = _CAUSE.search(text)
    explains = cause is not None and len(text) - cause.end() >= 40
    if cause and explains:
        before = text[: cause.start()]
        explains = cause[0].lower() != "because " or bool(_OVER.search(before) or "here" in before)
        text = text[cause.end() :] if explains else text
    text = _EMPHASIS.sub(r"\1", text).strip()
    if not SHORTEST <= len(text) <= LONGEST or text.endswith((":", "?")):
        return ""
    plain = _CODE.sub("`x`", text)
    if (
        _LEANS.match(text)
        or _OVER.search(plain)
        or _PERSONAL.search(plain)
        or _PAST_VERB.search(plain)
        or _CHANGES.search(plain)
        or not (explains or _SIGN.search(plain))
        or not _VERB.search(" ".join(plain.split()[:9]))
        or _NO_SUBJECT.match(plain)
        or not _names(text)
        or text.count("(") != text.count(")")
    ):
        return ""
    first = text.split(" ", 1)[0]
    return text if not first.islower() or _names(first) else text[0].upper() + text[1:]


def _names(text: str) -> int:
    """How many things a text names exactly; numbers, hashes and issues do not count."""
    other = (IdentifierKind.QUANTITY, IdentifierKind.HASH, IdentifierKind.ISSUE)
    return sum(1 for each in identifiers(text) if each.kind not in other)


def _proposal(note: Note, rule: str, statement: str, source: str, kind: str) -> Proposal:
    """A proposal from `source`, a part of the note whose white space may have been folded."""
    found = re.search(r"\s+".join(re.escape(word) for word in source.split()), note.text)
    written = found[0] if found else source
    return Proposal(
        statement=statement,
        type=MemoryType.KNOWLEDGE,
        quotes=tuple(
            Quote(line=note.line, text=line.strip()) for line in written.split("\n") if line.strip()
        ),
        speaker=Speaker.HARNESS if note.kind is NoteKind.SUMMARY else Speaker.AGENT,
        proposer=Proposer.NOTES,
        rule=rule,
        kind=kind,
    )


_HEREDOC = re.compile(
    r"git commit\b[^\n]*?<<-?[ ]*(['\"]?)(\w+)\1[^\n]*\n(.*?)\n[ \t]*\2(?=\s|\)|$)", re.DOTALL
)
_OPTION = re.compile(r"(?:-m|--message)[ =](?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL)


def commit_messages(command: str) -> Iterator[str]:
    """The messages of the commits that a shell command makes, as here-documents or after `-m`."""
    if "git commit" not in command or len(command) > TEXT_LIMIT:
        return
    found = False
    for heredoc in _HEREDOC.finditer(command):
        found = True
        yield heredoc[3]
    if found:
        return
    parts = [
        (one[1] or one[2] or "").replace('\\"', '"')
        for one in _OPTION.finditer(command, command.find("git commit"))
    ]
    if parts:
        yield "\n\n".join(parts)
