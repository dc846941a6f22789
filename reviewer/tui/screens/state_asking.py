"""Asking on the State screen: which type, which relation, which entity."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from reviewer.engine import QueueQuery, QueueRow
from reviewer.errors import ConflictError, FilterError, ReviewerError
from reviewer.tui.kit.choice_pane import ChoicePane, Option
from reviewer.tui.messages import OpenMemory

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
        async def then(option: Option) -> None:
            done = await to_thread(self._engine.entities.relate, number, kind.key, int(option.key))
            self._screen.acts.settle(done, here=(False, number))

        await self._ask_for_row(
            f"#{number} {kind.name} ...",
            "type words to find the entity",
            lambda text: self._rows(number, (("active", f"kind:entity {text}"),)),
            then,
        )

    # another in its place

    async def supersede(self) -> None:
        """Ask which candidate or active one takes the place of this memory or entity."""
        row = self._screen.model.current
        if not isinstance(row, QueueRow):
            return
        number, kind, type_ = row.id, row.kind, row.type

        def search(text: str) -> list[Option]:
            like = f"kind:{kind} {text}"
            same = f"type:{type_} {like}"
            # Near duplicates stand behind their row until words are typed: rows are in an index.
            waits = "candidate" if text.strip() else "waiting"
            return self._rows(
                number, ((waits, same), ("active", same), (waits, like), ("active", like))
            )

        async def then(option: Option) -> None:
            by = int(option.key)
            done = await to_thread(self._engine.triage.supersede, number, by)
            self._screen.acts.settle(done, here=(False, by))

        title = f"In the place of #{number}"
        await self._ask_for_row(title, f"waiting or active, of kind {kind}", search, then)

    async def _ask_for_row(
        self, title: str, detail: str, search: Callable[[str], list[Option]], then: Then
    ) -> None:
        def narrow(text: str) -> None:
            self._screen.read(lambda: search(text), self._offer, group="choices")

        options = await to_thread(search, "")
        if not options:
            raise ConflictError("There is no other row of this kind to choose.")
        await self.ask(title, detail, options, then, narrow=narrow)

    def _offer(self, options: Sequence[Option]) -> None:
        if self._pane is not None:
            self._pane.offer(options)

    def _rows(self, number: int, queries: Sequence[tuple[str, str]]) -> list[Option]:
        """The rows of some (status, filter), each once, without the one that is asked about."""
        queue, holdings = self._engine.queue, self._engine.holdings
        project = self._screen.project
        found: dict[int, None] = {}
        try:
            for status, text in queries:
                if len(found) > MOST:
                    break
                if status == "active":
                    newest = holdings.newest(project, filter=text, limit=MOST + 1)
                    found.update(dict.fromkeys(newest))
                else:
                    ids = queue.ids(QueueQuery(project, status, text), limit=MOST + 1)
                    found.update(dict.fromkeys(ids))
        except FilterError:
            return []
        rows = queue.rows([each for each in found if each != number][:MOST])
        return [
            Option(
                str(row.id),
                f"#{row.id} {row.type}",
                ("waits: " if row.status == "candidate" else "") + row.content[:200],
            )
            for row in rows
        ]

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
