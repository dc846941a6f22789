"""`o` on a row whose path somebody else may have written: what is opened."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.errors import SourceError
from tests.fleet.conftest import Fleet


@pytest.mark.parametrize("path", ["../../../../etc/passwd", "/tmp/../etc/passwd"])
def test_a_path_that_leads_up_is_not_opened(fleet: Fleet, path: str) -> None:
    engine = Engine.open(fleet.reviewer.db)
    try:
        with pytest.raises(SourceError, match="is not the full path of a file"):
            engine.sources.lines(path, 1)
    finally:
        engine.close()
