"""Packets from the store: trusted state, active memories and entities.

Trusted state, promoted entries of a CONSTITUTION.md and memories marked `#constitution` are tier 1.
Each of the others is dated by its latest source.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from reviewer.clock import Clock, from_iso
from reviewer.extraction.planted import is_planted
from reviewer.extraction.shelves import shelf_of
from reviewer.packets.lookup import find_item
from reviewer.packets.prepared import Prepared
from reviewer.packets.token_counts import Measurer
from reviewer.packets.values import Item, Material, Problem, RuleBlock, Section
from reviewer.packets.wording import title_of
from reviewer.recall.event_kinds import ERROR, START
from reviewer.recall.outcomes import UseOutcome, uses_of
from reviewer.recall.search import IS_LEFT_OUT, IS_PINNED
from reviewer.sources.records import Role
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.disputed import IS_DISPUTED
from reviewer.text.numerals import count

if TYPE_CHECKING:
    from reviewer.promotion.decisions.trusted_state import StateView, TrustedState


class SourceChoice(msgspec.Struct, frozen=True):
    """The source of a packet: a context folder, or the store (None). `words` name it; empty if
    there is no choice.
    """

    folder: Path | None
    words: str


ALL_OR_NOTHING_CHARS = 400
"""A longer text may be shortened, or be only a title."""

_RULE_MARK = re.compile(r"(?:^|\s)#constitution\b", re.IGNORECASE)

DISPUTED = "is one side of an open conflict, so both are left out; settle it to include one"
PLANTED = "reads like an order planted for an agent, so it was left out; reword it to include it"

_NOT_SHOWN = {"date", "status", "number"}
"""Attributes of a record: the date of the item and its being active say the same, and its number
says nothing.
"""

_ACTIVE = f"""
SELECT m.id, m.kind, m.type, m.content, m.rule, m.first_seen, m.flags, e.name, e.attributes,
    m.sessions, m.cost, {IS_PINNED} AS pinned, {IS_DISPUTED} AS disputed,
    (SELECT count(DISTINCT coalesce(r.session, r.source_id)) FROM evidence v
        JOIN record r ON r.id = v.record_id WHERE v.memory_id = m.id) AS cited,
    (SELECT max(r.role <> '{Role.NOTE}') FROM evidence v
        JOIN record r ON r.id = v.record_id WHERE v.memory_id = m.id) AS said,
    (SELECT max(r.at) FROM evidence v JOIN record r ON r.id = v.record_id
        WHERE v.memory_id = m.id) AS latest_source,
    (SELECT max(s.modified_ns) FROM evidence v JOIN record r ON r.id = v.record_id
        JOIN source s ON s.id = r.source_id WHERE v.memory_id = m.id) AS modified_ns,
    (SELECT s.path FROM evidence v JOIN record r ON r.id = v.record_id
        JOIN source s ON s.id = r.source_id WHERE v.memory_id = m.id ORDER BY v.id LIMIT 1) AS path,
    (SELECT group_concat(t.value, char(10)) FROM moment t
        WHERE t.memory_id = m.id AND t.kind = '{ERROR}') AS failures
FROM memory m LEFT JOIN entity e ON e.memory_id = m.id
WHERE m.status = 'active' AND m.kind <> 'conflict'
    AND NOT {IS_LEFT_OUT}
    AND (?1 IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?1))
