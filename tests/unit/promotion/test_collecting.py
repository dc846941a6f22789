"""The collector's pace is put back, whatever happens inside."""

from __future__ import annotations

import gc

import pytest

from reviewer.promotion.collecting import OBJECTS, collected_seldom


def _fail_inside() -> None:
    with collected_seldom():
        assert gc.get_threshold()[0] >= OBJECTS
        raise KeyError


def test_the_collector_looks_less_often_inside_and_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError):
        _fail_inside()
    assert gc.get_threshold() == before
