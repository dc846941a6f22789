"""Writing on the State screen: values of trusted state in a form, wordings in the editor.

A value is typed. What the form can be opened with is a key of trusted state and its own earlier
value; no function here takes the words of a candidate, a memory or an entity into a value.
"""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from reviewer.engine import Seen, Status
from reviewer.errors import ReviewerError
from reviewer.text.display import display_line

if TYPE_CHECKING:
    from textual.widget import Widget

    from reviewer.tui.kit.edit_pane import EditPane
    from reviewer.tui.screens.state import StateScreen
    from reviewer.tui.widgets.state_form import StateForm


class Writing:
    """The form and the editor of a `StateScreen`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._form: StateForm | None = None
        self._editor: EditPane | None = None
        self._seen: Seen | None = None

    # trusted state

    async def _opened_form(self) -> StateForm:
        from reviewer.tui.widgets.state_form import StateForm

        if self._form is None:
            self._form = StateForm(id="form")
            await self._screen.query_one("#right").mount(self._form, before=0)
        self._screen.remove_class("-empty")
        self._screen.show_right("forming", "form")
        return self._form

    async def new(self) -> None:
        """Write a value of another key. The fact under the cursor stays in sight beside it."""
        form = await self._opened_form()
        project = self._screen.project or self._only_project()
        form.begin(project, ask_project=project is None)
        beside = "; what is chosen stands below, to type from" if self._screen.reading.kind else ""
        self._screen.say(f"Type the value: ctrl+s writes it, escape leaves{beside}.")

    def _only_project(self) -> str | None:
        projects = self._engine.queue.projects()
        return projects[0] if len(projects) == 1 else None

    async def edit(self) -> None:
        """A new value of this key, or a new wording of this memory or entity."""
        shown = self._screen.reading.shown
        key = self._screen.model.current_key
        if shown is None or shown.key != key:
            self._screen.say("This row is still being read: once more.")
        elif shown.values:
            held = shown.values[0]
            form = await self._opened_form()
            names = ("key", "value", "note", "evidence")
            form.begin_with(held.project, {name: getattr(held, name) for name in names})
            self._screen.say("The value that you write supersedes this one, which stays readable.")
        elif shown.view is not None:
            await self._edit_wording(shown.view.id, shown.view.content)

    async def save_value(self, values: dict[str, str]) -> None:
        """Write what was typed; when that fails the form stays and says why."""
        project, key = values["project"], values["key"]
        try:
            done = await to_thread(
                self._engine.state.set,
                project,
                key,
                values["value"],
                note=values["note"],
                evidence=values["evidence"],
            )
        except ReviewerError as error:
            self._screen.say(str(error), bad=True)
            return
        if self._form is not None:
            self._form.clear()
        self._screen.show_panes()
        if done.act:
            self._screen.acts.settle(done, state=(project, key))
        else:
            self._screen.reading.read_list()
            self._screen.say(f"{display_line(done.title)}.")

    def leave_form(self) -> None:
        """Put the form away; a new key's fields are kept for the next time."""
        form = self._form
        self._screen.show_panes()
        self._screen.reading.read_list()
        if (
            form is not None
            and not form.about
            and any(text for name, text in form.values.items() if name != "project")
        ):
            self._screen.say("What you typed is kept until you leave this screen: n goes on.")
        else:
            self._screen.say("Nothing was written.")

    # wordings

    async def _edit_wording(self, number: int, content: str) -> None:
        from reviewer.tui.kit.edit_pane import EditPane

        screen = self._screen
        if self._editor is None:
            self._editor = EditPane(verb="save", id="edit")
            await screen.query_one("#right").mount(self._editor)
        draft = self._engine.drafts.load(number)
        screen.show_right("editing", "edit")
        self._seen = Seen(Status.ACTIVE, content)
        self._editor.begin(number, content, draft)
        if draft is not None:
            screen.say(f"The draft of #{number} goes on where you left it.")
        else:
            screen.say(f"Rewording #{number}: ctrl+s saves it, escape keeps a draft.")

    async def save_wording(self, number: int, content: str) -> None:
        """Take the wording; on a conflict the editor stays open and says why."""
        try:
            done = await to_thread(
                self._engine.triage.edit, number, content, promote=False, seen=self._seen
            )
        except ReviewerError as error:
            self._engine.drafts.save(number, content)
            self._screen.say(str(error), bad=True)
            return
        self._engine.drafts.discard(number)
        self._screen.show_panes()
        self._screen.acts.settle(done, here=(False, number))

    def leave_wording(self, number: int, content: str, *, changed: bool) -> None:
        """Keep what was written as a draft.

        Raises StoreError when that is not possible; the editor stays open then.
        """
        if changed:
            self._engine.drafts.save(number, content)
        else:
            self._engine.drafts.discard(number)
        self._screen.show_panes()
        if changed:
            self._screen.say(f"The draft of #{number} is kept: e goes on with it.")
        else:
            self._screen.say(f"#{number} is as it was.")

    @property
    def lower_half(self) -> Widget | None:
        """The part below the editor: what it changes."""
        return self._editor.difference if self._editor is not None else None

    def keep_now(self) -> None:
        """Keep the wording that is being written, before the program ends."""
        pane = self._editor
        if pane is not None and self._screen.has_class("editing") and pane.changed:
            self._engine.drafts.save(pane.memory, pane.content)
