"""Kinds of notes: decision records, logs of entries, agent instructions, templates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.clock import from_iso
from reviewer.sources.markdown import without_comments

DATED = re.compile(
    r"~*\s*\[?(\d{4}-\d{2}-\d{2})(?:[-T ](\d{2}):?(\d{2}):?(\d{2}))?\]?(?=$|[\s:—–-])"
)
FILE_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?=\D)")
"""A date at the start of a note's name."""
LOG_TITLE = re.compile(
    r"(?:architect\w+ )?(?:decisions?|learnings?|lessons(?: learned)?|decision (?:log|records?)"
    r"|adrs?)",
    re.IGNORECASE,
)
STATUS = re.compile(r"[\s>*_-]*+status\s*+[*_]*+\s*+:\s*+[*_]*+\s*+(\S.{0,200})", re.IGNORECASE)
DATE = re.compile(r"[\s>*_-]*+date\s*+[*_]*+\s*+:\s*+[*_]*+\s*+(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
SUPERSEDED = re.compile(r"\s*(?:>\s*)?(?:~~|\*\*)\s*superseded", re.IGNORECASE)
NYGARD = {"status", "context", "decision", "consequences"}
MADR = {
    "context and problem statement",
    "decision drivers",
    "considered options",
    "decision outcome",
    "pros and cons of the options",
}
INSTRUCTION_NAME = re.compile(
    r"(?:.*[-_.])?(?:CLAUDE|AGENTS|GEMINI)(?:\.local)?\.md|(?:claude|agents?|gemini)\.md"
    r"|\.(?:cursor|windsurf|cline)rules|copilot-instructions\.md"
)
INSTRUCTION_TEXT = (
    "this file provides guidance to claude code",
    "provides guidance to ai agents",
    "this is a ctx steering file",
)
FENCED = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
PLACEHOLDER = re.compile(
    r"\{\{[^{}\n]*\}\}|\{[^{}\n]{2,}\}|(?<!\[)\[(?![ xX-]?\])[^\[\]\n]{2,}\](?![\[(:])"
    r"|<(?=[A-Za-z][^<>\n _-]*+[ _-])[^<>\n]++>|\bYYYY-MM-DD\b"
)
LABEL = re.compile(
    r"^[^\S\n]*+(?:(?:[-*+]|\d++[.)])[^\S\n]*+)?\**+[\w/][\w /]{0,39}\**+:\**+\s*+"
    r"|^[^\S\n]*+#{1,6}\s.*$",
    re.MULTILINE,
)


def is_agent_instructions(name: str, head: str) -> bool:
    """Whether a file is for agents (CLAUDE.md, AGENTS.md ...), by its name or text."""
    start = head[:3000].lower()
    return bool(INSTRUCTION_NAME.fullmatch(name)) or any(t in start for t in INSTRUCTION_TEXT)


def is_decision_record(headings: Sequence[tuple[int, str]]) -> bool:
    """Whether a file's headings are those of a single decision (Nygard format or MADR)."""
    titles = {title.lower().rstrip(":") for level, title in headings if level > 1}
    once = sum(title.lower() in ("decision", "decision outcome") for _, title in headings) == 1
    if sum(level == 1 for level, _ in headings) > 1 or not once:
        return False
    return len(titles & NYGARD) >= 2 or len(titles & MADR) >= 2


def is_log_title(title: str) -> bool:
    """Whether a file with this title has one entry per heading."""
    return bool(LOG_TITLE.fullmatch(title.strip()))


def is_dated(title: str) -> bool:
    """Whether a heading starts with a date: `[2026-02-19-143000] Title`, `2026-05-01: Title`."""
    return bool(DATED.match(title))


def entry_title(heading: str) -> tuple[str, str | None]:
    """An entry's title without its date, and its time as ISO 8601 if it has one."""
    moment, title = None, heading
    if dated := DATED.match(heading):
        time = f"T{dated[2]}:{dated[3]}:{dated[4]}" if dated[2] else ""
        moment = dated[1] + time if from_iso(dated[1] + time) else None
        title = heading[dated.end() :].lstrip(" :—–-")
    return title.replace("~~", "").strip(), moment


def entry_facts(text: str) -> dict[str, str]:
    """The `status` and `date` given in an entry's text."""
    facts: dict[str, str] = {}
    status_follows = False
    text = without_comments(text)[0] if "<!--" in text else text
    for line in text.split("\n"):
        if status_follows and line.strip():
            facts.setdefault("status", _plain(line))
            status_follows = False
        if line.lstrip().startswith("#"):
            status_follows = line.strip("# \t:").lower() == "status"
            if "~~" in line:
                facts["status"] = "superseded"
        elif SUPERSEDED.match(line):
            facts["status"] = "superseded"
        elif (found := STATUS.fullmatch(line)) and " | " not in line:
            facts.setdefault("status", _plain(found[1]))
        elif found := DATE.match(line):
            facts.setdefault("date", found[1])
    return facts


def is_template(text: str) -> bool:
    """Whether a text contains only comments, an index and placeholders."""
    if "<!--" not in text and not PLACEHOLDER.search(text):
        return False
    body, _ = without_comments(text)
    commented = len(body) < len(text)
    unfenced = FENCED.sub(" ", body)
    spots = PLACEHOLDER.findall(unfenced)
    rest = LABEL.sub(" ", PLACEHOLDER.sub(" ", unfenced))
    words = len(re.findall(r"[^\W_]{2,}", rest))
    if not words:
        return bool(spots) or (commented and not LABEL.sub(" ", body).strip())
    return len(spots) >= 3 and sum(map(len, spots)) > 1.5 * len(" ".join(rest.split()))


def _plain(text: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.strip(" \t*_~>.")[:120]
