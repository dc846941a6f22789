"""Masks all stored text: no act writes a secret, wherever the text comes from.

Every text column is masked here, including new ones. Text masked earlier, because its key or hash
depends on it, is not checked again (`is_clean`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache, lru_cache

from reviewer.store.changes import Image, Value

UNMASKED: dict[str, str] = {
    "wave.roots": "a place on this machine, found by its name",
    "wave.report_folder": "a place on this machine, found by its name",
    "source.path": "a place on this machine, opened by its name",
    "context.source_path": "a place on this machine, opened by its name",
    "pipeline_run.path": "a place on this machine, opened by its name",
    "pipeline_run.folder": "a place on this machine, opened by its name",
    "project.root": "a place on this machine, compared with others",
    "project.former": "places on this machine, compared with others",
    "project.remote": "an address without its user and password, compared with others",
    "project.name": "refused where it has a secret",
    "record.key": "looked up; masked with the record where it is read",
    "record.sha256": "a hash",
    "memory.key": "looked up; made of the masked content",
    "entity.slot": "looked up; made of masked names",
    "content.sha256": "a hash",
    "commit_.hash": "a hash",
    "segment.key": "a hash",
    "memory.signature": "looked up; made of masked findings",
    "finding.signature": "looked up; masked where it is made",
    "finding.session": "counted; masked where it is read",
    "erasure.seal": "a hash",
    "pipeline_run.commands": "a hash of earlier versions",
    "pipeline_run.key": "random digits of earlier versions",
    "pipeline_run.run_id": "made here of the time and of the name, which has no secret",
}
"""Column -> why it is not masked."""

JSON = frozenset(
    {
        "wave.counts", "source.tally", "record.headings", "record.meta", "memory.proof",
        "entity.attributes", "context.levels", "commit_.meta", "annotation.retention_json",
        "compression.options", "segment.sources", "segment.anchors", "segment.fidelity",
        "finding.evidence",
    }
)  # fmt: skip
"""Columns with JSON: each string is masked separately, along with its name."""

SHORTEST = 6
"""Characters; shorter text is never taken for a secret."""

LONGEST_TITLE = 60
"""Characters; the program's own titles are never longer."""

_MOMENT_OR_NUMBER = re.compile(r"[0-9T:.,+Z -]*")
_OUR_WORDS = re.compile(r"[A-Z]?[a-z]{1,10}:?(?: (?:[A-Z]?[a-z]{1,8}|#?\d{1,7}),?)*\.?")
_TRIGGER = re.compile(r"pass|pw|secret|token|key|pin|code|cred|auth|log|wort|user|api|word")


def masked_columns(table: str, columns: dict[str, list[Value]]) -> dict[str, list[Value]]:
    """The values of rows, column by column, without secrets."""
    left = _unmasked_columns(table)
    values = set[Value]().union(*(each for name, each in columns.items() if name not in left))
    texts = {value for value in values if isinstance(value, str) and len(value) >= SHORTEST}
    if not _have_secrets(texts):
        return columns
    return {
        name: each if name in left else [_masked_value(table, name, value) for value in each]
        for name, each in columns.items()
    }


def masked_image(table: str, image: Image) -> Image:
    """The values of a row without secrets."""
    left = _unmasked_columns(table)
    return {
        name: value if name in left else _masked_value(table, name, value)
        for name, value in image.items()
    }


def _masked_value(table: str, column: str, value: Value) -> Value:
    if not isinstance(value, str):
        return value
    return _masked_json(value) if f"{table}.{column}" in JSON else masked_text(value)


@cache
def _unmasked_columns(table: str) -> frozenset[str]:
    """The columns of a table that are not masked."""
    names = (name.split(".") for name in UNMASKED)
    return frozenset(column for of, column in names if of == table)


def _have_secrets(texts: Iterable[str]) -> bool:
    if all(map(_needs_no_patterns, texts)):
        return False
    from reviewer.text.secrets import with_secrets  # late: most decisions need no patterns

    return bool(with_secrets(texts))


def masked_text(text: str) -> str:
    if len(text) < SHORTEST:
        return text
    return _short(text) if len(text) <= 200 else _masked(text)


@lru_cache(maxsize=4096)
def _short(text: str) -> str:
    return _masked(text)


def _masked(text: str) -> str:
    if _needs_no_patterns(text):
        return text
    from reviewer.text.secrets import mask  # late, as above

    return mask(text).text


def _needs_no_patterns(text: str) -> bool:
    return len(text) <= LONGEST_TITLE and (
        _MOMENT_OR_NUMBER.fullmatch(text) is not None or has_only_our_words(text)
    )


def has_only_our_words(text: str) -> bool:
    """Whether a title is like "Promoted #8": loading the patterns would cost such an act more than
    everything else.
    """
    return bool(_OUR_WORDS.fullmatch(text)) and not _TRIGGER.search(text.lower())


def _masked_json(text: str) -> str:
    if masked_text(text) == text:
        return text
    clean = _masked_part(json.loads(text))
    return json.dumps(clean, ensure_ascii=False, separators=(",", ":"))


def _masked_part(value: object, name: str = "") -> object:
    if isinstance(value, str):
        return _masked_named(name, value)
    if isinstance(value, list):
        return [_masked_part(item) for item in value]
    if isinstance(value, dict):
        return {masked_text(key): _masked_part(each, key) for key, each in value.items()}
    return value


def _masked_named(name: str, value: str) -> str:
    """A value, masked also if only its name suggests a secret."""
    clean = masked_text(value)
    if clean != value or not name:
        return clean
    head = f"{name}: "
    together = masked_text(f"{head}{value}")
    return together.removeprefix(head) if together.startswith(head) else clean
