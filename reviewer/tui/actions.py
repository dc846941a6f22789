"""Every pane and every action of the screen, for the keymap, the help and the documentation.

To change a key, change it in `kit/keys.py` when it works on every screen, else in the `keys.py` of
its screen.
"""

from __future__ import annotations

from collections.abc import Iterable

from reviewer.tui.agents.keys import AGENTS, REACH
from reviewer.tui.context.keys import CONTEXT
from reviewer.tui.evidence.keys import SOURCE, WHY
from reviewer.tui.export.keys import EXPORT
from reviewer.tui.handover.keys import HANDOVER
from reviewer.tui.history.keys import HISTORY
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane, shown_key
from reviewer.tui.kit.text_keys import TextKey, explained
from reviewer.tui.packet.keys import FIELD, PACKET
from reviewer.tui.pipelines.keys import PIPELINES
from reviewer.tui.queue.keys import QUEUE
from reviewer.tui.session.keys import SESSION
from reviewer.tui.start.keys import START
from reviewer.tui.state.keys import FORM, STATE

PANES: tuple[Pane, ...] = (
    keys.APP,
    START,
    QUEUE,
    CONTEXT,
    PACKET,
    FIELD,
    PIPELINES,
    STATE,
    FORM,
    HISTORY,
    AGENTS,
    REACH,
    SOURCE,
    WHY,
    SESSION,
    EXPORT,
    HANDOVER,
    keys.TEXT,
    keys.FILTER_FIELD,
    keys.EDIT,
    keys.CHOICE,
    keys.HELP_LIST,
)

ACTIONS: dict[str, Action] = {action.id: action for pane in PANES for action in pane.actions}

FORMER_IDS = {
    "commit_undo": "undo",
    "commit_redo": "redo",
    "commit_mark": "mark",
    "commit_range": "range",
    "commit_mark_all": "mark_all",
    "commit_filter": "filter",
    "commit_refresh": "refresh",
    "commit_source": "open_source",
    "commit_editor": "open_editor",
    "commit_copy": "copy",
    "commit_zoom": "zoom",
    "commit_pane": "next_pane",
    "commit_pane_back": "previous_pane",
    "commits_back": "back",
    "save_retention": "save_form",
    "leave_retention": "leave_form",
    "next_criterion": "next_field",
    "previous_criterion": "previous_field",
    "pipeline_source": "open_source",
    "pipeline_editor": "open_editor",
    "pipeline_copy": "copy",
    "pipeline_zoom": "zoom",
    "pipeline_pane": "next_pane",
    "pipeline_pane_back": "previous_pane",
    "pipelines_back": "back",
    "packet_filter": "filter",
    "packet_refresh": "refresh",
    "packet_copy": "copy",
    "packet_zoom": "zoom",
    "packet_pane": "next_pane",
    "packet_pane_back": "previous_pane",
    "packet_back": "back",
    "state_undo": "undo",
    "state_redo": "redo",
    "state_search": "filter",
    "state_refresh": "refresh",
    "state_source": "open_source",
    "state_editor": "open_editor",
    "state_copy": "copy",
    "state_pane": "next_pane",
    "state_pane_back": "previous_pane",
    "state_back": "back",
    "save_value": "save_form",
    "history_undo": "undo",
    "history_redo": "redo",
    "history_pane": "next_pane",
    "history_refresh": "refresh",
    "compress_undo": "undo",
    "compress_redo": "redo",
    "compress_refresh": "refresh",
    "compress_copy": "copy",
    "compress_zoom": "zoom",
    "compress_pane": "next_pane",
    "compress_pane_back": "previous_pane",
    "compress_back": "back",
    "source_editor": "open_editor",
    "why_editor": "open_editor",
    "show_commits": "show_context",
    "show_compress": "show_context",
    "show_state": "show_memory",
    "commit_edit": "edit_text",
    "summary_edit": "edit_text",
    "next_context": "choose_context",
    "compress_contexts": "choose_context",
    "unzoom": "zoom",
}
"""Former ids that a keymap may still use, with their replacements."""

SHARED = 3
"""An action on this many panes is listed once, under a common heading."""


def key_table() -> str:
    """Every key as Markdown tables, one for each pane."""
    shared = [
        action
        for action in ACTIONS.values()
        if sum(action in pane.actions for pane in PANES) >= SHARED
    ]
    lines = _table("Every list", shared)
    for pane in PANES:
        own = [action for action in pane.actions if action not in shared]
        if own:
            lines += _table(pane.heading, own)
    return "\n".join([*lines, *_table("Typing in a field or an editor", explained())])


def _table(heading: str, actions: Iterable[Action | TextKey]) -> list[str]:
    lines = [f"## {heading}", "", "| key | action | |", "| --- | --- | --- |"]
    for action in actions:
        names = " ".join(f"`{shown_key(key)}`" for key in action.keys.split(",") if key)
        lines.append(f"| {names or 'palette'} | {action.title} | {action.help} |")
    return [*lines, ""]
