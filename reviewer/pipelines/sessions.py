"""The conversations of a run, one for each thread.

A thread's history has no limit, but a model's context has: the newest turns that fit are sent, and
the first message says how many were left out. The history itself stays whole.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reviewer.llm.model import ChatMessage
from reviewer.pipelines.events import RunError

OVERHEAD = 8
"""Tokens that a chat format adds to a message, at most."""
SAFETY = 0.9
"""Share of a model's context that is used, because its encoding may count more than ours."""

_MARK_TOKENS = 24


class PromptTooLongError(RunError):
    """A prompt alone does not fit into the model's context."""


class Fitted(Struct, frozen=True):
    """Messages that fit a model, and how much of the history they leave out."""

    messages: tuple[ChatMessage, ...]
    left_out_turns: int = 0
    left_out_tokens: int = 0


class Exchange(Struct, frozen=True):
    """A prompt and its answer."""

    prompt: str
    answer: str


class ModelThread:
    """One conversation."""

    def __init__(self, thread: str, model: str = "") -> None:
        """`model`: the name of the model that answers; empty for the run's own."""
        self.thread = thread
        self.model = model
        self.turns: list[Exchange] = []
        self._sizes: list[int] = []

    def append(self, prompt: str, answer: str) -> None:
        """Add a turn that was answered."""
        self.turns.append(Exchange(prompt, answer))

    def fitting(self, prompt: str, limit: int, count: Callable[[str], int]) -> Fitted:
        """The conversation with a new prompt in at most `limit` tokens: the newest turns, and a
        note in the first message if older ones are left out.

        Raises PromptTooLongError when the prompt alone is too long.
        """
        room = room_beside(prompt, limit, count)
        if room < 0:
            raise PromptTooLongError(
                f"The prompt takes about {int(limit * SAFETY) - room:,} tokens, and the model has "
                f"room for {int(limit * SAFETY):,}. Shorten it, choose a smaller fidelity, or set "
                "[model] context_tokens."
            )
        for turn in self.turns[len(self._sizes) :]:
            self._sizes.append(_size(turn.prompt, count) + _size(turn.answer, count))
        first = len(self.turns)
        if sum(self._sizes) <= room:
            first = 0
        else:
            room -= _MARK_TOKENS
            while self._sizes[first - 1] <= room:
                first -= 1
                room -= self._sizes[first]
        messages: list[ChatMessage] = []
        for turn in self.turns[first:]:
            messages.append(ChatMessage("user", turn.prompt))
            messages.append(ChatMessage("assistant", turn.answer))
        messages.append(ChatMessage("user", prompt))
        left_out = sum(self._sizes[:first])
        if first:
            turns = "turn" if first == 1 else "turns"
            mark = f"[{first:,} earlier {turns} of this conversation left out: {left_out:,} tokens]"
            messages[0] = ChatMessage("user", f"{mark}\n\n{messages[0].content}")
        return Fitted(tuple(messages), first, left_out)


class Sessions:
    """The conversations of a run, by thread; they are lost when the program ends."""

    def __init__(self) -> None:
        self._by_thread: dict[str, ModelThread] = {}

    def get_or_create(self, thread: str, model: str | None = None) -> ModelThread:
        """The thread's conversation, created on first use.

        The model that was named last answers; a node that names none keeps it.
        """
        session = self._by_thread.setdefault(thread, ModelThread(thread))
        if model:
            session.model = model
        return session


def room_beside(prompt: str, limit: int, count: Callable[[str], int]) -> int:
    """Tokens that a prompt leaves of `limit`; negative if it is too long by itself."""
    return int(limit * SAFETY) - _size(prompt, count)


def _size(text: str, count: Callable[[str], int]) -> int:
    return count(text) + OVERHEAD
