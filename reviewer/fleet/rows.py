"""The rows of a job: a place with a statement, a file that was read, and a candidate."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import Attribute, EntityType
from reviewer.extraction.flags import flags_of
from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.promotion.rows.masked_records import ID
from reviewer.proposing.values import Proof, Proposer
from reviewer.sources.records import RecordUse, Role, Shape
from reviewer.text.secrets import mask, secrets_in, with_secrets

Share = Annotated[float, Meta(ge=0, le=2)]
Count = Annotated[int, Meta(ge=0, le=2**62)]
Times = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Word = Annotated[str, Meta(max_length=200)]
"""A text of the program's own, without any of _UNSHOWN."""
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters and marks of direction."""
Document = Annotated[str, Meta(max_length=20_000)]
Name = Annotated[str, Meta(max_length=2_000)]

_DOCUMENTS: dict[str, msgspec.json.Decoder[Any]] = {
    "proof": msgspec.json.Decoder(Proof),
    "attributes": msgspec.json.Decoder(tuple[Attribute, ...]),
}


_EMPTY = ("{}", "[]")


class CitedStatement(Struct, frozen=True, kw_only=True, gc=False):
    """A statement at a place of a file. `fact` is equal for all places with the same statement."""

    path: Annotated[str, Meta(min_length=1, max_length=4_096)]
    format: Word
    kind: Literal["memory", "entity"]
    type: str
    content: Annotated[str, Meta(min_length=SHORTEST_STATEMENT, max_length=LONGEST_STATEMENT)]
    fact: Word
    proposer: Proposer
    rule: Word
    extractor_version: Word
    prior: Share
    signal: Share
    freshness: Share
    confidence: Share
    flags: Word
    need: Word = ""
    proof: Document = "{}"
    name: Name = ""
    slot: Name = ""
    attributes: Document = "[]"
    session: Name
    line_start: Count
    line_end: Count
    byte_start: Count
    byte_end: Count
    record: Annotated[str, Meta(min_length=1, max_length=2_000)]
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{0,64}\Z")]
    at: Word
    role: Role
    use: RecordUse
    shape: Shape
    sidechain: bool
    span_start: Count
    span_end: Count
    excerpt: Annotated[str, Meta(max_length=20_000)]
    excerpt_start: Count


class EvidenceRow(CitedStatement, frozen=True, kw_only=True, gc=False):
    """A place of a statement, with the keys by which it is counted.

    `wording` is equal for all places that differ in function words and endings only. `place` counts
    the quotes of one statement from 0.
    """

    part: str
    wording: int
    sentence: int = 0
    """A fingerprint, for recognising boot text."""
    score: float
    project: str
    author: str
    place: int = 0


class FileRow(Struct, frozen=True, kw_only=True):
    """A file that was read. `boot`: fingerprints of the boot text of its sessions."""

    part: str
    path: str
    bytes: int
    modified_ns: int
    etag: str
    format: str
    found: int
    problem: str
    other_kind: bool
    """It is intact, but of another kind."""
    boot: tuple[int, ...] = ()

    @property
    def failed(self) -> bool:
        return bool(self.problem) and not self.other_kind


class CandidateRow(CitedStatement, frozen=True, kw_only=True, gc=False, array_like=True):
    """The best place of a fact, and its counts. Untrusted: anybody may have written the parts.

    `position`: among all candidates, from 1. `leader`: the `fact` of the first of several memories
    that differ in function words and endings only.
    """

    position: Count

    seen: Times
    sessions: Times
    authors: Times
    leader: Word

    def __post_init__(self) -> None:
        """Raise ValueError for values that do not belong together."""
        (MemoryType if self.kind == "memory" else EntityType)(self.type)
        if _UNSHOWN.search("".join(_words(self))):  # once for all of them
            wrong = next(name for name in _WORDS if _UNSHOWN.search(getattr(self, name)))
            raise ValueError(f"{wrong}: it has control characters")
        for column, decoder in _DOCUMENTS.items():
            text = getattr(self, column)
            try:
                if text not in _EMPTY:  # as nearly all are
                    decoder.decode(text)
            except (ValueError, RecursionError) as problem:
                raise ValueError(f"{column}: {problem}") from None
        if self.span_start > self.span_end:
            raise ValueError("span_end is before span_start")


_WORDS = (
    "format", "fact", "rule", "extractor_version", "flags", "need", "at", "leader"
)  # fmt: skip
_words: Callable[[CandidateRow], tuple[str, ...]] = attrgetter(*_WORDS)
_TEXTS = ("content", "excerpt", "name", "slot")
_texts: Callable[[CandidateRow], tuple[str, ...]] = attrgetter(*_TEXTS)


def masked_page(page: bytes) -> tuple[dict[int, CandidateRow], int]:
    """Of rows encoded as MessagePack, those that get flags or lose secrets, by their number in the
    page, and the number of secrets. Secrets are rare: sessions were masked when read.
    """
    rows = msgspec.msgpack.decode(page, type=list[CandidateRow])
    secret = with_secrets({text for row in rows for text in texts_for_keys(row)})
    changed, masked = {}, 0
    for at, before in enumerate(rows):
        row = before
        if secret and not secret.isdisjoint(texts_for_keys(row)):
            row, number = _masked(row)
            masked += number
        if new := set(flags_of(row.content, row.role)).difference(row.flags.split()):
            row = structs.replace(row, flags=" ".join((*row.flags.split(), *sorted(new))))
        if row is not before:
            changed[at] = row
    return changed, masked


def texts_for_keys(row: CandidateRow) -> tuple[str, ...]:
    """The texts that keys are made of. The store masks all others."""
    return _texts(row) if ID.fullmatch(row.record) else (row.record, *_texts(row))


def _masked(row: CandidateRow) -> tuple[CandidateRow, int]:
    number = 0
    changed: dict[str, Any] = {}
    in_context = secrets_in(row.excerpt)
    for name, text in zip(_TEXTS, _texts(row), strict=True):
        found = mask(text)
        clean, number = found.text, number + len(found.kinds)
        for value, kind in in_context:  # its context may be before the statement
            number += value in clean
            clean = clean.replace(value, f"[masked {kind}]")
        changed[name] = clean
    if mask(row.record).kinds:  # two different keys must not become one
        changed["record"] = f"sha256:{hashlib.sha256(row.record.encode()).hexdigest()}"
    changed["content"] = changed["content"][:LONGEST_STATEMENT]
    at = changed["excerpt"].find(changed["content"])
    if at >= 0:  # masking has moved it
        start = row.excerpt_start + at
        changed |= {"span_start": start, "span_end": start + len(changed["content"])}
    return structs.replace(row, **changed), number
