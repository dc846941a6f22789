"""The work state in words, most important first, and the code that was changed last."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from reviewer.compression.told import cut, how_it_ended, without_cd
from reviewer.sessions.work_state import Check, WorkState
from reviewer.sessions.working_tree import ChangedFile, Commit
from reviewer.sources.events import Act, Call, Outcome

MOST_FILES, MOST_CHECKS, MOST_COMMITS, MOST_RUNNING = 25, 4, 5, 3
MOST_DONE = 4
"""Finished items of a plan that are shown."""
ITEM = 200
CODE_LINES, CODE_LINE = 12, 160
"""Lines of a change, and characters of each."""


def state_lines(state: WorkState, *, place: bool = True) -> list[str]:
    """The work state. `place`: with branch and folder, which every part of a session shares."""
    return list(_state_lines(state, place=place))


def _state_lines(state: WorkState, *, place: bool) -> Iterator[str]:
    if state.interrupted:
        yield "The person interrupted the agent and has said nothing since."
    if state.waiting is not None:
        asked = cut(state.waiting.query, ITEM)
        yield f'The agent waits for the person\'s answer to {state.waiting.tool}: "{asked}"'
    if place and state.branch:
        where = f", in {state.folder}" if state.folder else ""
        yield f"On branch {state.branch}{where}."
    if state.conflicts:
        left = [each.path for each in state.conflicts if not each.touched]
        said = f"Merge conflicts, no commit seen since: {len(left)} of {len(state.conflicts)} open"
        yield f"{said}{': ' if left else ''}{_listed(left, state.folder)}."
    yield from _files(state)
    yield from _checks(state)
    for commit in state.commits[: -MOST_COMMITS - 1 : -1]:
        yield f"Committed{_pushed(commit)}: {commit.id or '(hash not seen)'} {commit.subject}"
    for running in state.running[-MOST_RUNNING:]:
        what = without_cd(running.call) if running.call.command else running.call.query
        yield f"Started in the background, its end was not seen: `{cut(what, ITEM)}`"


def _files(state: WorkState) -> Iterator[str]:
    changed = [each for each in state.files if each.uncommitted]
    doubtful = [each for each in state.files if not each.uncommitted]
    for label, files in (
        ("Changed in this session, no commit of it seen", changed),
        ("Changed, not known whether committed or undone", doubtful),
    ):
        if not files:
            continue
        shown = [_named(each, state.folder) for each in reversed(files[-MOST_FILES:])]
        more = f", and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
        yield f"{label} ({len(files)}): {_together(shown)}{more}"


def _checks(state: WorkState) -> Iterator[str]:
    fresh = [each for each in state.checks if not each.stale]
    kinds = {each.kind for each in fresh}
    last_of = {each.kind: each for each in state.checks}
    old = [
        each
        for each in state.checks
        if each.stale and (last_of[each.kind] is each or each.outcome is Outcome.FAILED)
    ]
    old = [each for each in old if each.kind not in kinds or each.outcome is Outcome.FAILED]
    where = f" after the last change ({state.changed_by})" if state.last_change >= 0 else ""
    if fresh or where:
        said = "; ".join(_check(each, state) for each in fresh[-MOST_CHECKS:]) or "none"
        yield f"Checks seen{where}: {said}."
    if old:
        said = "; ".join(_check(each, state) for each in old[-MOST_CHECKS:])
        yield f"Not run again since that change, before it: {said}."


def _check(check: Check, state: WorkState) -> str:
    folder = check.folder.removeprefix(f"{state.folder}/") if state.folder else check.folder
    place = f"cd {folder} && " if folder not in ("", state.folder) else ""
    return f"`{cut(place + check.command, 120)}` {how_it_ended(check)}"


def _pushed(commit: Commit) -> str:
    if commit.rewritten:
        return " (perhaps rewritten or undone since)"
    said = {"pushed": "pushed", "not pushed": "no push seen", "unknown": "unknown whether pushed"}
    return f" ({said[commit.pushed]})"


def _named(file: ChangedFile, folder: str) -> str:
    path = file.path.removeprefix(f"{folder}/") if folder else file.path
    more = "deleted" if file.deleted else f"by {file.by}" if file.by else ""
    return f"{path} ({more})" if more else path


def _listed(paths: Iterable[str], folder: str) -> str:
    return _together([path.removeprefix(f"{folder}/") if folder else path for path in paths])


def _together(paths: Sequence[str]) -> str:
    """Paths, each folder named once."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    return "; ".join(
        f"{folder}/: {', '.join(names)}" if folder else ", ".join(names)
        for folder, names in folders.items()
    )


def plan_lines(state: WorkState) -> list[str]:
    """The open items of the plan with their numbers, and the last finished ones."""
    if not state.open_items:
        return []
    done = [each for each in state.plan if each.status == "done"]
    lines = [f"{len(done)} of {len(state.plan)} items done."]
    lines += [f"#{e.number} [{e.status}] {cut(e.text, ITEM)}" for e in state.open_items]
    return lines + [f"#{e.number} [done] {cut(e.text, ITEM)}" for e in done[-MOST_DONE:]]


def change_lines(changes: Sequence[tuple[Call, Outcome | None]], state: WorkState) -> list[str]:
    """The code of the last changes that no commit took, and of those that were not made."""
    left = {posixpath.basename(each.path) for each in state.files}
    found: list[str] = []
    shown: set[str] = set()
    for call, outcome in reversed(changes):
        made = outcome not in (Outcome.REFUSED, Outcome.FAILED)
        for change in call.changes:
            name = posixpath.basename(change.path.replace("\\", "/"))
            if name in shown or (made and name not in left):
                continue
            shown.add(name)
            why = "" if outcome else " (no result seen)"
            why = why if made else f" (not made: {outcome})"
            verb = "written" if call.act is Act.WRITE else "edited"
            code = "\n".join(_code(change.pairs))
            if code:
                found.append(f"{name}, last {verb}{why}:\n{code}")
    return found


def _code(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The lines that the last replacement took away and added, with the line above them."""
    if not pairs:
        return
    old, new = pairs[-1]
    before, after = old.split("\n") if old else [], new.split("\n")
    above = ""
    while before and after and before[0] == after[0]:
        above = before[0] if before[0].strip() else above
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    lines = [f"  {above}"] if above else []
    gone = [line for line in before if line.strip()]
    added = [line for line in after if line.strip()]
    if not old:
        lines += [f"  + {line}" for line in added[:CODE_LINES]]
    else:
        lines += [f"  - {line}" for line in gone[: CODE_LINES // 3]]
        lines += [f"  + {line}" for line in added[: CODE_LINES - len(lines)]]
    for line in lines:
        yield line if len(line) <= CODE_LINE else f"{line[: CODE_LINE - 3]}..."
    if len(added) > CODE_LINES:
        yield f"  ... {len(added):,} lines in all"
