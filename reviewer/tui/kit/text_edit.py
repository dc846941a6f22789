"""The order to edit a text. Apart from the editor, whose text fields take a while to import."""

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
    """Continues a draft that was kept."""
    verb: str = "save"
    """The effect of ctrl+s, for the title and the footer."""
    start: str | None = None
    """The initial text if there is no draft; None begins with the original."""
    empty: str = ""
    """The advice for an empty text, in place of the sentence about memories."""
    remark: Callable[[str], tuple[str, bool]] | None = None
    """The title's remark about the text, in place of the length of a memory; True makes it a
    warning.
    """
    beside: Sequence[Widget] = ()
    """Panes that stay in sight above the editor."""

    @property
    def begin(self) -> str:
        """The text without a draft."""
        return self.original if self.start is None else self.start


def draft_number(*names: str) -> int:
    """The number of the draft of something that has a name only."""
    from hashlib import sha256  # late: the first screen needs none

    name = "\n".join(names)
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:6])
