"""What the edits of a file come to: its new code as it is at the end, a line for each place.

Several edits of one place are one piece of text, and what was taken out again is gone. Of a new
function its signature and remarks are described, of one that was changed the new lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from reviewer.compression.offline.calls import DECLARED, PROSE_FILE
from reviewer.compression.offline.statements import plain
from reviewer.proposing.view_calls import cut

MOST_PLACES = 6
"""Places of a file that are described, those that were changed last."""
MOST_NAMED = 8
MOST_REMARKS = 5
MOST_CODE = 6
"""Lines of code of a place that has no remarks; with remarks it has fewer."""
MOST_CODE_REMARKED = 4
MOST_REMOVED = 2
SMALL_PLACE = 7
"""New lines of a place up to which all of them are described."""
FEW_LINES = 4
"""Lines of a new function with remarks up to which its code is described too."""
FEW_PLACES = 3
"""Places of a new file up to which each is described."""
DOC_CHARS = 340
REMARK_CHARS = 150
CODE_CHARS = 160
SIGNATURE_CHARS = 180
SIGNATURE_LINES = 8
PLACE_CHARS = 900
LEAST_REMARK = 12


class Piece(Struct):
    """A part of a file that edits have put in. `within`: the function around it, where known."""

    text: str
    within: str = ""


class NewCode(Struct):
    """What a file has since its last commit that it did not have before."""

    pieces: list[Piece] = []
    before: set[str] = set()
    """Lines that were there before."""
    at: dict[str, int] = {}
    """New lines with the number of the edit that put them in."""
    removed: list[str] = []
    """Lines that were there before and are not any more."""
    edits: int = 0
    written: int = 0
    """The edit that wrote the whole file; 0 for none."""

    def apply(self, pairs: Iterable[tuple[str, str]], within: str) -> None:
        """An edit that replaces texts by others; one without a text before writes the file."""
        for old, new in pairs:
            self.edits += 1
            if old.strip():
                self._replace(old, new, within)
            else:
                self.pieces, self.removed, self.written = [Piece(new)], [], self.edits
            for line in _lines(new):
                if line not in self.before:
                    self.at[line] = self.edits

    def append(self, text: str) -> None:
        """A text that comes after what the file has."""
        self.edits += 1
        self.pieces.append(Piece(text))
        for line in _lines(text):
            if line not in self.before:
                self.at[line] = self.edits

    def _replace(self, old: str, new: str, within: str) -> None:
        was, now = list(_lines(old)), set(_lines(new))
        gone = [line for line in was if line not in now]
        for piece in self.pieces:
            if old in piece.text:
                known = set(_lines(piece.text))
                piece.text = piece.text.replace(old, new, 1)
                for line in _lines(piece.text):  # an edit may replace a part of a line
                    if line not in known and line not in self.before:
                        self.at[line] = self.edits
                return
        self.before.update(line for line in was if line not in self.at)
        self.removed += [line for line in gone if line not in self.at]
        self.removed = [line for line in self.removed if line not in now]
        kept = []
        for piece in self.pieces:
            if piece.text.strip() not in new:
                lines = piece.text.split("\n")
                piece.text = "\n".join(each for each in lines if each.strip() not in gone)
                kept.append(piece)
        self.pieces = [*kept, Piece(new, within)]


def _lines(text: str) -> Iterator[str]:
    return (line for each in text.split("\n") if (line := each.strip()))


class _Place(Struct):
    """A function, class or heading with what is new in it; `name` is empty outside of any."""

    name: str
    signature: str = ""
    """As it is declared, where the declaration is new."""
    declared: int = 0
    """The edit that put the declaration in."""
    remarks: list[str] = []
    code: list[str] = []
    at: int = 0
    after: dict[str, str] = {}
    """Remarks with the line of code that follows."""


def places_told(code: NewCode, path: str, most: int = MOST_PLACES) -> list[str]:
    """What is new in a file, a text for each place, in the order of the last edits."""
    if PROSE_FILE.search(path):
        return _sections_told(code)
    places: dict[str, _Place] = {}
    for piece in code.pieces:
        for place in _places(piece, code):
            known = places.setdefault(place.name, place)
            if known is not place:
                known.signature = known.signature or place.signature
                known.remarks += place.remarks
                known.code += place.code
                known.after.update(place.after)
                known.at = max(known.at, place.at)
    found = sorted((each for each in places.values() if each.at), key=lambda each: each.at)
    if resolved := _resolved(code):
        return [resolved]
    tests = [each for each in found if _TEST.match(each.name) and each.signature]
    changed = [each for each in found if _TEST.match(each.name) and not each.signature]
    changed = changed if len(changed) >= FEW_PLACES else []
    rest = [each for each in found if each not in tests and each not in changed]
    if code.written and len(rest) > FEW_PLACES:
        shown = [each for each in rest if each.at > code.written]  # the file is new as a whole
        shown = shown[-FEW_PLACES:]
    else:
        shown = rest
    shown = shown[-most:]
    texts = [(each, _told(each, code)) for each in shown]
    bare = [each for each, text in texts if each.signature and text == _head(each)]
    if len(bare) >= FEW_PLACES:
        texts = [(each, text) for each, text in texts if each not in bare]
    told = [text for _, text in texts if text]
    left = [each for each in rest if each not in [place for place, _ in texts]]
    if others := [each.name for each in left if each.name and each.signature]:
        text = f"also new: {', '.join(others[:MOST_NAMED])}" if told else _defined(others)
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        told.insert(0, f"{text}{more}")
    for what, some in (("changes in the tests", changed), ("tests", tests)):
        if not some:
            continue
        names = [each.name for each in some]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        told.append(f"{what} {', '.join(names[:MOST_NAMED])}{more}")
    if code.removed and not code.written and (not told or len(code.removed) <= MOST_REMOVED):
        text = f"removes {_quoted(code.removed[:MOST_REMOVED])}"
        told[-1:] = [f"{told[-1]}, {text}" if told else text]
    return told


def _defined(names: Sequence[str]) -> str:
    return f"defines {', '.join(names[:MOST_NAMED])}"


_CONFLICT = re.compile(r"<{7}|={7}$|>{7}|\|{7}")


def _resolved(code: NewCode) -> str:
    """How a conflict of a file was resolved; empty where edits did something else."""
    if not any(_CONFLICT.match(line) for line in code.removed):
        return ""
    kept = [line for piece in code.pieces for line in _lines(piece.text)]
    kept = [line for line in kept if not _REMARK.match(line) and not _BOILERPLATE.match(line)]
    dropped = [
        line
        for line in code.removed
        if not _CONFLICT.match(line) and not _REMARK.match(line) and line not in kept
    ]
    parts = [f"keeps {_quoted(kept[:MOST_CODE])}"] if kept else []
    parts += [f"drops {_quoted(dropped[:MOST_REMOVED])}"] if dropped else []
    return f"conflict resolved: {', '.join(parts)}" if parts else "conflict resolved"


_TEST = re.compile(r"(?:test|Test|Benchmark)(?:_|[A-Z]|$)")
_REMARK = re.compile(r"(?://[/!]?|#(?!\[|!|include|define|if|e)|/\*+|\*+(?!\w)|--|;+|<!--)\s*")
_REMARK_END = re.compile(r"(?<!\s)\s*+(?:\*/|-->)$")
_DOC = re.compile(r"[rbuf]{0,2}(\"{3}|'{3})")
_NOT_PROSE = re.compile(
    r"!|include\b|define\b|region\b|pragma|noqa|nolint|type:|eslint|prettier|ts-|go:|\W*$"
)
_BOILERPLATE = re.compile(
    r"(?:import|from|package|use|using|require|#include|export \{|module\.exports)\b"
    r"|(?:[\w.]+ )?\"[\w./@-]+\"$|if err != nil \{?$|return (?:nil|None|err|true|false)?;?$"
    r"|(?:t\.(?:Parallel|Helper)\(\)|else:?|try:?|pass|break;?|continue;?|default:|\} else \{|end"
    r"|finally:?|do)$|@\w+$|#!"
)
_TELLING = re.compile(
    r"\b(?:if|elif|return|raise|throw|for|while|switch|case|match)\b|[^=!<>]=[^=>]"
)
_RULE = re.compile(
    r"\b(?:if|when|unless|until|because|since|so|otherwise|else|must|never|always|only|not|no"
    r"|fall ?back|instead|skip|ignore|keep|may|default|first|before|after|already|still)\b|n't\b",
    re.IGNORECASE,
)
"""What a remark has that states a rule; others name a step."""
_CONSTANT = re.compile(
    r"(?:(?:export|pub|static|final|private|public|const|let|var) )*+"
    r"[A-Za-z_]\w*+(?::? ?[\w.\[\]]++)?"
    r" :?= (?:[\"'`\d\[{(-]|true\b|false\b|[\d\w.]+\()"
)
_OWNER = re.compile(r"\b(?:class|interface|trait|impl|enum|struct|namespace)\b")


def _places(piece: Piece, code: NewCode) -> Iterator[_Place]:
    """The places of a piece, the first of which is what its first line is in."""
    place = _Place(piece.within)
    depth, owner = -1, True
    waiting: list[str] = []
    waited = 0  # the edit of the remarks that wait for what they are about
    lines = piece.text.split("\n")
    doc = ""
    quoted = False
    for at, raw in enumerate(lines):
        line = raw.strip()
        inside = quoted
        if not _REMARK.match(line):
            quoted ^= bool(raw.count("`") % 2)
        if inside:
            continue  # a text that the code quotes
        number = code.at.get(line, 0) if line not in code.before else 0
        if doc or (found := _DOC.match(line)):
            mark = doc or (found[1] if found else "")
            begins = not doc
            words = line.replace(mark, "").strip()
            closed = line.count(mark) >= 2 if begins else mark in line
            if number and words:
                place.remarks = _continued(place.remarks, words, begins=begins)
                place.at = max(place.at, number)
            doc = "" if closed else mark
            continue
        if not line:
            waiting, waited = [], 0
            continue
        if marked := _REMARK.match(line):
            words = _REMARK_END.sub("", line[marked.end() :]).strip()
            if number and words and not _NOT_PROSE.match(words):
                waiting.append(words)
                waited = max(waited, number)
            continue
        declared = DECLARED.match(raw)
        indent = len(raw) - len(raw.lstrip())
        if declared is not None and declared[1] and (owner or indent <= depth):
            if place.at:
                yield place
            name = declared[1]
            signature = _signature(lines[at : at + SIGNATURE_LINES]) if number else ""
            place = _Place(name, signature, number, _joined(waiting), [], number)
            depth, owner = indent, bool(_OWNER.search(line))
        elif number:
            place.remarks += _joined(waiting)
            place.after.update((remark, line) for remark in _joined(waiting))
            if sum(map(str.isalnum, line)) > 3 and not _BOILERPLATE.match(line):
                place.code.append(line)
            place.at = max(place.at, number)
        elif waiting:
            place.remarks += _joined(waiting)
            place.at = max(place.at, waited)
        waiting, waited = [], 0
    place.remarks += _joined(waiting)
    place.at = max(place.at, waited)
    if place.at:
        yield place


def _joined(words: Sequence[str]) -> list[str]:
    return [" ".join(words)] if words else []


def _continued(remarks: Sequence[str], words: str, *, begins: bool) -> list[str]:
    """Remarks with one more line of a docstring."""
    if begins or not remarks:
        return [*remarks, words]
    return [*remarks[:-1], f"{remarks[-1]} {words}"]


def _signature(lines: Sequence[str]) -> str:
    """A declaration on one line, as far as its brackets go."""
    text = ""
    for line in lines:
        text = f"{text} {line.strip()}".strip()
        if text.count("(") <= text.count(")"):
            break
    text = text.replace("( ", "(").replace(", )", ")")
    return cut(_ENDING.sub("", text[: SIGNATURE_CHARS * 4]), SIGNATURE_CHARS).text


_ENDING = re.compile(r"(?<![\s{:=])(?:=>|[\s{:=])++$")


def _told(place: _Place, code: NewCode) -> str:
    """What is new in a place: its remarks, and the lines that say most."""
    words = [_without_name(text, place.name) for text in dict.fromkeys(place.remarks)]
    words = [text for text in words if len(text) >= LEAST_REMARK]
    doc = [text for text in words[:1] if text not in place.after]
    remarks = [cut(text, DOC_CHARS).text.rstrip(". ") for text in doc]
    words = words if doc else ["", *words]
    rules = [text for text in words[1:] if _RULE.search(text)] or words[1:]
    led = [place.after.get(text, "") for text in rules[:MOST_REMARKS]]
    for text, line in zip(rules, led, strict=False):
        remark = cut(text, REMARK_CHARS).text.rstrip(". ")
        remarks.append(f"{remark} {_quoted([line])}" if line else remark)
    lines = list(dict.fromkeys(place.code))
    few = len(lines) <= SMALL_PLACE and not place.signature
    if place.signature and remarks:
        lines = [line for line in lines if code.at.get(line, 0) > place.declared]
    lines = [
        line
        for line in lines
        if line not in led and (few or _says_value(line)) and not _OPENS.search(line)
    ]
    most = SMALL_PLACE if few else MOST_CODE_REMARKED if remarks else MOST_CODE
    most = max(most - sum(map(bool, led)), 1)
    chosen = sorted(lines, key=lambda line: (-_decides(line), -code.at.get(line, 0)))[:most]
    shown = _quoted([line for line in lines if line in chosen])
    said = ". ".join(remarks)
    text = ". ".join(part for part in (said, shown) if part)
    head = _head(place)
    if not text:
        return head if place.signature else ""
    return cut(f"{head}: {text}" if head else text, PLACE_CHARS).text


def _head(place: _Place) -> str:
    if place.signature:
        return f"new `{place.signature}`"
    return f"in `{place.name}`" if place.name else ""


_COMPARES = re.compile(r"[=!<>]=|[<>](?!-)|&&|\|\||\b(?:and|or|not|in|is)\b|\) ?[:{]?$")
_ERRORS = re.compile(r"\berr(?:or)? ?[!=]= ?(?:nil|null|None)|\b(?:fmt|errors)\.\w*[Ee]rr")


def _says_value(line: str) -> bool:
    """Whether a line of code says a value or a rule by itself: no call, and no half expression."""
    if not _balanced(line):
        return False
    rule = re.match(r"(?:return|raise|throw)\b.*[=!<>]=|.*[\w\])] [-+*/%] [\w(]", line)
    named = _CONSTANT.match(line) and not _EMPTY_OR_CALL.search(line)
    return bool(named or rule) and not _ERRORS.search(line)


_EMPTY_OR_CALL = re.compile(r"= ?(?:\[\]|\{\}|\(\)|[\"'`]{2}|[\w.]+\(.*\));?$")


def _balanced(line: str) -> bool:
    return all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}")) and (
        not line.endswith(("(", "[", "{", "=>", "=", "&&", "||"))
    )


def _decides(line: str) -> int:
    """How much a line of code says of what it does: conditions first, then what is returned."""
    if _ERRORS.search(line):
        return 1
    if re.match(r"(?:\} )?(?:els)?(?:e )?if\b|(?:while|case|when|match|switch)\b", line):
        return 4 if _COMPARES.search(line) else 3
    if re.match(r"(?:return|raise|throw|yield)\b", line) or _CONSTANT.match(line):
        return 3
    return 2 if _TELLING.search(line) else 1


_OPENS = re.compile(r"^(?:return|const \w+ =|let \w+ =|\w+ :?=)? ?[({\[]+$|=> \{$|= (?:async )?\($")
"""Lines that only begin something."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _without_name(remark: str, name: str) -> str:
    """A remark without the name that it begins with; empty where it only says the name again."""
    if not name or not remark.startswith(f"{name} "):
        return remark
    own = {word.lower()[:4] for word in _WORDS.findall(name)}
    rest = remark[len(name) + 1 :]
    said = [word for word in _WORDS.findall(rest) if len(word) > 3]
    new = [word for word in said if word.lower()[:4] not in own]
    return rest if len(new) > NAMED_AGAIN else ""


