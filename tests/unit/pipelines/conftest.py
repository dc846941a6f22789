"""Fixtures of the tests of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.pipelines.running import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A store, a scripted model and a place for pipelines."""
    return Workshop(tmp_path)
