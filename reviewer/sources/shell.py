"""Splits a shell line into simple commands.

One pass in linear time, and never an error: unreadable parts are data of the command before.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

DEEPEST = 20
"""Maximum nesting of substitutions, groups and shells."""
LONGEST_LINE, MAX_HEADS = 40_000, 200
"""Characters of a line, and commands in it, whose heads are read: more than anybody types."""
MAX_OPTIONS, MAX_NAMES = 12, 4
"""Words among which a subcommand is looked for, and words of a head."""

_BLANKS = " \t\r\\"
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_PLAIN = re.compile(r"[^\s'\"\\`$&|;<>()]+")
_PLAIN_OF_WINDOWS = re.compile(r"[^\s'\"`$&|;<>()]+")
_QUOTED = re.compile(r'[^"\\`$]+')
_REDIRECTION = re.compile(r"\d{0,2}(?:<<<|<<-?|<>|>\||>>|>&|<&|>|<)|&>>?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[\w*\])?\+?=")
_SINGLE = re.compile(r"'([^']*)('?)")
_JOINT = re.compile(r"&&|\|\||;;|\|&|[;|&\n]")
_JOINTS = {"|&": "|", ";;": ";", "\n": ";"}
_SIGNS = frozenset("0123456789<>&|;\n")
"""Possible first characters of a redirection or operator."""
_WORD_ENDS = frozenset(("", " ", "\n", ";", "|", "&"))
_KEYWORDS = dict.fromkeys(("if", "while", "until", "for", "case", "select"), 1)
_KEYWORDS |= dict.fromkeys(("then", "elif", "else", "do", "{"), 0)
_KEYWORDS |= dict.fromkeys(("fi", "done", "esac", "}"), -1)
"""Shell keywords, with the number of blocks that they open."""
_HEADS = frozenset(("for", "case", "select"))
"""Keywords followed by words that are not a command."""
_PREFIXES = dict.fromkeys(("nohup", "command", "builtin", "setsid"), "") | {
    "sudo": "CDRTUghprtu --chdir --chroot --close-from --command-timeout --group --host"
    " --other-user --prompt --role --type --user",
    "doas": "Cu",
    "time": "fo --format --output",
    "nice": "n --adjustment",
    "env": "CPau --argv0 --chdir --unset",
    "exec": "a",
    "stdbuf": "eio --error --input --output",
    "xvfb-run": "efnpsw --auth-file --error-file --server-args --server-num",
    "timeout": "ks --kill-after --signal",
    "gtimeout": "ks --kill-after --signal",
    "xargs": "EIJLPRSadns --arg-file --delimiter --max-args --max-chars --max-procs",
}
"""Programs that run their arguments, with their options that have a value in the next word."""
_EXEC = ("-exec", "-execdir", "-ok", "-okdir")
"""Options of `find` before the command that it runs."""
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))
_SUBCOMMAND = re.compile(r"[a-z][\w:-]{1,30}$")

GROUPS = frozenset(
    ["run", "exec", "compose", "tool", "dlx", "pr", "issue", "repo", "release", "workflow",
     "stash", "remote", "worktree", "submodule"]
)  # fmt: skip
"""Subcommands with subcommands."""
_LOOKING = frozenset(
    ["cat", "ls", "head", "tail", "sed", "awk", "grep", "rg", "find", "fd", "wc", "stat", "file",
     "less", "tree", "which", "type", "pwd", "echo", "printf", "test", "[", "diff", "cd", "jq",
     "sort", "uniq", "cut", "tr", "xargs", "nl", "readlink", "basename", "dirname", "cmp",
     "tee", "true", "sleep", "exit", "ps",
     "select-object", "select-string", "where-object", "sort-object", "measure-object",
     "get-content", "get-childitem", "get-item", "test-path", "out-string", "out-null",
     "out-file", "format-table", "format-list", "write-output", "write-host", "foreach-object"]
)  # fmt: skip
"""Read-only programs: their failures cost a call and teach nothing."""
_LOOKING_OF_GIT = frozenset(["status", "diff", "log", "show", "branch", "blame", "rev-parse"])


def only_looks(name: str) -> bool:
    """Whether a program with its subcommands neither changes nor checks anything."""
    program, _, rest = name.partition(" ")
    if program == "git":
        return rest.split(" ")[0] in _LOOKING_OF_GIT
    in_place = program == "sed" and any(flag in f" {rest}" for flag in (" -i", " --in-place"))
    return program.lower() in _LOOKING and not in_place


def split(line: str, *, windows: bool = False, most: int = sys.maxsize) -> tuple[Command, ...]:
    """The simple commands of a shell line in order, without `cd` and assignments.

    Commands in `$(…)` come before the one that uses their output. `windows`: a backslash is an
    ordinary character, as in PowerShell. `most`: stop parsing at this many commands.
    """
    return _Splitter(line, windows, most=most).commands()


def heads(line: str) -> tuple[str, ...]:
    """Program and subcommands of each part of a shell line: `git push`, `mise run lint`. A word
    after an option may be its value or the subcommand, so both are there: `npm --prefix web ci`.
    """
    found: dict[str, None] = {}
    for command in split(line[:LONGEST_LINE], most=MAX_HEADS):
        if words := command.words[command.words[:1] == ("!",) :]:
            found |= dict.fromkeys(_heads((words[0].rpartition("/")[2],), words[1:]))
    return tuple(found)


def _heads(name: tuple[str, ...], rest: Sequence[str]) -> list[str]:
    """The names of a command, with those of its subcommands, the likeliest first."""
    found: list[str] = []
    if not name[1:] or (name[-1] in GROUPS and len(name) < MAX_NAMES):
        option = ""
        for at, word in enumerate(rest[:MAX_OPTIONS]):
            is_value = option == "-C" or (option == "-c" and name[0] == "git")
            if not word.startswith("-") and not is_value and _SUBCOMMAND.match(word):
                found += _heads((*name, word), rest[at + 1 :])
            if not word.startswith("-") and not option:
                break
            option = word if word.startswith("-") and "=" not in word else ""
    return found or [" ".join(name)]


class Command(NamedTuple):
    """One simple command of a shell line: its unquoted words and the operator before it (empty for
    the first, else `&&`, `||`, `;`, `|` or `&`).

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

    @property
    def only_looks(self) -> bool:
        """Whether it is a read-only program whose output goes into no file."""
        return only_looks(" ".join(self.words)) and not self.writes


