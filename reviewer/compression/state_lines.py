"""The work state in words, most important first, and the latest changes of code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from reviewer.compression.session import Changed, SessionFacts, Voice
from reviewer.compression.told import (
    DECLARED,
    Hunk,
    added_names,
    how_it_ended,
    hunks,
    without_cd,
)
from reviewer.sessions.replacements import composed
from reviewer.sessions.work_state import Check, WorkState
from reviewer.sessions.working_tree import ChangedFile, Commit, absolute
from reviewer.sources.events import Change, Outcome
from reviewer.text.clip import clip

MAX_FILES, MAX_CHECKS, MAX_COMMITS, MAX_RUNNING = 24, 4, 5, 3
MAX_NAMED, NAMES = 6, 3
"""Files listed with the names introduced by their edits, and names per file."""
MAX_DONE = 4
"""Finished items shown of a plan."""
ITEM = 200
CODE_LINES, CODE_LINE = 8, 240
"""Lines of a change, and the longest line that is shown."""
_NO_RESULT = ", no result seen"


def state_lines(session: SessionFacts, *, place: bool = True, part: bool = False) -> Iterator[str]:
    """The work state. `place`: with branch and folder, which stay the same in most parts. `part`:
    without open items, as a later part may close them.
    """
    state = session.state
    if state.interrupted:
        since = "" if part else " and has said nothing since"
        yield f"The person interrupted the agent{since}."
    if state.waiting is not None and not part:
        asked = clip(state.waiting.query, ITEM)
        yield f'The agent waits for the person\'s answer to {state.waiting.tool}: "{asked}"'
    if place and not state.branch and state.folder:
        yield f"In {state.folder}."
    elif place and state.branch:
        where = f", in {state.folder}" if state.folder else ""
        branch = "a detached HEAD" if state.branch == "HEAD" else f"branch {state.branch}"
        when = " when the session began" if state.branch_at_start else ""
        yield f"On {branch}{when}{where}."
    if state.conflicts:
        since = "" if part else ", no commit seen since"
        said = f"Merge conflicts{since} ({len(state.conflicts)})"
        paths = [(_below(each.path, state.folder), each.touched) for each in state.conflicts]
        listed = _together([f"{path} ({how or 'not touched since'})" for path, how in paths])
        yield f"{said}: {listed}."
    yield from _checks(state, fresh=True, part=part)
    yield from _files(session, part=part)
    named = [each for each in state.commits if each.id or each.subject]
    if len(named) > MAX_COMMITS:
        yield f"{len(named):,} commits in this session, the latest {MAX_COMMITS}:"
    for commit in named[: -MAX_COMMITS - 1 : -1]:
        pushed = "" if part and commit.pushed != "pushed" else _pushed(commit)
        yield f"Committed{pushed}: {commit.id or '(hash not seen)'} {commit.subject}"
    yield from () if part else _checks(state, fresh=False)
    for call in () if part else state.running[-MAX_RUNNING:]:
        what = without_cd(call) if call.command else call.query
        yield f"Started in the background, its end was not seen: `{clip(what, ITEM)}`"


def _files(session: SessionFacts, *, part: bool) -> Iterator[str]:
    state, names = session.state, _names(session)
    changed = list(state.uncommitted)
    doubtful = [each for each in state.files if not each.uncommitted]
    for label, files in (
        ("Changed" if part else "Changed in this session, no commit of it seen", changed),
        ("Changed, not known whether committed or undone", doubtful),
    ):
        if not files:
            continue
        latest = files[: -MAX_FILES - 1 : -1]
        shown = [
            _named(each, state.folder, names.get(each.path, ()) if at < MAX_NAMED else ())
            for at, each in enumerate(latest)
        ]
        more = f", and {len(files) - MAX_FILES} more" if len(files) > MAX_FILES else ""
        many = "" if part else f" ({len(files)})"  # in a part, results of more may be in the next
        yield f"{label}{many}: {_together(shown)}{more}"
    if state.unnamed_edits:
        yield f"Edits whose file the session does not name: {state.unnamed_edits:,}."


def _names(session: SessionFacts) -> dict[str, list[str]]:
    """The names introduced by the latest changes of each file, latest first."""
    found: dict[str, list[str]] = {}
    for changed, change, path, stands in _changes(session):
        if changed.made and stands:
            known = found.setdefault(path, [])
            known += (name for name in added_names((change,)) if name not in known)
    return found


def _changes(session: SessionFacts) -> Iterator[tuple[Changed, Change, str, bool]]:
    """Each change with its file, latest first, and whether the file's last commit lacks it."""
    since = {each.path: each.since for each in session.state.files}
    for changed in reversed(session.changes):
        origin = changed.call.origin
        for change in changed.call.changes:
            path = absolute(origin.cwd, change.path)
            yield changed, change, path, path in since and origin.line_start >= since[path]


def _checks(state: WorkState, *, fresh: bool, part: bool = False) -> Iterator[str]:
    """The checks since the last change; or those before it, without what later ones of their kind
    may have settled.
    """
    found = [each for each in state.checks if each.stale is not fresh]
    if not fresh:
        again = {each.kind for each in state.checks if not each.stale}
        found = [e for e in found if e.kind not in again or e.outcome is Outcome.OK]
    said = "; ".join(_check(each, state) for each in found[-MAX_CHECKS:])
    if not fresh:
        yield from [f"Not run again since that change, before it: {said}."] if found else []
    elif state.last_change < 0:
        yield from [f"Checks seen: {said}."] if found else []
    else:
        later = "; a sub-agent may have changed files since"
        change = state.changed_by + (later if state.last_delegated > state.last_change else "")
        if found:
            yield f"Checks after the last change seen ({change}): {said}."
        elif not part and state.checks:
            yield f"No check was seen to end after the last change seen ({change})."
        elif not part:
            yield f"No check was seen to end in this session (last change seen: {change})."


