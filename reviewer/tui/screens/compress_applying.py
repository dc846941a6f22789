"""Applying what is chosen on the Compress screen: one act, with progress, stopped without loss."""

from __future__ import annotations

from reviewer.compressing import Applied, Choice, Level, Plan, PreviewProgress, Watch
from reviewer.engine import CancelledError
from reviewer.errors import ConflictError, ReviewerError
from reviewer.tui.kit.text import count
from reviewer.tui.screens.compress_stoppable import Stoppable


class Applying(Stoppable):
    """What `A` does on a `CompressScreen`."""

    def apply(self) -> None:
        """Put the summaries in the place of their segments, as they are shown."""
        screen, model = self._screen, self._screen.model
        plan, context = model.plan, screen.reading.context
        if plan is None or context is None:
            return
        if screen.reading.partial:
            screen.say("The rest of the context is still being read: once more.")
            return
        waiting = model.waiting()
        if waiting:
            screen.say(
                f"The model has not written {count(len(waiting), 'segment')}: W asks for them, "
                "o takes the offline result of one, m goes back to the offline engine."
            )
            return
        chosen = [each for each in plan.choices if each.level is not Level.FULL]
        if not chosen:
            screen.say("Every segment is Full: 2 3 4 choose a level, f levels that fit a size.")
            return
        self._start(context.id, model.to_apply(), chosen)

    def _start(self, context: int, plan: Plan, chosen: list[Choice]) -> None:
        screen, compression = self._screen, self._engine.compression
        stopped = self._begin("Applying")

        def progress(found: PreviewProgress) -> None:
            if stopped.is_set():
                raise CancelledError("Stopped: nothing was written.")
            self._tell(f"Previewing {found.done:,} of {found.total:,} before they are applied")

        def work() -> Applied | None:
            preview = compression.preview(plan, Watch(stopped.is_set, None, progress))
            if stopped.is_set():
                return None
            return compression.apply(context, preview.plan, expected_head=plan.head)

        def done(applied: Applied | None) -> None:
            self._stopped = None
            if applied is None:
                screen.say("Stopped: nothing was written.")
                screen.showing.want()
                return
            for choice in chosen:
                if choice.sources:
                    self._engine.summary_drafts.discard(choice.sources[0])
            words = f"Compressed {applied.tokens_before:,} to {applied.tokens_after:,} tokens"
            screen.reading.wrote(f"{words} - u to undo", all_full=True)

        def failed(error: ReviewerError) -> None:
            self._stopped = None
            if stopped.is_set():
                screen.say("Stopped: nothing was written.")
                screen.showing.want()
            elif isinstance(error, ConflictError):
                screen.reading.wrote(f"{error} It was read again.")
            else:
                screen.say(str(error), bad=True)

        screen.desk.start_over()
        screen.say(f"Applying {count(len(chosen), 'summary').replace('summarys', 'summaries')} ...")
        screen.carry(work, done, failed)
