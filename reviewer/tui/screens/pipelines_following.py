"""Following a run on the Pipelines screen: what it tells, where the cursor goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from reviewer.text.display import display_line
from reviewer.tui.kit.text import count
from reviewer.tui.screens.pipelines_model import EdgeRow

if TYPE_CHECKING:
    from reviewer.tui.screens.pipelines import PipelinesScreen
    from reviewer.tui.screens.pipelines_course import Course


class CourseMoved(Message):
    """The run under way has something new to show."""


class Following:
    """Shows on a `PipelinesScreen` where the run stands that this program started."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._asked = False
        """The question that is open was offered already."""
        self._follows = True
        """The cursor goes with a run; not any more once a person has moved it."""
        self._followed_to = ""
        """The node that it went to with the run last."""

    def attach(self) -> None:
        """Listen to a run that goes on from an earlier visit of this screen."""
        course = self._screen.running.course
        if course is not None:
            self._listen(course)
            self.course_moved()

    def detach(self) -> None:
        """The screen goes; a run goes on without it."""
        course = self._screen.running.course
        if course is not None:
            course.told = None

    def follow(self, course: Course) -> None:
        """Listen to a run that is about to begin; the cursor goes with it."""
        self._asked = False
        self._follows = True
        self._listen(course)

    def _listen(self, course: Course) -> None:
        screen = self._screen
        course.told = lambda: screen.post_message(CourseMoved())

    def cursor_moved(self) -> None:
        """The cursor stands on another row: only a person puts it where the run is not."""
        course, node = self._screen.running.course, self._screen.model.node
        name = node.name if node is not None else ""
        if name != self._followed_to:
            self._follows = course is not None and name in (course.node, course.next)

    def course_moved(self) -> None:
        """Show where the run stands. Raises what was a defect in its thread."""
        course, screen = self._screen.running.course, self._screen
        if course is None:
            return
        course.seen()
        if course.defect is not None:
            raise course.defect
        if course.question is None:
            self._asked = False
        if not screen.running.is_shown:
            return
        self._move_cursor(course)
        screen.reading.show_states()
        if course.error:
            screen.say(with_keys(course.error), bad=True)
            screen.app.pipeline_course = None  # type: ignore[attr-defined]
        elif course.done is not None:
            screen.reading.read_run(course.run_id, ended(course))
            screen.app.pipeline_course = None  # type: ignore[attr-defined]
        elif course.question is not None:
            screen.say(f"{display_line(course.question.text)} - enter answers{remark(course)}")
            if not self._asked:
                self._asked = True
                screen.reading.read_run(course.run_id)
        elif course.run_id and course.stages != self._stages_shown(course):
            screen.reading.read_run(course.run_id)
        screen.showing.draw_title()
        screen.showing.draw_said()
        screen.show_footer()

    def _stages_shown(self, course: Course) -> int:
        run = self._screen.reading.run
        if run is None or run.view.run_id != course.run_id:
            return -1
        return len(run.history.completed)

    def _move_cursor(self, course: Course) -> None:
        """The cursor goes with the run, as long as it stands on a node of it."""
        screen = self._screen
        node = course.next if course.pausing else course.node
        if not node or screen.busy or isinstance(screen.model.current, EdgeRow):
            return
        at = screen.model.index_of(node)
        if at is not None and at != screen.model.cursor and self._follows:
            self._followed_to = node
            screen.list.move_to(at)

    def words(self) -> str:
        """How the run stands, for the title: `implement runs, stage 4`; empty when none does."""
        course = self._screen.running.course
        if course is None or not course.running or not self._screen.running.is_shown:
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


def ended(course: Course) -> str:
    """What is said of a run that has ended, with the key that goes on with it."""
    assert course.done is not None
    done = course.done
    ways = {"done": "", "waiting": " - R resumes", "cancelled": " - R resumes"}
    return f"{display_line(done.message)}{ways.get(done.state, ' - R goes on')}{remark(course)}"


def remark(course: Course) -> str:
    """What a person should know about the run's answers, to be put behind a sentence."""
    return f" - {display_line(course.remark)}" if course.remark else ""


def with_keys(sentence: str) -> str:
    """An error of the engine; the key of this screen comes first where it names a flag."""
    hint = "T allows shell commands: " if "with --allow-tools" in sentence else ""
    return hint + display_line(sentence)
