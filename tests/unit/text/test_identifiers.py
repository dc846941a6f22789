from itertools import pairwise

import pytest

from reviewer.text.identifiers import IdentifierKind, identifiers


@pytest.mark.parametrize(
    ("text", "named", "kind"),
    [
        ("see https://a.example/b?c=1. Then", "https://a.example/b?c=1", IdentifierKind.URL),
        ("call `git push --force` now", "git push --force", IdentifierKind.CODE),
        ("in src/core/io.py:12, line", "src/core/io.py:12", IdentifierKind.PATH),
        ("the README.md says", "README.md", IdentifierKind.PATH),
        ("pass --dry-run=yes here", "--dry-run=yes", IdentifierKind.FLAG),
        ("set DATABASE_URL to", "DATABASE_URL", IdentifierKind.VARIABLE),
        ("fixes owner/repo#12 at last", "owner/repo#12", IdentifierKind.ISSUE),
        ("at 3fa9c01b it broke", "3fa9c01b", IdentifierKind.HASH),
        ("since v1.4.2-rc1 it works", "v1.4.2-rc1", IdentifierKind.VERSION),
        ("weighs 4.8 kg in all", "4.8 kg", IdentifierKind.QUANTITY),
        ("within 250ms of", "250ms", IdentifierKind.QUANTITY),
        ("the load_all_shards step", "load_all_shards", IdentifierKind.NAME),
        ("the ShardReader class", "ShardReader", IdentifierKind.NAME),
        ("the shard.reader.open name", "shard.reader.open", IdentifierKind.NAME),
        ("calls open() twice", "open()", IdentifierKind.NAME),
    ],
)
def test_an_identifier_is_found_with_its_kind_and_span(
    text: str, named: str, kind: IdentifierKind
) -> None:
    (found,) = identifiers(text)
    assert (found.text, found.kind) == (named, kind)
    assert text[found.start : found.end] == named


@pytest.mark.parametrize(
    "text",
    ["Plain words only, nothing else.", "this and/or that", "e.g. a word", "a well-known trick",
     "Hello World", "deadbeef is a word too, feedface"],
)  # fmt: skip
def test_plain_words_are_not_identifiers(text: str) -> None:
    assert identifiers(text) == ()


def test_identifiers_come_in_order_and_apart() -> None:
    text = "`a.b` in src/x.py takes 30 s since v2.0 (#7)"
    found = identifiers(text)
    assert [item.text for item in found] == ["a.b", "src/x.py", "30 s", "v2.0", "#7"]
    assert all(one.end <= two.start for one, two in pairwise(found))
