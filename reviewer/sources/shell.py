"""Splits a shell line into simple commands.

One pass in linear time, and never an error: unreadable parts are data of the command before.
"""

from __future__ import annotations

import posixpath
import re
import sys
from typing import NamedTuple

DEEPEST = 20
"""Maximum nesting of substitutions, groups and shells."""

_BLANKS = " \t\r\\"
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_PLAIN = re.compile(r"[^\s'\"\\`$&|;<>()]+")
_PLAIN_OF_WINDOWS = re.compile(r"[^\s'\"`$&|;<>()]+")
_QUOTED = re.compile(r'[^"\\`$]+')
_REDIRECTION = re.compile(r"\d{0,2}(?:<<<|<<-?|<>|>\||>>|>&|<&|>|<)|&>>?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[\w*\])?\+?=")
_JOINT = re.compile(r"&&|\|\||;;|\|&|[;|&]")
_SIGNS = frozenset("0123456789<>&|;")
"""Possible first characters of a redirection or operator."""
_WORD_ENDS = frozenset(("", " ", "\n", ";", "|", "&"))
_OPENING = frozenset(("if", "while", "until", "for", "case", "select"))
_CLOSING = frozenset(("fi", "done", "esac"))
_WITHIN = frozenset(("then", "elif", "else", "do"))
_PREFIXES = {"sudo": 0, "time": 0, "nice": 0, "nohup": 0, "env": 0, "command": 0, "exec": 0}
_PREFIXES |= {"builtin": 0, "stdbuf": 0, "xvfb-run": 0, "timeout": 1, "gtimeout": 1}
"""Commands that run another one, with the number of their own arguments."""
_WITH_VALUE = frozenset(("-n", "-u", "-k", "-s", "-C"))
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))

GROUPS = frozenset(
    ["run", "exec", "compose", "tool", "dlx", "pr", "issue", "repo", "release", "workflow",
     "stash", "remote", "worktree", "submodule"]
)  # fmt: skip
"""Subcommands with subcommands."""
_LOOKING = frozenset(
    ["cat", "ls", "head", "tail", "sed", "awk", "grep", "rg", "find", "fd", "wc", "stat", "file",
     "less", "tree", "which", "type", "pwd", "echo", "printf", "test", "[", "diff", "cd", "jq",
     "sort", "uniq", "cut", "tr", "xargs", "nl", "readlink", "basename", "dirname", "cmp",
     "tee", "true", "sleep", "exit",
     "select-object", "select-string", "where-object", "sort-object", "measure-object",
     "get-content", "get-childitem", "get-item", "test-path", "out-string", "out-null",
     "out-file", "format-table", "format-list", "write-output", "write-host", "foreach-object"]
)  # fmt: skip
"""Read-only programs: their failures cost a call and teach nothing."""
_LOOKING_OF_GIT = frozenset(["status", "diff", "log", "show", "branch", "blame", "rev-parse"])


def only_looks(name: str) -> bool:
    """Whether a program with its subcommands neither changes nor checks anything."""
    program, _, rest = name.partition(" ")
    return program.lower() in _LOOKING or (
        program == "git" and rest.split(" ")[0] in _LOOKING_OF_GIT
    )


def split(line: str, *, windows: bool = False, most: int = sys.maxsize) -> tuple[Command, ...]:
    """The simple commands of a shell line in order, without `cd` and assignments.

    Commands in `$(…)` come before the one that uses their output. `windows`: a backslash is an
    ordinary character, as in PowerShell. `most`: stop parsing at this many commands.
    """
    return _Splitter(line, windows, most=most).commands()


class Command(NamedTuple):
    """One simple command of a shell line: its unquoted words and the operator before it (empty for
    the first, else `&&`, `

    `, `;`, `|` or `&`).

    A named tuple, because a hook at a call has no time to import msgspec.
    """

    words: tuple[str, ...]
    joined_by: str = ""
    folder: str = ""
    """Its folder, if the same line has changed it before (`cd web && npm test`)."""
    writes: tuple[str, ...] = ()
    """Files to which its output is redirected."""
    stdin: str = ""
    """Its here-document."""
    certain: bool = True
    """It always runs when reached, and its exit code counts: False inside `if`, loops,
    functions, substitutions, and groups whose exit code a pipe hides."""


