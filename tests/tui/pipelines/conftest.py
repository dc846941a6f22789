"""A pipeline about a bakery below the working folder, and panes that follow immediately."""

from __future__ import annotations

from pathlib import Path

import pytest

BAKERY = """digraph bakery {
    graph [goal="Bread by six", default_fidelity="compact"]
    start [shape=Mdiamond]
    knead [prompt="Knead the dough", fidelity="full", thread_id="dough"]
    shape [prompt="Shape the loaves", fidelity="full", thread_id="dough"]
    bake  [prompt="Bake them", fidelity="sumary:low"]
    taste [shape=hexagon, label="Is it good?"]
    done  [shape=Msquare]
    start -> knead -> shape
    shape -> bake [fidelity="summary:medium"]
    bake -> taste
    taste -> done  [label="[Y] Yes"]
    taste -> knead [label="[N] No", fidelity="full"]
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder; the settings are the built-in ones."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("REVIEWER_CONFIG", raising=False)
    return place


@pytest.fixture
def bakery(folder: Path) -> Path:
    """The only pipeline below the working folder."""
    path = folder / "bakery.dot"
    path.write_text(BAKERY)
    return path
