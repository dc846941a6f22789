"""Content-addressed hashes of commits over canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping


def canonical_json(value: Mapping[str, object]) -> bytes:
    """The one spelling of an object: keys sorted, no blanks, UTF-8 without escapes."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode("utf-8")


def content_hash(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes (hex)."""
    import hashlib  # late: reading hashes nothing

    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def commit_hash(
    *,
    parent: str | None,
    role: str,
    type: str,  # noqa: A002 - the field's name in the canonical form
    name: str,
    content: str,
    operation: str,
    target: str | None,
    at: str | None,
) -> str:
    """SHA-256 (hex) of a commit's canonical JSON.

    `content` is the `content_hash` of the text as it is stored; `parent` and `target` are hashes
    of commits, so that a hash vouches for the whole chain before it.
    """
    import hashlib

    return hashlib.sha256(
        canonical_json(
            {
                "parent": parent,
                "role": role,
                "type": type,
                "name": name,
                "content": content,
                "operation": operation,
                "target": target,
                "at": at,
            }
        )
    ).hexdigest()
