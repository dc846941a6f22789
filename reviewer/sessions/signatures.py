"""Failure signatures: the part of a message that stays the same when a failure recurs.

Knows the output formats of tools: `path:line:col: message (rule)`, exceptions, labels. Independent
of language, and linear in the length of the text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cached_property

from reviewer.text.controls import without_escapes

LONGEST_LINE = 600
"""Maximum characters read of a line."""
LONGEST = 240
"""Maximum characters of a signature."""
HEAD, TAIL = 20_000, 20_000
"""Characters read of an output: failures are printed at the beginning or the end."""
MOST = 6
"""Maximum distinct failing lines per output."""

_LOCATED = re.compile(
    r"\s*(?P<path>(?:[A-Za-z]:)?[\w.~@+/\\-]*\.[A-Za-z]\w{0,5}):\d+(?P<column>:\d+)?:\s+"
    r"(?![A-Z]\w*Warning: |in \S+$)(?P<text>\S.*)"
)
"""Excludes Python warnings and frames as printed by pytest."""
_LOCATED_IN_BRACKETS = re.compile(
    r"\s*(?P<path>[\w.~@+/\\-]+\.\w{1,6})\(\d+,\d+\): (?:error|warning) (?P<text>\S.*)"
)
_ESLINT = re.compile(r"\s+\d+:\d+\s+(?:error|warning)\s+(?P<text>\S.*)")
_RULE_IN_BRACKETS = re.compile(r"\s+[(\[](?P<rule>[a-z@][\w@/-]{2,48})[)\]]$")
_RULE_IN_COLUMN = re.compile(r"\s{2,}(?P<rule>[a-z@][\w@/-]{2,60})$")
_BIOME = re.compile(r"(?P<path>\S+\.\w{1,6})\S* (?P<rule>[A-Za-z][\w/]+)(?: +FIXABLE)? ━{3,}")
_PLACE_AND_RULE = re.compile(r":\d+(?::\d+: |\s+(?:error|warning)\s)|\(\d+,\d+\): |━━━")
_FAILS = ("rror", "ERR", "ail", "AIL", "atal", "anic", "Exception", "not ok", "●", "✗", "━━━")
"""Strings with which tools report failures."""
_CODE = re.compile(r"(?P<rule>[A-Z]{1,5}\d{2,5}|[a-z][\w-]{3,24}):?\s")
_CODE_OF_COMPILER = re.compile(r"(?:error|warning)\[(?P<rule>\w+)\]: (?P<text>\S.*)")
_EXCEPTION = re.compile(
    r"(?:E\s+|Uncaught )?(?P<rule>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure))"
    r"(?:: (?P<text>.*)| \[.*|$)"
)
_FAILED_TEST = re.compile(
    r"\s*(?:--- FAIL: \S|FAILED \S+::|FAIL: \S|● .*\S › \S|✗ \S|not ok \d|test \S+ \.\.\. FAILED)"
)
_FAILED_GO_TEST = "--- FAIL: "
_FAILED_PACKAGE = re.compile(r"FAIL\t\S")
_SECONDS = re.compile(r"\s+[(\[]?\d[\d.]* ?m?s[)\]]?$")
_SEVERE = re.compile(
    r"(?i:error|fatal|panic|err|failed|failure)\b(?: \w+)?:\s|npm (?i:err)!\s\S|! \["
)
_MARKED = re.compile(r"(?i:\b(?:error|fatal|panic|failed|failure)\b)|[×✖✗] ")
_LABEL = re.compile(r"[A-Za-z][\w.-]*(?: ?\([\w -]+\))?: \S")
_FRAME = re.compile(
    r"(?:Error: )?Exit code:? -?\d+|<\/?(?:returncode|output)>|Command exited with"
    r"|Sibling tool call errored|Process exited with code|Chunk ID:|Wall time:|Output:$"
    r"|Original token count:|<(?:command with )?(?:shellId|id): |Traceback |Now using node"
    r"|\$ |> |\[\d|={3}|#|error: failed to push some refs"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING)\b|(?i:debug|info|note|notice|hint|warn|warning): "
    r"|npm (?:warn|notice)"
)
"""Lines that agents and runners add to every output, and those of a level below an error."""

_BEGINS = "Output: "
"""Prefix of the first output line in Gemini CLI."""
_TAGS = re.compile(r"</?tool_use_error>")
_SHELL = re.compile(r"\S*\b(?:ba|z|da|k)?sh:(?: line \d+:|\d+:)? |\(eval\):\d+: ")
"""Prefix of a shell's own messages."""

