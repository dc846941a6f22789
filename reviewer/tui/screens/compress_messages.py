"""What the editor and the chooser of the Compress screen post, handed on to its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.tui.kit.choice_pane import ChoicePane
    from reviewer.tui.kit.edit_pane import EditPane
    from reviewer.tui.screens.compress_choosing import CompressChoosing
    from reviewer.tui.screens.compress_editing import CompressEditing
    from reviewer.tui.screens.reading import ReadingScreen
    from reviewer.tui.widgets.compress_edit import SummaryEditPane

    _Screen = ReadingScreen
else:
    # Textual inherits styles along the first base that is a node: this must not be one
    _Screen = object


class FromPanes(_Screen):
    """Handlers of a `CompressScreen` for messages of what is open beside its list."""

    engine: Engine
    editing: CompressEditing
    choosing: CompressChoosing

    async def on_edit_pane_saved(self, message: EditPane.Saved) -> None:
        """Take the summary that was written."""
        await self.patiently(lambda: self.editing.save(message.memory, message.content))

    async def on_edit_pane_left(self, message: EditPane.Left) -> None:
        """Keep a draft of what was written."""
        await self.patiently(
            lambda: self.editing.left(message.memory, message.content, changed=message.changed)
        )

    async def on_edit_pane_draft_changed(self, message: EditPane.DraftChanged) -> None:
        """Keep a draft while it is written."""
        await self.patiently(
            lambda: self.engine.summary_drafts.save(message.memory, message.content)
        )

    def on_summary_edit_pane_checks_wanted(self, message: SummaryEditPane.ChecksWanted) -> None:
        """Check what was written so far."""
        self.editing.check(message.content)

    def on_summary_edit_pane_missing_wanted(self, message: SummaryEditPane.MissingWanted) -> None:
        """Append what is missing."""
        self.editing.append_missing(message.content)

    async def on_choice_pane_chosen(self, message: ChoicePane.Chosen) -> None:
        """Go on with what was chosen."""
        await self.choosing.chosen(message.option)

    def on_choice_pane_left(self) -> None:
        """Put the chooser away."""
        self.choosing.close()
