"""A request to edit a text; apart from the editor, whose text fields are slow to import."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from textual.widget import Widget

    from reviewer.promotion.decisions.drafts import Drafts
    from reviewer.tui.kit.action import Action


class TextEdit(Struct, frozen=True):
    """A text to edit in place of the panes, with a draft that survives a crash."""

    key: int
    """The key of the draft."""
    title: str
    original: str
    drafts: Drafts
    save: Callable[[str], Awaitable[Any]]
    """Saves the new text; a ReviewerError leaves the editor open and is shown."""
    saved: Callable[[Any], None]
    """Called with the result of `save` when the panes are back."""
    again: Action
    """The action that reopens the draft."""
    verb: str = "save"
    """The effect of ctrl+s, for the title and the footer."""
    start: str | None = None
    """The initial text without a draft; None for the original."""
    empty: str = ""
    """The message for an empty text, in place of the one about memories."""
    remark: Callable[[str], tuple[str, bool]] | None = None
    """The remark about the text in the title, in place of its length; True makes it a warning."""
    beside: Sequence[Widget] = ()
    """Panes that stay visible beside the editor."""

    @property
    def begin(self) -> str:
        """The initial text without a draft."""
        return self.original if self.start is None else self.start


def draft_number(*names: str) -> int:
    """A draft key for something identified by names."""
    from hashlib import sha256  # late: the first screen needs none

    name = "\n".join(names)
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:6])
