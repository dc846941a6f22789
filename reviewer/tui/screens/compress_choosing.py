"""Choosing on the Compress screen: a context to show, a size to fit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.tui.kit.choice_pane import ChoicePane, Option
from reviewer.tui.kit.contexts import context_words, cost_options, read_target
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.engine import Reach
    from reviewer.tui.screens.compress import CompressScreen

REST_SECONDS = 0.3
"""After so long without a key the size that was typed is looked into."""

Then = Callable[[Option], Awaitable[None]]


class CompressChoosing:
    """The chooser of a `CompressScreen`."""

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._pane: ChoicePane | None = None
        self._then: Then | None = None
        self._rest: Timer | None = None
        self._question = 0

    async def _ask(
        self,
        title: str,
        detail: str,
        options: Sequence[Option],
        then: Then,
        *,
        narrow: Callable[[str], None] | None = None,
        text: str = "",
    ) -> None:
        screen = self._screen
        self._question += 1
        if self._pane is None:
            self._pane = ChoicePane(id="choice")
            await screen.query_one("#right").mount(self._pane)
        self._then = then
        screen.looking.unzoom()
        screen.show_right("choosing")
        self._pane.ask(title, detail, options, narrow=narrow)
        if text:
            self._pane.field.fill(text)

    def _offer(self, question: int, options: Sequence[Option]) -> bool:
        """Offer other options for a question, unless another one is asked by now."""
        asked = question == self._question and self._screen.busy == "choose"
        if asked and self._pane is not None:
            self._pane.offer(options)
        return asked

    async def chosen(self, option: Option) -> None:
        """Go on with what was chosen."""
        then, self._then = self._then, None
        self._screen.show_panes()
        if then is not None:
            await self._screen.patiently(lambda: then(option))

    def close(self) -> None:
        """Put the chooser away."""
        self._then = None
        self._screen.show_panes()
        self._screen.say("Nothing was changed.")

    # contexts

    async def ask_context(self) -> None:
        """Ask which context to show, those that changed latest first."""
        screen = self._screen
        here = screen.reading.context
        options = [
            Option(
                str(each.id), each.name, context_words(each, with_project=screen.project is None)
            )
            for each in screen.reading.contexts
            if here is None or each.id != here.id
        ]
        if here is not None:
            options.append(Option(str(here.id), here.name, "is shown now"))

        async def then(option: Option) -> None:
            screen.reading.keep_place()
            screen.reading.open(int(option.key))

        await self._ask("Contexts", "changed latest first", options, then)

    # a size

    async def ask_target(self) -> None:
        """Ask how many tokens the context may have, and choose levels that fit."""
        screen, engine, model = self._screen, self._engine, self._screen.model
        context = screen.reading.context
        if context is None:
            return
        number, wanted, question = context.id, model.target, self._question + 1

        def work(target: int) -> tuple[Reach, list[Option]]:
            reach = engine.compression.reach(number, target)
            rows = engine.contexts.rows([cost.commit for cost in reach.costly])
            lines = {row.id: row.first_line for row in rows}
            return reach, cost_options(reach, lines, glyphs(screen.app))

        def take(found: tuple[Reach, list[Option]]) -> None:
            if self._offer(question, found[1]):
                screen.say(found[0].message)

        def measure() -> None:
            target = wanted
            if target is not None and question == self._question and screen.busy == "choose":
                screen.say("Measuring the context ...")
                screen.read(lambda: work(target), take, group="target")

        def narrow(text: str) -> None:
            nonlocal wanted
            wanted = read_target(text)
            if self._rest is not None:
                self._rest.stop()
            if wanted is None:
                what = Option("", "a number", "such as 8000 or 8k")
                self._offer(question, [what] if text else [])
            else:
                self._offer(question, [Option("", f"fit {wanted:,}", "enter chooses levels")])
                self._rest = screen.set_timer(REST_SECONDS, measure)

        async def then(_: Option) -> None:
            if wanted is not None:
                screen.fitting.fit(wanted)

        whole = "" if screen.reading.start is None else " of the whole context"
        detail = f"how many tokens{whole}? now {model.sent:,}"
        kept = "" if wanted is None else str(wanted)
        await self._ask("Fit to", detail, [], then, narrow=narrow, text=kept)
