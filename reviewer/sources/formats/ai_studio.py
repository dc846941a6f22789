"""AI Studio prompts, as stored on Drive."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.document import Document
from reviewer.sources.fields import inner, moment, words
from reviewer.sources.format import Format
from reviewer.sources.parts import spoken, thought
from reviewer.sources.reading import Reading
from reviewer.sources.records import Role
from reviewer.sources.turns import Session, Turn


def _turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    named = document.fields(document.root)
    session = Session(
        id=words(document.decoded(named.get("id"))) or reading.path.stem,
        model=words(inner(document.decoded(named.get("runSettings"))).get("model")),
    )
    prompt = named.get("chunkedPrompt")
    chunks = document.fields(prompt).get("chunks") if prompt else None
    for number, (spot, chunk) in enumerate(document.objects(chunks)):
        text = words(chunk.get("text"))
        role = Role.USER if chunk.get("role") == "user" else Role.ASSISTANT
        parts = thought(text) if chunk.get("isThought") else spoken(role, text, reading.tally)
        name = words(chunk.get("id")) or str(number)
        yield session.turn(spot, role, parts, name=name, at=moment(chunk.get("createTime")))


FORMAT = Format(
    name="ai-studio",
    agent="AI Studio",
    detect_document=lambda d: "chunkedPrompt" in d,
    turns=_turns,
)
