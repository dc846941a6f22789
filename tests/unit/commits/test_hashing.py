"""A commit's hash says what it is and what is before it; anybody can compute it again."""

from __future__ import annotations

import hashlib
import json

import pytest

from reviewer.commits.hashing import canonical_json, commit_hash, content_hash

COMMIT = {
    "parent": None, "role": "user", "type": "dialogue", "name": "", "content": "c" * 64,
    "operation": "append", "target": None, "at": "2026-03-01T12:00:00.000Z",
}  # fmt: skip


def test_canonical_json_has_sorted_keys_no_blanks_and_bare_utf8() -> None:
    assert canonical_json({"b": 1, "a": "é ✓", "c": None}) == '{"a":"é ✓","b":1,"c":null}'.encode()


def test_the_hash_is_sha256_of_the_canonical_json() -> None:
    spelled = json.dumps(COMMIT, sort_keys=True, separators=(",", ":")).encode()
    assert commit_hash(**COMMIT) == hashlib.sha256(spelled).hexdigest()


@pytest.mark.parametrize("field", sorted(COMMIT))
def test_every_field_counts(field: str) -> None:
    assert commit_hash(**{**COMMIT, field: "other"}) != commit_hash(**COMMIT)


def test_a_text_is_hashed_as_utf8() -> None:
    assert content_hash("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()
