"""Trusted state (L3): typed by a person, superseded, never overwritten."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.errors import ReviewerError


def test_a_value_holds_until_another_one_is_set(engine: Engine) -> None:
    engine.state.set("acme", "region", "eu-west-1", note="the ADR says so", evidence="ADR:²")
    engine.state.set("acme", "region", "eu-west-2")
    new, old = engine.state.get("acme", "region")
    assert (new.value, new.ended_at, new.superseded_by) == ("eu-west-2", None, None)
    assert (old.value, old.note, old.evidence) == ("eu-west-1", "the ADR says so", "ADR:²")
    assert (old.superseded_by, old.ended_at) == (new.id, new.set_at)
    assert [each.value for each in engine.state.all("acme")] == ["eu-west-2"]
    assert [each.value for each in engine.state.all("acme", past=True)] == [
        "eu-west-2",
        "eu-west-1",
    ]


def test_setting_what_is_set_is_no_act(engine: Engine) -> None:
    for note in ("", "why: ghp_" + "a1B2c3D4e5" * 4):
        engine.state.set("acme", "region", "eu-west-1", note=note)
        acts = len(engine.history.acts(limit=10_000))
        assert engine.state.set("acme", "region", " eu-west-1 ", note=note).act == 0
        assert len(engine.history.acts(limit=10_000)) == acts


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("", "v", "A key has"),
        ("  ", "v", "A key has"),
        ("k" * 201, "v", "200"),
        ("k", " ", "empty"),
    ],
)
def test_empty_or_endless_keys_and_empty_values_are_refused(
    engine: Engine, key: str, value: str, words: str
) -> None:
    with pytest.raises(ReviewerError, match=words):
        engine.state.set("acme", key, value)
    assert len(engine.history.acts(limit=10_000)) == 0
