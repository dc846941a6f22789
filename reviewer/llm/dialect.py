"""What endpoints that call themselves compatible take differently."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace


class Dialect(Struct, frozen=True):
    """How the request of one endpoint is worded."""

    limit: str = "max_tokens"
    """The name of the limit: newer models want `max_completion_tokens`."""
    temperature: bool = True
    """Whether a temperature may be given."""
    usage: bool = True
    """Whether a stream may be asked to tell the tokens at its end."""

    def options(self, max_tokens: int, temperature: float) -> dict[str, Any]:
        """The part of a request that differs between endpoints."""
        wanted: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            wanted["temperature"] = temperature
        if self.usage:
            wanted["stream_options"] = {"include_usage": True}
        return wanted

    def after(self, refused: str, sent: dict[str, Any]) -> Dialect | None:
        """The dialect to try next when `sent` was refused in these words; None for no other."""
        if "stream_options" in sent and ("stream_options" in refused or "include_usage" in refused):
            return replace(self, usage=False)
        if "max_tokens" in sent and "max_completion_tokens" in refused:
            return replace(self, limit="max_completion_tokens")
        if "temperature" in sent and "temperature" in refused:
            return replace(self, temperature=False)
        return None
