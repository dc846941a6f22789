"""Makes file permissions count in a test, also where the superuser runs it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.capabilities import bound_by_permissions


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