NAMED_AGAIN = 2
"""Words besides those of the name that a remark has at least."""


def _quoted(lines: Iterable[str]) -> str:
    return " ".join(f"`{cut(line, CODE_CHARS).text}`" for line in lines)


_HEADING = re.compile(r"#{1,6} +(.+)")
MOST_SECTIONS = 6


def _sections_told(code: NewCode) -> list[str]:
    """The new headings of a text, each with how it begins; else its new lines."""
    sections: list[list[str]] = []
    changed: dict[int, int] = {}  # sections with the edit that put them in
    loose: list[str] = []
    for piece in code.pieces:
        current: list[str] | None = None
        for line in _lines(piece.text):
            if line in code.before or line not in code.at:
                continue
            if heading := _HEADING.match(line):
                current = [heading[1]]
                sections.append(current)
                changed[id(current)] = code.at[line]
            elif sum(map(str.isalpha, line)) > LEAST_REMARK and not line.startswith(("```", "|")):
                if current is None:
                    loose.append(plain(line).lstrip("-*+ "))
                elif len(current) == 1:
                    current.append(plain(line).lstrip("-*+ "))
    sections.sort(key=lambda each: changed[id(each)])
    if len(sections) > FEW_PLACES:
        return [f"sections {', '.join(each[0] for each in sections[-MOST_NAMED:])}"]
    told = [
        f'section "{each[0]}"' + (f": {cut(each[1], REMARK_CHARS // 2).text}" if each[1:] else "")
        for each in sections[-MOST_SECTIONS:]
    ]
    if not told:
        told = [f'"{cut(line, REMARK_CHARS).text}"' for line in loose[-MOST_REMOVED:]]
    return ["; ".join(told)] if told else []
