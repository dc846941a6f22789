"""Copilot Chat in VS Code and related editors: a document or, since 2026, a log of changes to
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reviewer.sources.document import Document
from reviewer.sources.fields import (
    Fields,
    each,
    folder_of_uri,
    inner,
    moment,
    words,
    written_object,
)
from reviewer.sources.format import Format, of_editor
from reviewer.sources.lines import opened_file
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import Reading, Spot, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn


def _turns(reading: Reading) -> Iterator[Turn]:
    if reading.document is None:
        head, requests = _replayed(reading)
    else:
        head, found = Document(reading).parted("requests")
        requests = list(found)
    session = Session(id=words(head.get("sessionId")), cwd=_folder(reading))
    for number, (spot, request) in enumerate(requests):
        session.model = words(request.get("modelId"))
        key = words(request.get("requestId")) or f"{session.id}:{number}"
        at = moment(request.get("timestamp"), head.get("creationDate"))
        asked = typed(words(inner(request, "message").get("text")), reading.tally)
        yield session.turn(spot, Role.USER, asked, key=key, at=at)
        if parts := _answer(reading, request):
            yield session.turn(spot, Role.ASSISTANT, parts, key=f"{key}:answer", at=at)


def _answer(reading: Reading, request: Fields) -> list[Part]:
    parts: list[Part] = []
    text = ""
    calls = list(_calls(request))
    for item in each(request.get("response")):
        kind, value = item.get("kind"), item.get("value")
        if kind is None or kind in ("markdownContent", "markdownVuln"):
            text += _markdown(value) or _markdown(item.get("content"))
        elif kind == "inlineReference":  # part of the surrounding sentence
            reference = inner(item, "inlineReference")
            place = words(reference.get("path")) or words(inner(reference, "uri").get("path"))
            text += words(item.get("name")) or place
        elif kind == "thinking":
            parts += thought(value if isinstance(value, str) else _joined(value))
        elif kind == "toolInvocationSerialized" and not calls:
            shown = item.get("pastTenseMessage") or item.get("invocationMessage")
            call = item.get("toolCallId")
            parts += called(item.get("toolId"), _markdown(shown), call)
        else:
            silent(reading.tally, f"response item {words(kind)}")
    problem = words(inner(request, "result", "errorDetails").get("message"))
    return parts + said(text) + calls + said(problem, RecordUse.WRAPPER)


def _calls(request: Fields) -> Iterator[Part]:
    """The tool calls with arguments and results, which the response only references."""
    facts = inner(request, "result", "metadata")
    results = inner(facts, "toolCallResults")
    for turn in each(facts.get("toolCallRounds")):
        for call in each(turn.get("toolCalls")):
            name = words(call.get("id"))
            yield from called(call.get("name"), call.get("arguments"), name)
            if name in results:
                yield from returned(_joined(inner(results, name).get("content")), name)


def _joined(value: object) -> str:
    """The texts in a tree of rendered parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_joined(item) for item in value)
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            return words(value["text"])
        return "".join(
            _joined(value[name]) for name in ("value", "node", "children") if name in value
        )
    return ""


def _markdown(value: object) -> str:
    return value if isinstance(value, str) else words(inner(value).get("value"))


def _folder(reading: Reading) -> str:
    """The working folder, from `workspace.json` next to the sessions folder."""
    beside = reading.path.parent.parent / "workspace.json"
    if reading.path.parent.name != "chatSessions" or beside.is_symlink() or not beside.is_file():
        return ""
    with opened_file(beside) as stream:
        found = written_object(stream.read(1_000_000).decode("utf-8", "replace"))
    return folder_of_uri(found.get("folder"))


def _replayed(reading: Reading) -> tuple[Fields, list[tuple[Spot, Fields]]]:
    """The document that results from a log of changes, and the line that added each request."""
    state: Fields = {}
    spots: list[Spot] = []
    for spot, change in reading.objects():
        kind, path, value = change.get("kind"), change.get("k"), change.get("v")
        keys = path if isinstance(path, list) else []
        if kind == 0 and isinstance(value, dict):
            state = value
            spots = [spot] * len(list(each(state.get("requests"))))
        elif kind not in (1, 2, 3) or not keys or not _changed(state, change, keys):
            reading.tally["change that does not fit"] += 1
            continue
        elif keys == ["requests"]:
            count = len(list(each(state.get("requests"))))
            spots = spots[:count] + [spot] * (count - len(spots))
        silent(reading.tally, "change")
    requests = list(each(state.get("requests")))
    return state, list(zip(spots, requests, strict=False))


def _changed(state: Fields, change: Fields, keys: list[object]) -> bool:
    """Apply one change; returns whether it fits the document."""
    place: Any = state
    for key in keys[:-1]:
        if isinstance(place, dict) and isinstance(key, str):
            place = place.setdefault(key, {})
        elif isinstance(place, list) and isinstance(key, int) and 0 <= key < len(place):
            place = place[key]
        else:
            return False
    last, value = keys[-1], change.get("v")
    named = isinstance(place, dict) and isinstance(last, str)
    numbered = isinstance(place, list) and isinstance(last, int) and 0 <= last < len(place)
    if not named and not numbered:
        return False
    if change["kind"] == 1:
        place[last] = value
    elif change["kind"] == 3:
        if numbered or last in place:
            del place[last]
    else:
        there = place[last] if numbered or last in place else []
        there = there if isinstance(there, list) else []
        keep = change.get("i")
        place[last] = there[: keep if isinstance(keep, int) else None] + (
            value if isinstance(value, list) else []
        )
    return True


def _is_log(record: Fields) -> bool:
    if record.get("kind") == 0:
        return "requests" in inner(record, "v")
    return record.get("kind") in (1, 2, 3) and isinstance(record.get("k"), list)


_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Windsurf")

FORMAT = Format(
    name="vscode-chat",
    agent="VS Code chat",
    detect_record=_is_log,
    detect_document=lambda d: (
        isinstance(d.get("requests"), list)
        and ("responderUsername" in d or "requesterUsername" in d or "sessionId" in d)
    ),
    turns=_turns,
    locations=tuple(
        of_editor(
            f"{editor}/User",
            f"{place}/{name}",
        )
        for editor in _EDITORS
        for place in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
        for name in ("*.json", "*.jsonl")
    ),
    tested="a real export; fixtures for the log",
)
