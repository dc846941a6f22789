"""The filter line of the queue, over `memory m`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reviewer.clock import written_moment
from reviewer.errors import FilterError
from reviewer.promotion.queue_order import CONFLICT, NEEDS, OWN_WORDS
from reviewer.promotion.views import RowKind, Status
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Role
from reviewer.store.changes import Value
from reviewer.store.disputed import IS_DISPUTED
from reviewer.store.undo import IS_UNDONE
from reviewer.text.filter_line import Field, Term, parsed, terms, unfinished
from reviewer.text.signs import FLAGS

_WORD = re.compile(r"\w+")
_RECORD = (
    "m.id IN (SELECT e.memory_id FROM evidence e JOIN record r ON r.id = e.record_id"
    " JOIN source s ON s.id = r.source_id WHERE {})"
)
_SAID_BY = (
    "m.id IN (SELECT coalesce(a.leader_id, a.id) FROM evidence e JOIN record r"
    " ON r.id = e.record_id JOIN memory a ON a.id = e.memory_id WHERE r.role = '{}')"
)
"""Rows with a quote of a speaker, their own or that of a row alike."""
MINE = f"((m.rank >= {OWN_WORDS} AND m.rank < {CONFLICT}) OR m.proposer = '{Proposer.PERSON}')"
"""Rows in the person's own words, or written by hand."""
_SPEAKERS = {"agent": Role.ASSISTANT, "tool": Role.TOOL, "note": Role.NOTE}
_STATUS_WORDS = {
    "waiting": Status.CANDIDATE,
    "promoted": Status.ACTIVE,
    "rejected": Status.INVALID,
    "merged": Status.SUPERSEDED,
}
"""The name of a status on the screen -> its name in the store."""
_UNUSED = "NOT EXISTS (SELECT 1 FROM use_of_memory u WHERE u.memory_id = m.id)"
"""Memories that no agent has got, at a call or in a packet."""
_RETIRED = (
    "m.status = 'invalid' AND EXISTS (SELECT 1 FROM ledger a WHERE a.id ="
    " (SELECT max(t.act) FROM ledger_touch t JOIN ledger l ON l.id = t.act WHERE t.memory_id = m.id"
    f" AND l.kind NOT IN ('undo', 'redo') AND NOT {IS_UNDONE})"
    " AND (a.title LIKE 'Retired %' OR a.title LIKE '%of which retire a memory'))"
)
"""Former memories, by the title of the last act on them."""


def _types() -> Iterator[str]:
    from reviewer.extraction.candidates import MemoryType  # late: most filters need no types
    from reviewer.extraction.entities.entity import EntityType

    yield from dict.fromkeys((*MemoryType, *EntityType, RowKind.CONFLICT))


FIELDS = {
    "kind": Field(
        meanings={
            **{kind: f"m.kind = '{kind}'" for kind in RowKind},
            **{need: f"iif(m.need = '', m.type, m.need) = '{need}'" for need in NEEDS},
        }
    ),
    "type": Field("m.type LIKE ? || '%'", values=_types),
    "rule": Field("m.rule LIKE '%' || ? || '%'"),
    "status": Field(
        meanings={
            word: f"m.status = '{status}'"
            for word, status in ({each.value: each for each in Status} | _STATUS_WORDS).items()
        }
    ),
    "is": Field(
        meanings={
            "deferred": "m.deferred = 1",
            "edited": "m.edited = 1",
            "unused": _UNUSED,
            "retired": _RETIRED,
            "disputed": f"m.status = 'active' AND {IS_DISPUTED}",
        }
    ),
    "when": Field(
        "m.id IN (SELECT id FROM (SELECT id, moments AS said FROM memory UNION ALL"
        " SELECT memory_id, kind || ' ' || value FROM moment"
        " WHERE kind NOT IN ('text', 'word', 'quoted')) WHERE said LIKE '%' || ? || '%')"
    ),
    "by": Field(
        meanings={
            "me": MINE,
            **{name: _SAID_BY.format(role) for name, role in _SPEAKERS.items()},
        }
    ),
    "proposer": Field("m.proposer LIKE ? || '%'", values=lambda: Proposer),
    "flag": Field("m.flags LIKE '%' || ? || '%'", values=lambda: FLAGS),
    "path": Field(_RECORD.format("s.path LIKE '%' || ? || '%'")),
    "agent": Field(_RECORD.format("s.format LIKE ? || '%'")),
    "session": Field(_RECORD.format("r.session LIKE ? || '%'")),
    "branch": Field(_RECORD.format("json_extract(r.meta, '$.gitBranch') LIKE ? || '%'")),
    "model": Field(_RECORD.format("json_extract(r.meta, '$.model') LIKE '%' || ? || '%'")),
    "actor": Field(
        "m.id IN (SELECT t.memory_id FROM ledger_touch t JOIN ledger l ON l.id = t.act"
        " WHERE l.actor LIKE ? || '%')"
    ),
    "since": Field(_RECORD.format("r.at >= ?")),
    "conf": Field("m.confidence", number=True),
    "calls": Field("m.cost", number=True),
    "seen": Field("m.seen", number=True),
    "refs": Field("m.refs", number=True),
    "id": Field("m.id", number=True),
}

_REST = "0000-01-01"
"""Completes a year or a month to a date."""


class Condition(Struct, frozen=True):
    """A part of a WHERE clause over `memory m`, with its parameters."""

    sql: str
    parameters: tuple[Value, ...] = ()


def parse_filter(text: str) -> Condition:
    """The condition of a filter line; an empty line matches every row.

    Bare words match as prefixes, in any order, and a kind of statement by its name; a quoted phrase
    matches its words in sequence.
    Raises FilterError, naming the invalid term.
    """
    line = list(terms(text))
    for term in line:
        if term.field == "since" and term.value:
            require_date(term.value)
    found = parsed(line, FIELDS)
    parts, parameters = [found.sql], [*found.parameters]
    for term in found.words:
        sql, values = _words(term)
        parts.append(f"({sql})" if term.wanted else f"NOT ({sql})")
        parameters += values
    return Condition(" AND ".join(parts), tuple(parameters))


def field_without_value(text: str) -> str:
    """The first field of a filter without a value yet; empty if there is none."""
    return unfinished(text, FIELDS)


def require_date(text: str) -> None:
    """Raise FilterError unless a text is a date, a month or a year."""
    whole = len(text) in (4, 7) or len(text) >= 10
    if not whole or written_moment(f"{text}{_REST[len(text) :]}") is None:
        raise FilterError(f'since: takes a date such as 2026-03-01, not "{text}"')


def _words(term: Term) -> tuple[str, tuple[str, ...]]:
    text, bare = term.value, term.value.strip('"')
    words = _WORD.findall(text.lower())
    if not words:
        return ("instr(m.content, ?) > 0", (bare,)) if bare else ("1", ())
    if text.startswith('"'):
        match = '"' + " ".join(words) + '"' + ("" if text.endswith('"') and len(text) > 1 else "*")
    else:
        match = " AND ".join(f'"{word}"*' for word in words)
    found = "m.id IN (SELECT rowid FROM memory_text WHERE memory_text MATCH ?)"
    if text.lower() in NEEDS:
        return f"{found} OR m.need = ?", (match, text.lower())
    return found, (match,)
