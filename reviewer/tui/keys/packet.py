"""Keys of the Packet screen: budget, task, date, pins, two budgets side by side."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer.tui import situation as when
from reviewer.tui.action import Action
from reviewer.tui.situation import Situation


@dataclass(frozen=True)
class About:
    """What decides on the Packet screen which keys do something (`Situation.about`)."""

    reading: bool = False
    """The source is being read for the first time."""
    trouble: bool = False
    """The source cannot be read."""
    item: str = ""
    """The title of the item under the cursor; empty on a heading."""
    tier_1: bool = False
    """It is always whole."""
    comparing: bool = False
    """Two budgets stand side by side."""
    folder: str = ""
    """The context folder that can be read; empty without one."""
    own: bool = False
    """The packet is of the store."""
    chosen: int = 0
    """How many items are pinned or muted."""
    typing: bool = False
    """A field is open."""


def about(now: Situation) -> About:
    """What the Packet screen knows."""
    return now.about if isinstance(now.about, About) else About()


def not_while_typing(now: Situation) -> str | None:
    """A field is finished or left first."""
    return "Finish the field first: enter takes it, escape leaves." if about(now).typing else None


def needs_packet(now: Situation) -> str | None:
    """Needs a packet."""
    known = about(now)
    if known.reading:
        return "The source is still being read: once more."
    if known.trouble:
        return not_while_typing(now) or "There is no packet: S reads another source, O a folder."
    return not_while_typing(now)


def needs_item(now: Situation) -> str | None:
    """Needs an item under the cursor."""
    if not now.rows:
        return needs_packet(now) or "The list is empty."
    return needs_packet(now) or (
        None if about(now).item else "This is a section: j goes to its items."
    )


def needs_choice(now: Situation) -> str | None:
    """Needs an item that is not always whole."""
    if about(now).tier_1:
        return needs_packet(now) or "The constitution is always whole, whatever the budget is."
    return needs_item(now)


def needs_chosen(now: Situation) -> str | None:
    """Needs something pinned or muted."""
    if not about(now).chosen:
        return needs_packet(now) or "Nothing is pinned or muted: P pins an item, m mutes it."
    return needs_packet(now)


def needs_other_source(now: Situation) -> str | None:
    """Needs a context folder beside the store."""
    if about(now).own and not about(now).folder:
        return not_while_typing(now) or (
            "There is no .context folder where reviewer was started: O reads another."
        )
    return not_while_typing(now)


def _packet(
    name: str, keys: str, title: str, text: str, group: str, run: str,
    reason: object = needs_packet, footer: int = 0,
) -> Action:  # fmt: skip
    return Action(name, keys, title, text, group, ("packet",), run, reason, footer)  # type: ignore[arg-type]


TABLE = (
    # Decide
    _packet("packet_less", "<,left", "less", "Lower the budget by a step.", "Decide",
            "budgeting.less", footer=1),
    _packet("packet_more", ">,right", "more", "Raise the budget by a step.",
            "Decide", "budgeting.more", footer=2),
    _packet("packet_less_fine", "(", "100 less", "Lower the budget by 100 tokens.",
            "Decide", "budgeting.less_fine"),
    _packet("packet_more_fine", ")", "100 more", "Raise the budget by 100 tokens.",
            "Decide", "budgeting.more_fine"),
    _packet("packet_budget", "b", "budget", "Type the budget.", "Decide", "asking.ask_budget",
            footer=3),
    _packet("packet_task", "t", "task", "Type what the packet is for; its words decide what comes"
            " first.", "Decide", "asking.ask_task", footer=4),
    _packet("packet_date", "D", "date", "Type the date that ages are counted to.", "Decide",
            "asking.ask_date"),
    _packet("packet_pin", "P", "pin", "Put this item first in its section, within the budget; or"
            " no longer.", "Decide", "budgeting.pin", needs_choice, 6),
    _packet("packet_mute", "m", "mute", "Leave this item out of this packet; or no longer.",
            "Decide", "budgeting.mute", needs_choice, 7),
    _packet("packet_unchoose", "u", "unpin all", "Take back all pins and mutes.", "Decide",
            "budgeting.clear", needs_chosen),
    # Select
    _packet("packet_filter", "/", "filter", "Show only items with some words: words"
            " state:title in:tasks.", "Select", "filtering.open", footer=9),
    _packet("packet_source", "S", "other source", "Read the .context folder of this folder, or the"
            " store again.", "Select", "reading.switch", needs_other_source, 10),
    _packet("packet_folder", "O", "open folder", "Read a .context folder by its path.", "Select",
            "asking.ask_folder", not_while_typing),
    _packet("packet_refresh", "R,ctrl+r", "read again", "Read the source again.", "Select",
            "reading.refresh", not_while_typing),
    # Look
    _packet("packet_compare", "d", "compare", "Keep this budget beside the next: what do more"
            " tokens buy; again: one.", "Look", "budgeting.compare", footer=5),
    _packet("packet_marks", "M", "marks", "Show where each item comes from in the packet, or no"
            " longer.", "Look", "reading.switch_marks"),
    _packet("packet_open", "o,enter", "open source", "Show the file at the line that the item"
            " comes from.", "Look", "looking.open_source", needs_item),
    _packet("packet_next_section", "n", "next section", "Go to the next section.", "Move",
            "looking.next_section", needs_packet),
    _packet("packet_previous_section", "N", "section before", "Go to the section before.", "Move",
            "looking.previous_section", needs_packet),
    _packet("packet_copy", "y", "copy", "Copy the packet to the clipboard (OSC 52).", "Look",
            "looking.copy", footer=8),
    _packet("packet_write", "W", "write file", "Write the packet to a file.", "Look",
            "asking.ask_file"),
    _packet("packet_zoom", "+", "zoom", "Fill the screen with the focused pane.", "Look",
            "panes.zoom", not_while_typing),
    _packet("packet_unzoom", "_", "zoom back", "Show all panes again.", "Look",
            "panes.unzoom", when.needs_zoom),
    _packet("packet_pane", "tab", "next pane", "Go to the next pane.", "Look",
            "panes.next", not_while_typing),
    _packet("packet_pane_back", "shift+tab", "pane before", "Go to the pane before.", "Look",
            "panes.previous", not_while_typing),
    _packet("packet_back", "escape", "back", "Leave in turn: the zoom, the pane, the filter, the"
            " comparison, the screen.", "Move", "looking.back", None),
    _packet("leave_packet", "q", "to the queue", "Go back to the queue.", "Screens",
            "looking.leave", not_while_typing),
    # Typing
    Action("packet_leave_field", "escape", "leave", "Leave the field; everything is as before.",
           "Move", ("packet_field",), "leave", None, 1),
)  # fmt: skip
