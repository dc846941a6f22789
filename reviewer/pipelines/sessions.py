"""The conversation of a thread.

Its history is unlimited, but a model's context is not: the newest turns that fit are sent, and the
first message gives the number left out. The history itself is kept whole.
"""

from __future__ import annotations

from typing import NamedTuple

from reviewer.llm.model import ChatMessage
from reviewer.pipelines.events import RunError
from reviewer.pipelines.preamble import count_tokens

OVERHEAD = 8
"""Maximum tokens a chat format adds to a message."""
SAFETY = 0.9
"""Share of a model's context to use, because its encoding may count more tokens than ours."""
_MARK_TOKENS = 24


class Fitted(NamedTuple):
    """Messages that fit a model's context, and how much of the history they omit."""

    messages: list[ChatMessage]
    left_out_turns: int
    left_out_tokens: int


class Session:
    """One conversation of prompts and answers; lost when the program ends.

    `model`: the model named by the last node that named one; empty for the run's model.
    """

    def __init__(self) -> None:
        self.model = ""
        self.turns: list[tuple[str, str]] = []

    def fitting(self, prompt: str, limit: int) -> Fitted:
        """The conversation with a new prompt in at most `limit` tokens: the newest turns, and a
        note in the first message if older ones are left out.

        Raises RunError if the prompt alone is too long.
        """
        room = room_beside(prompt, limit)
        if room < 0:
            raise RunError(
                f"The prompt takes about {int(limit * SAFETY) - room:,} tokens, and the model has "
                f"room for {int(limit * SAFETY):,}. Shorten it, choose a smaller fidelity, or set "
                "[model] context_tokens."
            )
        sizes = [
            count_tokens(asked) + count_tokens(answer) + 2 * OVERHEAD
            for asked, answer in self.turns
        ]
        first = 0
        if sum(sizes) > room:
            room -= _MARK_TOKENS
            while first < len(sizes) and sum(sizes[first:]) > room:
                first += 1
        messages: list[ChatMessage] = []
        for asked, answer in self.turns[first:]:
            messages += [ChatMessage("user", asked), ChatMessage("assistant", answer)]
        messages.append(ChatMessage("user", prompt))
        left_out = sum(sizes[:first])
        if first:
            turns = "turn" if first == 1 else "turns"
            mark = f"[{first:,} earlier {turns} of this conversation left out: {left_out:,} tokens]"
            messages[0] = ChatMessage("user", f"{mark}\n\n{messages[0].content}")
        return Fitted(messages, first, left_out)


def room_beside(prompt: str, limit: int) -> int:
    """Tokens left of `limit` after a prompt; negative if it alone is too long."""
    return int(limit * SAFETY) - count_tokens(prompt) - OVERHEAD
