"""Levels that fit a size on the Compress screen: with progress, stopped without loss."""

from __future__ import annotations

from reviewer.compressing import BY_HAND, Plan, PreviewProgress, Watch
from reviewer.errors import ReviewerError
from reviewer.tui.kit.text import count
from reviewer.tui.screens.compress_stoppable import Stoppable


class Fitting(Stoppable):
    """What the size that was typed does on a `CompressScreen`."""

    def fit(self, target: int) -> None:
        """Choose levels with which the whole context has at most so many tokens."""
        screen, model, compression = self._screen, self._screen.model, self._engine.compression
        context = screen.reading.context
        if context is None:
            return
        number, before, model.target = context.id, model.target, target
        stopped = self._begin("Choosing levels")
        screen.showing.show_whole()
        screen.say(f"Choosing levels that fit {target:,} tokens ...")

        def progress(found: PreviewProgress) -> None:
            self._tell(
                f"Choosing levels: {found.done:,} of at most {found.total:,} summaries tried"
            )

        def work() -> Plan:
            watch = Watch(stopped.is_set, on_progress=progress)
            return compression.fit(number, target, engine="offline", watch=watch)

        def done(plan: Plan) -> None:
            self._stopped = None
            self._take(plan, target)

        def failed(error: ReviewerError) -> None:
            self._stopped = None
            if stopped.is_set():
                model.target = before
                screen.showing.show_whole()
                screen.say("Stopped: the levels stay as they were.")
            else:
                screen.say(str(error), bad=True)
            screen.showing.want()

        screen.desk.start_over()
        screen.carry(work, done, failed)

    def _take(self, plan: Plan, target: int) -> None:
        screen, model = self._screen, self._screen.model
        left = 0
        for choice in plan.choices:
            held = model.chosen.get(choice.sources)
            if held is None or held.level != choice.level:
                left += held is not None and held.engine == BY_HAND
                model.chosen[choice.sources] = choice
        screen.reading.start = None
        levels = [choice.level for choice in plan.choices]
        words = ", ".join(
            f"{levels.count(level):,} {level.name.title()}" for level in sorted(set(levels))
        )
        drafts = f" {count(left, 'text')} by hand left, kept as drafts." if left else ""
        screen.reading.read_again(f"Fits {target:,} tokens: {words}.{drafts} A applies it.")
