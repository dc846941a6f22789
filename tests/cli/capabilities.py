"""What a process of a test gives up: what the superuser may do although permissions forbid it, and
its patience with a store that is locked.
"""

from __future__ import annotations

import ctypes
import os

DROP_FROM_BOUNDING_SET = 24
OVERRIDE_PERMISSIONS, SEARCH_ANYWHERE = 1, 2
VERSION_3 = 0x20080522
"""Of the kernel's capability calls: a set has two words, the first with these two."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Word(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def bound_by_permissions() -> None:
    """Give up what lets the superuser open any file (Linux), here and in programs that follow."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (OVERRIDE_PERMISSIONS, SEARCH_ANYWHERE):
        libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
    header, words = _Header(VERSION_3, 0), (_Word * 2)()
    libc.capget(ctypes.byref(header), words)
    kept = ~(1 << OVERRIDE_PERMISSIONS | 1 << SEARCH_ANYWHERE) & 0xFFFFFFFF
    words[0].effective &= kept
    words[0].permitted &= kept
    libc.capset(ctypes.byref(header), words)


def impatient() -> None:
    """Wait a moment for a locked store, not ten seconds."""
    from reviewer.store import database, ledger

    for module in (database, ledger):
        vars(module)["BUSY_MILLISECONDS"] = 300