ORDER BY coalesce(m.decided_at, m.first_seen) DESC, m.id DESC
"""


class _Attribute(msgspec.Struct, frozen=True):
    name: str
    value: str
    unit: str = ""


def read_store(database: Database, state: TrustedState, project: str | None) -> Material:
    """All active material of a project, or of all projects. Raises StoreError."""
    rules = [_rule(value, several=project is None) for value in state.all(project)]
    items: list[Item] = []
    problems: list[Problem] = []
    with failures_as_sentences(database.path):
        needed = _needed(database.reader(), project)
        told: set[str] = set()
        for row in database.reader().execute(_ACTIVE, (project,)):
            if is_planted(row["content"], row["flags"].split()):
                problems.append(Problem(f"m:{row['id']}", 0, PLANTED))
            elif row["disputed"]:
                problems.append(Problem(f"m:{row['id']}", 0, DISPUTED))
            elif _is_constitution(row):
                text = _RULE_MARK.sub("", _full_text(row)).strip()
                rules.append(RuleBlock(f"- {text}", f"m:{row['id']}", listed=True))
            else:
                failures = set((row["failures"] or "").split("\n")) - {""}
                repeats = bool(failures) and failures <= told
                told |= failures
                items.append(_item(row, needed[row["id"]], repeats=repeats))
    return Material(
        source=f"{database.path}, {'project ' + project if project else 'all projects'}",
        constitution=tuple(rules),
        items=tuple(items),
        problems=tuple(problems),
    )


def _rule(state: StateView, *, several: bool) -> RuleBlock:
    where = f"{state.project}: " if several else ""
    note = f" ({state.note})" if state.note else ""
    text = f"- {where}{state.key} = {state.value}{note}"
    return RuleBlock("\n  ".join(text.split("\n")), f"s:{state.id}", listed=True)


def _is_constitution(row: sqlite3.Row) -> bool:
    """Whether a memory is marked `#constitution` or comes from a CONSTITUTION.md."""
    if _RULE_MARK.search(row["content"]):
        return True
    name = (row["path"] or "").replace("\\", "/").rpartition("/")[2]
    return name.upper().startswith("CONSTITUTION")


def _needed(store: sqlite3.Connection, project: str | None) -> Counter[int]:
    """Memory -> the number of sessions in which its failure occurred, except those in which it
    occurred despite the memory.
    """
    needed: Counter[int] = Counter()
    uses = uses_of(store, project)
    called = {
        (use.memory, use.session)
        for use, came in uses
        if use.event == ERROR or (use.event == START and came is UseOutcome.BROKEN)
    }
    needed.update(memory for memory, _ in called)
    needed.subtract(
        use.memory for use, came in uses if came is UseOutcome.BROKEN and use.event != START
    )
    return needed


def _item(row: sqlite3.Row, needed: int, *, repeats: bool) -> Item:
    attributes = {attribute.name.lower(): attribute.value for attribute in _attributes(row)}
    status, text = attributes.get("status", "").lower(), _full_text(row)
    return Item(
        id=f"m:{row['id']}",
        section=Section(shelf_of(row["kind"], row["type"])),
        title=title_of(row["name"] or row["content"]),
        text=text,
        place=f"m:{row['id']}",
        at=from_iso(row["latest_source"] or "") or _written(row),
        all_or_nothing=len(text) <= ALL_OR_NOTHING_CHARS,
        recurrence=max(row["sessions"], row["cited"]) + needed,
        sentence=row["content"],
        origin=_origin(row, needed),
        lost_calls=row["cost"],
        repeats=repeats,
        pinned=bool(row["pinned"]),
        outdated="superseded" if status.startswith("superseded") else "",
    )


def _origin(row: sqlite3.Row, needed: int) -> str:
    """`in 3 sessions, needed again in 2`, `from a note`, `written by hand`."""
    sessions, cited = row["sessions"], row["cited"]
    if not cited and not sessions:
        found = "written by hand"
    elif not row["said"] and not sessions:
        found = "from a note" if cited == 1 else f"from {cited} notes"
    else:
        found = f"in {count(max(sessions, cited), 'session')}"
    return f"{found}, needed again in {needed:,}" if needed > 0 else found


def _written(row: sqlite3.Row) -> datetime | None:
    """The modification time of an undated source's file; for a memory without a source, when it was
    written.
    """
    seen, modified = from_iso(row["first_seen"]), row["modified_ns"]
    if seen is None or modified is None:
        return seen
    return min(seen, datetime.fromtimestamp(modified / 1e9, UTC))


def _full_text(row: sqlite3.Row) -> str:
    """The content, followed by the attributes of an entity."""
    name, content = row["name"] or "", row["content"]
    first = content if name.lower() in content.lower() else f"{name}: {content}"
    return "\n".join([first, *(f"- {line}" for line in _details(row, content))])


def _details(row: sqlite3.Row, content: str) -> Iterator[str]:
    for attribute in _attributes(row):
        value = f"{attribute.value} {attribute.unit}".strip()
        if value and value not in content and attribute.name not in _NOT_SHOWN:
            yield f"{attribute.name.replace('_', ' ')}: {value}"


def _attributes(row: sqlite3.Row) -> list[_Attribute]:
    return msgspec.json.decode(row["attributes"] or "[]", type=list[_Attribute])


class Packets:
    """Prepares sources; `assemble` then makes packets for any budget without reading again."""

    def __init__(self, database: Database, clock: Clock, state: TrustedState) -> None:
        self._database = database
        self._clock = clock
        self._state = state

    def source_near(self, project: str | None, local: Path | None) -> SourceChoice:
        """The default source of a packet: the store, or the context folder here if the store has
        nothing for the project. Raises StoreError.
        """
        if local is None:
            return SourceChoice(None, "")
        own = self.material(project)
        if own.items or own.constitution:
            return SourceChoice(None, f"From the store, without {local}")
        return SourceChoice(local, f"From {local}: the store has nothing for this project.")

    def material(self, project: str | None) -> Material:
        """The material for a packet of a project. Raises StoreError."""
        return read_store(self._database, self._state, project)

    def find(self, material: Material, name: str) -> Item:
        """An item by its id or place. Raises OtherProjectError for a memory of another project,
        UnknownIdError, StoreError.
        """
        kind, _, number = name.partition(":")
        if kind == "m" and number.isdecimal():
            self._database.require_own("memory", [int(number[:18])])
        return find_item(material, name)

    def prepare_own(
        self,
        project: str | None,
        *,
        task: str = "",
        now: datetime | None = None,
        estimated: bool = False,
        marks: bool = False,
    ) -> Prepared:
        """The active material of a project (None: of all projects), scored for a task and a date.

        `marks`: show the id of each item, `[m:12]`. Raises StoreError.
        """
        return Prepared(
            self.material(project),
            Measurer(estimated=estimated),
            now=now or self._clock(),
            task=task,
            marks=marks,
        )
