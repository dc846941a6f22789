"""The available readers of sessions: the model in the settings, and the installed agents."""

from __future__ import annotations

from msgspec import Struct

from reviewer.llm.agents import AGENTS
from reviewer.llm.command import agents_found
from reviewer.settings import ModelSettings


class Reader(Struct, frozen=True):
    """A reader. `program`: of an installed agent; empty for the model in the settings."""

    title: str
    program: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `reviewer propose` for this reader."""
        return ("--command", self.program) if self.program else ()


def readers(model: ModelSettings, path: str | None = None) -> tuple[Reader, ...]:
    """The readers, the model in the settings first. None is started or called."""
    found = tuple(Reader(agent.title, agent.program) for agent in agents_found(path))
    if not (model.command or model.base_url):
        return found
    known = AGENTS.get(model.command[0]) if len(model.command) == 1 else None
    if known is not None:
        own = Reader(known.title)
    else:
        own = Reader(model.name or (model.command or (model.base_url,))[0])
    return (own, *(reader for reader in found if known is None or reader.program != known.program))
