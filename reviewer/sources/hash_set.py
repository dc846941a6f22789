"""A set of hashes, for checking whether a value was seen before."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

SMALLEST = 1024


class HashSet:
    """A set that keeps only hashes, valid within this process.

    A value takes 15 to 35 bytes instead of the 140 of a set of keys. With a million values a file,
    one file in ten million has a collision.
    """

    def __init__(self) -> None:
        self._size = 0
        self._slots = _empty(SMALLEST)

    def __len__(self) -> int:
        return self._size

    def __contains__(self, value: object) -> bool:
        number = hash(value) or 1
        return self._slots[_slot(self._slots, number)] == number

    def add(self, value: Hashable) -> None:
        number = hash(value) or 1
        slot = _slot(self._slots, number)
        if self._slots[slot]:
            return
        self._slots[slot] = number
        self._size += 1
        if 5 * self._size > 3 * len(self._slots):
            self._grow()

    def _grow(self) -> None:
        slots = _empty(2 * len(self._slots))
        for number in self._slots:
            if number:
                slots[_slot(slots, number)] = number
        self._slots = slots


def _empty(length: int) -> array[int]:
    return array("q", bytes(8 * length))


def _slot(slots: array[int], number: int) -> int:
    """The slot of a number, or a free slot for it, which always exists."""
    last = len(slots) - 1
    slot = (number ^ number >> 20) & last
    while slots[slot] and slots[slot] != number:
        slot = (slot + 1) & last
    return slot
