"""A candidate of a file: what its columns may have, and its texts without secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import Attribute, EntityType
from reviewer.extraction.flags import flags_of
from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.fleet.part import COLUMNS
from reviewer.fleet.values import EVIDENCE
from reviewer.proposing.values import Proof, Proposer
from reviewer.sources.records import RecordUse, Role, Shape
from reviewer.text.secrets import mask, secrets_in, with_secrets

ADDED = {"seen": "int64", "sessions": "int64", "authors": "int64", "leader": "string"}
"""Columns of a candidate besides those of its best place. `leader`: the `fact` of the candidate
that says the same in other words and is shown before it."""
CANDIDATE = {
    **{name: kind for name, kind in COLUMNS[EVIDENCE].items() if name not in ("part", "sentence")},
    **ADDED,
}

Share = Annotated[float, Meta(ge=0, le=2)]
Count = Annotated[int, Meta(ge=0, le=2**62)]
Times = Annotated[int, Meta(ge=0, le=1_000_000_000)]
_PLAIN = r"^[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*\Z"
Word = Annotated[str, Meta(max_length=200, pattern=_PLAIN)]
"""A text of the program's own, without control characters and marks of direction."""
Document = Annotated[str, Meta(max_length=20_000)]
Name = Annotated[str, Meta(max_length=2_000)]


class CandidateRow(Struct, frozen=True, gc=False):
    """A row, checked."""

    path: Annotated[str, Meta(min_length=1, max_length=4_096)]
    format: Word
    kind: Literal["memory", "entity"]
    type: str
    content: Annotated[str, Meta(min_length=SHORTEST_STATEMENT, max_length=LONGEST_STATEMENT)]
    fact: Word
    leader: Word
    wording: int
    proposer: Proposer
    rule: Word
    extractor_version: Word
    prior: Share
    signal: Share
    freshness: Share
    confidence: Share
    flags: Word
    need: Word
    scope: Literal["project", "person"]
    proof: Document
    name: Name | None
    slot: Name | None
    attributes: Document | None
    record_line: Count
    line_start: Count
    line_end: Count
    byte_start: Count
    byte_end: Count
    record: Annotated[str, Meta(min_length=1, max_length=2_000)]
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{0,64}\Z")]
    session: Name | None
    at: Word | None
    role: Role
    use: RecordUse
    shape: Shape
    sidechain: bool
    span_start: Count
    span_end: Count
    excerpt: Annotated[str, Meta(max_length=20_000)]
    excerpt_start: Count
    seen: Times
    sessions: Times
    authors: Times


class CleanRow(Struct, frozen=True, gc=False):
    """A row without secrets and with its flags: only `clean` makes one."""

    row: CandidateRow
    masked: int
    """How many secrets it had."""


NAMES = CandidateRow.__struct_fields__


def checked(values: dict[str, Any]) -> CandidateRow:
    """The row with these values, if all of them are what they should be; anybody may have written
    the file. Raises ValueError, naming the column.
    """
    row = msgspec.convert(values, CandidateRow)
    (MemoryType if row.kind == "memory" else EntityType)(row.type)
    for column, text, kind in (
        ("proof", row.proof, Proof),
        ("attributes", row.attributes or "[]", tuple[Attribute, ...]),
    ):
        try:
            msgspec.json.decode(text, type=kind)
        except (ValueError, RecursionError) as problem:
            raise ValueError(f"{problem} - at `$.{column}`") from None
    if row.span_start > row.span_end:
        raise ValueError("it ends before it begins - at `$.span_end`")
    return row


_TEXTS = (
    "content", "excerpt", "name", "slot", "session", "rule", "extractor_version", "need", "flags",
    "format", "proof", "attributes",
)  # fmt: skip


def clean(rows: Sequence[CandidateRow]) -> list[CleanRow]:
    """The rows without secrets and with their flags. They were masked when the sessions were read,
    so there is hardly ever a secret.
    """
    secret = with_secrets({text for row in rows for text in (row.record, *_texts(row))})
    found: list[CleanRow] = []
    for row in rows:
        masked = 0
        if secret and not secret.isdisjoint((row.record, *_texts(row))):
            row, masked = _masked(row)
        flags = " ".join(dict.fromkeys((*row.flags.split(), *flags_of(row.content, row.role))))
        found.append(CleanRow(structs.replace(row, flags=flags), masked))
    return found


def _texts(row: CandidateRow) -> Iterator[str]:
    return (getattr(row, name) or "" for name in _TEXTS)


def _masked(row: CandidateRow) -> tuple[CandidateRow, int]:
    """The row without secrets, and how many there were."""
    count = 0
    changed: dict[str, str] = {}
    in_context = secrets_in(row.excerpt)
    for name in _TEXTS:
        before = getattr(row, name)
        if not before:
            continue
        found = mask(before)
        text, count = found.text, count + len(found.kinds)
        for value, kind in in_context:  # what shows that it is one may be before the statement
            count += value in text
            text = text.replace(value, f"[masked {kind}]")
        if text != before:
            changed[name] = text
    if mask(row.record).kinds:  # two different keys must not become one
        changed["record"] = f"sha256:{hashlib.sha256(row.record.encode()).hexdigest()}"
    changed["content"] = changed.get("content", row.content)[:LONGEST_STATEMENT]
    return structs.replace(row, **changed), count
