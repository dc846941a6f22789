"""Files to which the person's request points, such as a task or a plan, and what they ask for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from reviewer.compression.offline.calls import PROSE_FILE
from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.looks import Look, Way
from reviewer.proposing.view_calls import cut

MOST_FILES = 3
MOST_LINES = (48, 30, 18, 10)
"""Lines of a file that are shown, the more the more room there is."""
LINE_CHARS = 180
LEAST_LINES = 2
LEAST_NAME = 5
"""Characters of a file name by which a request points to a file."""
CONFIG_READS = 4
"""Reads after that of a file to which the request points in which its settings are looked for."""

_SETTINGS = re.compile(r"\.(?:ya?ml|toml|ini|cfg|conf|json|jsonc|env)$", re.IGNORECASE)
_CHECKBOX = re.compile(r"\s*[-*] \[[ xX]\] \S")
_RULE = re.compile(
    r"\b(?:must|shall|never|always|required|requires?|should|do not|don't|only|not allowed"
    r"|MUSS|NIE|doit|jamais|toujours)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#{1,4} \S")
_BOLD_KEY = re.compile(
    r"\s*(?:[-*] )?\*\*[^*]{2,60}\*\*:?\s*\S|\s*(?:[-*] )?\*\*[^*]{2,60}:\*\*\s*\S"
)
_KEY = re.compile(r"\s*\"?[A-Za-z_][\w .-]{0,40}\"?\s*[:=]\s*\S")
_TAG = re.compile(r"\s*+<(\w++)(?:\s[^>]{0,300}?\b(?:name|title|role)=[^>]*>|[^>]*+>[^<]{8,})")
_NUMBERED = re.compile(r"\s*\d+[.)] \S")
_LISTED = re.compile(r"\s*[-*•] \S")
_LABEL = re.compile(r"\*\*[^*]{2,60}\*\*:?(?: \([^)]*\))?:?|\*\*[^*]{2,60}:\*\*")
"""A label with nothing after it."""
_FIELD = re.compile(r"\s*\"[\w.$-]+\"\s*:")
_REMARK = re.compile(r"\s*(?:#(?!#* \S*[A-Za-z]{3})|//|;)")


def pointed_to(looks: Sequence[Look], moments: Sequence[Moment]) -> list[Look]:
    """The reads of prose and settings that the person's words name, and of settings that such a
    file names in turn; those of a request that was followed by a commit and another one are over.
    """
    found: list[Look] = []
    for words, start in _open_requests(moments):
        for at, look in enumerate(looks):
            if look.turn < start or look in found or not _can_ask(look):
                continue
            name = look.path.rpartition("/")[2]
            if len(name) < LEAST_NAME or not _names(words, name):
                continue
            found.append(look)
            text = "\n".join(look.texts)
            found += [
                other
                for other in looks[at + 1 : at + 1 + CONFIG_READS]
                if other not in found
                and other.way is Way.READ
                and _SETTINGS.search(other.path)
                and _names(text, other.path.rpartition("/")[2])
            ]
    return found[:MOST_FILES]


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _can_ask(look: Look) -> bool:
    return look.way is Way.READ and bool(
        PROSE_FILE.search(look.path) or _SETTINGS.search(look.path)
    )


def _open_requests(moments: Sequence[Moment]) -> Iterator[tuple[str, int]]:
    """What the person said, the latest first, as far as no commit came after it."""
    for each in reversed(moments):
        if isinstance(each, Event) and each.kind is Kind.COMMIT and each.failed is False:
            later = [m for m in moments if isinstance(m, Message) and m.voice is Voice.PERSON]
            if later and later[-1].turn < each.turn:
                yield later[-1].text, later[-1].turn
            return
        if isinstance(each, Message) and each.voice is Voice.PERSON:
            yield each.text, each.turn


def asked_for(look: Look, texts: Sequence[str]) -> list[tuple[int, int, str]]:
    """The lines of a file that ask for something: rank, place, text. `texts`: its masked lines."""
    settings = _SETTINGS.search(look.path) is not None
    tags = Counter(tag[1] for text in texts if (tag := _TAG.match(text)))
    found: list[tuple[int, int, str]] = []
    fenced = False
    for at, text in enumerate(texts):
        line = text.strip()
        if line.startswith("```"):
            fenced = not fenced
        if sum(map(str.isalnum, line)) < LEAST_NAME:
            continue
        tag = _TAG.match(text)
        if fenced and not tag:
            if _FIELD.match(text):
                field = line.rstrip(" {[")
                if found and found[-1][1] == at - 1 and found[-1][2].startswith('"'):
                    field = f"{found.pop()[2]} {field}"
                found.append((1, at, cut(field, 2 * LINE_CHARS).text))
            continue
        if not settings and _HEADING.match(line):
            rank = 1
        elif _LABEL.fullmatch(line):
            continue
        elif (
            _CHECKBOX.match(text)
            or _BOLD_KEY.match(text)
            or _RULE.search(line)
            or (settings and _KEY.match(text) and not _REMARK.match(text))
        ):
            rank = 0
        elif tag:
            rank = 0 if tags[tag[1]] == 1 else 2
        elif _NUMBERED.match(text):
            rank = 1
        elif _LISTED.match(text) or _KEY.match(text):
            rank = 2
        else:
            continue
        found.append((rank, at, cut(line, LINE_CHARS).text))
    first = {text: at for _, at, text in reversed(found)}
    return [each for each in found if first[each[2]] == each[1]]


def asked_forms(look: Look, texts: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """A title with the lines of a file that ask for something, the most lines first."""
    found = asked_for(look, texts)
    if len(found) < LEAST_LINES:
        return
    size = f"{len(texts)} lines{'' if look.whole else ' of it'}"
    for most in MOST_LINES:
        if most != MOST_LINES[0] and most >= len(found):
            continue
        chosen = sorted(sorted(found, key=lambda each: each[:2])[:most], key=lambda each: each[1])
        more = f" ({len(found) - most} more lines are not shown)" if len(found) > most else ""
        yield (
            f"{look.head} ({size}), which the request points to. It asks for{more}:",
            _without_bare_headings([text for _, _, text in chosen]),
        )


def _without_bare_headings(lines: Sequence[str]) -> list[str]:
    """The lines without headings under which nothing is shown."""
    after = [*lines[1:], "# end"]
    return [
        line
        for line, following in zip(lines, after, strict=True)
        if not (_HEADING.match(line) and _HEADING.match(following))
    ]
