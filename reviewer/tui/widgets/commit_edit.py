"""The editor of a commit's text: the text on top, below it what it changes."""

from __future__ import annotations

from reviewer.tui.kit.edit_pane import EditPane, EditTitle


class CommitEditPane(EditPane):
    """An `EditPane` that speaks of a commit by its hash, and of no length that a text must have."""

    about = ""
    """Short hash of the commit."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(verb="save", id=id)

    def save(self) -> None:
        """Post the text as wanted, unless it is empty."""
        if not self.content.strip():
            self.say("A commit needs words: S leaves it out instead, escape leaves the edit.")
            return
        super().save()

    def _draw_length(self) -> None:
        length = len(self.content)
        self.query_one(EditTitle).show(
            f"Edit {self.about}",
            f"{length:,} characters",
            warn=not length,
            focused=self.editor.has_focus,
        )
