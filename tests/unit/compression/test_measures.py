"""Figures of compressions, written when there is a moment for it."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import pytest

from reviewer.clock import utc_now
from reviewer.compression.measures import Measures, SegmentCompressed
from reviewer.compression.values import Level
from reviewer.store.database import Database
from tests.unit.compression.making import segment, summarizer


@pytest.mark.parametrize("gone", [True, False])
def test_figures_never_land_beside_a_store_that_was_put_in_the_place_of_the_open_one(
    tmp_path: Path, gone: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path, other = tmp_path / "store.db", tmp_path / "other.db"
    for each in (path, other):
        Database(each).close()
    database = Database(path)
    heard: list[SegmentCompressed] = []
    summarizer(heard=heard).compress(segment(), (), Level.BRIEF)
    measures = Measures(database, utc_now)
    measures.record(heard[0])
    if gone:
        path.unlink()
    else:
        os.replace(shutil.copyfile(other, tmp_path / "copy.db"), path)
    with caplog.at_level(logging.WARNING):
        measures.flush()
    database.close()
    assert "not kept" in caplog.text
    log = tmp_path / "store.db-wal"
    assert not log.exists() or not log.stat().st_size
    assert path.exists() is not gone
