"""`config show|validate` and the settings file behind them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.settings import Settings, load_settings
from tests.cli.conftest import Reviewer
from tests.stored import write


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_built_in_settings_apply(reviewer: Reviewer) -> None:
    assert load_settings(reviewer.folder / "config.toml") == Settings()
    assert reviewer.rows("config", "show")[0]["theme"] == "dark"
    assert "defaults apply" in reviewer("config", "validate").stdout


def test_a_file_is_read(reviewer: Reviewer) -> None:
    path = written(reviewer.folder, 'theme = "light"\nascii = true\n[keys]\npromote = ["a", "y"]\n')
    assert load_settings(path) == Settings(theme="light", ascii=True, keys={"promote": ["a", "y"]})
    done = reviewer("config", "show", env={"REVIEWER_CONFIG": str(path)})
    assert 'theme = "light"' in done.stdout
    assert str(path) in done.stderr


MISTAKES = [
    ('them = "dark"', "unknown field `them`"),
    ('theme = "blue"', "Invalid enum value 'blue' - at `$.theme`"),
    ("[model]\ntimeout = 0", "> 0.0 - at `$.model.timeout`"),
    ('theme = "dark"\nascii =\n', "line 2"),
    ('[keys]\npromot = "A"', "Did you mean promote?"),
    ('[model]\nname = "tiny"', "No model is configured"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_is_named(reviewer: Reviewer, text: str, said: str) -> None:
    settings = reviewer.configured(text)
    assert said in reviewer.fails("config", "validate", env=settings)
    doctor = reviewer("doctor", env=settings)
    assert (doctor.returncode, said in doctor.stdout) == (1, True)


def test_a_named_file_must_exist(reviewer: Reviewer) -> None:
    missing = {"REVIEWER_CONFIG": "nowhere.toml"}
    assert "nowhere.toml" in reviewer.fails("config", "validate", env=missing)


def newer_version(store: Path) -> None:
    Engine.open(store).close()
    write(store, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda store: store.write_text("no store\n" * 200), "this is not a reviewer store"),
        (lambda store: write(store, "CREATE TABLE recipe (name)"), "this is not a reviewer store"),
        (newer_version, "99: written by a newer reviewer"),
        (lambda store: store.mkdir(), "is a folder: name a file in it"),
    ],
    ids=["broken", "another program", "newer", "folder"],
)
def test_doctor_says_what_is_wrong_with_a_store(
    reviewer: Reviewer, make: Callable[[Path], object], said: str
) -> None:
    make(reviewer.db)
    done = reviewer("doctor")
    assert done.returncode == 1
    assert said in done.stdout


def test_doctor_looks_at_a_sound_store_and_changes_nothing(seeded: Reviewer) -> None:
    before = seeded.db.read_bytes()
    findings = {one["name"]: one for one in seeded.rows("doctor")}
    assert findings["integrity"]["value"] == "ok"
    assert findings["journal"]["value"] == "wal"
    assert seeded.db.read_bytes() == before


def test_the_store_can_be_named_in_the_environment(seeded: Reviewer) -> None:
    named = {"REVIEWER_DB": str(seeded.db)}
    seeded.succeeds("stats", db=False, env=named)
    assert "no store" in seeded.fails("stats", db=False)
