"""Keys of the Commits screen: priorities, what must survive, choosing among contexts."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer.tui import situation as when
from reviewer.tui.action import Action
from reviewer.tui.situation import Situation


@dataclass(frozen=True)
class About:
    """What decides on the Commits screen which keys do something (`Situation.about`)."""

    reading: bool = False
    """The contexts are being read for the first time."""
    contexts: int = 0
    context: str = ""
    """Name of the context that is shown."""
    commit: str = ""
    """Short hash of the commit under the cursor."""
    source: str | None = None
    """The file that the context was imported from."""
    line: bool = False
    """The commit names its line in that file."""
    busy: str = ""
    """What is open in place of the panes: `retain`, `edit`, `choose`."""
    importing: str = ""
    """Name of the file that is being imported."""


def about(now: Situation) -> About:
    """What the Commits screen knows."""
    return now.about if isinstance(now.about, About) else About()


def not_while_busy(now: Situation) -> str | None:
    """What is open beside the list is finished or left first."""
    match about(now).busy:
        case "retain":
            return "Finish what must survive first: ctrl+s writes it, escape keeps a draft."
        case "edit":
            return "Finish the edit first: ctrl+s saves it, escape keeps a draft."
        case "choose":
            return "Choose first: enter takes a line, escape leaves."
        case _:
            return None


def needs_context(now: Situation) -> str | None:
    """Needs a context that is shown."""
    if about(now).reading:
        return "The context is still being read: once more."
    if not about(now).context:
        return not_while_busy(now) or "There is no context yet: I imports a transcript."
    return not_while_busy(now)


def needs_commit(now: Situation) -> str | None:
    """Needs a commit under the cursor."""
    if not about(now).commit:
        return needs_context(now) or "There is no commit under the cursor."
    return not_while_busy(now)


def needs_commits(now: Situation) -> str | None:
    """Needs a list that shows something."""
    return needs_context(now) or (None if now.rows else "The list is empty.")


def needs_one_commit(now: Situation) -> str | None:
    """Works on the commit under the cursor alone."""
    if now.marked and about(now).commit:
        return not_while_busy(now) or (
            "A text is edited one commit at a time: escape clears the marks."
        )
    return needs_commit(now)


def needs_other_context(now: Situation) -> str | None:
    """Needs a second context."""
    if about(now).contexts == 1:
        return not_while_busy(now) or "This is the only context: I imports another transcript."
    return needs_context(now)


def needs_source(now: Situation) -> str | None:
    """Needs a commit that was imported from a line of a file."""
    known = about(now)
    if known.commit and (known.source is None or not known.line):
        return not_while_busy(now) or (
            f"{known.commit} names no line of a file: it was not imported from one."
        )
    return needs_commit(now)


def needs_no_import(now: Situation) -> str | None:
    """One file is imported at a time."""
    if about(now).importing:
        return f"{about(now).importing} is still being imported."
    return not_while_busy(now)


def needs_undo(now: Situation) -> str | None:
    """Needs a decision to take back."""
    return not_while_busy(now) or (None if now.undo else "There is nothing to undo.")


def needs_redo(now: Situation) -> str | None:
    """Needs an undone decision."""
    return not_while_busy(now) or (None if now.redo else "There is nothing to redo.")


TABLE = (
    # Decide
    Action("pin", "p", "pin", "Never compress the marked commits, or this one.", "Decide",
           ("commits",), "acts.pin", needs_commit, 1),
    Action("make_important", "i", "important", "Compress the marked commits, or this one, with"
           " care; r says what must survive.", "Decide", ("commits",), "acts.important",
           needs_commit, 2),
    Action("make_normal", "n", "normal", "Let the marked commits, or this one, be compressed"
           " freely.", "Decide", ("commits",), "acts.normal", needs_commit, 3),
    Action("make_skip", "S", "skip", "Leave the marked commits, or this one, out of what an agent"
           " gets.", "Decide", ("commits",), "acts.skip", needs_commit, 4),
    Action("retain", "r", "retain", "Write what must survive of the marked commits, or of this"
           " one: words, texts, regular expressions.", "Decide", ("commits",),
           "retaining.begin", needs_commit, 5),
    Action("commit_edit", "e", "edit text", "Write another text of this commit; the original"
           " stays.", "Decide", ("commits",), "editing.begin", needs_one_commit, 10),
    Action("commit_undo", "u", "undo", "Take the last decision back; the cursor goes to its"
           " commit.", "Decide", ("commits",), "acts.undo", needs_undo, 6),
    Action("commit_redo", "Z,ctrl+r", "redo", "Do again what was undone last.", "Decide",
           ("commits",), "acts.redo", needs_redo),
    Action("import_context", "I", "import", "Import a transcript as a context: name its file.",
           "Decide", ("commits",), "choosing.ask_path", needs_no_import),
    # Select
    Action("commit_mark", "space", "mark", "Mark this commit and go down; a priority then goes to"
           " all that are marked.", "Select", ("commits",), "marking.mark", needs_commit, 8),
    Action("commit_range", "v", "range", "Mark every commit from here to where you go; v again"
           " keeps them.", "Select", ("commits",), "marking.range", needs_commit),
    Action("commit_mark_all", "*", "mark all", "Mark every commit of the list, or unmark all.",
           "Select", ("commits",), "marking.mark_all", needs_commits),
    Action("commit_filter", "/", "filter", "Show only commits that match words and fields such as"
           " priority:pinned, role:user, tokens>500, -word.", "Select", ("commits",),
           "filtering.open", needs_context, 9),
    Action("let_go", "w", "what to let go", "Ask for a size: whether pins and anchors leave room"
           " for it, and which of them cost most.", "Look", ("commits",), "choosing.ask_target",
           needs_commits, 11),
    Action("compress_from", "c", "compress", "Go to the levels of what comes from this commit on.",
           "Screens", ("commits",), "looking.compress_from", needs_commit, 7),
    Action("choose_context", "C", "contexts", "Choose the context to show.", "Select",
           ("commits",), "choosing.ask_context", needs_context),
    Action("next_context", "t", "next context", "Show the next context.", "Select", ("commits",),
           "reading.next_context", needs_other_context),
    Action("commit_refresh", "R", "refresh", "Read the context again.", "Select", ("commits",),
           "reading.refresh", not_while_busy),
    # Look
    Action("read_commit", "enter", "read", "Fill the screen with the commit's text; escape goes"
           " back.", "Look", ("commits",), "looking.read_text", needs_commit),
    Action("commit_source", "o", "open source", "Show the transcript at the line of this commit.",
           "Look", ("commits",), "looking.open_source", needs_source),
    Action("commit_editor", "E", "in editor", "Open the transcript at the line in $VISUAL or"
           " $EDITOR.", "Look", ("commits",), "looking.open_editor", needs_source),
    Action("commit_copy", "y", "copy", "Copy the commit's text to the clipboard (OSC 52).",
           "Look", ("commits",), "looking.copy", needs_commit),
    Action("commit_zoom", "+", "zoom", "Fill the screen with the focused pane.", "Look",
           ("commits",), "looking.zoom", not_while_busy),
    Action("commit_unzoom", "_", "zoom back", "Show all panes again.", "Look", ("commits",),
           "looking.unzoom", when.needs_zoom),
    Action("commit_pane", "tab", "next pane", "Go to the next pane.", "Look", ("commits",),
           "looking.next_pane", not_while_busy),
    Action("commit_pane_back", "shift+tab", "pane before", "Go to the pane before.", "Look",
           ("commits",), "looking.previous_pane", not_while_busy),
    Action("commits_back", "escape", "back", "Leave in turn: the range and the marks, the zoom,"
           " the pane, the filter, the screen.", "Move", ("commits",), "looking.back"),
    Action("leave_commits", "q", "to the queue", "Go back to the queue.", "Screens", ("commits",),
           "looking.leave", not_while_busy),
    # What must survive
    Action("save_retention", "ctrl+s", "write", "Write what must survive; a commit that was normal"
           " becomes important.", "Decide", ("retain",), "save", None, 1),
    Action("leave_retention", "escape", "keep draft", "Leave; what you typed stays as a draft.",
           "Move", ("retain",), "leave", None, 2),
    Action("switch_mode", "ctrl+r", "text or regex", "Take the pattern under the cursor as a text,"
           " or as a regular expression.", "Select", ("retain",), "switch_mode", None, 3),
    Action("next_criterion", "tab", "next field", "Go to the next field.", "Move", ("retain",),
           "next_field", None, 4),
    Action("previous_criterion", "shift+tab", "field before", "Go to the field before.", "Move",
           ("retain",), "previous_field"),
)  # fmt: skip