class _Draft:
    """A command being parsed. `number`: its index among the commands found, -1 before that."""

    def __init__(self, joined_by: str, words: list[str], writes: list[str]) -> None:
        self.joined_by, self.words, self.writes = joined_by, words, writes
        self.stdin, self.number = "", -1


class _Splitter:
    def __init__(
        self,
        line: str,
        windows: bool,
        depth: int = 0,
        folder: str = "",
        most: int = sys.maxsize,
    ) -> None:
        self._most = most
        self._text, self._windows, self._depth = line, windows, depth
        self._plain = _PLAIN_OF_WINDOWS if windows else _PLAIN
        self._at = 0
        self._folder, self._previous = folder, folder
        self._found: list[Command] = []
        self._heredocs: list[tuple[_Draft, str, bool]] = []
        self._blocks = 0
        """Open `if`, loops and functions."""
        self._broken = False
        """An unterminated quotation: the rest is ambiguous."""
        self._no_brace = self._no_backtick = False

    def commands(self) -> tuple[Command, ...]:
        while self._at < len(self._text) and len(self._found) < self._most:
            self._list(closed_by="")
            self._at += 1  # an unmatched closing bracket
        return tuple(self._found)

    # Command lists

    def _list(self, closed_by: str) -> None:
        """Parse commands up to the closing bracket, which is not consumed, or the end."""
        draft = _Draft("", [], [])
        group = -1  # start of a group that has just ended
        while self._at < len(self._text) and len(self._found) < self._most:
            sign = self._text[self._at]
            if sign in _BLANKS and (blank := _BLANK.match(self._text, self._at)):
                self._at = blank.end()
            elif sign == "\n":
                self._at += 1
                self._take_heredocs()
                draft, group = self._end(draft, ";"), -1
            elif sign == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif sign in _SIGNS and (redirection := _REDIRECTION.match(self._text, self._at)):
                self._at = redirection.end()
                self._redirect(draft, redirection[0], group)
            elif sign in _SIGNS and (joined := _JOINT.match(self._text, self._at)):
                self._at = joined.end()
                joint = {"|&": "|", ";;": ";"}.get(joined[0], joined[0])
                if group >= 0 and joint in ("|", "&"):
                    self._doubt(group)
                before = len(self._found)
                draft, group = self._end(draft, joint), -1
                if joint == "&":
                    self._doubt(before)
            elif sign == ")":
                if draft.words and closed_by != ")":  # a `case` pattern
                    draft = _Draft(draft.joined_by, [], [])
                    self._at += 1
                    continue
                break
            elif sign == "(":
                self._at += 1
                if draft.words:  # a function
                    draft = _Draft(draft.joined_by, [], [])
                    self._blocks += 1
                else:
                    group = len(self._found)
                    self._group(draft.joined_by)
                    draft = _Draft("", [], [])
            else:
                word, bare = self._word()
                if bare and not draft.words and (kind := self._keyword(word)):
                    if kind == "closed":
                        group = 0  # with everything before it: blocks are not tracked separately
                    elif kind == "head":
                        draft.words.append(word)
                elif not (bare and not draft.words and _ASSIGNMENT.match(word)):
                    draft.words.append(word)
        self._end(draft, "")

    def _keyword(self, word: str) -> str:
        """The effect of a word on the blocks; empty if it is not a shell keyword."""
        if word in _OPENING:
            self._blocks += 1
            return "head" if word in ("for", "case", "select") else "open"
        if word in _CLOSING:
            self._blocks = max(0, self._blocks - 1)
            return "closed"
        if word in _WITHIN or word == "{":
            return "open"
        if word == "}":
            self._blocks = max(0, self._blocks - 1)
            return "closed"
        return ""

    def _group(self, joined_by: str) -> None:
        """A subshell: its folder changes end with it."""
        folder, first = self._folder, len(self._found)
        if self._depth < DEEPEST:
            self._depth += 1
            self._list(closed_by=")")
            self._depth -= 1
        self._at += 1
        self._folder = folder
        if joined_by and len(self._found) > first:
            self._found[first] = self._found[first]._replace(joined_by=joined_by)

    def _doubt(self, first: int) -> None:
        """A pipe hides the outcome of the commands from `first` on."""
        for at in range(first, len(self._found)):
            if self._found[at].certain:
                self._found[at] = self._found[at]._replace(certain=False)

    def _end(self, draft: _Draft, joint: str) -> _Draft:
        """Add a command, and return the next one."""
        words = _without_prefixes(draft.words)
        if not words:
            kept = draft.joined_by if not draft.writes and joint == ";" else joint
            return _Draft(kept or joint, [], [])
        next_one = _Draft(joint, [], [])
        if words[0] in ("for", "case", "select") and self._blocks:
            return next_one
        if words[0] in ("cd", "pushd", "popd", "chdir", "Set-Location"):
            self._change_folder(words)
            # The next command runs if the folder exists, which it nearly always does.
            next_one.joined_by = draft.joined_by if joint in ("&&", ";") else joint
            return next_one
        if words[0] in ("exit", "return") and draft.joined_by == "||":
            return next_one
        name = posixpath.basename(words[0])
        if name in _SHELLS and self._depth < DEEPEST:
            script = draft.stdin if len(words) == 1 else _script(words)
            if script:
                inner = _Splitter(script, self._windows, self._depth + 1, self._folder).commands()
                hidden = joint in ("|", "&") or not self._is_certain()
                for number, each in enumerate(inner):
                    self._found.append(
                        each._replace(
                            joined_by=each.joined_by if number else draft.joined_by,
                            certain=each.certain and not hidden,
                        )
                    )
                return next_one
        self._found.append(
            Command(
                tuple(words),
                draft.joined_by if self._found else "",
                self._folder,
                tuple(draft.writes),
                draft.stdin,
                self._is_certain() and words[0] != "!",
            )
        )
        draft.number = len(self._found) - 1
        return next_one

    def _is_certain(self) -> bool:
        return not self._blocks and not self._broken

    def _change_folder(self, words: list[str]) -> None:
        given = [word for word in words[1:] if word == "-" or not word.startswith("-")]
        if words[0] == "popd" or given[:1] == ["-"]:
            self._folder, self._previous = self._previous, self._folder
            return
        self._previous = self._folder
        self._folder = posixpath.join(self._folder, given[0] if given else "~")

    # Redirections and here-documents

    def _redirect(self, draft: _Draft, sign: str, group: int) -> None:
        sign = sign.lstrip("0123456789")
        if blank := _BLANK.match(self._text, self._at):
            self._at = blank.end()
        target = self._word()[0] if self._at < len(self._text) else ""
        if sign in ("<<", "<<-"):
            if target:
                self._heredocs.append((draft, target, sign == "<<-"))
        elif sign == "<<<":
            draft.stdin = target
        elif ">" in sign and sign != "<>" and target and not target.isdigit() and target != "-":
            if target.startswith("/dev/") or target in ("$null", "NUL"):
                return
            if group >= 0 and self._found:
                last = self._found[-1]
                self._found[-1] = last._replace(writes=(*last.writes, target))
            else:
                draft.writes.append(target)

    def _take_heredocs(self) -> None:
        """Read the here-documents of the line that has just ended."""
        pending, self._heredocs = self._heredocs, []
        for draft, end, tabs in pending:
            first = self._at
            last = len(self._text)
            while self._at < len(self._text):
                stop = self._text.find("\n", self._at)
                stop = len(self._text) if stop < 0 else stop
                line = self._text[self._at : stop]
                if line == end or line.rstrip("\r") == end or (tabs and line.lstrip("\t") == end):
                    last, self._at = self._at, min(stop + 1, len(self._text))
                    break
                self._at = min(stop + 1, len(self._text))
            body = self._text[first:last]
            draft.stdin = body
            if draft.number >= 0:
                self._found[draft.number] = self._found[draft.number]._replace(stdin=body)

    # Words

    def _word(self) -> tuple[str, bool]:
        """The next word, unquoted, and whether it had no quotes. Consumes at least one
        character.
        """
        pieces: list[str] = []
        bare, first = True, self._at
        while self._at < len(self._text):
            if plain := self._plain.match(self._text, self._at):
                pieces.append(plain[0])
                self._at = plain.end()
                if self._text[self._at : self._at + 1] in _WORD_ENDS:
                    break
                continue
            sign = self._text[self._at]
            if sign == "'":
                bare = bare and bool(pieces)
                pieces.append(self._literal())
            elif sign == '"':
                bare = bare and bool(pieces)
                self._at += 1
                pieces.append(self._quoted())
            elif sign == "\\":
                if not self._text.startswith("\n", self._at + 1):
                    pieces.append(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            elif sign == "$" or sign == "`":
                pieces.append(self._expansion())
            elif sign == "(" and self._text[self._at - 1 : self._at] in ("<", ">", "="):
                pieces.append(self._substitution(self._at))
            else:
                break
        if self._at == first:
            self._at += 1
        return "".join(pieces), bare

    def _literal(self) -> str:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            self._broken, end = True, len(self._text)
        text = self._text[self._at + 1 : end]
        self._at = end + 1
        return text

    def _quoted(self) -> str:
        """The text up to the closing quote."""
        pieces: list[str] = []
        while self._at < len(self._text):
            if plain := _QUOTED.match(self._text, self._at):
                pieces.append(plain[0])
                self._at = plain.end()
                continue
            sign = self._text[self._at]
            if sign == '"':
                self._at += 1
                return "".join(pieces)
            if sign == "\\":
                escaped = self._text[self._at + 1 : self._at + 2]
                if self._windows or escaped not in '"\\`$\n':
                    pieces.append("\\")
                    self._at += 1
                else:
                    pieces.append(escaped.strip("\n"))
                    self._at += 2
            else:
                pieces.append(self._expansion())
        self._broken = True
        return "".join(pieces)

    def _expansion(self) -> str:
        """A variable or substitution as written; for a here-document that is only printed, its
        text.
        """
        at = self._at
        if self._text[at] == "`":
            if self._windows:
                self._at += 2
                return self._text[at + 1 : at + 2]
            end = -1 if self._no_backtick else self._text.find("`", at + 1)
            self._no_backtick = end < 0
            self._at = at + 1 if end < 0 else end + 1
        elif self._text.startswith("$((", at):
            self._at = at + 3
            open_ones = 2
            while self._at < len(self._text) and open_ones:
                open_ones += {"(": 1, ")": -1}.get(self._text[self._at], 0)
                self._at += 1
        elif self._text.startswith("$(", at):
            return self._substitution(at + 1)
        elif self._text.startswith("${", at):
            end = -1 if self._no_brace else self._text.find("}", at)
            self._no_brace = end < 0
            self._at = at + 2 if end < 0 else end + 1
        elif self._text.startswith("$'", at):
            self._at += 1
            return self._literal()
        else:
            self._at += 1
        return self._text[at : self._at]

    def _substitution(self, bracket: int) -> str:
        start = bracket - 1 if self._text[bracket - 1 : bracket] in ("$", "<", ">") else bracket
        self._at = bracket + 1
        if self._depth >= DEEPEST:
            return self._text[start : self._at]
        first, outer = len(self._found), self._heredocs
        folder, self._heredocs = self._folder, []
        self._depth += 1
        self._list(closed_by=")")
        self._depth -= 1
        self._at += 1
        self._folder, self._heredocs = folder, [*outer, *self._heredocs]
        inner = self._found[first:]
        if len(inner) == 1 and inner[0].words == ("cat",) and inner[0].stdin:
            del self._found[first:]
            return inner[0].stdin.rstrip("\n")
        self._doubt(first)
        return self._text[start : self._at]


def _without_prefixes(words: list[str]) -> list[str]:
    """The command itself, without `sudo`, `timeout 60`, `env A=b` and the like."""
    at = 0
    while at < len(words) and words[at] in _PREFIXES:
        own = _PREFIXES[words[at]]
        begun = at
        at += 1
        while at < len(words) and words[at].startswith("-"):
            at += 2 if words[at] in _WITH_VALUE else 1
        at += own
        while at < len(words) and _ASSIGNMENT.match(words[at]):
            at += 1
        if at >= len(words):
            return words[begun:]
    return words[at:]


def _script(words: list[str]) -> str:
    """The script given to a shell with `-c`."""
    for at, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[at + 1] if at + 1 < len(words) else ""
        if not word.startswith("-"):
            return ""
    return ""