class _Draft:
    """A command being parsed. `number`: its index among the commands found, -1 before that."""

    def __init__(self, joined_by: str = "") -> None:
        self.joined_by, self.stdin, self.number = joined_by, "", -1
        self.words: list[str] = []
        self.writes: list[str] = []


class _Splitter:
    def __init__(
        self, line: str, windows: bool, depth: int = 0, folder: str = "", most: int = sys.maxsize
    ) -> None:
        self._text, self._windows, self._depth, self._most = line, windows, depth, most
        self._plain = _PLAIN_OF_WINDOWS if windows else _PLAIN
        self._at = 0
        self._folder, self._previous = folder, folder
        self._found: list[Command] = []
        self._heredocs: list[tuple[_Draft, str, bool]] = []
        self._doubted = 0
        """Commands at the beginning that are all doubted."""
        self._blocks = 0
        """Open `if`, loops and functions."""
        self._broken = False
        """An unterminated quotation: the rest is ambiguous."""

    def commands(self) -> tuple[Command, ...]:
        while self._at < len(self._text) and len(self._found) < self._most:
            self._list(closed_by="")
            self._at += 1  # an unmatched closing bracket
        return tuple(self._found)

    # Command lists

    def _list(self, closed_by: str) -> None:
        """Parse commands up to the closing bracket, which is not consumed, or the end."""
        draft = _Draft()
        group = -1  # start of a group that has just ended
        while self._at < len(self._text) and len(self._found) < self._most:
            sign = self._text[self._at]
            if sign in _BLANKS and (blank := _BLANK.match(self._text, self._at)):
                self._at = blank.end()
            elif sign == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif sign in _SIGNS and (redirection := _REDIRECTION.match(self._text, self._at)):
                self._at = redirection.end()
                self._redirect(draft, redirection[0], group)
            elif sign in _SIGNS and (joined := _JOINT.match(self._text, self._at)):
                self._at = joined.end()
                draft, group = self._join(draft, joined[0], group), -1
            elif sign == ")":
                if closed_by == ")" or not draft.words:
                    break
                draft = _Draft(draft.joined_by)  # after a `case` pattern
                self._at += 1
            elif sign == "(" and draft.words:  # a function
                draft = _Draft(draft.joined_by)
                self._blocks += 1
                self._at += 1
            elif sign == "(":
                group = len(self._found)
                self._at += 1
                self._nested()
                if draft.joined_by and len(self._found) > group:
                    self._change(group, joined_by=draft.joined_by)
                draft = _Draft()
            else:
                word, bare = self._word()
                if draft.words or not bare:
                    draft.words.append(word)
                elif word in _KEYWORDS:
                    self._blocks = max(0, self._blocks + _KEYWORDS[word])
                    if _KEYWORDS[word] < 0:
                        group = 0  # with everything before it: blocks are not tracked separately
                    elif word in _HEADS:
                        draft.words.append(word)
                elif not _ASSIGNMENT.match(word):
                    draft.words.append(word)
        self._end(draft, "")

    def _nested(self) -> None:
        """Parse up to the closing bracket of a subshell: its folder changes end with it."""
        folder = self._folder
        if self._depth < DEEPEST:
            self._depth += 1
            self._list(closed_by=")")
            self._depth -= 1
        self._at += 1
        self._folder = folder

    def _change(self, number: int, **changes: Any) -> None:
        self._found[number] = self._found[number]._replace(**changes)

    def _doubt(self, first: int) -> None:
        """A pipe hides the outcome of the commands from `first` on."""
        for number in range(max(first, self._doubted), len(self._found)):
            self._change(number, certain=False)
        if first <= self._doubted:
            self._doubted = len(self._found)

    def _join(self, draft: _Draft, sign: str, group: int) -> _Draft:
        """End a command at an operator or line end, and return the next one."""
        joint = _JOINTS.get(sign, sign)
        if sign == "\n":
            self._take_heredocs()
        if group >= 0 and joint in ("|", "&"):
            self._doubt(group)
        before = len(self._found)
        following = self._end(draft, joint)
        if joint == "&":
            self._doubt(before)
        return following

    def _end(self, draft: _Draft, joint: str) -> _Draft:
        """Add a command, and return the next one."""
        words, following = _without_prefixes(draft.words), _Draft(joint)
        if not words:
            if joint == ";" and not draft.writes:
                following.joined_by = draft.joined_by or joint
        elif words[0] in _HEADS and self._blocks:
            pass
        elif words[0] in ("cd", "pushd", "popd", "chdir", "Set-Location"):
            self._change_folder(words)
            # The next command runs if the folder exists, which it nearly always does.
            following.joined_by = draft.joined_by if joint in ("&&", ";") else joint
        elif words[0] in ("exit", "return") and draft.joined_by == "||":
            pass
        elif script := self._script(draft, words):
            inner = _Splitter(script, self._windows, self._depth + 1, self._folder).commands()
            hidden = joint in ("|", "&") or not self._is_certain()
            first = len(self._found)
            self._found += (each._replace(certain=each.certain and not hidden) for each in inner)
            if inner:
                self._change(first, joined_by=draft.joined_by)
        else:
            draft.number = len(self._found)
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
        return following

    def _script(self, draft: _Draft, words: list[str]) -> str:
        """The script that a command gives to a shell: with `-c`, as a here-document, or `eval`."""
        if self._depth >= DEEPEST:
            return ""
        if words[0] == "eval":
            said = words[2:] if words[1:2] == ["--"] else words[1:]
            # The value of a variable or command is unknown.
            return "" if said[:1] and said[0].startswith("$") else " ".join(said)
        if posixpath.basename(words[0]) not in _SHELLS:
            return ""
        letters, at = "", 1
        while at < len(words) and words[at].startswith(("-", "+")):
            short = "" if words[at].startswith("--") else words[at]
            letters += short
            at += 2 if "o" in short.lower() or words[at] in ("--rcfile", "--init-file") else 1
        if "c" in letters:
            return words[at] if at < len(words) else ""
        return draft.stdin if at >= len(words) or "s" in letters else ""

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
                self._change(-1, writes=(*self._found[-1].writes, target))
            else:
                draft.writes.append(target)

    def _take_heredocs(self) -> None:
        """Read the here-documents of the line that has just ended."""
        pending, self._heredocs = self._heredocs, []
        for draft, end, tabs in pending:
            first = last = self._at
            while self._at < len(self._text):
                last, stop = self._at, self._text.find("\n", self._at)
                line = self._text[last : stop if stop >= 0 else None]
                self._at = stop + 1 if stop >= 0 else len(self._text)
                if end in (line, line.rstrip("\r")) or (tabs and line.lstrip("\t") == end):
                    break
                last = self._at
            draft.stdin = self._text[first:last]
            if draft.number >= 0:
                self._change(draft.number, stdin=draft.stdin)

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
        """The text in single quotes."""
        quoted = _SINGLE.match(self._text, self._at)
        assert quoted is not None
        self._broken = self._broken or not quoted[2]
        self._at = quoted.end()
        return quoted[1]

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
        self._at = at + 1
        if self._text[at] == "`" and self._windows:
            self._at = at + 2
            return self._text[at + 1 : at + 2]
        if self._text[at] == "`":
            self._skip_to("`")
        elif self._text.startswith("$((", at):
            self._at = at + 3
            open_ones = 2
            while self._at < len(self._text) and open_ones:
                open_ones += {"(": 1, ")": -1}.get(self._text[self._at], 0)
                self._at += 1
        elif self._text.startswith("$(", at):
            return self._substitution(at + 1)
        elif self._text.startswith("${", at):
            self._skip_to("}")
        elif self._text.startswith("$'", at):
            return self._literal()
        return self._text[at : self._at]

    def _skip_to(self, closing: str) -> None:
        """Consume everything up to a closing sign; without one, the rest is ambiguous."""
        end = self._text.find(closing, self._at)
        self._broken = self._broken or end < 0
        self._at = len(self._text) if end < 0 else end + 1

    def _substitution(self, bracket: int) -> str:
        start = bracket - 1 if self._text[bracket - 1 : bracket] in ("$", "<", ">") else bracket
        first, outer = len(self._found), self._heredocs
        self._at, self._heredocs = bracket + 1, []
        self._nested()
        self._heredocs = [*outer, *self._heredocs]
        inner = self._found[first:]
        if len(inner) == 1 and inner[0].words == ("cat",) and inner[0].stdin:
            del self._found[first:]
            return inner[0].stdin.rstrip("\n")
        self._doubt(first)
        return self._text[start : self._at]


def _without_prefixes(words: list[str]) -> list[str]:
    """The command itself, without `sudo`, `timeout 60`, `env A=b`, `find . -exec` and the like."""
    at, ends = 0, tuple[str, ...]()
    while at < len(words):
        name, begun = posixpath.basename(words[at]), at
        if name == "find":
            runs = (place for place in range(at, len(words) - 1) if words[place] in _EXEC)
            at = next(runs, at - 1) + 1
            if at == begun:
                break
            ends = (";", "+")
            continue
        if name not in _PREFIXES:
            break
        letters, *longs = _PREFIXES[name].split(" ")
        at += 1
        while at < len(words) and (option := words[at]).startswith("-"):
            valued = option[-1] in letters and not set(option[1:-1]) & {"-", *letters}
            at += 2 if valued or option in longs else 1
        at += name.endswith("timeout")  # its duration
        while at < len(words) and _ASSIGNMENT.match(words[at]):
            at += 1
        if at >= len(words):
            return words[begun:]
    return [word for word in words[at:] if word not in ends]
