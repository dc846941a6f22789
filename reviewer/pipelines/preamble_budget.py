"""Fits entries into tokens: the oldest go first, then long values are shortened with a mark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

Count = Callable[[str], int]

CHARACTERS_A_TOKEN = 16
"""More than real text has; what lies beyond that many can never fit."""

_TRIES = 12
_CLEAN_CUT = 24


class Entry(Struct, frozen=True):
    """One thing to tell: `head` and `tail` stay whole, `body` may be shortened.

    `dress` puts the body into its final form (quotes, indentation). `length` is that of the body
    before anything was cut from it. `stands_for`: how many stages or values the entry tells of.
    """

    head: str
    body: str = ""
    tail: str = ""
    dress: Callable[[str], str] = str
    length: int = 0
    stands_for: int = 1

    def text(self, body: str) -> str:
        """The entry with this body."""
        return f"{self.head}{self.dress(body) if body else ''}{self.tail}"


class Fitted(Struct, frozen=True):
    """What fitted, newest first, and what did not."""

    texts: tuple[str, ...] = ()
    left_out: int = 0
    shortened: int = 0
    tokens: int = 0


def mark(missing: int) -> str:
    """What stands where characters are missing."""
    return f"… [{missing:,} more characters]"


def shorten(
    text: str,
    most: int,
    count: Count,
    *,
    dress: Callable[[str], str] = str,
    length: int | None = None,
) -> str:
    """`text`, or its beginning and a mark that says how much is missing, in `most` tokens.

    `dress` is applied before counting, not to the result. `length`: of the whole text where `text`
    is already only its beginning. Where not even the mark fits, the result is empty.
    """
    length = len(text) if length is None else length
    if most <= 0:
        return text if not length else ""
    near = text[: most * CHARACTERS_A_TOKEN]
    if len(near) == length and count(dress(text)) <= most:
        return text
    low, high, best = 0, len(near), ""
    guess = min(high, most * 4)
    for _ in range(_TRIES):
        candidate = _cut(near, guess)
        shortened = candidate + mark(length - len(candidate))
        if count(dress(shortened)) <= most:
            low, best = guess, shortened
        else:
            high = guess - 1
        if low >= high:
            break
        guess = (low + high + 1) // 2
    return best


def _cut(text: str, at: int) -> str:
    """The first characters, up to the end of a word where one is near."""
    kept = text[:at]
    if at < len(text):
        space = kept.rfind(" ", max(len(kept) - _CLEAN_CUT, 0))
        kept = kept[:space] if space > 0 else kept
    return kept.rstrip()


def fit(
    entries: Sequence[Entry], room: int, least: int, count: Count, *, beyond: int = 0
) -> Fitted:
    """The newest of the entries in `room` tokens.

    `entries`: newest first. `least`: tokens that a shortened entry gets at least, or all that it
    needs; how many entries fit at that size decides how many are told at all. What is then left is
    shared out evenly. The newest is always told, if only by its head. `beyond`: how many older
    ones there are besides.
    """
    room = max(room, 0)
    whole: list[int] = []
    spent = 0
    for entry in entries:
        size = _size(entry, room, count)
        cost = min(size, max(least, count(entry.text(""))))
        if whole and spent + cost > room:
            break
        whole.append(size)
        spent += cost
    kept = entries[: len(whole)]
    limit = _level(whole, room)
    texts: list[str] = []
    shortened = 0
    for entry, size in zip(kept, whole, strict=True):
        if size <= limit:
            texts.append(entry.text(entry.body))
            continue
        body = _shortened(entry, limit, count)
        shortened += 1
        texts.append(entry.text(body))
    return Fitted(
        tuple(texts),
        beyond + sum(entry.stands_for for entry in entries[len(kept) :]),
        shortened,
        sum(min(size, limit) for size in whole),
    )


def needed(entries: Iterable[Entry], room: int, count: Count) -> int:
    """Tokens that all entries take whole; any number above `room` when they take more."""
    total = 0
    for entry in entries:
        total += _size(entry, room, count)
        if total > room:
            break
    return total


def _size(entry: Entry, room: int, count: Count) -> int:
    """Tokens of the whole entry with its line end; above `room` when only that is known."""
    near = entry.body[: room * CHARACTERS_A_TOKEN]
    size = count(entry.text(near)) + 1
    return size if len(near) == max(entry.length, len(entry.body)) else max(size, room + 1)


def _shortened(entry: Entry, limit: int, count: Count) -> str:
    def dress(body: str) -> str:
        return entry.text(body) + "\n"

    length = max(entry.length, len(entry.body))
    return shorten(entry.body, limit, count, dress=dress, length=length)


def _level(sizes: Sequence[int], room: int) -> int:
    """The largest size of an entry at which all together stay within `room`."""
    left, limit = room, room
    for number, size in enumerate(sorted(sizes)):
        limit = left // (len(sizes) - number)
        if size > limit:
            return limit
        left -= size
    return max(sizes, default=room)
