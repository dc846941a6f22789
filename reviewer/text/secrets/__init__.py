"""Masks credentials before anything is stored or sent.

Only values are masked, not mentions: `apiKey: process.env.X` stays, but a value that looks like a
real credential becomes `ghp_[masked github-token]`, keeping its kind and prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reviewer.text.placeholder import MASK
from reviewer.text.secrets.contexts import assigned_values, passwords_of_users
from reviewer.text.secrets.kinds import FoundSecret, prefixed_values
from reviewer.text.secrets.rules import STRUCTURED, ruled_values, values_by
from reviewer.text.secrets.spellings import plainly

__all__ = ["Masked", "is_clean", "mask", "remember_clean", "secrets_in", "with_secrets"]


REMEMBERED = 100_000
"""Maximum number of clean texts to remember."""
_clean: set[int] = set()
"""Hashes of texts that `mask` has found clean."""

APART = "\n\0\n"
"""Separator of texts that are searched together; no rule matches across it."""
TOGETHER = 50_000
"""Maximum characters of texts searched together."""


class Masked(Struct, frozen=True):
    """A text with masked secrets."""

    text: str
    kinds: tuple[str, ...]
    """The kind of every masked value, in text order."""


def mask(text: str) -> Masked:
    """Replace every credential in `text` by `[masked KIND]`. Idempotent, in linear time."""
    if is_clean(text):
        return Masked(text, ())
    parts: list[str] = []
    kinds: list[str] = []
    at = 0
    for found in _found(text):
        # Line ends stay, so that line numbers do not change.
        ends = "\n" * text.count("\n", found.start, found.end)
        parts += [text[at : found.start], f"{MASK}{found.kind}]{ends}"]
        kinds.append(found.kind)
        at = found.end
    clean = "".join([*parts, text[at:]]) if kinds else text
    remember_clean([clean])
    return Masked(clean, tuple(kinds))


def is_clean(text: str) -> bool:
    """Whether `mask` recently left this text unchanged, so that it need not be checked again."""
    return hash(text) in _clean


def with_secrets(texts: Iterable[str]) -> set[str]:
    """The texts that `mask` would change. Hardly any text has a secret, so they are searched
    together, in half the time.
    """
    found: set[str] = set()
    for some in _together(text for text in dict.fromkeys(texts) if not is_clean(text)):
        if next(_found(APART.join(some)), None) is None:
            remember_clean(some)
        else:
            found.update(text for text in some if mask(text).kinds)
    return found


def _together(texts: Iterable[str]) -> Iterator[list[str]]:
    some: list[str] = []
    size = 0
    for text in texts:
        some.append(text)
        size += len(text)
        if size >= TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some


def remember_clean(texts: Iterable[str]) -> None:
    """Know that `mask` leaves these texts unchanged, as it has found here or in another process."""
    if len(_clean) >= REMEMBERED:
        _clean.clear()
    _clean.update(map(hash, texts))


def secrets_in(text: str) -> list[tuple[str, str]]:
    """Every credential that `mask` replaces in `text`, with its kind."""
    return [(text[found.start : found.end], found.kind) for found in _found(text)]


def _found(text: str) -> Iterator[FoundSecret]:
    """All credentials in order, including ones in full-width letters or with invisible
    characters.
    """
    plain = plainly(text)
    # One byte per character: positions match, and searching bytes is fast.
    if plain is None:
        yield from _without_overlaps(text, text.encode("latin-1", "replace"))
        return
    for found in _without_overlaps(plain.text, plain.text.encode("latin-1", "replace")):
        yield FoundSecret(plain.original(found.start), plain.original(found.end), found.kind)


def _without_overlaps(text: str, flat: bytes) -> Iterator[FoundSecret]:
    """All credentials in order; of overlapping ones, the more specific rule wins."""
    lower = flat.lower()
    rules = (
        values_by(STRUCTURED, text, lower),
        prefixed_values(text, flat),
        assigned_values(text, lower),
        ruled_values(text, lower),
        passwords_of_users(text, lower),
    )
    ranked = [(found.start, rank, found) for rank, rule in enumerate(rules) for found in rule]
    ranked.sort(key=lambda entry: entry[:2])
    waiting: tuple[int, FoundSecret] | None = None
    for _, rank, found in ranked:
        if waiting is None or found.start >= waiting[1].end:
            if waiting is not None:
                yield waiting[1]
            waiting = (rank, found)
        elif rank < waiting[0]:
            waiting = (rank, found)
    if waiting is not None:
        yield waiting[1]
