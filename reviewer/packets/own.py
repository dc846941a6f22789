"""The reviewer's own store as material for a packet: trusted state, active entities and memories.

Trusted state, and what was promoted from a CONSTITUTION.md, is tier 1. What waits to be done makes
the tasks, what binds or is preferred the conventions, decisions and facts about the project the
decisions, everything else the learnings. Each with the date of its latest source.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import msgspec

from reviewer.clock import from_iso
from reviewer.packets.titles import title_of
from reviewer.packets.values import Item, Material, Problem, Rules, Section
from reviewer.promotion.trusted_state import StateView, TrustedState
from reviewer.store.database import Database, failures_as_sentences

TASK_RULES = {"open_item", "open_checkbox"}
"""Rules of extraction that find what is left to do."""

PLANTED = "reads like an order planted for an agent, so it was left out; reword it to have it in"

_SECTIONS = {
    ("entity", "decision"): Section.DECISIONS,
    ("memory", "project"): Section.DECISIONS,
    ("entity", "requirement"): Section.CONVENTIONS,
    ("entity", "constraint"): Section.CONVENTIONS,
    ("entity", "interface"): Section.CONVENTIONS,
    ("entity", "process"): Section.CONVENTIONS,
    ("memory", "identity"): Section.CONVENTIONS,
    ("memory", "preference"): Section.CONVENTIONS,
    ("memory", "adaptation"): Section.CONVENTIONS,
}

_SAID_ELSEWHERE = {"date", "status"}
"""What the date in front, and being active, say already."""

_ACTIVE = """
SELECT m.id, m.kind, m.type, m.content, m.rule, m.first_seen, m.flags, e.name, e.attributes,
    (SELECT max(r.at) FROM evidence v JOIN record r ON r.id = v.record_id
        WHERE v.memory_id = m.id) AS said_at,
    (SELECT s.path FROM evidence v JOIN record r ON r.id = v.record_id
        JOIN source s ON s.id = r.source_id WHERE v.memory_id = m.id ORDER BY v.id LIMIT 1) AS path,
    (SELECT group_concat(x.kind || ' ' || x.target, char(10)) FROM relation x
        WHERE x.memory_id = m.id AND x.target_id IS NOT NULL) AS relations
FROM memory m LEFT JOIN entity e ON e.memory_id = m.id
WHERE m.status = 'active' AND m.kind <> 'conflict'
    AND (?1 IS NULL OR m.project_id = (SELECT id FROM project WHERE name = ?1))
ORDER BY coalesce(m.decided_at, m.first_seen) DESC, m.id DESC
"""


class _Attribute(msgspec.Struct, frozen=True):
    name: str
    value: str
    unit: str = ""


def read_store(database: Database, state: TrustedState, project: str | None) -> Material:
    """Everything that holds in a project, or in all of them. Raises StoreError."""
    rules = [_rule(each, several=project is None) for each in state.all(project)]
    items: list[Item] = []
    problems: list[Problem] = []
    with failures_as_sentences(database.path):
        for row in database.reader().execute(_ACTIVE, (project,)):
            if _is_planted(row):
                problems.append(Problem(f"m:{row['id']}", 0, PLANTED))
            elif _is_constitution(row):
                rules.append(Rules(f"- {_whole(row)}", f"m:{row['id']}", listed=True))
            else:
                items.append(_item(row))
    return Material(
        source=f"{database.path}, {'project ' + project if project else 'all projects'}",
        constitution=tuple(rules),
        items=tuple(items),
        problems=tuple(problems),
    )


def _rule(held: StateView, *, several: bool) -> Rules:
    where = f"{held.project}: " if several else ""
    note = f" ({held.note})" if held.note else ""
    text = f"- {where}{held.key} = {held.value}{note}"
    return Rules("\n  ".join(text.split("\n")), f"s:{held.id}", listed=True)


def _is_planted(row: sqlite3.Row) -> bool:
    """Whether a memory was flagged as an order to an agent and still reads so.

    A packet is what agents follow; what a person put into other words is no such order any more.
    """
    if "injection" not in row["flags"].split():
        return False
    from reviewer.extraction.flags import INJECTION, flags_of  # late: hardly any row is flagged
    from reviewer.sources.records import Role

    return INJECTION in flags_of(row["content"], Role.NOTE)


def _is_constitution(row: sqlite3.Row) -> bool:
    name = (row["path"] or "").replace("\\", "/").rpartition("/")[2]
    return name.upper().startswith("CONSTITUTION")


def _item(row: sqlite3.Row) -> Item:
    section = _SECTIONS.get((row["kind"], row["type"]), Section.LEARNINGS)
    if row["rule"] in TASK_RULES and row["kind"] == "memory":
        section = Section.TASKS
    told = {each.name.lower(): each.value for each in _attributes(row)}
    return Item(
        id=f"m:{row['id']}",
        section=section,
        title=title_of(row["name"] or row["content"]),
        text=_whole(row),
        place=f"m:{row['id']}",
        at=from_iso(row["said_at"] or "") or from_iso(row["first_seen"]),
        superseded=told.get("status", "").lower().startswith("superseded"),
    )


def _whole(row: sqlite3.Row) -> str:
    """The wording, and below it what else is known of an entity."""
    name, content = row["name"] or "", row["content"]
    first = content if name.lower() in content.lower() else f"{name}: {content}"
    return "\n".join([first, *(f"- {line}" for line in _known(row, content))])


def _known(row: sqlite3.Row, content: str) -> Iterator[str]:
    for each in _attributes(row):
        value = f"{each.value} {each.unit}".strip()
        if value and value not in content and each.name not in _SAID_ELSEWHERE:
            yield f"{each.name.replace('_', ' ')}: {value}"
    for relation in (row["relations"] or "").split("\n"):
        if relation:
            kind, _, target = relation.partition(" ")
            yield f"{kind.replace('_', ' ')} {target}"


def _attributes(row: sqlite3.Row) -> list[_Attribute]:
    return msgspec.json.decode(row["attributes"] or "[]", type=list[_Attribute])
