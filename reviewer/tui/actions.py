"""All panes and actions, for the keymap, the help and the documentation.

Keys shared by all screens are in `kit/keys.py`, the others in the `keys.py` of their screen.
"""

from __future__ import annotations

from reviewer.tui.agents.keys import AGENTS
from reviewer.tui.context.keys import CONTEXT
from reviewer.tui.evidence.keys import SOURCE
from reviewer.tui.history.keys import HISTORY
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane
from reviewer.tui.memory.keys import MEMORY
from reviewer.tui.packet.keys import PACKET
from reviewer.tui.pipelines.keys import PIPELINES
from reviewer.tui.queue.keys import QUEUE
from reviewer.tui.reading.keys import READING
from reviewer.tui.session.keys import SESSION
from reviewer.tui.start.keys import START

PANES: tuple[Pane, ...] = (
    keys.APP,
    START,
    QUEUE,
    CONTEXT,
    PACKET,
    PIPELINES,
    MEMORY,
    HISTORY,
    AGENTS,
    SOURCE,
    SESSION,
    READING,
    keys.MOVING,
    keys.FILTER_FIELD,
    keys.EDIT,
    keys.CHOICE,
)

ACTIONS: dict[str, Action] = {action.id: action for pane in PANES for action in pane.actions}
