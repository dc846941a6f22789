"""A candidate of a file: what its columns may have, and its texts without secrets."""

from __future__ import annotations

import hashlib
import re
import unicodedata
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
from reviewer.text.normalise import duplicate_key
from reviewer.text.secrets import mask, secrets_in, with_secrets

ADDED = {"seen": "int64", "sessions": "int64", "authors": "int64", "leader": "string"}
"""Columns of a candidate besides those of its best place. `leader`: the `fact` of the candidate
that says the same in other words and is shown before it."""
CANDIDATE = {
    **{name: kind for name, kind in COLUMNS[EVIDENCE].items() if name not in ("part", "sentence")},
    **ADDED,
}

MOST = 1_000_000_000
"""The largest number of places, sessions and people of a candidate."""

Share = Annotated[float, Meta(ge=0, le=2)]
Count = Annotated[int, Meta(ge=0, le=2**62)]
Times = Annotated[int, Meta(ge=0, le=MOST)]
_PLAIN = r"^[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*\Z"
Word = Annotated[str, Meta(max_length=200, pattern=_PLAIN)]
"""A text of the program's own, without control characters and marks of direction."""
Document = Annotated[str, Meta(max_length=20_000)]
Name = Annotated[str, Meta(max_length=2_000)]


class CandidateRow(Struct, frozen=True, array_like=True, gc=False):
    """A row, checked."""

    path: Annotated[str, Meta(min_length=1, max_length=4_096)]
    format: Word
    kind: Literal["memory", "entity"]
    type: str
    content: Annotated[str, Meta(min_length=SHORTEST_STATEMENT, max_length=LONGEST_STATEMENT)]
    key: Annotated[str, Meta(min_length=1, max_length=2 * LONGEST_STATEMENT)]
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
    relations: Document | None
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
    seen: Annotated[int, Meta(ge=1, le=MOST)]
    sessions: Times
    authors: Times


class CleanRow(Struct, frozen=True, gc=False):
    """A row without secrets and with its flags: only `clean` makes one."""

    row: CandidateRow
    masked: int
    """How many secrets it had."""


NAMES = CandidateRow.__struct_fields__

EMPTY_PROOF = "{}"
_WORD = re.compile(r"[^\W_]+")


def checked(values: Sequence[object]) -> CandidateRow:
    """The row with the values of NAMES, if all of them are what they should be. Raises ValueError,
    naming the column.
    """
    try:
        row = msgspec.convert(values, CandidateRow)
    except msgspec.ValidationError as problem:
        raise ValueError(_with_its_column(str(problem))) from problem
    _require_meaning(row)
    if not row.span_start <= row.span_end:
        raise ValueError("its span ends before it begins (span_start and span_end)")
    if max(row.sessions, row.authors) > row.seen:
        raise ValueError("it has more sessions or people (sessions, authors) than places (seen)")
    if row.key != row.content.lower() and row.key != duplicate_key(row.content):
        raise ValueError("its key does not belong to its content (key and content)")
    if row.content not in row.excerpt and row.proof == EMPTY_PROOF:
        said = _words_of(row.content)
        if len(said - _words_of(row.excerpt)) * 2 > len(said):
            raise ValueError("its excerpt does not have its words (content, proof and excerpt)")
    return row


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(unicodedata.normalize("NFC", text).lower()))


def _with_its_column(problem: str) -> str:
    """What msgspec says about a value of a list, with the name of the column."""
    found = re.fullmatch(r"(.*) - at `\$\[(\d+)\].*", problem, re.DOTALL)
    if found is None:
        return problem
    name, said = NAMES[int(found[2])], found[1][:1].lower() + found[1][1:]
    if "matching regex" in said:
        said = "no hash in hexadecimal digits" if name == "sha256" else "control characters"
    return f"its column {name} is not what reviewer writes ({said})"


def _require_meaning(row: CandidateRow) -> None:
    """Raise ValueError if a type or a document in JSON is none that is known."""
    (MemoryType if row.kind == "memory" else EntityType)(row.type)
    if row.proof != EMPTY_PROOF:
        _require_document("proof", row.proof, Proof)
    if row.kind == "entity":
        _require_document("attributes", row.attributes or "[]", tuple[Attribute, ...])


def _require_document(column: str, text: str, type_: Any) -> None:
    try:
        msgspec.json.decode(text, type=type_)
        msgspec.json.decode(text)  # also what the type does not know
    except (ValueError, RecursionError) as problem:  # a msgspec.DecodeError is a ValueError
        raise ValueError(f"its column {column} is not what reviewer writes ({problem})") from None


# Masking. The texts were masked when the sessions were read, so there is hardly ever a secret.

_TEXTS = (
    "content", "excerpt", "name", "slot", "session", "rule", "extractor_version", "need", "flags",
    "format",
)  # fmt: skip
_DOCUMENTS = ("proof", "attributes", "relations")


def clean(rows: Sequence[CandidateRow]) -> list[CleanRow]:
    """The rows without secrets and with their flags: anybody may have written the file."""
    secret = with_secrets({word for row in rows for word in _words(row)})
    return [
        _flagged(*(_masked(row) if secret and not secret.isdisjoint(_words(row)) else (row, 0)))
        for row in rows
    ]


def _flagged(row: CandidateRow, masked: int) -> CleanRow:
    found = flags_of(row.content, row.role)
    flags = " ".join(dict.fromkeys((*row.flags.split(), *found))) if found else row.flags
    # The key is stored as it is: it may say nothing that the content does not say.
    key = row.key if row.key in row.content.lower() else duplicate_key(row.content)
    same = flags == row.flags and key == row.key
    return CleanRow(row if same else structs.replace(row, flags=flags, key=key), masked)


def _words(row: CandidateRow) -> Iterator[str]:
    yield from (row.excerpt, row.record, row.session or "", row.rule)
    yield from (row.extractor_version, row.need, row.flags, row.format)
    if row.content not in row.excerpt:
        yield row.content
    if row.proof != EMPTY_PROOF:
        yield from _strings(msgspec.json.decode(row.proof))
    if row.kind == "entity":
        yield from (row.name or "", row.slot or "")
        for document in (row.attributes, row.relations):
            yield from _strings(msgspec.json.decode(document or "[]"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _masked(row: CandidateRow) -> tuple[CandidateRow, int]:
    """The row without secrets, and how many there were."""
    found = 0
    changed: dict[str, str] = {}
    in_context = secrets_in(row.excerpt)

    def masked(text: str) -> str:
        nonlocal found
        without = mask(text)
        found += len(without.kinds)
        text = without.text
        for value, kind in in_context:  # what shows that it is one may be before the statement
            found += value in text
            text = text.replace(value, f"[masked {kind}]")
        return text

    for name in _TEXTS:
        before = getattr(row, name)
        if before and (after := masked(before)) != before:
            changed[name] = after
    for name in _DOCUMENTS:
        before = getattr(row, name)
        if before and before != EMPTY_PROOF:
            document = msgspec.json.decode(before)
            if (after_all := _each_string(document, masked)) != document:
                changed[name] = msgspec.json.encode(after_all).decode()
    if mask(row.record).kinds:  # two different keys must not become one
        changed["record"] = f"sha256:{hashlib.sha256(row.record.encode()).hexdigest()}"
    if not changed:
        return row, 0
    if "content" in changed:
        changed["content"] = changed["content"][:LONGEST_STATEMENT]
    return structs.replace(row, **changed), found


def _each_string(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each_string(each, change) for name, each in value.items()}
    if isinstance(value, list):
        return [_each_string(each, change) for each in value]
    return value
