"""Sentences that do not fit into a row are read whole."""

from __future__ import annotations

from reviewer.engine import Engine
from reviewer.tui.kit.bars import StatusBar
from reviewer.tui.kit.text import wrapped
from tests.tui.conftest import opened

FAR = "/far" + "/further" * 12 + "/away"


def test_a_wrapped_sentence_is_complete() -> None:
    sentence = f"{FAR} is no folder: 名前を付けてください."
    lines = wrapped(sentence, 20)
    assert "".join("".join(lines).split()) == "".join(sentence.split())
    assert max(map(len, lines)) <= 20


async def test_a_sentence_takes_the_rows_it_needs_and_gives_them_back(engine: Engine) -> None:
    async with opened(engine, size=(60, 20)) as screen:
        bar = screen.app.screen.query_one(StatusBar)
        bar.say(" ".join(["trouble"] * 12))
        await screen.settle()
        assert bar.size.height == 2
        assert screen.text.count("trouble") == 12
        bar.say("word " * 90, bad=True)
        await screen.settle()
        assert bar.size.height == 5
        bar.say("fine")
        await screen.settle()
        assert bar.size.height == 1
