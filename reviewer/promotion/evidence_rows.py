"""Writing evidence inside an act."""

from __future__ import annotations

from reviewer.store.ledger import Act


def copy_evidence(act: Act, source: int, target: int) -> None:
    """Give a row the evidence of another, each place once."""
    columns = ("record_id", "span_start", "span_end", "rule", "extractor_version")
    rows = act.query(
        f"SELECT {', '.join(columns)} FROM evidence e WHERE memory_id = ?1 AND NOT EXISTS ("
        "SELECT 1 FROM evidence f WHERE f.memory_id = ?2 AND f.record_id = e.record_id"
        " AND f.span_start = e.span_start AND f.span_end = e.span_end) ORDER BY id",
        (source, target),
    )
    act.insert_many(
        "evidence",
        [{"memory_id": target, **dict(zip(columns, row, strict=True))} for row in rows],
    )
