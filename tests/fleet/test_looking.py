"""`o` and `r` on rows that somebody else may have written: what is opened, who is asked."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.sources import elsewhere
from reviewer.sources.elsewhere import read_range
from reviewer.tui.evidence.source import SourceScreen
from reviewer.tui.kit.bars import StatusBar
from tests.fleet.conftest import FACTS, Fleet, rows, session_lines
from tests.tui.conftest import Screen, opened


def with_path(fleet: Fleet, path: str) -> Engine:
    """A store with the rows of a session, of which a planted file says that it is elsewhere."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fleet.session("one.jsonl", *FACTS)
    fleet.run()
    fleet.candidates()
    file = fleet.parts / "candidates.parquet"
    table = pq.read_table(file)
    paths = pa.array([path] * table.num_rows)
    pq.write_table(table.set_column(table.column_names.index("path"), "path", paths), file)
    fleet.ok("import", file, "--project", "kiosk")
    assert rows(file)
    return Engine.open(fleet.reviewer.db)


def said(screen: Screen) -> str:
    shown = screen.app.screen
    assert isinstance(shown, SourceScreen)
    return shown.query_one(StatusBar).text


async def test_nobody_is_asked_before_the_person_has_seen_where(fleet: Fleet) -> None:
    async with opened(with_path(fleet, "zzz://host/one")) as screen:
        await screen.press("o")
        assert "r fetches it: zzz://host" in said(screen)
        await screen.press("r")
        assert "is not fetched" in screen.text


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "is not fetched"),
        ("local:///etc/passwd", "is not fetched"),
        ("memory://one", "is not fetched"),
        ("simplecache::file:///etc/passwd", "is not"),
        ("ftp://host/one", "is not fetched"),
        ("zzz://host/one", "is not fetched"),
        ("https://host/one", "is not fetched"),
    ],
)
def test_what_is_not_asked(url: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read_range(url, 0, 10)


@pytest.mark.parametrize("path", ["../../../../etc/passwd", "/tmp/../etc/passwd"])
def test_a_path_that_leads_up_is_not_opened(fleet: Fleet, path: str) -> None:
    engine = Engine.open(fleet.reviewer.db)
    try:
        with pytest.raises(SourceError, match="is not the full path of a file"):
            engine.sources.lines(path, 1)
    finally:
        engine.close()


def test_other_bytes_in_that_place_are_not_shown(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = session_lines("two", *FACTS[::-1]).encode()
    monkeypatch.setattr(elsewhere, "read_range", lambda url, start, end: data[start:end])
    engine = with_path(fleet, "s3://team/one.jsonl")
    try:
        with pytest.raises(SourceError, match="has changed since it was read"):
            engine.sources.lines("s3://team/one.jsonl", 1)
    finally:
        engine.close()