def _check(check: Check, state: WorkState) -> str:
    folder = _below(check.folder, state.folder)
    place = f" in {folder}" if folder not in ("", state.folder) and "$" not in folder else ""
    return f"`{clip(check.command, 120)}`{place}: {how_it_ended(check)}"


def _pushed(commit: Commit) -> str:
    if commit.rewritten and commit.pushed == "pushed":
        return " (pushed, perhaps under another hash)"
    if commit.rewritten:
        return " (perhaps rewritten or undone since)"
    said = {"not pushed": "no push seen", "rejected": "a push was tried and failed"}
    said["unknown"] = "unknown whether pushed"
    return f" ({said.get(commit.pushed, commit.pushed)})"


def _named(file: ChangedFile, folder: str, names: Sequence[str]) -> str:
    notes = ["deleted"] if file.deleted else [f"by {file.by}"] if file.by else []
    notes += names[:NAMES]
    return _below(file.path, folder) + (f" ({', '.join(notes)})" if notes else "")


def _below(path: str, folder: str) -> str:
    """A path relative to the session's folder."""
    return path.removeprefix(f"{folder}/") if folder else path


def _together(paths: Sequence[str]) -> str:
    """Paths, each folder named once."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        bare, _, notes = path.partition(" (")
        folder, _, name = bare.rpartition("/")
        folders.setdefault(folder, []).append(f"{name} ({notes}" if notes else name)
    return "; ".join(
        f"{folder}/: {', '.join(names)}" if folder else ", ".join(names)
        for folder, names in folders.items()
    )


def plan_lines(session: SessionFacts, *, part: bool = False) -> list[str]:
    """The open items of the plan with their numbers, and the last finished ones; of a `part` as
    they were at its end.
    """
    state = session.state
    if not state.open_items:
        return []
    done = [each for each in state.plan if each.status == "done"]
    asked = max((s.turn for s in session.speeches if s.voice is Voice.PERSON), default=-1)
    old = state.plan_line < session.before + asked
    since = "; not changed since the person's last message" if old else ""
    then = " at this point" if part else ""
    lines = [f"{len(done)} of {len(state.plan)} items done{then}{since}."]
    lines += [f"#{e.number} [{e.status}] {clip(e.text, ITEM)}" for e in state.open_items]
    return lines + [f"#{e.number} [done] {clip(e.text, ITEM)}" for e in done[-MAX_DONE:]]


def change_lines(session: SessionFacts, *, part: bool = False) -> list[str]:
    """The code of the last uncommitted or unmade changes, latest first; a change and a later one of
    the same lines are one, if it is short. `part`: as in `state_lines`.
    """
    found: list[_ShownChange] = []
    for changed, change, path, stands in reversed([*_changes(session)]):
        is_rewritten = changed.made and (change.created or change.deleted)
        found = [e for e in found if e.path != path or (e.made and not is_rewritten)]
        if changed.made and not stands:
            continue
        title = _title(changed, change, _below(path, session.state.folder))
        title = title.replace(_NO_RESULT, "") if part else title
        for pair in change.pairs:
            latest = [_ShownChange(path, title, pair, changed.made)]
            for each in [e for e in found if e.path == path and changed.made]:
                if both := composed(each.pair, pair):
                    each.pair = both
                    if _size([*hunks(*both)]) <= CODE_LINES:  # else its beginning is shown
                        latest = [each]
            found = [each for each in found if each not in latest] + latest
    told = [(each, list(hunks(*each.pair))) for each in reversed(found)]
    texts = (f"{each.title}:\n{_code(changed)}" for each, changed in told if changed)
    return list(dict.fromkeys(texts))


class _ShownChange(Struct, eq=False):
    path: str
    title: str
    pair: tuple[str, str]
    made: bool


def _title(changed: Changed, change: Change, name: str) -> str:
    verb = "written" if change.created else "edited"
    if not changed.made:
        verb = f"not {verb}: {changed.outcome}"
    elif changed.outcome is None:
        verb += _NO_RESULT
    return f"{name} ({verb})"


def _size(found: Sequence[Hunk]) -> int:
    return sum(len(hunk.gone) + len(hunk.added) for hunk in found)


def _code(found: Sequence[Hunk]) -> str:
    """The changed lines, with the line above each hunk: of a long hunk only what it declares, of
    many those that add most; and the number of lines left out.
    """
    shown: dict[int, list[str]] = {}
    left = CODE_LINES
    for number, hunk in sorted(enumerate(found), key=lambda each: -len(each[1].added)):
        added = hunk.added
        if len(added) > CODE_LINES:
            added = [match[0] for match in DECLARED.finditer("\n".join(added))] or added
        gone = len(hunk.gone)
        if gone > CODE_LINES // 2 and gone + len(added) > CODE_LINES:
            continue  # a removal without most of its replacement would read as a deletion
        lines = [f"  - {line}" for line in hunk.gone] + [f"  + {line}" for line in added]
        lines = lines[:CODE_LINES]
        if len(lines) <= left and max(map(len, lines)) <= CODE_LINE:
            left -= len(lines)
            shown[number] = [*([f"  {hunk.above}"] if hunk.above else []), *lines]
    code = [line for _, lines in sorted(shown.items()) for line in lines]
    more = _size(found) - (CODE_LINES - left)
    return "\n".join([*code, f"  ... {more:,} more lines"] if more else code)
