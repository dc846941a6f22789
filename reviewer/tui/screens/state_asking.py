"""Asking on the State screen: which type, which relation, which entity."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from reviewer.engine import QueueQuery
from reviewer.errors import FilterError, ReviewerError
from reviewer.tui.messages import OpenMemory
from reviewer.tui.widgets.choice_pane import ChoicePane, Option

if TYPE_CHECKING:
    from reviewer.tui.screens.state import StateScreen

MOST = 200
"""Entities that are offered at a time."""

Then = Callable[[Option], Awaitable[None]]


class Asking:
    """The chooser of a `StateScreen`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._pane: ChoicePane | None = None
        self._then: Then | None = None

    async def ask(
        self,
        title: str,
        detail: str,
        options: Sequence[Option],
        then: Then,
        *,
        narrow: Callable[[str], None] | None = None,
    ) -> None:
        """Ask for one of some options and go on with it."""
        if self._pane is None:
            self._pane = ChoicePane(id="choice")
            await self._screen.query_one("#right").mount(self._pane)
        self._then = then
        self._screen.remove_class("-empty")
        self._screen.show_right("choosing", "choose")
        self._pane.ask(title, detail, options, narrow=narrow)

    async def chosen(self, option: Option) -> None:
        """Go on with what was chosen; an error is a sentence and leaves everything as it was."""
        then, self._then = self._then, None
        self._screen.show_panes()
        if then is None:
            return
        try:
            await then(option)
        except (ReviewerError, OSError) as error:
            self._screen.say(str(error), bad=True)

    def close(self) -> None:
        """Put the chooser away."""
        self._then = None
        self._screen.show_panes()
        self._screen.reading.read_list()
        self._screen.say("Nothing was changed.")

    # graduation

    async def graduate(self) -> None:
        """Ask which type of entity the memory becomes, the likeliest first."""
        key = self._screen.model.current_key
        if key is None:
            return
        number = key[1]
        types = await to_thread(self._engine.holdings.likely_types, number)
        options = [Option(type_, type_.replace("_", " ")) for type_ in types]

        async def then(option: Option) -> None:
            done = await to_thread(self._engine.entities.graduate, number, option.key)
            self._screen.acts.settle(done)
            self._screen.say(f"{done.title}, which waits in the queue (F2) - u to undo")

        await self.ask(f"Graduate #{number}", "the likeliest first", options, then)

    # relations

    async def relate(self) -> None:
        """Ask how the entity stands to another, then to which."""
        key = self._screen.model.current_key
        if key is None:
            return
        number = key[1]
        kinds = self._engine.holdings.relation_kinds
        options = [Option(kind, kind.replace("_", " ")) for kind in kinds]

        async def then(option: Option) -> None:
            await self._relate_to(number, option)

        await self.ask(f"#{number} ...", "how does it stand to another?", options, then)

    async def _relate_to(self, number: int, kind: Option) -> None:
        def search(text: str) -> list[Option]:
            return self._entities(number, text)

        def narrow(text: str) -> None:
            self._screen.read(lambda: search(text), self._offer, group="choices")

        async def then(option: Option) -> None:
            done = await to_thread(self._engine.entities.relate, number, kind.key, int(option.key))
            self._screen.acts.settle(done, here=(False, number))

        options = await to_thread(search, "")
        title = f"#{number} {kind.name} ..."
        await self.ask(title, "type words to find the entity", options, then, narrow=narrow)

    def _offer(self, options: Sequence[Option]) -> None:
        if self._pane is not None:
            self._pane.offer(options)

    def _entities(self, number: int, text: str) -> list[Option]:
        """Active entities whose words match, without the one that is related."""
        queue = self._engine.queue
        query = QueueQuery(self._screen.project, "active", f"kind:entity {text}")
        try:
            ids = queue.ids(query, limit=MOST + 1)
        except FilterError:
            return []
        rows = queue.rows([each for each in ids if each != number][:MOST])
        return [Option(str(row.id), f"#{row.id} {row.type}", row.content[:200]) for row in rows]

    # going along

    async def follow(self) -> None:
        """Go to what the entity is related to; ask to which when there are several."""
        shown = self._screen.reading.shown
        related = shown.related if shown else []
        options = [Option(str(number), f"#{number}", how) for number, how in related]
        if not options:
            return
        if len(options) == 1:
            await self._go_along(options[0])
            return
        await self.ask("Go along", "from this entity", options, self._go_along)

    async def _go_along(self, option: Option) -> None:
        screen, number = self._screen, int(option.key)
        if screen.reading.go_to(number):
            return
        screen.app.screen_stack[0].post_message(OpenMemory(number))
        screen.dismiss()
