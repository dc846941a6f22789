"""Keys of the Compress screen: a level for each segment, what it loses, and making it so."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer.tui import situation as when
from reviewer.tui.action import Action
from reviewer.tui.situation import Situation


@dataclass(frozen=True)
class About:
    """What decides on the Compress screen which keys do something (`Situation.about`)."""

    reading: bool = False
    """The context is being read for the first time."""
    contexts: int = 0
    context: str = ""
    """Name of the context that is shown."""
    segments: int = 0
    full: bool = True
    """The segment under the cursor is Full."""
    written: bool = False
    """There is a preview of it."""
    lost: bool = False
    """The cursor is on something that the level loses."""
    markers: bool = False
    """The summary has something to expand."""
    range: bool = False
    """Only what comes from a commit on is compressed."""
    model: bool = False
    """The model writes."""
    failed: bool = False
    """The model did not write this segment, and the offline result is there."""
    running: str = ""
    """What goes on: `Writing 3 of 12`; empty for nothing."""
    busy: str = ""
    """What is open in place of the panes: `edit`, `choose`."""


def about(now: Situation) -> About:
    """What the Compress screen knows."""
    return now.about if isinstance(now.about, About) else About()


def not_while_busy(now: Situation) -> str | None:
    """What is open beside the list is finished or left first."""
    match about(now).busy:
        case "edit":
            return "Finish the summary first: ctrl+s takes it, escape keeps a draft."
        case "choose":
            return "Choose first: enter takes a line, escape leaves."
        case _:
            return None


def not_while_running(now: Situation) -> str | None:
    """Waits until the work behind the screen is done or stopped."""
    running = about(now).running
    return not_while_busy(now) or (f"{running}: escape stops it." if running else None)


def needs_context(now: Situation) -> str | None:
    """Needs a context that is shown."""
    if about(now).reading:
        return "The context is still being read: once more."
    if not about(now).context:
        return not_while_busy(now) or "There is no context yet: F3, then I imports a transcript."
    return not_while_busy(now)


def needs_segment(now: Situation) -> str | None:
    """Needs a segment under the cursor."""
    return needs_context(now) or (
        None if about(now).segments else "There is nothing to compress in this context."
    )


def needs_quiet_segment(now: Situation) -> str | None:
    """Needs a segment, and nothing that is being written."""
    return needs_segment(now) or not_while_running(now)


def needs_summary(now: Situation) -> str | None:
    """Needs a segment that is not Full, with its preview."""
    if about(now).segments and about(now).full:
        return not_while_busy(now) or "Full is the original: 2 3 4 choose a level first."
    return needs_quiet_segment(now) or (
        None if about(now).written else "The preview is still being written: once more."
    )


def needs_lost(now: Situation) -> str | None:
    """Needs something lost under the cursor."""
    return needs_segment(now) or (None if about(now).lost else "This level loses nothing here.")


def needs_marker(now: Situation) -> str | None:
    """Needs something to expand."""
    return needs_segment(now) or (
        None if about(now).markers else "This summary has nothing to expand: 2 and 3 have markers."
    )


def needs_model(now: Situation) -> str | None:
    """Needs the model engine."""
    return needs_quiet_segment(now) or (
        None if about(now).model else "The offline engine writes by itself: m asks the model."
    )


def needs_failed(now: Situation) -> str | None:
    """Needs a segment that the model has not written."""
    return needs_quiet_segment(now) or (
        None if about(now).failed else "This segment does not wait for the model."
    )


def needs_other_context(now: Situation) -> str | None:
    """Needs a second context."""
    if about(now).contexts == 1:
        return not_while_busy(now) or "This is the only context: F3, then I imports another one."
    return needs_context(now)


def needs_range(now: Situation) -> str | None:
    """Needs a range."""
    return needs_context(now) or (
        None
        if about(now).range
        else "The whole context is shown: c on the Commits screen begins at a commit."
    )


def needs_undo(now: Situation) -> str | None:
    """Needs a decision to take back."""
    return not_while_running(now) or (None if now.undo else "There is nothing to undo.")


def needs_redo(now: Situation) -> str | None:
    """Needs an undone decision."""
    return not_while_running(now) or (None if now.redo else "There is nothing to redo.")


def _level(name: str, key: str, text: str) -> Action:
    help_text = f"Show this segment at {name.title()}: {text}."
    return Action(f"level_{name}", key, name, help_text, "Decide", ("compress",), f"acts.{name}",
                  needs_quiet_segment)  # fmt: skip


TABLE = (
    # Decide
    _level("full", "1", "the original, as it is"),
    _level("detailed", "2", "about a third, in order, with speakers"),
    _level("brief", "3", "about a tenth: goal, decisions, state, what failed"),
    _level("tags", "4", "about a fiftieth: its tags"),
    Action("same_level", "*", "level for all", "Give every segment the level of this one.",
           "Decide", ("compress",), "acts.same_level", needs_quiet_segment),
    Action("fit_target", "f", "fit", "Ask for a number of tokens and choose levels that fit it.",
           "Decide", ("compress",), "choosing.ask_target", needs_quiet_segment, 4),
    Action("apply_levels", "A", "apply", "Put the summaries in the place of their segments, as one"
           " act; the originals stay.", "Decide", ("compress",), "applying.apply",
           needs_quiet_segment, 3),
    Action("summary_edit", "e", "edit", "Write the summary of this segment by hand, with live"
           " checks.", "Decide", ("compress",), "editing.begin", needs_summary, 2),
    Action("pin_lost", "p", "pin lost", "Keep what is lost here verbatim in every summary; on what"
           " is pinned, take that back.", "Decide", ("compress",), "acts.pin", needs_lost, 5),
    Action("retain_lost", "r", "retain lost", "Make what is lost here a criterion of its commit:"
           " every summary is checked for it.", "Decide", ("compress",), "acts.retain",
           needs_lost, 6),
    Action("compress_undo", "u", "undo", "Take the last decision back.", "Decide", ("compress",),
           "acts.undo", needs_undo, 7),
    Action("compress_redo", "Z,ctrl+r", "redo", "Do again what was undone last.", "Decide",
           ("compress",), "acts.redo", needs_redo),
    # The model
    Action("switch_engine", "m", "offline or model", "Let the model of the settings write, this"
           " segment at once; or go back to the offline engine.", "Decide", ("compress",),
           "writing.switch", needs_quiet_segment, 8),
    Action("write_segment", "w", "ask the model", "Let the model write this segment, once more"
           " where it has.", "Decide", ("compress",), "writing.write_here", needs_model),
    Action("write_all", "W", "ask for all", "Let the model write every segment that it has not"
           " written yet.", "Decide", ("compress",), "writing.write_all", needs_model),
    Action("take_offline", "o", "take offline", "Take the offline result for this segment instead"
           " of the model's.", "Decide", ("compress",), "writing.take_offline", needs_failed),
    # Select
    Action("compress_contexts", "C", "contexts", "Choose the context to show.", "Select",
           ("compress",), "choosing.ask_context", needs_context),
    Action("compress_next", "t", "next context", "Show the next context.", "Select",
           ("compress",), "reading.next_context", needs_other_context),
    Action("whole_context", "b", "from the beginning", "Compress the whole context instead of what"
           " comes from a commit on.", "Select", ("compress",), "reading.whole", needs_range),
    Action("compress_refresh", "R", "refresh", "Read the context again.", "Select",
           ("compress",), "reading.refresh", not_while_running),
    # Look
    Action("expand_here", "enter", "expand", "Expand the marker in place, or collapse it; on what"
           " is lost, show it in the original.", "Look", ("compress",), "looking.enter",
           needs_segment, 1),
    Action("next_marker", "n", "next marker", "Go to the next marker of the summary.", "Look",
           ("compress",), "looking.next_marker", needs_marker),
    Action("previous_marker", "N", "marker before", "Go to the marker before.", "Look",
           ("compress",), "looking.previous_marker", needs_marker),
    Action("all_levels", "a", "all levels", "Show the four levels of this segment side by side, or"
           " one again.", "Look", ("compress",), "looking.all_levels", needs_segment),
    Action("compress_copy", "y", "copy", "Copy the summary to the clipboard (OSC 52).", "Look",
           ("compress",), "looking.copy", needs_segment),
    Action("compress_zoom", "+", "zoom", "Fill the screen with the focused pane.", "Look",
           ("compress",), "looking.zoom", not_while_busy),
    Action("compress_unzoom", "_", "zoom back", "Show all panes again.", "Look", ("compress",),
           "looking.unzoom", when.needs_zoom),
    Action("compress_pane", "tab", "next pane", "Go to the next pane.", "Look", ("compress",),
           "looking.next_pane", not_while_busy),
    Action("compress_pane_back", "shift+tab", "pane before", "Go to the pane before.", "Look",
           ("compress",), "looking.previous_pane", not_while_busy),
    Action("compress_back", "escape", "back", "Leave in turn: what is being written, the zoom, all"
           " levels, the pane, the screen.", "Move", ("compress",), "looking.back"),
    Action("leave_compress", "q", "to the queue", "Go back to the queue.", "Screens",
           ("compress",), "looking.leave", not_while_busy),
    # A summary by hand
    Action("append_missing", "ctrl+t", "append missing", "Append what the summary misses: criteria"
           " and anchors, in the words of the source.", "Decide", ("summary",), "append_missing",
           None, 5),
)  # fmt: skip