ERRNO = (
    "command not found",
    "no such file or directory",
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "no space left on device",
    "address already in use",
    "connection refused",
    "connection reset",
    "network is unreachable",
    "could not resolve host",
    "name or service not known",
    "temporary failure in name resolution",
    "too many open files",
    "cannot allocate memory",
    "not recognized as an internal or external command",
    "enoent",
    "eacces",
    "eaddrinuse",
    "econnrefused",
    "no module named",
    "cannot find module",
    "cannot find main module",
    "sandbox",
    "os error",
)
"""Messages of systems and runtimes about a missing program, file, permission or connection."""
_OF_ANY = re.compile(rf"{_SEVERE.pattern}|(?i:{'|'.join(map(re.escape, ERRNO))})")

_COMPILER = re.compile(r"TS\d+\b|E\d{4}\b|C\d{4}\b|CS\d{4}\b|typecheck\b|parse\b")
_OF_CODE = (
    "AssertionError", "SyntaxError", "IndentationError", "NameError", "TypeError", "AttributeError",
    "ReferenceError", "KeyError", "IndexError", "ValueError", "Failure",
)  # fmt: skip

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|[‘“][^’”]*[’”]")
_PATH = re.compile(r"(?<![^\s/\\])[^\s/\\]*+[/\\]\S*")
_NAME = re.compile(
    r"\b[0-9a-fA-F]{7,40}\b"  # a hash
    r"|\b\w+(?:\.\w+)+(?:\(\))?"  # a.b, a.b()
    r"|\b(?:[A-Za-z]*[a-z][A-Z]\w*|[A-Za-z]\w*_\w+|\w+\(\))"  # camelCase, snake_case, f()
    r"|\d[\w.,:]*"
)
_IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_GAPS = re.compile(r"\*(?:[\s,;:=|.()]*\*)+")


class Failing:
    """An output line that reports a failure. `number`: its line in the output (0-based); `rule`:
    linter rule, error code or exception; `rank`: how explicit it is.

    The signature is the rule plus the message without its variable parts; `exact`: the unchanged
    message. A plain class: a hook at an agent's call has no time to import more.
    """

    def __init__(
        self,
        rank: int,
        number: int,
        text: str,
        message: str,
        path: str = "",
        rule: str = "",
        exact: bool = False,
    ) -> None:
        self.rank, self.number, self.text = rank, number, text
        self.path, self.rule = path, rule
        self._message, self._exact = message, exact

    @cached_property
    def signature(self) -> str:
        words = self._message if self._exact else normalised(self._message)
        return ": ".join(filter(None, (self.rule, words)))[:LONGEST]


LINT, FAILURE, TEST, SEVERE, LABELLED, MARKED, ANY = range(7)
"""How explicitly a line reports the failure, most explicit first."""


def signature(text: str) -> str:
    """The signature of a message, or of the most explicit failing line of an output; else empty."""
    found = failing_lines(text)
    return found[0].signature if found else ""


