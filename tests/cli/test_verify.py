"""`verify` on a store that somebody else wrote to: its acts, and the head."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from reviewer.store.changes import LedgerEntry, entry_hash, unpack
from tests.cli.conftest import Reviewer
from tests.stored import rows_of, write


def rewrite_act(store: Path, blob: bytes) -> None:
    """Give the last act other changes and a hash that fits them."""
    columns = "id, at, actor, scope, kind, title, target, rows"
    ((*entry, previous),) = rows_of(
        store, f"SELECT {columns}, previous FROM ledger ORDER BY id DESC LIMIT 1"
    )
    hashed = entry_hash(previous, LedgerEntry(*entry), [blob])
    write(store, "UPDATE ledger SET changes = ?, hash = ? WHERE id = ?", blob, hashed, entry[0])


def test_many_changes_in_one_part_are_refused() -> None:
    blob = zlib.compress(b"\xdc\xff\xff" + b"\x94\xa0\x00\xc0\xc0" * 0xFFFF)
    with pytest.raises(ValueError, match="length <= 20000"):
        list(unpack(blob))


class TestHead:
    def test_it_is_printed_and_found_again_after_more_acts(self, seeded: Reviewer) -> None:
        (verdict,) = seeded.rows("verify")
        head = verdict["head"]
        assert f"Head: {head}\n" in seeded("verify").stdout
        seeded("promote", seeded.ids()[0])
        assert seeded.rows("verify", "--head", head)[0]["acts_since_head"] == 1
        done = seeded.succeeds("verify", "--head", head[:12].upper())
        assert "1 act since the given head." in done.stdout

    def test_a_ledger_that_was_rewritten_as_a_whole_no_longer_has_it(
        self, seeded: Reviewer
    ) -> None:
        seeded("promote", seeded.ids()[0])
        (verdict,) = seeded.rows("verify")
        ((blob,),) = rows_of(seeded.db, "SELECT changes FROM ledger ORDER BY id DESC LIMIT 1")
        write(seeded.db, "UPDATE ledger SET actor = 'somebody' WHERE id = 2")
        rewrite_act(seeded.db, blob)
        seeded.succeeds("verify")
        done = seeded("verify", "--head", verdict["head"])
        assert done.returncode == 1
        assert f"no act has the hash {verdict['head']}" in done.stdout

    @pytest.mark.parametrize("head", ["abc", "not a hash at all", "%" * 20])
    def test_something_else_is_wrong_usage(self, seeded: Reviewer, head: str) -> None:
        assert "at least 12 digits" in seeded.fails("verify", "--head", head, code=2)
