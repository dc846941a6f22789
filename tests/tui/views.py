"""Values of the engine for tests of the panes, with defaults for fields that do not matter."""

from __future__ import annotations

from typing import Any

from reviewer.promotion.views import (
    CandidateView,
    EvidenceView,
    RecordView,
    RowKind,
    SourceRef,
    Status,
)

HOSTILE = (
    "\x1b]52;c;aGk=\x07\x1b[31mred \x9b2J [red]x[/red] [@click=app.quit]go[/]"
    " \u202eevil\u2066 日本語 🚀"
)
"""Escape sequences, markup, bidi controls and wide characters."""


def candidate(**fields: Any) -> CandidateView:
    known: dict[str, Any] = {
        "id": 412,
        "kind": RowKind.MEMORY,
        "status": Status.CANDIDATE,
        "deferred": False,
        "edited": False,
        "type": "project",
        "content": "Use PostgreSQL 16 for the ledger; SQLite stays for tests.",
        "project": "acme",
        "rule": "decision_made",
        "extractor_version": "0.1.0",
        "prior": 0.5,
        "signal": 1.1,
        "freshness": 1.05,
        "confidence": 0.5775,
        "rank": 0.3,
        "flags": (),
        "seen": 3,
        "sessions": 2,
        "refs": 0,
        "members": 0,
        "first_seen": "2026-02-10T10:00:00.000Z",
        "last_seen": "2026-02-14T10:00:00.000Z",
        "pending_since": "2026-02-10T10:00:00.000Z",
        "decided_at": None,
        "leader_id": None,
        "superseded_by": None,
        "source": SourceRef("chat.jsonl", 445, 446, "key"),
    }
    return CandidateView(**{**known, **fields})


def record(**fields: Any) -> RecordView:
    known: dict[str, Any] = {
        "id": 5,
        "key": "key",
        "path": "/home/dev/chat.jsonl",
        "line_start": 445,
        "line_end": 446,
        "role": "user",
        "use": "said",
        "shape": "turn",
        "at": "2026-02-14T10:22:05.000Z",
        "session": "7505c8aa",
        "sidechain": False,
        "headings": (),
        "meta": {},
        "text": "no - let's use postgres 16 for the ledger, sqlite stays for tests.",
    }
    return RecordView(**{**known, **fields})


def evidence(*, span: tuple[int, int] = (5, 41), **fields: Any) -> EvidenceView:
    around = {name: fields.pop(name, ()) for name in ("before", "after")}
    return EvidenceView(
        memory_id=412,
        record=record(**fields),
        span_start=span[0],
        span_end=span[1],
        rule="decision_made",
        **around,
    )
