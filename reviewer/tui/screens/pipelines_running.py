"""Running on the Pipelines screen: start, step, cancel, resume, answer."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from reviewer.tui.screens.pipelines_course import Course

if TYPE_CHECKING:
    from reviewer.tui.screens.pipelines import PipelinesScreen

PROJECT_WITHOUT_A_NAME = "default"


class Running:
    """Runs the pipeline of a `PipelinesScreen`; the run itself belongs to the app."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._engine = screen.engine

    @property
    def course(self) -> Course | None:
        """The run that this program started last, until its end was shown."""
        course: Course | None = self._screen.app.pipeline_course  # type: ignore[attr-defined]
        return course

    @property
    def under_way(self) -> bool:
        """Whether a run of this program has not ended."""
        return self.course is not None and self.course.running

    @property
    def is_shown(self) -> bool:
        """Whether the run under way is the one on the screen."""
        course, reading = self.course, self._screen.reading
        if course is None:
            return False
        return course.path == reading.path or course.run_id == reading.run_id

    async def run(self) -> None:
        """Run from the start; of a run that is stepped, run the rest."""
        if self.course is not None and self.course.running and self.course.pausing:
            self.course.go_on(stepping=False)
            self._screen.say("The run goes on: c cancels it.")
            return
        await self._start(stepping=False)

    async def step(self) -> None:
        """Run one stage, and wait before the next."""
        if self.course is not None and self.course.running and self.course.pausing:
            self.course.go_on(stepping=True)
            return
        await self._start(stepping=True)

    async def _start(self, *, stepping: bool) -> None:
        answering, path = self._screen.answering, self._screen.reading.path
        assert path is not None  # the key needs a pipeline
        options = await to_thread(answering.options, model=bool(answering.with_model))
        project = self._project()
        course = Course(self._engine, path.absolute(), stepping=stepping)
        self._take(course)
        course.start(project, options)
        self._screen.say("Running ..." if not stepping else "One stage at a time: space goes on.")

    async def resume(self) -> None:
        """Go on with the run that is shown."""
        answering, reading = self._screen.answering, self._screen.reading
        assert reading.run is not None  # the key needs a run
        run_id = reading.run.view.run_id
        asks_model = answering.with_model
        if asks_model is None:
            asks_model = not await to_thread(self._engine.pipelines.is_offline, run_id)
        options = await to_thread(answering.options, model=asks_model)
        assert reading.path is not None
        course = Course(self._engine, reading.path, stepping=False)
        course.run_id = run_id
        self._take(course)
        course.resume(run_id, options)
        self._screen.say(f"Going on with {run_id} ...")

    def _take(self, course: Course) -> None:
        self._screen.app.pipeline_course = course  # type: ignore[attr-defined]
        self._screen.following.follow(course)

    def _project(self) -> str:
        if self._screen.project is not None:
            return self._screen.project
        from reviewer.engine import default_project

        return default_project() or PROJECT_WITHOUT_A_NAME

    def cancel(self) -> None:
        """End the run in order."""
        if self.course is not None:
            self.course.cancel()
            self._screen.say("Cancelled: the run ends as soon as its stage lets it, R resumes.")

    async def enter(self) -> None:
        """Answer what the run asks, else read the text below."""
        course = self.course
        if course is not None and course.question is not None:
            await self._screen.choosing.ask_answer(course.question)
        else:
            self._screen.looking.read_text()

    def reply(self, text: str) -> None:
        """Hand an answer to the run. Raises RunError when it asks nothing any more."""
        if self.course is not None:
            self.course.reply(text)
            self._screen.say("Answered.")
