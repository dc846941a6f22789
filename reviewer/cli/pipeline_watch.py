"""Shows a run on the terminal as it happens, and asks the person there."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import narrate, print_json, print_text, safe, safe_lines

if TYPE_CHECKING:
    from reviewer.cli.progress import Interruption
    from reviewer.engine import Event, Question, StageDone, StageStarted

_NOTES = 100


class Watcher:
    """Prints each stage on stdout when it has ended; what happens meanwhile goes to stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._stage: StageStarted | None = None

    def __call__(self, event: Event) -> None:
        """Tell of one event."""
        from reviewer import engine

        if isinstance(event, engine.StageStarted):
            self._stage = event
        if self._as_json:
            if not isinstance(event, engine.Text):
                from msgspec import to_builtins

                print_json(to_builtins(event))
            return
        match event:
            case engine.RunStarted():
                gone_on = f", after {event.stages} stages" if event.stages else ""
                narrate(f"Run {safe(event.run_id)}{gone_on}, answered by {safe(event.engine)}")
                narrate(f"Files in {safe(event.folder)}")
                if event.note:
                    narrate(safe(event.note))
            case engine.Retrying():
                narrate(
                    f"{safe(event.node)}: {safe(event.reason)} Attempt {event.attempt + 1} in "
                    f"{event.seconds:.1f} s"
                )
            case engine.StageDone():
                print_text(self._line(event))
                if event.remark:
                    narrate(f"{safe(event.node)}: {safe(event.remark)}")

    def _line(self, event: StageDone) -> str:
        stage = self._stage
        session = ""
        if stage is not None and stage.handler == "codergen":
            shared = f" {safe(stage.thread)}" if stage.thread else ""
            lost = " after the resume" if stage.degraded else ""
            session = f"  [{stage.fidelity}{shared}{lost}]"
        leads = f"  -> {safe(event.target)}" if event.target else ""
        dropped = f"  ({event.left_out_turns} turns left out)" if event.left_out_turns else ""
        notes = safe(event.notes[:_NOTES])
        return (
            f"{event.step:>3}  {safe(event.node)}  {safe(event.word)}{leads}{session}{dropped}"
            + (f"  {notes}" if notes else "")
        )


class TerminalQuestions:
    """Asks at the terminal. Ctrl-C or the end of input leaves the question open."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def __call__(self, question: Question) -> str | None:
        """The answer that was typed, None when none was."""
        narrate("")
        for line in safe_lines(question.text):
            narrate(line)
        for choice in question.choices:
            leads = "" if choice.label == choice.target else f"  -> {safe(choice.target)}"
            narrate(f"  {safe(choice.key)}  {safe(choice.label)}{leads}")
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            typed: str = click.prompt(
                safe(question.node) + (f" [{safe(question.default)}]" if question.default else ""),
                default=question.default,
                show_default=False,
                err=True,
            )
        except (click.Abort, EOFError):
            self._interruption.asked = True
            return None
        finally:
            signal.signal(signal.SIGINT, before)
        return typed
