"""Stands in for a model where none is configured, so that a pipeline can be walked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer.llm.model import CancelledError, ChatMessage, Completion

LABEL = "[offline stand-in]"
_SHOWN = 80


class StandIn:
    """Answers every prompt with a short text that says what it is; the same for the same prompt."""

    name = "offline stand-in"

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        cancelled: Callable[[], bool] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """An echo of the last message's last line. Raises CancelledError when it was stopped."""
        del max_tokens, temperature
        if cancelled is not None and cancelled():
            raise CancelledError("The run was stopped.")
        lines = [line.strip() for line in messages[-1].content.splitlines() if line.strip()]
        asked = lines[-1] if lines else "nothing"
        if len(asked) > _SHOWN:
            asked = asked[: _SHOWN - 1] + "…"
        turns = f"turn {(len(messages) + 1) // 2}" if len(messages) > 1 else "fresh session"
        text = f"{LABEL} {turns}; asked for: {asked}"
        if on_text is not None:
            on_text(text)
        return Completion(text, self.name, 0, 0)
