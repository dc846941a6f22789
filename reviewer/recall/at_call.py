"""Memories for a prompt, a failure, an edit or a guarded call, read straight from the store.

Runs in a hook while an agent waits: imports little besides the standard library, reads prepared
texts only (table `moment`), and records uses. If it raises, the hook answers nothing.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime

from reviewer.recall.event_kinds import CALL, EDIT, ERROR, FILE, GUARD, PROMPT, START
from reviewer.recall.gate import BUSY_SECONDS, address
from reviewer.recall.search import (
    BY_SIGNATURE,
    MAX_WORDS,
    Cue,
    Recalled,
    command_moments,
    edits_at,
    guards_at,
    readable,
    recall,
    without_halves,
)
from reviewer.recall.uses import TEXT, in_transaction, note_use
from reviewer.store.version import APPLICATION_ID, SCHEMA_VERSION
from reviewer.text.tags import AGAIN, CLOSING, OPENING, without_recalled

MAX_MEMORIES, MAX_CHARS = 2, 600
"""Limits for one call: memories, if they are no guards, and characters including the frame."""
MAX_NAMED = 5
"""Files that a prompt may name to be about them; a plan or a log names more."""
PUNCTUATION = "`'\"()[]{}<>,;:.!?@"
"""Punctuation around a file name in a prompt."""
_FILE = re.compile(r"[\w.-]*\w\.[A-Za-z]\w{0,4}")
"""A file's name without a folder: README.md."""

_SIGNS = str.maketrans("", "", "-_./")
MAX_LINES = 1_000
"""Lines of an output that are read, half of them at each end."""
_OF_SEARCH = r"(?ms)^(?:Output: )?(?:grep|rg): .*"
"""The errors of a search tool itself and everything after them, without its matches before."""

NOTICE = "<task-notification>"
"""Start of a prompt that Claude Code sends itself when a background task ends."""


class HookEvent:
    """An event in an agent's session, or one that a person asks about. `kind`: PROMPT, ERROR, EDIT
    or GUARD, or CALL or FILE.

    `reported_failed`: the agent reports the failure; otherwise the output must show it.
    """

    def __init__(
        self,
        kind: str,
        session: str = "",
        folder: str = "",
        *,
        command: str = "",
        tool: str = "",
        paths: tuple[str, ...] = (),
        text: str = "",
        reported_failed: bool = True,
    ) -> None:
        self.kind, self.session, self.folder = kind, session, folder
        self.command, self.tool = without_halves(command), readable(tool)
        self.paths = tuple(map(without_halves, paths))
        self.text, self.reported_failed = readable(text), reported_failed


