"""`reviewer demo` on sample data in a temporary store; `reviewer dev-seed`."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from reviewer.cli.output import (
    ELLIPSIS,
    count,
    narrate,
    print_table,
    print_text,
    report_intake,
    safe,
)
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError
from reviewer.system import HANG_UP

if TYPE_CHECKING:
    from types import FrameType

    from reviewer.engine import Engine
    from reviewer.promotion.report import Progress
    from reviewer.start import Found, FoundProject, ReadSum

PROJECT = "ledger-api"
OVER = "That was sample data, and it is gone. For your own sessions, run reviewer in a project."
SHOWN = 10
PLACE_WIDTH = 36
"""Columns; longer places are cut at the beginning."""


@click.command(cls=Verb)
@click.option("--no-screen", is_flag=True, help="Do the main steps here, without the screen.")
@click.option("--ascii", is_flag=True, help="Draw with ASCII characters only.")
@click.option("--plain", is_flag=True, help="Go through it line by line, with letters.")
@click.pass_context
@pass_session
def demo(
    session: Session,
    ctx: click.Context,
    no_screen: bool,
    ascii: bool,  # noqa: A002
    plain: bool,
) -> None:
    """Try reviewer on sample data in a temporary store.

    Works offline. Your own files and stores are neither read nor changed.
    """
    from reviewer.engine import Engine
    from reviewer.resources import sample_data_folder

    if not (no_screen or plain):
        session.require_terminal("reviewer demo --plain, or reviewer demo --no-screen")
    with TemporaryDirectory(prefix="reviewer-demo-", ignore_cleanup_errors=True) as folder:
        _remove_when_ended(folder)
        engine = Engine.open(Path(folder) / "demo.db")
        try:
            if no_screen:
                _main_steps(engine, sample_data_folder())
                return
            samples = Path(folder) / PROJECT
            shutil.copytree(sample_data_folder(), samples)
            start = SampleStart(engine, samples)
            if plain:
                from reviewer.cli.plain import choose_and_read, triage

                if choose_and_read(engine, start):
                    triage(engine, PROJECT, after=OVER)
                return
            code = session.show_screen(engine, PROJECT, ascii=ascii, start=start)
        finally:
            engine.close()
    if not code:
        narrate(OVER)
    ctx.exit(code)


class SampleStart:
    """Begins with the sample data: sessions of three agents, a chat, and notes."""

    sample = True

    def __init__(self, engine: Engine, samples: Path) -> None:
        self._engine = engine
        self._samples = samples

    def find(self) -> Found:
        from reviewer.sources.open import recognise
        from reviewer.start import Found, FoundProject

        paths = [
            path
            for folder in ("claude", "codex", "gemini")
            for path in sorted((self._samples / folder).rglob("*.json*"))
            if "subagents" not in path.parts
        ]
        agents = Counter(recognise(path).agent for path in paths)
        newest = max(path.stat().st_mtime_ns for path in paths)
        project = FoundProject(
            name=PROJECT,
            folder=self._samples,
            here=False,
            agents=tuple(agents.most_common()),
            sessions=len(paths),
            bytes=sum(path.stat().st_size for path in paths),
            newest_ns=newest,
        )
        return Found((project,))

    def begin(self, project: FoundProject) -> None:
        os.chdir(project.folder)  # where the screens look for a .context folder and pipelines

    def read(
        self,
        project: FoundProject,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> ReadSum:
        from reviewer.start import ReadSum

        engine = self._engine
        report = engine.intake.ingest(
            [project.folder], project=PROJECT, progress=progress, cancelled=cancelled
        )
        for transcript in sorted((project.folder / "claude").rglob("*.jsonl")):
            engine.contexts.import_file(transcript, project=PROJECT)
        return ReadSum(report.files, report.state == "interrupted")


def _remove_when_ended(folder: str) -> None:
    """Remove the folder also when the terminal is closed or the process is terminated."""

    def end(number: int, frame: FrameType | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    for number in (signal.SIGTERM, HANG_UP):
        if number is not None:
            signal.signal(number, end)


def _main_steps(engine: Engine, samples: Path) -> None:
    """Ingest, list, promote, reject, undo, verify. Raises ReviewerError when a step fails."""
    from reviewer.promotion.views import QueueQuery, Status

    report = engine.intake.ingest([samples], project=PROJECT)
    print_text(
        f"Read {count(report.files, 'file')} with {count(report.records, 'record')}: "
        f"{count(report.new, 'candidate')} to decide on."
    )
    ids = engine.queue.ids(QueueQuery(project=PROJECT), limit=SHOWN)
    _must(len(ids) == SHOWN, "the sample data has fewer candidates than expected")
    print_table([_with_evidence(engine, memory, samples) for memory in ids])
    first, second = ids[0], ids[1]

    def statuses() -> tuple[str, str]:
        return engine.queue.candidate(first).status, engine.queue.candidate(second).status

    print_text(engine.triage.promote([first]).title)
    print_text(engine.triage.reject([second]).title)
    _must(statuses() == (Status.ACTIVE, Status.INVALID), "the decisions were not kept")
    print_text(f"Undone: {engine.history.undo().title}")
    _must(statuses() == (Status.ACTIVE, Status.CANDIDATE), "undo did not bring the candidate back")
    verdict = engine.history.verify()
    _must(verdict.ok, "; ".join(verdict.problems))
    print_text(
        f"{count(verdict.rows, 'row')} agree with the ledger of {count(verdict.acts, 'act')}."
    )


def _with_evidence(engine: Engine, memory: int, samples: Path) -> tuple[str, str, str, str]:
    one = engine.queue.candidate(memory)
    evidence = engine.queue.evidence(memory, around=0)[0]
    path = Path(evidence.record.path)
    shown = path.relative_to(samples) if path.is_relative_to(samples) else path
    place = f"{shown}:{evidence.line + 1}"
    if len(place) > PLACE_WIDTH:
        place = ELLIPSIS + place[1 - PLACE_WIDTH :]
    return f"#{one.id}", f"{one.confidence:.2f}", safe(place), safe(one.content)


def _must(ok: bool, otherwise: str) -> None:
    if not ok:
        raise ReviewerError(f"The demo failed: {otherwise}. Please report this.")


@click.command(cls=Verb, hidden=True)
@click.argument("number", type=click.IntRange(1, 10_000_000), metavar="N")
@pass_session
def dev_seed(session: Session, number: int) -> None:
    """Fill the queue with N made-up candidates."""
    with session.changing(create=True, new_outside=True) as engine:
        report_intake(engine.intake.seed(number, project=session.target(engine)))
