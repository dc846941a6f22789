"""Running on the Pipelines screen: start, step, cancel, resume, answer, and what is said of it."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from textual.message import Message

from reviewer.text.display import display_line
from reviewer.tui.screens.pipelines_course import Course
from reviewer.tui.screens.pipelines_model import EdgeRow
from reviewer.tui.widgets.phrases import count

if TYPE_CHECKING:
    from reviewer.engine import RunOptions
    from reviewer.settings import Settings
    from reviewer.tui.screens.pipelines import PipelinesScreen

PROJECT_WITHOUT_A_NAME = "default"


class CourseMoved(Message):
    """The run under way has something new to show."""


class Running:
    """Runs the pipeline of a `PipelinesScreen`; the run itself belongs to the app."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._asked = False
        """The question that is open was offered already."""
        self._settings: Settings | None = None
        self.with_model: bool | None = None
        """Whether the model of the settings answers; None until somebody says so."""
        self.allow_tools = False

    @property
    def course(self) -> Course | None:
        """The run that this program started last."""
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

    def attach(self) -> None:
        """Listen to a run that goes on from an earlier visit of this screen."""
        if self.course is not None:
            self._listen(self.course)
            self.moved()

    def detach(self) -> None:
        """The screen goes; a run goes on without it."""
        if self.course is not None:
            self.course.told = None

    def left_pipeline(self) -> None:
        """Another pipeline is shown: what was allowed for the former is not for this one."""
        self.allow_tools = False

    # what answers

    @property
    def has_model(self) -> bool:
        """Whether the settings name a model."""
        return bool(self._read_settings().model.base_url)

    def _read_settings(self) -> Settings:
        if self._settings is None:
            from reviewer.settings import load_settings

            self._settings = load_settings()
        return self._settings

    @property
    def answered_by(self) -> str:
        """Who answers, for the title."""
        if self.with_model:
            return self._read_settings().model.name or "the model"
        return "offline stand-in"

    def switch_engine(self) -> None:
        """Let the model answer, or the stand-in again."""
        self.with_model = not self.with_model
        self._screen.say(f"The next run is answered by: {display_line(self.answered_by)}.")
        self._screen.draw_title()

    def switch_tools(self) -> None:
        """Allow shell commands for this pipeline, or no longer."""
        self.allow_tools = not self.allow_tools
        self._screen.say(
            "Runs of this pipeline may run its shell commands, with your rights: T forbids it."
            if self.allow_tools
            else "Shell commands are refused."
        )
        self._screen.draw_title()

    def _options(self, *, model: bool) -> RunOptions:
        """Raises ModelError when a model is asked for and none is set up."""
        from reviewer.engine import RunOptions
        from reviewer.storeless import open_model, open_other_models

        settings = self._read_settings()
        return RunOptions(
            model=open_model(settings) if model else None,
            models=open_other_models(settings) if model else {},
            context_tokens=settings.model.context_tokens,
            allow_tools=self.allow_tools,
            wait=True,
        )

    # keys

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
        path = self._screen.reading.path
        assert path is not None  # the key needs a pipeline
        options = await to_thread(self._options, model=bool(self.with_model))
        project = self._project()
        course = Course(self._engine, path.absolute(), stepping=stepping)
        self._take(course)
        course.start(project, options)
        self._screen.say("Running ..." if not stepping else "One stage at a time: space goes on.")

    async def resume(self) -> None:
        """Go on with the run that is shown."""
        reading = self._screen.reading
        assert reading.run is not None  # the key needs a run
        run_id = reading.run.view.run_id
        asks_model = self.with_model
        if asks_model is None:
            asks_model = not await to_thread(self._engine.pipelines.is_offline, run_id)
        options = await to_thread(self._options, model=asks_model)
        assert reading.path is not None
        course = Course(self._engine, reading.path, stepping=False)
        course.run_id = run_id
        self._take(course)
        course.resume(run_id, options)
        self._screen.say(f"Going on with {run_id} ...")

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

    async def open_as_context(self) -> None:
        """What the run said as a context: the thread of this node, or everything."""
        from reviewer.tui.context_place import keep_context

        screen, reading = self._screen, self._screen.reading
        assert reading.run is not None  # the key needs a run that spoke
        thread = self._thread_here()
        run = reading.run.view
        done = await to_thread(self._engine.pipelines.import_conversation, run.run_id, thread)
        await to_thread(keep_context, self._engine.path, screen.project, done.context.id, None)
        what = f"the thread {thread}" if thread else "all stages"
        screen.say(f"Opened {what} as the context {done.context.name}.")
        screen.app.call_later(screen.app.show_commits)  # type: ignore[attr-defined]

    def _thread_here(self) -> str | None:
        """The thread of the node under the cursor, where the run has one."""
        reading = self._screen.reading
        node = self._screen.model.node
        turns = reading.run.turns if reading.run is not None else ()
        threads = [turn.thread for turn in turns if node is not None and turn.node == node.name]
        return next((thread for thread in reversed(threads) if thread), None)

    def _project(self) -> str:
        if self._screen.project is not None:
            return self._screen.project
        from reviewer.engine import default_project

        return default_project() or PROJECT_WITHOUT_A_NAME

    # what the run tells

    def _take(self, course: Course) -> None:
        self._screen.app.pipeline_course = course  # type: ignore[attr-defined]
        self._asked = False
        self._screen.looking.follows = True
        self._listen(course)

    def _listen(self, course: Course) -> None:
        screen = self._screen
        course.told = lambda: screen.post_message(CourseMoved())

    def moved(self) -> None:
        """Show where the run stands. Raises what was a defect in its thread."""
        course, screen = self.course, self._screen
        if course is None:
            return
        course.seen()
        if course.defect is not None:
            raise course.defect
        if course.question is None:
            self._asked = False
        if not self.is_shown:
            return
        self._follow(course)
        screen.reading.show_states()
        if course.error:
            screen.say(_with_keys(course.error), bad=True)
            screen.app.pipeline_course = None  # type: ignore[attr-defined]
        elif course.done is not None:
            screen.reading.read_run(course.run_id, _ended(course))
            screen.app.pipeline_course = None  # type: ignore[attr-defined]
        elif course.question is not None:
            screen.say(f"{display_line(course.question.text)} - enter answers")
            if not self._asked:
                self._asked = True
                screen.reading.read_run(course.run_id)
        elif course.run_id and course.stages != self._stages_shown:
            screen.reading.read_run(course.run_id)
        screen.draw_title()
        screen.draw_said()
        screen.show_footer()

    @property
    def _stages_shown(self) -> int:
        run = self._screen.reading.run
        course = self.course
        if run is None or course is None or run.view.run_id != course.run_id:
            return -1
        return len(run.history.completed)

    def _follow(self, course: Course) -> None:
        """The cursor goes with the run, as long as it stands on a node of it."""
        screen = self._screen
        node = course.next if course.pausing else course.node
        if not node or screen.busy or isinstance(screen.model.current, EdgeRow):
            return
        at = screen.model.index_of(node)
        if at is not None and at != screen.model.cursor and screen.looking.follows:
            screen.looking.followed_to = node
            screen.list.move_to(at)

    def words(self) -> str:
        """How the run stands, for the title: `implement runs, stage 4`; empty when none does."""
        course = self.course
        if course is None or not course.running or not self.is_shown:
            return ""
        if course.cancelling:
            return "cancelled, ending"
        if course.question is not None:
            return f"{display_line(course.question.node)} asks"
        if course.pausing:
            return f"waits after {count(course.stages, 'stage')}"
        if not course.node:
            return "starting"
        return f"{display_line(course.node)} runs, stage {course.stages + 1}"


def _ended(course: Course) -> str:
    assert course.done is not None
    done = course.done
    ways = {"done": "", "waiting": " - R resumes", "cancelled": " - R resumes"}
    return f"{display_line(done.message)}{ways.get(done.state, ' - R goes on')}"


def _with_keys(sentence: str) -> str:
    """An error of the engine; the key of this screen comes first where it names a flag."""
    hint = "T allows shell commands: " if "--allow-tools" in sentence else ""
    return hint + display_line(sentence)
