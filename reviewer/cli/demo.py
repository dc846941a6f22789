"""`reviewer demo` on sample data in a temporary store; `reviewer dev-seed`."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING

import click

from reviewer.cli.inputs import flag
from reviewer.cli.output import narrate, report_act
from reviewer.cli.session import Session, Verb, leave, pass_session
from reviewer.resources import sample_data_folder
from reviewer.system import HANG_UP

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.waves.report import WaveProgress
    from reviewer.start import FoundProject, FoundProjects, ReadSum

PROJECT = "ledger-api"
OVER = "That was sample data, and it is gone. For your own sessions, run reviewer in a project."


@click.command(cls=Verb)
@flag("--ascii", "Draw with ASCII characters only.")
@pass_session
def demo(session: Session, ascii: bool) -> None:  # noqa: A002
    """Works offline. Your own files and stores are neither read nor changed."""
    from reviewer.engine import Engine

    session.require_terminal("reviewer ingest in a project, then reviewer queue list")
    with TemporaryDirectory(prefix="reviewer-demo-", ignore_cleanup_errors=True) as folder:
        _remove_when_ended(folder)
        with closing(Engine.open(Path(folder) / "demo.db")) as engine:
            samples = Path(folder) / PROJECT
            shutil.copytree(sample_data_folder(), samples)
            start = SampleStart(engine, samples)
            code = session.show_screen(engine, PROJECT, ascii=ascii, start=start)
    if not code:
        narrate(OVER)
    leave(code)


class SampleStart:
    """Begins with the sample data: sessions of three agents, a chat, and notes."""

    sample = True

    def __init__(self, engine: Engine, samples: Path) -> None:
        self._engine = engine
        self._samples = samples

    def find(self) -> FoundProjects:
        from reviewer.sources.open import format_of, is_of_subagent
        from reviewer.start import FoundProject, FoundProjects

        paths = [
            path
            for folder in ("claude", "codex", "gemini")
            for path in sorted((self._samples / folder).rglob("*.json*"))
            if not is_of_subagent(path)
        ]
        agents = Counter(format_of(path).agent for path in paths)
        newest = max(path.stat().st_mtime_ns for path in paths)
        project = FoundProject(
            name=PROJECT,
            folder=self._samples,
            here=False,
            agents=tuple(agents.most_common()),
            sessions=len(paths),
            bytes=sum(path.stat().st_size for path in paths),
            newest_ns=newest,
            unread=len(paths),
        )
        return FoundProjects((project,))

    def begin(self, project: FoundProject) -> None:
        os.chdir(project.folder)  # where the screens look for a .context folder and pipelines

    def read(
        self,
        project: FoundProject,
        progress: Callable[[WaveProgress], None],
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
    """Remove the folder even if the terminal is closed or the process is terminated."""

    def end(number: int, frame: FrameType | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    for number in (signal.SIGTERM, HANG_UP):
        if number is not None:
            signal.signal(number, end)


@click.command(cls=Verb)
@click.argument("number", type=click.IntRange(1, 10_000_000), metavar="N")
@pass_session
def dev_seed(session: Session, number: int) -> None:
    with session.changing(create=True, new_outside=True) as engine:
        done = engine.intake.seed(number, project=session.target(engine))
        report_act(done, undo=f"reviewer undo {done.act}")
