"""AI Studio prompts, as they are kept on Drive."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.formats import Facts, Format
from reviewer.sources.records import Role
from reviewer.sources.turns import (
    Document,
    Reading,
    Turn,
    inner,
    moment,
    said,
    thought,
    typed,
    words,
)


def _turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    named = document.fields(document.root)
    session = words(document.decoded(named.get("id"))) or reading.path.stem
    model = words(inner(document.decoded(named.get("runSettings"))).get("model"))
    prompt = named.get("chunkedPrompt")
    chunks = document.fields(prompt).get("chunks") if prompt else None
    for number, (spot, chunk) in enumerate(document.objects(chunks)):
        text, person = words(chunk.get("text")), chunk.get("role") == "user"
        if not text.strip():
            parts = []
        elif chunk.get("isThought"):
            parts = thought(text)
        else:
            parts = [typed(text, reading.tally) if person else said(text)]
        yield Turn(
            spot=spot,
            role=Role.USER if person else Role.ASSISTANT,
            parts=parts,
            key=f"{session}:{words(chunk.get('id')) or number}",
            at=moment(chunk.get("createTime")),
            session=session,
            model=model,
        )


FORMAT = Format(
    name="ai-studio",
    agent="AI Studio",
    detect_document=lambda d: "chunkedPrompt" in d,
    turns=_turns,
    facts=Facts(person="chunks with the role `user`", tested="fixtures"),
)
