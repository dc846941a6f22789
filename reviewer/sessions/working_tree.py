"""Effects of a session's calls on files: changed, staged, committed, pushed, conflicting."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import ClassVar, Literal

from msgspec import Struct, structs

from reviewer.sources.events import Call, Outcome
from reviewer.sources.shell import Command

MAX_FILES = 2_000
"""Maximum files followed; the oldest are dropped."""
_ASIDE = re.compile(
    r"/(?:private/)?(?:tmp|dev|var/(?:folders|tmp))/|\$|.*/\.git/(?!hooks/)|.*/\.claude/(?:plans|projects)/"
    r"|.*/AppData/Local/Temp/"
)
"""Files outside the work: temporary ones and the agent's own."""
_MADE = re.compile(r"^\[([^\]\n]{1,200}?) ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_COUNT = re.compile(r"^ (\d+) files? changed", re.MULTILINE)
_CONFLICT = re.compile(r"^CONFLICT \([^)\n]*\): (?:Merge conflict in )?(\S+)", re.MULTILINE)
_WENT = re.compile(
    r"^ +[+*]? *(?:[0-9a-f]+\.\.+([0-9a-f]+)|\[new branch\]) +(\S+) -> ", re.MULTILINE
)
"""A pushed branch, after the hash of its last commit."""
_LISTED = re.compile(
    r"^(?:(?:\t| {8})(?:[a-z ]+: +)?|(?!##)[ MADRCU?]{2} )(?:.* -> )?\"?(?:\.\.?/)*(.+?)\"?$",
    re.MULTILINE,
)
_ON_BRANCH = re.compile(
    r"^(?:Output: )?(?:On branch (?=\S+$)|(?=HEAD detached ))(\S+)", re.MULTILINE
)
_ON_BRANCH_SHORT = re.compile(
    r"^## (?!No commits)(\S+?)(?:\.\.\.\S+(?: \[[^\]]*\])?| \(no branch\))?$", re.MULTILINE
)
SWITCHED = re.compile(r"^(?:Switched to (?:a new )?branch|Already on) '([^'\n]+)'$", re.MULTILINE)
_INCOMPLETE = re.compile(r"^fatal: |\btruncated\b", re.MULTILINE)
"""Marks of an output that does not list all changed files."""
_BACK = re.compile(r"HEAD(?:~(\d{0,3})|\^)")
_LOGGED = re.compile(r"^([0-9a-f]{7,40}) (?:\([^)\n]{1,200}\) )?(.+)$", re.MULTILINE)
_JOINING = frozenset(("merge", "pull", "rebase", "cherry-pick", "revert", "stash"))
_ENDING = frozenset(("--abort", "--continue", "--skip", "--quit", "--hard"))
_VALUES = re.compile(r"-[a-zA-Z]*[mFCct]|--(?:message|author|date|file|template|fixup|squash)")
_MESSAGE = re.compile(r"-[a-zA-Z]*m|--message")
_DRIVE = re.compile(r"([A-Za-z]):[\\/]")
_MOUNTED_DRIVE = re.compile(r"/([A-Za-z])(?=/|$)")

Pushed = Literal["pushed", "not pushed", "rejected", "unknown"]


class ChangedFile(Struct, frozen=True):
    """A file changed by the session. `uncommitted`: False if it may be committed or undone."""

    path: str
    line: int
    by: str = ""
    """The program that changed it, if not an edit."""
    deleted: bool = False
    uncommitted: bool = True
    since: int = -1
    """Line of its first change since it last matched Git's version."""


class Commit(Struct, frozen=True):
    """A commit made in the session. `id` is empty if unknown."""

    id: str
    subject: str
    line: int
    branch: str = ""
    pushed: Pushed = "not pushed"
    rewritten: bool = False
    """May have been rewritten or undone by later commands."""
    files: tuple[ChangedFile, ...] = ()
    """The changed files in it, as far as known."""
    merge: bool = False
    """Made by a merge, so without the changes of the session before it."""


class Conflict(Struct, frozen=True):
    """A file with a merge conflict. `touched`: the latest action on it; empty if there is none."""

    path: str
    line: int
    touched: str = ""


class CommandRun(Struct, frozen=True):
    """A command that ran in a folder, and what its call printed."""

    command: Command
    folder: str
    outcome: Outcome
    printed: str
    line: int
    alone: bool
    """All the output is its own."""
    whole: bool
    """All its output was printed."""


class WorkingTree:
    """Follows edits and commands. `commits`, `conflicts`: the current ones."""

    def __init__(self) -> None:
        self.home = ""
        """The folder in which the session began: part of the work even if it is a temporary one."""
        self._files: dict[str, ChangedFile] = {}
        self._staged: set[str] = set()
        self._added: set[str] = set()
        self._fresh: set[str] = set()
        """New files, which Git may not track yet."""
        self.commits: list[Commit] = []
        self.made: list[tuple[str, str, str]] = []
        """Branch, hash and subject of the commits in the output of the current call, oldest
        first."""
        self.conflicts: dict[str, Conflict] = {}
        self.branches: dict[str, str] = {}
        """Branches by the folder in which Git reported or switched them, latest last."""
        self.changes = 0
        """Counts changes that may affect the result of a check."""
        self.last_change, self.changed_by = -1, ""
        self.last_path = ""
        """The file of the last change that names one."""

    def files(self) -> tuple[ChangedFile, ...]:
        return tuple(self._files.values())

    def note_branch(self, folder: str, branch: str) -> None:
        self.branches.pop(folder, None)
        self.branches[folder] = branch

    def branch_in(self, folder: str) -> str:
        """The last branch that Git reported in a folder, or in one above or below it that is not a
        separate worktree; empty if unknown.
        """
        for known, branch in reversed(self.branches.items()):
            inner, outer = sorted((known, folder), key=len, reverse=True)
            if known == folder or is_inside(inner, outer):
                return branch
        return ""

    def changed(
        self, path: str, line: int, *, by: str = "", created: bool = False, deleted: bool = False
    ) -> None:
        """A file was written, edited or deleted."""
        if not path or is_aside(path, self.home):
            return
        self.follow(ChangedFile(path, line, by, deleted))
        if created:
            self._fresh.add(path)
        if path in self.conflicts:
            self.conflicts[path] = structs.replace(self.conflicts[path], touched="edited since")
        self.last_path = path
        self.note_change(line, posixpath.basename(path))

    def follow(self, file: ChangedFile) -> None:
        """A file differs from the last commit."""
        known = self._files.pop(file.path, None)
        since = known.since if known else file.since
        self._files[file.path] = structs.replace(file, since=since if since >= 0 else file.line)
        if len(self._files) > MAX_FILES:
            del self._files[next(iter(self._files))]
        self._staged.discard(file.path)

    def ran(self, run: CommandRun) -> None:
        command, folder, line = run.command, run.folder, run.line
        program, sure = posixpath.basename(command.words[0]), run.outcome is Outcome.OK
        if run.outcome is not Outcome.FAILED:
            began = sure or (command.certain and command.joined_by in ("", ";"))
            for path in command.writes:
                self._written(path, folder, line, program, sure=began)
        if program == "git":
            words, folder = git_words(command.words, folder)
            if words and command.certain and not is_aside(folder, self.home):
                _Git(self, words, structs.replace(run, folder=folder)).run()
            elif words[:1] in (["commit"], ["reset"], ["checkout"], ["stash"], ["rebase"]):
                self.doubt(self.here(folder))
            switches = words[:1] in (["checkout"], ["switch"]) and "--" not in words
            if switches and not command.certain:
                self.note_branch(folder, "")
        elif run.outcome is not Outcome.FAILED:
            self._other(command.words, folder, line, sure=sure)

    def _other(self, words: Sequence[str], folder: str, line: int, *, sure: bool) -> None:
        """A command other than Git: the files that it is known to write."""
        program = posixpath.basename(words[0])
        named = [word for word in words[1:] if word and not word.startswith("-")]
        in_place = any(re.match(r"-\w*i|--in-place", w) for w in words if w.startswith("-"))
        if program == "tee":
            written = named
        elif program in ("sed", "perl") and in_place:
            written = [each for each in named[1:] if "/" in each or "." in each]
        elif program == "cp" and len(named) == 2:
            written = named[1:] if "." in posixpath.basename(named[1]) else []
        else:
            written = []
        for path in written:
            self._written(path, folder, line, program, sure=sure)
        if program == "rm":
            self.removed(words[1:], folder, line, sure=sure)
        elif program == "mv":
            self.moved(named, folder, line, sure=sure)

    def removed(self, words: Sequence[str], folder: str, line: int, *, sure: bool) -> None:
        """`rm` ran. Without flags it succeeds only on existing files."""
        named = [word for word in words if not word.startswith("-")]
        if not sure or len(named) < len(words):
            self.doubt(self.match(named, folder))
            return
        for path in (absolute(folder, each) for each in named):
            if path in self._fresh and path in self._files:
                self.drop([path])
                self.note_change(line, posixpath.basename(path))
            elif not re.search(r"[$*`?]", path):
                self.changed(path, line, deleted=True)

    def moved(self, named: Sequence[str], folder: str, line: int, *, sure: bool) -> None:
        """Files were moved: one file, or several into a folder."""
        if len(named) != 2 or "." not in posixpath.basename(named[0]):
            self.doubt(self.match(named[:-1], folder))
            return
        source, target = named
        inside = target.endswith("/") or "." not in posixpath.basename(target)
        name = posixpath.join(target, posixpath.basename(source)) if inside else target
        self.removed([source], folder, line, sure=sure)
        self._written(name, folder, line, "mv", sure=sure and inside == target.endswith("/"))

    def _written(self, path: str, folder: str, line: int, by: str, *, sure: bool) -> None:
        if not re.search(r"[$*`<>|]", path):
            path = absolute(folder, path)
            self.changed(path, line, by=by)
            if not sure:
                self.doubt([path])

    def note_change(self, line: int, by: str) -> None:
        self.changes += 1
        self.last_change, self.changed_by = line, by

    # Effects of Git

    def match(self, specs: Sequence[str], folder: str) -> list[str]:
        """The changed files that match these paths and patterns."""
        whole = [absolute(folder, spec) for spec in specs]
        return [
            path
            for path in self._files
            if any(
                path == each
                or path.startswith(each.rstrip("/") + "/")
                or fnmatchcase(path, each)
                or (not folder and path.endswith(f"/{each}"))
                for each in whole
            )
        ]

    def here(self, folder: str) -> list[str]:
        """The changed files in the repository of a folder, judging by their paths."""
        if folder and self._files and not any(p.startswith(f"{folder}/") for p in self._files):
            return [path for path in self._files if not path.startswith("/")]
        inside = (p for p in self._files if p.startswith(f"{folder}/") or not folder)
        return [path for path in inside if "worktrees/" not in path[len(folder) :]]

    def doubt(self, paths: Iterable[str]) -> None:
        """These files may now be committed or undone."""
        for path in paths:
            if path in self._files:
                self._files[path] = structs.replace(self._files[path], uncommitted=False)

    def drop(self, paths: Iterable[str]) -> None:
        """These files match Git's version again."""
        for path in paths:
            self._files.pop(path, None)
            self._staged.discard(path)


class _Git:
    def __init__(self, tree: WorkingTree, words: Sequence[str], run: CommandRun) -> None:
        self._tree, self._run, self._folder = tree, run, run.folder
        self._verb, self._args = words[0], list(words[1:])
        self._flags = [word for word in self._args if word.startswith("-")]
        if "--" in self._args:
            self._specs = self._args[self._args.index("--") + 1 :]
        else:
            self._specs = [word for word in self._args if not word.startswith("-")]
        self._here = tree.here(run.folder)

    def run(self) -> None:
        verb, tree = self._verb, self._tree
        failed = self._run.outcome is Outcome.FAILED
        clash = _CONFLICT.findall(self._run.printed) if verb in _JOINING else []
        if failed and not clash and verb not in ("commit", "push"):
            return
        if verb == "stash" and self._specs[:1] in (["list"], ["show"], ["drop"]):
            return
        if clash:
            paths = [absolute(self._folder, path) for path in clash]
            tree.conflicts = {path: Conflict(path, self._run.line) for path in paths}
            tree.note_change(self._run.line, f"git {verb}")
            return
        if _ENDING & set(self._flags):
            tree.conflicts = {}
        if action := self._ACTIONS.get(verb):
            action(self)

    def _add(self) -> None:
        tree = self._tree
        everything = bool({"-A", "--all", "-u", "--update"} & set(self._flags)) and not self._specs
        named = [absolute(self._folder, spec) for spec in self._specs]
        tree._added |= set(named)
        taken = set(self._here if everything else tree.match(self._specs, self._folder))
        tree._staged |= taken - (tree._fresh if "-u" in self._flags else set())
        for path, conflict in tree.conflicts.items():
            if everything or path in taken or path in named:
                tree.conflicts[path] = structs.replace(conflict, touched="staged since")

    def _commit(self) -> None:
        tree, args = self._tree, self._args
        if "--dry-run" in args:
            return
        values = {at + 1 for at, word in enumerate(args[:-1]) if _VALUES.fullmatch(word)}
        specs = [w for at, w in enumerate(args) if at not in values and not w.startswith("-")]
        everything = any(
            re.fullmatch(r"-[a-z]*a[a-z]*|--all", word)
            for at, word in enumerate(args)
            if at not in values
        )
        made = tree.made[-1:]
        counted = _COUNT.search(self._run.printed)
        if self._run.outcome is Outcome.FAILED and not made:
            return
        if specs:
            took = tree.match(specs, self._folder)
        else:
            took = [
                path
                for path in self._here
                if path in tree._staged or (everything and path not in tree._fresh)
            ]
        if not made and self._run.outcome is not Outcome.OK and not counted:
            tree.doubt(took or self._here)
            return
        amends = "--amend" in args
        if amends and tree.commits:
            tree.commits.pop()
        message = next((args[a] for a in sorted(values) if _MESSAGE.fullmatch(args[a - 1])), "")
        branch, number, subject = tree.made.pop() if made else ("", "", message)
        subject = subject.strip().split("\n")[0]
        if branch := branch.removesuffix(" (root-commit)"):
            tree.note_branch(self._folder, "HEAD" if " " in branch else branch)
        branch = branch or tree.branch_in(self._folder)
        files = tuple(tree._files[path] for path in took)
        tree.commits.append(Commit(number, subject, self._run.line, branch, files=files))
        known = set(took) | tree._added
        if amends or everything or (int(counted[1]) > len(known) if counted else not took):
            tree.doubt(self._here)  # contains files whose staging was not seen
        tree.drop(took)
        tree.conflicts, tree._added = {}, set()

    def _push(self) -> None:
        tree = self._tree
        if {"--dry-run", "-n", "--tags", "--delete", "-d"} & set(self._flags):
            return
        went = {branch: number for number, branch in _WENT.findall(self._run.printed)}
        rejected = not went and self._run.outcome is Outcome.FAILED
        sure = bool(went) or self._run.outcome is Outcome.OK
        for at, commit in enumerate(tree.commits):
            if commit.pushed != "pushed" and (not went or commit.branch in ("", *went)):
                pushed: Pushed = "pushed" if sure and (commit.branch or not went) else "unknown"
                pushed = "rejected" if rejected else pushed
                tree.commits[at] = structs.replace(commit, pushed=pushed)
        last = tree.commits[-1] if tree.commits else None
        if last and not last.id and len(went) == 1 and last.branch in ("", *went):
            tree.commits[-1] = structs.replace(tree.commits[-1], id=next(iter(went.values())))

    def _checkout(self) -> None:
        tree, flags = self._tree, set(self._flags)
        if {"--theirs", "--ours"} & flags:
            for path in self._specs:
                tree.changed(absolute(self._folder, path), self._run.line, by="git checkout")
            return
        if {"-b", "-B", "-c", "-C", "--orphan"} & flags:
            if self._run.outcome is Outcome.OK and self._specs:
                tree.note_branch(self._folder, self._specs[0])
            return
        if found := tree.match(self._specs, self._folder):
            if "--staged" in flags:
                return
            silent = self._run.alone and not self._run.printed.strip()
            if (self._run.outcome is Outcome.OK or silent) and flags <= {"--"}:
                tree.drop(found)
            else:
                tree.doubt(found)
            tree.note_change(self._run.line, f"git {self._verb}")
        elif "--" not in flags and self._verb != "restore" and self._specs:
            # The name may be that of a file or a commit; Git prints that of a branch.
            tree.note_branch(self._folder, "")
            tree.note_change(self._run.line, f"git {self._verb}")

    def _unsure(self) -> None:
        """A command that may have undone work."""
        tree = self._tree
        sure = self._run.outcome is Outcome.OK
        if self._verb == "mv":
            tree.moved(self._specs, self._folder, self._run.line, sure=sure)
        elif self._verb == "rm":
            tree.removed(self._args, self._folder, self._run.line, sure=sure)
        elif self._verb in ("stash", "clean"):
            tree.doubt(self._here)
            tree._staged -= set(self._here)
        else:
            self._rewritten()
        tree.note_change(self._run.line, f"git {self._verb}")

    def _rewritten(self) -> None:
        """Unpushed commits may have been rewritten or dropped."""
        for at, commit in enumerate(self._tree.commits):
            if commit.pushed != "pushed":
                self._tree.commits[at] = structs.replace(commit, rewritten=True)

    def _log(self) -> None:
        """Git's list of commits has the new hash of a rewritten one, if its subject occurs once."""
        listed = _LOGGED.findall(self._run.printed)
        for at, each in enumerate(self._tree.commits):
            ids = [number for number, subject in listed if subject == each.subject]
            alike = sum(other.subject == each.subject for other in self._tree.commits)
            if each.rewritten and alike == len(ids) == 1 and ids[0] != each.id:
                self._tree.commits[at] = structs.replace(each, id=ids[0], rewritten=False)

    def _reset(self) -> None:
        tree = self._tree
        tree._staged -= set(self._here)
        undoes = bool({"--hard", "--merge", "--keep"} & set(self._flags))
        if undoes:
            tree.doubt(self._here)
            tree.note_change(self._run.line, "git reset")
        back = _BACK.fullmatch(self._specs[0]) if len(self._specs) == 1 else None
        count = int(back[1] or 1) if back else 0
        if undoes or not 0 < count <= len(tree.commits) or self._run.outcome is not Outcome.OK:
            if (
                self._specs
                and self._specs[0] != "HEAD"
                and not tree.match(self._specs, self._folder)
            ):
                self._rewritten()
            return
        for _ in range(count):
            for file in tree.commits.pop().files:
                tree.follow(structs.replace(file, line=self._run.line))

    def _merge(self) -> None:
        tree, line = self._tree, self._run.line
        if "Merge made by" in self._run.printed:
            subject = " ".join(("git", self._verb, *self._specs))
            branch = tree.branch_in(self._folder)
            tree.commits.append(Commit("", subject, line, branch, merge=True))
        if "up to date" not in self._run.printed:
            tree.note_change(line, f"git {self._verb}")

    def _pull(self) -> None:
        self._merge()
        if "--rebase" in self._flags or "-r" in self._flags:
            self._rewritten()

    def _branch(self) -> None:
        if (
            "--show-current" in self._flags
            and self._run.alone
            and len(self._run.printed.split()) == 1
        ):
            self._tree.note_branch(self._folder, self._run.printed.strip())

    def _status(self) -> None:
        """The changed files listed by Git itself."""
        tree, flags = self._tree, set(self._flags)
        short = {"-sb", "-bs", "-b", "--branch"} & flags
        if named := {*(_ON_BRANCH_SHORT if short else _ON_BRANCH).findall(self._run.printed)}:
            # Two names are those of two repositories.
            tree.note_branch(self._folder, named.pop() if len(named) == 1 else "")
        if not self._run.whole or self._specs or _INCOMPLETE.search(self._run.printed):
            return
        if flags - {"--short", "-s", "--porcelain", "-sb", "--branch", "-b", "-uall"}:
            return
        listed = _LISTED.findall(self._run.printed)
        if not listed and not flags and "nothing to commit" not in self._run.printed:
            return
        seen = {
            path
            for path in self._here
            if any(
                f"/{path}".endswith(f"/{end}") or (end.endswith("/") and f"/{end}" in f"/{path}")
                for end in listed
            )
        }
        tree.drop([path for path in self._here if path not in seen])
        for path in seen:
            tree._files[path] = structs.replace(tree._files[path], uncommitted=True)

    _ACTIONS: ClassVar[Mapping[str, Callable[[_Git], None]]] = {
        "add": _add,
        "commit": _commit,
        "push": _push,
        **dict.fromkeys(("checkout", "switch", "restore"), _checkout),
        **dict.fromkeys(("stash", "clean", "rm", "mv"), _unsure),
        "reset": _reset,
        **dict.fromkeys(("rebase", "cherry-pick", "revert"), _unsure),
        "log": _log,
        "merge": _merge,
        "pull": _pull,
        "branch": _branch,
        "status": _status,
    }


def commits_made(call: Call, text: str) -> list[tuple[str, str, str]]:
    """Branch, hash and subject of each commit confirmed by a call's output, latest first: the
    output of `git commit`, or log lines whose subjects the call itself contains.
    """
    if made := _MADE.findall(text):
        return made[::-1]
    asked = sum(runs_git(each, "commit") for each in call.commands)
    written = {line.strip() for line in call.command.splitlines()} if asked else set()
    if asked:
        written |= {word.split("\n")[0] for each in call.commands for word in each.words}
    logged = [
        ("", number, subject) for number, subject in _LOGGED.findall(text) if subject in written
    ]
    return logged if len(logged) == asked else []


def is_aside(path: str, home: str) -> bool:
    """Whether a path is outside the work: temporary, or the agent's own. `home`: a folder that is
    part of the work, wherever it is.
    """
    if home and f"{path}/".startswith(f"{home}/"):
        path = f".{path[len(home) :]}"
    return bool(_ASIDE.match(f"{path}/"))


def runs_git(command: Command, *subcommands: str) -> bool:
    """Whether a command is `git` with one of these subcommands."""
    return command.words[:1] == ("git",) and not {*subcommands}.isdisjoint(command.words[:4])


def git_words(words: Sequence[str], folder: str) -> tuple[list[str], str]:
    """A Git subcommand with its arguments, and the folder it works in."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C" and rest[1:]:
            folder = absolute(folder, rest[1])
        del rest[0 : 2 if rest[0] in ("-C", "-c") else 1]
    return rest, folder


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is in a folder, and not in a separate worktree below it."""
    rest = path.removeprefix(f"{folder}/")
    return rest != path and "worktree" not in rest


def absolute(folder: str, path: str) -> str:
    """A path, absolute if the folder allows it; Windows drives in one form."""
    if path.startswith("~"):
        return path
    if not _DRIVE.match(path):
        if _DRIVE.match(folder) and (mounted := _MOUNTED_DRIVE.match(path)):
            path = f"{mounted[1].upper()}:{path[2:] or '/'}"
        elif not (_DRIVE.match(folder) and path.startswith("/")):
            path = posixpath.join(folder, path)
    if _DRIVE.match(path):
        path = f"{path[0].upper()}{path[1:]}".replace("\\", "/")
    return posixpath.normpath(path) if path else ""
