"""Unsaved wordings are there after a restart, and only their owner reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.errors import StoreError
from reviewer.promotion.decisions.drafts import Drafts


@pytest.mark.parametrize("content", ["", "one\r\ntwo\n", "ünï ✓ \x1b[31m", "\ud800"])
def test_a_draft_comes_back_as_it_was(tmp_path: Path, content: str) -> None:
    Drafts(tmp_path / "store.db").save(7, content)
    assert Drafts(tmp_path / "store.db").load(7) == content


def test_a_draft_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "store.db-drafts").write_text("in the way")
    with pytest.raises(StoreError, match="could not be saved"):
        Drafts(tmp_path / "store.db").save(7, "text")