def failing_lines(
    output: str,
    *,
    plain: bool = False,
    hidden: bool = False,
    up_to: int = ANY,
    most_lines: int = sys.maxsize,
) -> tuple[Failing, ...]:
    """The failing lines of an output, of the most explicit kind present, each signature once.

    `plain`: only lines with a place and a rule, for a command that need not have failed. `hidden`:
    only a tool's own failure messages, for a command that may have failed behind another one's exit
    code. `up_to`: the least explicit kind to include. `most_lines`: lines to read, half of them at
    each end.
    """
    ends = (output[:HEAD], output[-TAIL:]) if len(output) > HEAD + TAIL else (output,)
    if plain and not any(map(_PLACE_AND_RULE.search, ends)):
        return ()
    if hidden and not any(_PLACE_AND_RULE.search(end) or _has_any(end, _FAILS) for end in ends):
        return ()
    up_to = min(up_to, SEVERE if hidden else ANY)
    lines = _lines(output, most_lines)
    seen: list[list[Failing]] = [[] for _ in range(ANY + 1)]
    of_go, of_test, wanted = _FAILED_GO_TEST in output, False, up_to
    for at, (number, line) in enumerate(lines):
        if of_go and line and (not line[0].isspace() or _FAILED_GO_TEST in line):
            of_test = line.lstrip().startswith(_FAILED_GO_TEST)
        if hidden and not (of_test or _PLACE_AND_RULE.search(line) or _has_any(line, _FAILS)):
            continue
        found = _located(lines, at)
        if found and line[0].isspace() and found.path.endswith(".go") and not of_test:
            following = lines[at + 1][1] if at + 1 < len(lines) else ""
            if not following.lstrip().startswith(_FAILED_GO_TEST):
                continue  # a test log; the last line before the failure says why
        if found is None and not plain:
            found = _other(number, line, wanted)
        if found is not None and not (plain and found.rank):
            seen[found.rank].append(found)
            if found.rank >= SEVERE and _says(found):
                wanted = found.rank - 1  # for these kinds the first is enough
    if hidden and not seen[TEST]:  # log lines may have a place, too
        seen[FAILURE] = [each for each in seen[FAILURE] if _is_error(each)]
    for rank, those in enumerate(seen[: up_to + 1]):
        kept: dict[str, Failing] = {}
        for failing in those:
            if _says(failing):
                kept.setdefault(failing.signature, failing)
                if len(kept) == (1 if rank >= SEVERE else MOST):
                    break
        if kept:
            return tuple(kept.values())
    return ()


def signatures_of(lines: Iterable[Failing]) -> tuple[str, ...]:
    """The signatures of failing lines, and the rules alone: `E501 (line-too-long)` as code and as
    name.
    """
    names = (
        name
        for line in lines
        for name in (line.signature, line.rule, *line.rule.rstrip(")").split(" ("))
    )
    return tuple(dict.fromkeys(filter(None, names)))


def what_failed(lines: Iterable[Failing]) -> str:
    """The text of failing lines without parts common to any failure: labels, and system messages
    about something missing.
    """
    return "\n".join(_OF_ANY.sub(" ", line.text) for line in lines)


def is_environment(line: str) -> bool:
    """Whether a failing line is a system or runtime message about something missing."""
    return _has_any(line.lower(), ERRNO)


def without_place(line: str) -> str:
    """A failing line without its leading place."""
    found = _LOCATED.match(line) or _LOCATED_IN_BRACKETS.match(line)
    return found["text"] if found else line


def names_in(failing: Failing) -> set[str]:
    """Quoted words and identifiers in a failing line, except the rule."""
    text = without_place(failing.text)
    found = [*_QUOTED.findall(text), *_NAME.findall(text)]
    rule = _IDENTIFIER.findall(failing.rule)
    return {name for each in found for name in _IDENTIFIER.findall(each)}.difference(rule)


def is_of_the_day(failing: Failing) -> bool:
    """Whether a failure is a compiler or interpreter error or a failed test, which concerns only
    the code of that day.
    """
    if failing.rule:
        return bool(_COMPILER.match(failing.rule)) or failing.rule.endswith(_OF_CODE)
    located = _LOCATED.match(failing.text) or _LOCATED_IN_BRACKETS.match(failing.text)
    return bool(located) or bool(_FAILED_TEST.match(failing.text))


def normalised(message: str) -> str:
    """A message without the parts that vary between occurrences."""
    text = message[:LONGEST_LINE]
    text = _QUOTED.sub("*", without_escapes(text))
    text = _NAME.sub("*", _PATH.sub("*", text))
    return _GAPS.sub("*", " ".join(text.split())).strip().lower()[:LONGEST]


def _is_error(seen: Failing) -> bool:
    """Whether a line has the format of compiler and interpreter errors."""
    located = _LOCATED.match(seen.text)
    if located is None:
        return True
    return bool(located["column"]) and not located["text"].startswith(("warning:", "note:"))


def _has_any(text: str, words: Iterable[str]) -> bool:
    return any(map(text.__contains__, words))


def _says(failing: Failing) -> bool:
    """Whether a signature is specific: it has a rule or two words."""
    return bool(failing.rule) or len(_WORD.findall(failing.signature)) > 1


