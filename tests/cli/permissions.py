"""Makes file permissions count in a test, also where the superuser runs it."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

DROP_FROM_BOUNDING_SET = 24
OVERRIDE_PERMISSIONS, SEARCH_ANYWHERE = 1, 2


def bound_by_permissions() -> None:
    """Give up, before the program starts, what lets the superuser open any file (Linux)."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (OVERRIDE_PERMISSIONS, SEARCH_ANYWHERE):
            libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)


@pytest.fixture
def bound(tmp_path: Path) -> Callable[[], None]:
    """Passed as `preexec_fn`, it makes file permissions count; skips where that cannot be had."""
    closed = tmp_path / "closed"
    closed.write_text("closed")
    closed.chmod(0)
    tried = subprocess.run(
        ["cat", closed], preexec_fn=bound_by_permissions, capture_output=True, check=False
    )
    if tried.returncode == 0:
        pytest.skip("permissions do not bind this user")
    return bound_by_permissions