def memories_at(store: str, project: str | None, event: HookEvent) -> str:
    """The text for the agent's model, recorded as a use; empty if no memory applies.

    For a guard, the reason for the denial. `project`: answer for this one only. Raises
    sqlite3.Error and OSError.
    """
    if not event.session:
        return ""  # repetitions are recognised by the session
    with closing(
        sqlite3.connect(address(store, "rw"), uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    ) as opened:
        if not _is_current(opened) or (number := _project(opened, event.folder, project)) is None:
            return ""
        key, found = found_at(opened, number, event)
        if not found:
            return ""
        texts = dict(
            opened.execute(
                "SELECT memory_id, value FROM moment WHERE kind = ? AND memory_id IN"
                f" ({', '.join('?' * len(found))})",
                (TEXT, *(memory.id for memory in found)),
            ).fetchall()
        )
        found = [memory for memory in found if memory.id in texts]
        opened.execute("PRAGMA synchronous = NORMAL")  # a use may be lost
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

        def note(writer: sqlite3.Connection) -> None:
            nonlocal found
            found = note_uses(writer, event, key, found, at)

        in_transaction(opened, note)
    if not found:
        return ""
    named = found[0].why.partition(" ")[2]
    return _framed(event, [(memory.id, texts[memory.id]) for memory in found], named)


def found_at(
    store: sqlite3.Connection, project: int, event: HookEvent, limit: int = MAX_MEMORIES
) -> tuple[str, list[Recalled]]:
    """The memories of an event that are new to its session, and those whose own failure came back,
    best first, with the key of the event. All guards of a call, or it would be denied again. The
    words of a prompt or of a failing line, which may come again and again, recall only their best,
    unless a person asks for more memories than an agent gets.
    """
    cue = _cue(store, project, event)
    if cue is None:
        return "", []
    handed_over = _handed_over(store, event)
    if event.kind == GUARD:
        return cue.key, _without(guards_at(store, project, cue), handed_over)
    if event.kind == EDIT:
        found = edits_at(store, project, cue)
    else:
        known = handed_over if event.kind == PROMPT else ()
        by_line = 1 if limit <= MAX_MEMORIES else limit
        most = limit + len(handed_over)
        found = recall(store, project, cue, limit=most, by_line=by_line, known=known)
    return cue.key, _without(found, handed_over)[:limit]


def note_uses(
    store: sqlite3.Connection, event: HookEvent, key: str, found: Iterable[Recalled], at: str
) -> list[Recalled]:
    """Record memories as given to the session, without those that another hook of it has recorded
    meanwhile; returns the recorded ones.
    """
    found = _without(found, _handed_over(store, event))
    for memory in found:
        note_use(store, memory.id, event.session, event.kind, key, at)
    return found


def _is_current(store: sqlite3.Connection) -> bool:
    """Whether a store has this version's tables."""
    application, version = store.execute(
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    return (application, version) == (APPLICATION_ID, SCHEMA_VERSION)


def _project(store: sqlite3.Connection, folder: str, named: str | None) -> int | None:
    """The project bound to the git work tree around a folder."""
    root = _work_tree(folder)
    for number, name, roots in store.execute("SELECT id, name, root FROM project"):
        if root and root in roots.split("\n"):
            return int(number) if named in (None, name) else None
    return None


def _work_tree(folder: str) -> str:
    """The root of the git work tree around a folder. Linked trees and those of other users are left
    to `reviewer.projects`, which is slow to import.
    """
    here = _git_folder(folder)
    if not here:
        return ""
    mark = os.path.join(here, ".git")
    user = getattr(os, "geteuid", lambda: -1)()
    if os.path.isdir(mark) and {os.lstat(here).st_uid, os.lstat(mark).st_uid} == {user}:
        return os.path.realpath(here)
    from pathlib import Path

    from reviewer.projects import work_tree

    tree = work_tree(Path(folder))
    return tree.root if tree else ""


def _git_folder(folder: str) -> str:
    """The nearest folder with `.git`, from a folder upwards; empty if there is none."""
    here = os.path.abspath(folder)
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    return here


def _without_links(path: str, tree: str, root: str) -> str:
    """An absolute path in folders without links; those inside the work tree stay, which may lead
    out of it. `root`: the tree without links.
    """
    for begin in (tree, root):
        if path.startswith(f"{begin}/"):
            return root + path[len(begin) :]
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name) if os.path.isabs(path) else path


def _cue(store: sqlite3.Connection, project: int, event: HookEvent) -> Cue | None:
    """The search terms; None for a call that did not fail and a prompt that nobody typed."""
    commands = _commands(store, project, event)
    if event.kind in (CALL, FILE):
        return Cue(event.kind, "", commands, event.paths, tool=event.tool, line=event.command)
    if event.kind in (GUARD, EDIT):
        tree = _git_folder(event.folder)
        root = os.path.realpath(tree)
        paths = tuple(_without_links(each, tree, root) for each in event.paths)
        return Cue(event.kind, "", commands, paths, line=event.command, root=root)
    if event.kind == PROMPT:
        text = without_recalled(event.text)  # some agents repeat what they were given before
        if text.lstrip().startswith(NOTICE):
            return None
        parts = text.replace("\\", "/").split()
        words = (word.strip(PUNCTUATION) for word in parts)
        named = tuple(
            word for word in words if ("/" in word and "://" not in word) or _FILE.fullmatch(word)
        )
        files = [word for word in named if "/" in word and ("." in word or word.count("/") > 1)]
        return Cue(PROMPT, text, paths=named[:MAX_WORDS] if len(files) <= MAX_NAMED else ())
    from reviewer.sessions.signatures import ANY, SEVERE, failing_lines, signatures_of, what_failed

    failed = event.reported_failed or _reports_itself(event.text, commands)
    # Any line of a failed shell command counts; of the agent's own tools ("File has not been read
    # yet"), only lines that report a failure.
    up_to = ANY if failed and (event.command or not event.tool) else SEVERE
    output = event.text
    lines = failing_lines(output, up_to=up_to, most_lines=MAX_LINES)
    if lines and _only_searches(event.command):
        own = re.search(_OF_SEARCH, event.text)
        lines = failing_lines(own[0], up_to=up_to, most_lines=MAX_LINES) if own else ()
        lines = tuple(line for line in lines if not line.path)  # its matches
        output = "\n".join(line.text for line in lines)
    if not lines and not failed:
        return None
    signatures = signatures_of(lines)
    return Cue(
        ERROR, what_failed(lines), commands, (), signatures, output, event.tool, event.command
    )


def _commands(store: sqlite3.Connection, project: int, event: HookEvent) -> tuple[str, ...]:
    """The commands of a call whose words name one that is tied to a memory: the parser is slow to
    import. In a line too long for it the words are enough, or a guard could be evaded.
    """
    tied = [value for *_, value in command_moments(store, project)]
    named = [value for value in tied if all(word in event.command for word in value.split())]
    if not named:
        return ()
    from reviewer.sources.shell import LONGEST_LINE, heads

    return heads(event.command) if len(event.command) <= LONGEST_LINE else tuple(named)


def _only_searches(line: str) -> bool:
    """Whether a call only searches files, so that `path:12: text` is a match, not an error."""
    if "grep" not in line and "rg" not in line:
        return False  # the parser is slow to import
    from reviewer.sources.shell import heads, only_looks

    calls = heads(line)
    searches = any(call.partition(" ")[0] in ("grep", "rg") for call in calls)
    return searches and all(map(only_looks, calls))


def _reports_itself(output: str, commands: Iterable[str]) -> bool:
    """Whether a program of the call reports a failure under its own name, as an error, in the
    system's words or with make's stars: `grep: a.py: No such file or directory`, `make: *** [check]
    Error 1`, `pytest: error: unrecognized arguments`.
    """
    from reviewer.sessions.signatures import is_environment

    programs = {command.partition(" ")[0] for command in commands}
    return any(
        not programs.isdisjoint(line.split(": ", 4)[:-1])
        and (": *** " in line or ": error: " in line or is_environment(line))
        for line in (output.splitlines() if programs else ())
    )


def _handed_over(store: sqlite3.Connection, event: HookEvent) -> set[int]:
    """The memories given to the session at events of these kinds."""
    which, kind = ("=", GUARD) if event.kind == GUARD else ("<>", START)
    return {
        number
        for (number,) in store.execute(
            f"SELECT memory_id FROM use_of_memory WHERE session = ? AND moment {which} ?",
            (event.session, kind),
        )
    }


def _without(found: Iterable[Recalled], handed_over: Collection[int]) -> list[Recalled]:
    return [
        memory for memory in found if memory.id not in handed_over or memory.score >= BY_SIGNATURE
    ]


def _framed(event: HookEvent, rows: Sequence[tuple[int, str]], named: str) -> str:
    """Memories with their numbers between the tags, in at most MAX_CHARS. `named`: the value of the
    first one's moment.
    """
    call = event.command if event.kind == ERROR else named
    call = " ".join(word for word in call.split(maxsplit=3)[:3] if _is_plain(word))
    about = {PROMPT: "what this prompt names", ERROR: f"the failed call {call}".strip()}
    about[EDIT] = f"edits of {call or 'this file'}"
    head = f"The person keeps this for {about.get(event.kind, f'the call {call}'.strip())}:"
    foot = f"\n{AGAIN}" if event.kind == GUARD else ""
    frame = len(f"{OPENING}\n{head}\n{CLOSING}{foot}")
    room = max((MAX_CHARS - frame) // len(rows) - len("- [m:1234567] \n"), 1)
    lines = [
        f"- [m:{number}] {text if len(text) <= room else text[: room - 1] + '…'}"
        for number, text in rows
    ]
    return "\n".join((OPENING, head, *lines, CLOSING)) + foot


def _is_plain(word: str) -> bool:
    """Whether a word is safe in the frame: it can neither open nor close a tag."""
    bare = word.translate(_SIGNS)
    return word.isascii() and len(word) < 50 and bare.isalnum()
