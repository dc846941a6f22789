"""The conversations of a run: one for each thread (context-fidelity.md, "Thread Session Storage").

A thread's history has no bound, a model's context has: what is sent is the newest part of the
history that fits, and the first message says what was left out. The history itself stays whole.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reviewer.llm.model import ChatMessage
from reviewer.pipelines.run_errors import RunError

OVERHEAD = 8
"""Tokens that a model's chat format adds to a message, at most."""
SAFETY = 0.9
"""Part of a model's context that is used: its own encoding may count otherwise than ours."""

_MARK_TOKENS = 24


class PromptTooLongError(RunError):
    """A prompt alone does not fit into the model's context."""


class Fitted(Struct, frozen=True):
    """Messages that fit a model, and how much of the history is not among them."""

    messages: tuple[ChatMessage, ...]
    left_out_turns: int = 0
    left_out_tokens: int = 0


class Turn(Struct, frozen=True):
    """A prompt and its answer."""

    prompt: str
    answer: str


class Session:
    """One conversation."""

    def __init__(self, thread: str, model: str = "") -> None:
        """`model`: the one that it is held with; empty for the run's own."""
        self.thread = thread
        self.model = model
        self.turns: list[Turn] = []
        self._sizes: list[int] = []

    def append(self, prompt: str, answer: str) -> None:
        """Add a turn that has come to its end; one that failed never gets here."""
        self.turns.append(Turn(prompt, answer))

    def fitting(self, prompt: str, limit: int, count: Callable[[str], int]) -> Fitted:
        """The conversation with a new prompt in at most `limit` tokens: the newest turns, and a
        mark in the first message when older ones are missing.

        Raises PromptTooLongError when the prompt alone is too long.
        """
        room = int(limit * SAFETY) - _size(prompt, count)
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
    """The conversations of a run, by thread; they live as long as the program does."""

    def __init__(self) -> None:
        self._by_thread: dict[str, Session] = {}

    def get_or_create(self, thread: str, model: str | None = None) -> Session:
        """The thread's conversation: the same one each time, begun anew at first.

        It is held with the model that was named last; a node that names none goes on with it.
        """
        session = self._by_thread.setdefault(thread, Session(thread))
        if model:
            session.model = model
        return session

    def threads(self) -> tuple[str, ...]:
        """The threads that have a conversation."""
        return tuple(self._by_thread)


def _size(text: str, count: Callable[[str], int]) -> int:
    return count(text) + OVERHEAD
