"""Keys of the Pipelines screen: run, step, answer, cancel, resume; look at what a stage gets."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer.tui import situation as when
from reviewer.tui.action import Action
from reviewer.tui.situation import Situation


@dataclass(frozen=True)
class About:
    """What decides on the Pipelines screen which keys do something (`Situation.about`)."""

    reading: bool = False
    """The file is being read for the first time."""
    pipeline: str = ""
    """Name of the pipeline that is shown."""
    node: str = ""
    """The node that the row under the cursor is about."""
    ways: int = 0
    """How many edges enter it."""
    running: str = ""
    """The run that is under way in this program."""
    pausing: bool = False
    """It waits for the next step."""
    asking: bool = False
    """It asks a person."""
    cancelled: bool = False
    """It was cancelled and has not ended yet."""
    run: str = ""
    """The run that is shown."""
    resumable: bool = False
    """It can go on."""
    runs: int = 0
    """How many runs the store has."""
    said: bool = False
    """The run that is shown has stages that spoke."""
    text: bool = False
    """There is a text to copy."""
    model: bool = False
    """The settings name a model."""
    choosing: bool = False
    """A chooser is open in place of the panes."""


def about(now: Situation) -> About:
    """What the Pipelines screen knows."""
    return now.about if isinstance(now.about, About) else About()


def not_while_choosing(now: Situation) -> str | None:
    """A chooser is finished or left first."""
    if about(now).choosing:
        return "Choose first: enter takes a line, escape leaves."
    return None


def needs_pipeline(now: Situation) -> str | None:
    """Needs a pipeline that is shown."""
    known = about(now)
    if known.reading:
        return "The pipeline is still being read: once more."
    if not known.pipeline:
        return not_while_choosing(now) or "No pipeline is open: C chooses one, I opens a file."
    return not_while_choosing(now)


def needs_node(now: Situation) -> str | None:
    """Needs a row under the cursor."""
    return needs_pipeline(now) or (
        None if about(now).node else "The pipeline has no nodes: E opens it in an editor."
    )


def needs_no_run(now: Situation) -> str | None:
    """One run at a time."""
    if about(now).running:
        return f"{about(now).running} is under way: c cancels it."
    return needs_pipeline(now)


def needs_room_for_step(now: Situation) -> str | None:
    """Needs no run, or one that waits for the next step."""
    known = about(now)
    if known.running and known.asking:
        return "The run asks something: enter answers."
    if known.running and not known.pausing:
        return f"{known.running} goes on by itself: c cancels it."
    return needs_pipeline(now)


def needs_runnable(now: Situation) -> str | None:
    """Needs no run, or one that was stepping."""
    if about(now).running and about(now).pausing:
        return not_while_choosing(now)
    return needs_no_run(now)


def needs_running(now: Situation) -> str | None:
    """Needs a run under way."""
    known = about(now)
    if not known.running:
        return not_while_choosing(now) or "Nothing is running: r runs the pipeline."
    if known.cancelled:
        return f"{known.running} is cancelled already and ends as soon as its stage lets it."
    return not_while_choosing(now)


def needs_resumable(now: Situation) -> str | None:
    """Needs a run that can go on."""
    known = about(now)
    if known.running or not known.pipeline:
        return needs_no_run(now)
    if not known.run:
        return "No run of this pipeline is shown: r runs it, P shows past runs."
    if not known.resumable:
        return f"{known.run} has reached its exit; there is nothing left: r runs it anew."
    return not_while_choosing(now)


def needs_ways(now: Situation) -> str | None:
    """Needs a node that several edges enter."""
    known = about(now)
    if known.node and known.ways < 2:
        number = "Only one edge enters" if known.ways else "No edge enters"
        return not_while_choosing(now) or f"{number} {known.node}."
    return needs_node(now)


def needs_runs(now: Situation) -> str | None:
    """Needs a run in the store."""
    if not about(now).runs:
        return not_while_choosing(now) or "Nothing has run yet: r runs the pipeline that is shown."
    return not_while_choosing(now)


def needs_said(now: Situation) -> str | None:
    """Needs a run with a conversation."""
    if not about(now).said:
        return not_while_choosing(now) or "No run that spoke is shown: r runs the pipeline."
    return not_while_choosing(now)


def needs_text(now: Situation) -> str | None:
    """Needs a text to copy."""
    return needs_node(now) or (None if about(now).text else "There is no text here to copy.")


def needs_model(now: Situation) -> str | None:
    """Needs a model in the settings."""
    if about(now).running:
        return f"{about(now).running} is under way: it keeps what answers it."
    if not about(now).model:
        return not_while_choosing(now) or (
            "No model is set up: write [model] base_url and name into the settings,"
            " see reviewer config show."
        )
    return not_while_choosing(now)


def _view(key: str, name: str, title: str, text: str) -> Action:
    return Action(name, key, title, text, "Look", ("pipelines",), f"modes.{name}", needs_node)


TABLE = (
    # Decide
    Action("pipeline_run", "r", "run", "Run the pipeline from its start; of a run that is stepped,"
           " run the rest.", "Decide", ("pipelines",), "running.run", needs_runnable, 1),
    Action("pipeline_step", "space", "step", "Run one stage, and wait before the next.", "Decide",
           ("pipelines",), "running.step", needs_room_for_step, 2),
    Action("pipeline_enter", "enter", "answer", "Answer what the run asks; else fill the screen"
           " with the text below.", "Decide", ("pipelines",), "running.enter", needs_node, 4),
    Action("pipeline_cancel", "c", "cancel", "End the run after what it does now; it can be"
           " resumed.", "Decide", ("pipelines",), "running.cancel", needs_running, 3),
    Action("pipeline_resume", "R", "resume", "Go on with the run that is shown, from its last"
           " checkpoint.", "Decide", ("pipelines",), "running.resume", needs_resumable, 5),
    Action("pipeline_engine", "m", "who answers", "Let the model of the settings answer, or the"
           " offline stand-in again.", "Decide", ("pipelines",), "answering.switch_engine",
           needs_model),
    Action("pipeline_tools", "T", "allow tools", "Let the next runs of this pipeline run its shell"
           " commands, with your rights, or no longer.", "Decide", ("pipelines",),
           "answering.switch_tools", needs_no_run),
    Action("pipeline_context", "w", "as context", "Open what the run said as a context on the"
           " Commits screen: the thread of this node, or all.", "Decide", ("pipelines",),
           "conversation.open_as_context", needs_said),
    # Select
    Action("pipeline_choose", "C", "pipelines", "Choose a pipeline: those that ran, those below"
           " this folder.", "Select", ("pipelines",), "choosing.ask_pipeline",
           not_while_choosing, 8),
    Action("pipeline_open", "I", "open file", "Open a pipeline by the path of its DOT file.",
           "Select", ("pipelines",), "choosing.ask_path", not_while_choosing),
    Action("pipeline_runs", "P", "past runs", "Choose a run to look at, of any pipeline.",
           "Select", ("pipelines",), "choosing.ask_run", needs_runs, 9),
    Action("pipeline_edges", "e", "edges", "Show every edge as a row, or only where a node has"
           " several.", "Select", ("pipelines",), "row.switch_edges", needs_node),
    Action("pipeline_way", "n", "next way in", "Explain the next edge that enters this node.",
           "Select", ("pipelines",), "row.next_way", needs_ways, 7),
    Action("pipeline_refresh", "ctrl+r", "read again", "Read the file and the run again.",
           "Select", ("pipelines",), "reading.refresh", needs_pipeline),
    # Look
    _view("1", "view_full", "full", "Show what the thread's session carries into this node, and"
          " what a resume would lose of it."),
    _view("2", "view_truncate", "truncate", "Show the preamble of truncate (100 tokens); again:"
          " that of the resolved mode."),
    _view("3", "view_compact", "compact", "Show the preamble of compact (500 tokens)."),
    _view("4", "view_low", "summary:low", "Show the preamble of summary:low (600 tokens)."),
    _view("5", "view_medium", "summary:medium", "Show the preamble of summary:medium (1,500"
          " tokens)."),
    _view("6", "view_high", "summary:high", "Show the preamble of summary:high (3,000 tokens)."),
    Action("view_all", "0", "all modes", "Show all six side by side, with tokens and what was left"
           " out; again: one.", "Look", ("pipelines",), "modes.view_all", needs_node, 6),
    _view("7", "view_said", "what it said", "Show what this node was asked and answered last in"
          " the run."),
    Action("pipeline_source", "o", "open source", "Show the DOT file at the line of this row.",
           "Look", ("pipelines",), "looking.open_source", needs_node),
    Action("pipeline_editor", "E", "in editor", "Open the DOT file at the line in $VISUAL or"
           " $EDITOR.", "Look", ("pipelines",), "looking.open_editor", needs_pipeline),
    Action("pipeline_copy", "y", "copy", "Copy the text that is shown below to the clipboard"
           " (OSC 52).", "Look", ("pipelines",), "looking.copy", needs_text, 10),
    Action("pipeline_zoom", "+", "zoom", "Fill the screen with the focused pane.", "Look",
           ("pipelines",), "panes.zoom", not_while_choosing),
    Action("pipeline_unzoom", "_", "zoom back", "Show all panes again.", "Look", ("pipelines",),
           "panes.unzoom", when.needs_zoom),
    Action("pipeline_pane", "tab", "next pane", "Go to the next pane.", "Look", ("pipelines",),
           "panes.next", not_while_choosing),
    Action("pipeline_pane_back", "shift+tab", "pane before", "Go to the pane before.", "Look",
           ("pipelines",), "panes.previous", not_while_choosing),
    Action("pipelines_back", "escape", "back", "Leave in turn: the zoom, the pane, the chosen"
           " mode, the screen; a run goes on.", "Move", ("pipelines",), "looking.back"),
    Action("leave_pipelines", "q", "to the queue", "Go back to the queue; a run goes on.",
           "Screens", ("pipelines",), "looking.leave", not_while_choosing),
)  # fmt: skip