def _lines(output: str, most: int) -> list[tuple[int, str]]:
    """The lines to read, numbered."""
    if len(output) <= HEAD + TAIL:
        read = list(enumerate(output.split("\n")))
    else:
        first = output.count("\n", 0, len(output) - TAIL)
        read = list(enumerate(output[:HEAD].split("\n")))
        read += enumerate(output[-TAIL:].split("\n"), first)
    if len(read) > most:
        read[most // 2 : -(most // 2)] = []
    lines = ((number, line[:LONGEST_LINE].removeprefix(_BEGINS)) for number, line in read)
    return [(number, without_escapes(line).rstrip()) for number, line in lines]


def _located(lines: list[tuple[int, str]], at: int) -> Failing | None:
    """A line with a place. A rule split by a line break is completed from the next line."""
    number, line = lines[at]
    if ":" not in line and "━" not in line:
        return None
    if line[:1].isspace() and (found := _ESLINT.match(line)):
        ruled = _RULE_IN_COLUMN.search(found["text"])
        if ruled is None:
            return None
        return _ruled(number, line, found["text"][: ruled.start()], ruled["rule"], "")
    if "━━━" in line and (found := _BIOME.match(line)):
        return _ruled(number, line, "", found["rule"], found["path"])
    if found := _LOCATED_IN_BRACKETS.match(line):
        return _placed(number, line, found["text"], found["path"])
    found = _LOCATED.match(line)
    if found is None:
        return None
    text = found["text"]
    if _RULE_IN_BRACKETS.search(text) is None and at + 1 < len(lines):
        following = lines[at + 1][1]
        broken = _RULE_IN_BRACKETS.search(" " + following)
        if broken and len(following) < 120 and not _LOCATED.match(following):
            text = f"{text} {following.strip()}"
    return _placed(number, line, text, found["path"], exact=bool(found["column"]))


def _placed(number: int, line: str, text: str, path: str, *, exact: bool = True) -> Failing:
    """A message after a place: with a rule at its end or a code before it.

    `exact`: the place has a column. Linters print one, or a label.
    """
    for label in ("error: ", "warning: ", "note: "):
        exact = exact or text.startswith(label)
        text = text.removeprefix(label)
    ruled = _RULE_IN_BRACKETS.search(text)
    message = text[: ruled.start()] if ruled else text
    rule = ruled["rule"] if ruled else ""
    coded = _CODE.match(message)
    if coded and (coded["rule"][:1].isupper() or (ruled and coded[0].rstrip().endswith(":"))):
        message = message[coded.end() :]
        rule = f"{coded['rule']} ({rule})" if rule else coded["rule"]
    if rule and exact:
        return _ruled(number, line, message, rule, path)
    return Failing(FAILURE, number, line.strip(), message, path)


def _ruled(number: int, line: str, message: str, rule: str, path: str) -> Failing:
    return Failing(LINT, number, line.strip(), message, path, rule)


def _other(number: int, line: str, up_to: int) -> Failing | None:
    """A line without a place, of one of the kinds to include."""
    bare = _TAGS.sub("", line).strip()
    if not bare or _FRAME.match(bare):
        return None
    if "sh:" in bare or "(eval)" in bare:
        bare = _SHELL.sub("", bare, count=1)
    if found := _CODE_OF_COMPILER.match(bare) or _EXCEPTION.match(bare):
        return Failing(FAILURE, number, bare, found["text"] or "", rule=found["rule"])
    if _FAILED_TEST.match(line):
        return Failing(TEST, number, bare, _SECONDS.sub("", bare), exact=True)
    if up_to < SEVERE:
        return None
    if _FAILED_PACKAGE.match(bare):
        return Failing(SEVERE, number, bare, _SECONDS.sub("", bare), exact=True)
    if _SEVERE.match(bare):
        return Failing(SEVERE, number, bare, bare)
    if up_to >= LABELLED and (_LABEL.match(bare) or is_environment(bare)):
        return Failing(LABELLED, number, bare, bare)
    if up_to >= MARKED and _MARKED.search(bare):
        return Failing(MARKED, number, bare, bare)
    return Failing(ANY, number, bare, bare) if up_to == ANY else None
