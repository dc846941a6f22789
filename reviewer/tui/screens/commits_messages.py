"""What the panes of the Commits screen report, handed to the part that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.tui.kit.choice_pane import ChoicePane
    from reviewer.tui.kit.edit_pane import EditPane
    from reviewer.tui.screens.commits_choosing import Choosing
    from reviewer.tui.screens.commits_editing import CommitEditing
    from reviewer.tui.screens.commits_retaining import Retaining
    from reviewer.tui.screens.reading import ReadingScreen
    from reviewer.tui.widgets.commit_checking import CheckedPatterns
    from reviewer.tui.widgets.commit_form import RetentionForm

    _Screen = ReadingScreen
else:
    # Textual inherits styles along the first base that is a node: this must not be one
    _Screen = object


class FromPanes(_Screen):
    """Handlers of a `CommitsScreen` for messages of its form, its editor and its chooser."""

    engine: Engine
    retaining: Retaining
    editing: CommitEditing
    choosing: Choosing

    async def on_retention_form_saved(self, message: RetentionForm.Saved) -> None:
        """Write what must survive."""
        await self.patiently(
            lambda: self.retaining.save(message.commits, message.criteria, changed=message.changed)
        )

    async def on_retention_form_left(self, message: RetentionForm.Left) -> None:
        """Keep a draft of what was typed."""
        await self.patiently(
            lambda: self.retaining.left(message.commits, message.criteria, changed=message.changed)
        )

    async def on_retention_form_draft_changed(self, message: RetentionForm.DraftChanged) -> None:
        """Keep a draft while it is typed."""
        await self.patiently(lambda: self.retaining.keep_draft(message.commits, message.criteria))

    def on_checked_patterns_checks_wanted(self, message: CheckedPatterns.ChecksWanted) -> None:
        """Check patterns against the commit in sight."""
        self.retaining.check(message.patterns)

    async def on_edit_pane_saved(self, message: EditPane.Saved) -> None:
        """Take the text that was written."""
        await self.patiently(lambda: self.editing.save(message.memory, message.content))

    async def on_edit_pane_left(self, message: EditPane.Left) -> None:
        """Keep a draft of what was written."""
        await self.patiently(
            lambda: self.editing.left(message.memory, message.content, changed=message.changed)
        )

    async def on_edit_pane_draft_changed(self, message: EditPane.DraftChanged) -> None:
        """Keep a draft while it is written."""
        await self.patiently(lambda: self.engine.edit_drafts.save(message.memory, message.content))

    async def on_choice_pane_chosen(self, message: ChoicePane.Chosen) -> None:
        """Go on with what was chosen."""
        await self.choosing.chosen(message.option)

    def on_choice_pane_left(self) -> None:
        """Put the chooser away."""
        self.choosing.close()
